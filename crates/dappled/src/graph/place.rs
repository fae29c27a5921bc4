//! Where an array lies: its distribution, its pieces, and moving it.

use std::sync::Arc;

use dappled_kernels::{Buffer, View};
use dappled_protocol::{AxisMap, Distribution, Held};

use super::evaluate::write;
use super::layout::{Layout, Split};
use super::node::{Node, State};
use super::spread::distribution;
use super::versions::Loan;
use super::{Array, GraphError, Session};

/// This rank's piece of an array, lent to somebody outside.
pub struct LentPiece {
    /// The memory.
    pub loan: Loan,
    /// How the piece lies in it, padding included.
    pub view: View,
}

impl Array {
    /// How its elements are shared among the ranks. A view that is not all of its base has none of
    /// its own.
    pub fn distribution(&self) -> Result<Distribution, GraphError> {
        let node = self.versions.current();
        match *self.view() == node.base || node.layout.is_whole() {
            true if node.layout.is_whole() => Ok(whole(self.session(), self.shape())),
            true => Ok(distribution(self.session(), &node)),
            false => Err(GraphError::Piece),
        }
    }

    /// The same values in another distribution, which is over the same ranks. Collective.
    pub fn redistributed(&self, distribution: &Distribution) -> Result<Array, GraphError> {
        let session = self.session();
        let layout = layout_of(session, distribution, self)?;
        let base = View::c_order(self.dtype(), self.shape());
        let memory = Buffer::zeroed(layout.local(&base).len() * base.dtype.itemsize());
        let node = Node::new(session, base.clone(), layout, State::Stored(memory.clone()));
        write(session, &node, &base, &memory, &self.arg())?;
        Ok(Array::over(session, node))
    }

    /// Lends this rank's piece, its padding up to date. A whole array on several ranks is in blocks from now on. Collective.
    pub fn piece(&self) -> Result<LentPiece, GraphError> {
        let node = self.versions.current();
        let in_pieces = self.session().fabric().size() > 1;
        if !in_pieces && node.layout.is_whole() {
            return Ok(LentPiece { loan: self.lend()?, view: self.view().clone() });
        }
        if *self.view() != node.base {
            return Err(GraphError::Piece);
        }
        if node.layout.is_whole() {
            let blocks = self.session().blocks(self.shape());
            let split = self.redistributed(&blocks)?.versions.current();
            self.versions.replace(split);
        }
        drop(node);
        let loan = self.lend_updated()?;
        if in_pieces {
            self.versions.stays_lent();
        }
        let node = self.versions.current();
        Ok(LentPiece { loan, view: node.layout.local(&node.base).clone() })
    }

    /// An array whose pieces lie in memory that somebody else owns, one on each rank.
    pub fn from_piece(
        session: &Session,
        distribution: Distribution,
        memory: Buffer,
        local: View,
    ) -> Result<Array, GraphError> {
        let shape: Vec<usize> =
            distribution.shape().iter().map(|&length| length as usize).collect();
        if session.fabric().size() == 1 && local.shape[..] == shape && is_whole(&distribution) {
            return Ok(Array::foreign(session, memory, local));
        }
        let base = View::c_order(local.dtype, &shape);
        let layout = Layout::Split(Arc::new(Split { distribution, local }));
        Ok(Array::over_foreign(session, Node::new(session, base, layout, State::Stored(memory))))
    }
}

/// All of it on every rank.
pub(super) fn whole(session: &Session, shape: &[usize]) -> Distribution {
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let spec = Distribution::spec(&lengths).dist(&"n".repeat(shape.len()));
    let made = || spec.nprocs(session.fabric().size()).build();
    session.known().wholes.get(&shape.into(), made).expect("whole on every rank")
}

fn layout_of(
    session: &Session,
    distribution: &Distribution,
    array: &Array,
) -> Result<Layout, GraphError> {
    let shape: Vec<u64> = array.shape().iter().map(|&length| length as u64).collect();
    if distribution.shape() != shape || distribution.nprocs() != session.fabric().size() {
        return Err(GraphError::Distribution {
            found: (distribution.shape(), distribution.nprocs()),
            expected: (shape, session.fabric().size()),
        });
    }
    Ok(match is_whole(distribution) {
        true => Layout::Whole,
        false => Layout::split(distribution.clone(), array.dtype(), session.fabric().rank()),
    })
}

/// Has every rank all elements, in order and without padding?
fn is_whole(distribution: &Distribution) -> bool {
    let everywhere = match distribution.held() {
        Held::All => true,
        Held::Grid => distribution.nprocs() == 1,
        Held::One(_) => false,
    };
    let plain =
        |(axis, map): (usize, &AxisMap)| map.dist_type() != 'u' && !distribution.is_padded(axis);
    everywhere && distribution.axes().iter().enumerate().all(plain)
}
