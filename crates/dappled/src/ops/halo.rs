//! Halo exchange: padding with copies of elements that other ranks own.

use std::convert::Infallible;

use crate::array::Array;
use crate::array::placement::Placement;
use crate::array::storage::Loan;
use crate::error::Result;
use crate::run::caches::RunCaches;
use crate::run::halo::HaloExchange;
use crate::run::piece::LocalPiece;
use crate::session::fingerprint::Fingerprint;
use crate::view::format_shape;

impl Array {
    /// Updates the padding of this rank's local piece. Collective.
    ///
    /// Cells that mirror an element of another rank receive its value, including corners. The
    /// boundary padding of a periodic axis is filled from the opposite end; other boundary padding
    /// is ordinary data. Does nothing without padding.
    pub fn update_padding(&self) -> Result<()> {
        let node = self.storage.current();
        match *self.view() == node.base {
            true if has_padding(&node.placement) => {
                drop(node);
                self.lend_with_padding().map(drop)
            }
            true => Ok(()),
            false => Err(self.view_without_piece_error(&node)),
        }
    }

    /// Lends the memory, with updated padding. Collective if there is padding.
    pub(crate) fn lend_with_padding(&self) -> Result<Loan> {
        let loan = self.lend()?;
        let node = self.storage.current();
        if let Placement::Distributed(placement) = &node.placement
            && has_padding(&node.placement)
        {
            let session = self.session();
            let piece =
                LocalPiece { buffer: loan.buffer.clone(), view: placement.local_view.clone() };
            let fingerprint = Fingerprint::of(()).with_array(&node, &node.base);
            let describe = || format!(" of shape {}", format_shape(&node.base.shape));
            let tag = session.next_tag("a halo exchange", fingerprint, describe)?;
            let compute = || {
                Ok::<_, Infallible>(
                    HaloExchange::new(&placement.distribution, session.fabric().rank()).into(),
                )
            };
            let Ok(halo) = session
                .layer::<RunCaches>()
                .halos
                .get_or_insert_with(&placement.distribution, compute);
            halo.update(session.fabric(), tag, &piece)?;
        }
        Ok(loan)
    }
}

fn has_padding(placement: &Placement) -> bool {
    match placement {
        Placement::Replicated => false,
        Placement::Distributed(placement) => {
            (0..placement.local_view.shape.len()).any(|axis| placement.distribution.is_padded(axis))
        }
    }
}
