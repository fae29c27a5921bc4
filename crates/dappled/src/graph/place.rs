//! Where an array lies: its distribution, its pieces, and moving it.

use std::sync::Arc;

use dappled_base::OutOfMemory;
use dappled_kernels::{Buffer, DType, View};
use dappled_protocol::slice::Item;
use dappled_protocol::{AxisMap, Distribution, Held};

use super::evaluate::{value, write};
use super::layout::{Layout, Split};
use super::memory::refused;
use super::node::{Arg, Node, State};
use super::spread::distribution;
use super::tag::Fingerprint;
use super::versions::Loan;
use super::{Array, GraphError, Session};
use crate::plan::{Budget, round_steps};
use crate::view::{indexed, tuple};

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
            false => Err(self.is_a_view_of(&node)),
        }
    }

    /// The error of a view that is asked for its piece or distribution.
    pub(super) fn is_a_view_of(&self, node: &Node) -> GraphError {
        GraphError::Piece { shape: self.shape().to_vec(), base: node.base.shape.to_vec() }
    }

    /// The same values in another distribution, which is over the same ranks: in as many rounds as
    /// the session's budget of memory asks for. Collective.
    pub fn redistributed(&self, to: &Distribution) -> Result<Array, GraphError> {
        let session = self.session();
        let layout = layout_of(session, to, self)?;
        let base = View::c_order(self.dtype(), self.shape());
        let source = self.versions.current();
        if let Some(state) = one_value(&source, self.dtype(), to) {
            return Ok(Array::over(session, Node::new(session, base, layout, state)));
        }
        let (node, memory) = match is_padded(to) {
            true => zeros(session, base.clone(), layout),
            false => Node::fresh(session, base.clone(), layout),
        };
        let rounds = rounds(&self.round_steps(to)?);
        if rounds.len() > 1 {
            value(session, &source)?;
        }
        for items in rounds {
            let part = |view: &View| indexed(view, &items).map(|indexed| indexed.view);
            let arg = Arg::Part(source.clone(), part(self.view())?);
            write(session, &node, &part(&base)?, &memory, &arg)?;
        }
        Ok(Array::over(session, node))
    }

    /// How many rounds [`Array::redistributed`] would take.
    pub fn redistribution_rounds(&self, to: &Distribution) -> Result<u64, GraphError> {
        Ok(self.round_steps(to)?.iter().product())
    }

    fn round_steps(&self, to: &Distribution) -> Result<Vec<u64>, GraphError> {
        let node = self.versions.current();
        let from = match *self.view() == node.base {
            true => distribution(self.session(), &node),
            false => self.session().blocks(self.shape()),
        };
        let budget = Budget { itemsize: self.dtype().itemsize(), bytes: self.session().budget() };
        Ok(match self.view().is_empty() {
            true => vec![1; self.shape().len()],
            false => round_steps(&from, to, budget),
        })
    }

    /// Lends this rank's piece, its padding up to date. Collective.
    ///
    /// A whole array on several ranks is in blocks from now on, unless somebody outside sees its memory:
    /// then the piece is all of it.
    pub fn piece(&self) -> Result<LentPiece, GraphError> {
        self.piece_of(|| self.session().blocks(self.shape()))
    }

    pub(super) fn piece_of(
        &self,
        blocks: impl FnOnce() -> Distribution,
    ) -> Result<LentPiece, GraphError> {
        let node = self.versions.current();
        let in_pieces = self.session().fabric().size() > 1;
        if node.layout.is_whole() && (!in_pieces || self.is_lent()) {
            return Ok(LentPiece { loan: self.lend()?, view: self.view().clone() });
        }
        if *self.view() != node.base {
            return Err(self.is_a_view_of(&node));
        }
        if node.layout.is_whole() {
            let split = self.redistributed(&blocks())?.versions.current();
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

    /// This rank's part in a distribution, to be read at once: the memory itself where the array lies
    /// so. Collective.
    pub fn part_of_rank(&self, target: &Distribution) -> Result<(Buffer, View), GraphError> {
        let mut node = self.versions.current();
        let lies_so = match &node.layout {
            Layout::Split(split) => *self.view() == node.base && split.distribution == *target,
            Layout::Whole => false,
        };
        if !lies_so {
            node = self.redistributed(target)?.versions.current();
        } else if self.session().fabric().size() > 1 {
            let print = Fingerprint::of("pieces").with_array(&node, self.view());
            let said = || format!(" of shape {}", tuple(self.shape()));
            self.session().next("an operation on the pieces", print, said)?;
        }
        Ok((value(self.session(), &node)?, node.layout.local(&node.base).clone()))
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
        Ok(Array::over_foreign(session, of_piece(session, distribution, memory, local)))
    }

    /// An array of pieces that somebody made, one on each rank, and has given away.
    pub fn adopted_piece(
        session: &Session,
        distribution: Distribution,
        memory: Buffer,
        local: View,
    ) -> Array {
        let whole = session.fabric().size() == 1 && is_whole(&distribution);
        match whole {
            true => Array::adopted(session, memory, local),
            false => Array::over(session, of_piece(session, distribution, memory, local)),
        }
    }
}

fn of_piece(
    session: &Session,
    distribution: Distribution,
    memory: Buffer,
    local: View,
) -> Arc<Node> {
    let shape: Vec<usize> = distribution.shape().iter().map(|&length| length as usize).collect();
    let base = View::c_order(local.dtype, &shape);
    let layout = match is_whole(&distribution) && local == base {
        true => Layout::Whole,
        false => Layout::Split(Arc::new(Split { distribution, local })),
    };
    Node::new(session, base, layout, State::Stored(memory))
}

/// What is one value everywhere is so in any distribution: nothing need move. (Padding is zeros at
/// first, and has to be written down.)
fn one_value(node: &Node, dtype: DType, to: &Distribution) -> Option<State> {
    match node.state() {
        State::Full(value) if value.dtype() == dtype && !is_padded(to) => Some(State::Full(value)),
        _ => None,
    }
}

fn is_padded(distribution: &Distribution) -> bool {
    (0..distribution.axes().len()).any(|axis| distribution.is_padded(axis))
}

/// A node in fresh memory: what is not written, as padding, is zeros.
fn zeros(session: &Session, base: View, layout: Layout) -> (Arc<Node>, Buffer) {
    let bytes = layout.local(&base).len() * base.dtype.itemsize();
    let none = |none: OutOfMemory| refused(base.dtype, &base.shape, none.bytes).unwind();
    let memory = Buffer::try_zeroed(bytes).unwrap_or_else(none);
    (Node::new(session, base, layout, State::Stored(memory.clone())), memory)
}

/// The elements of each round: along each axis every so many-th.
fn rounds(steps: &[u64]) -> Vec<Vec<Item>> {
    let mut rounds = vec![Vec::new()];
    for &step in steps {
        let longer = |items: Vec<Item>| {
            (0..step as i64).map(move |start| {
                let item = Item::Slice(Some(start), None, Some(step as i64));
                [&items[..], &[item]].concat()
            })
        };
        rounds = rounds.into_iter().flat_map(longer).collect();
    }
    rounds
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
