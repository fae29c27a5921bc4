//! Padding: copies of what other ranks own, around this rank's piece.

use std::convert::Infallible;

use super::layout::Layout;
use super::tag::Fingerprint;
use super::versions::Loan;
use super::{Array, GraphError};
use crate::run::{Halo, Piece};
use crate::view::tuple;

impl Array {
    /// Brings padding up to date: cells that copy an element of another rank get its value, corners
    /// included; the boundary padding of a periodic axis is filled from the other end. Other boundary
    /// padding is ordinary data. Nothing is done where there is no padding. Collective.
    pub fn update_padding(&self) -> Result<(), GraphError> {
        let node = self.versions.current();
        match *self.view() == node.base {
            true if is_padded(&node.layout) => {
                drop(node);
                self.lend_updated().map(drop)
            }
            true => Ok(()),
            false => Err(self.is_a_view_of(&node)),
        }
    }

    /// Lends the memory, its padding up to date. Collective where there is padding.
    pub(super) fn lend_updated(&self) -> Result<Loan, GraphError> {
        let loan = self.lend()?;
        let node = self.versions.current();
        if let Layout::Split(split) = &node.layout
            && is_padded(&node.layout)
        {
            let session = self.session();
            let piece = Piece { buffer: loan.buffer.clone(), view: split.local.clone() };
            let what = Fingerprint::of(()).with_array(&node, &node.base);
            let said = || format!(" of shape {}", tuple(&node.base.shape));
            let tag = session.next("an update of padding", what, said)?;
            let made = || {
                Ok::<_, Infallible>(Halo::new(&split.distribution, session.fabric().rank()).into())
            };
            let Ok(halo) = session.known().halos.get(&split.distribution, made);
            halo.update(session.fabric(), tag, &piece)?;
        }
        Ok(loan)
    }
}

fn is_padded(layout: &Layout) -> bool {
    match layout {
        Layout::Whole => false,
        Layout::Split(split) => {
            (0..split.local.shape.len()).any(|axis| split.distribution.is_padded(axis))
        }
    }
}
