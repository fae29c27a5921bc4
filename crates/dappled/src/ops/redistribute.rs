//! Distributions of arrays, their local pieces, and redistribution.

use std::sync::Arc;

use dappled_base::OutOfMemory;
use dappled_kernels::{Buffer, DType, View};
use dappled_protocol::slice::KeyItem;
use dappled_protocol::{AxisMap, Distribution, Held};

use crate::array::Array;
use crate::array::node::{Node, NodeInput, NodeState};
use crate::array::placement::{DistributedPlacement, Placement};
use crate::array::storage::Loan;
use crate::error::{Error, Result};
use crate::plan::rounds::{MemoryBudget, round_steps};
use crate::run::distributed::node_distribution;
use crate::run::evaluate::{materialize, write_arg};
use crate::session::Session;
use crate::session::buffer_pool::out_of_memory;
use crate::session::fingerprint::Fingerprint;
use crate::view::format_shape;
use crate::view::index::index_view;

/// This rank's local piece of an array, lent to a caller outside of the session.
pub struct LentPiece {
    /// The memory.
    pub loan: Loan,
    /// The layout of the piece in the memory, including padding.
    pub view: View,
}

impl Array {
    /// The distribution of the array over the ranks.
    ///
    /// Fails for a view that is not all of a distributed base.
    pub fn distribution(&self) -> Result<Distribution> {
        let node = self.storage.current();
        match *self.view() == node.base || node.placement.is_replicated() {
            true if node.placement.is_replicated() => {
                Ok(self.session().replicated_distribution(self.shape()))
            }
            true => Ok(node_distribution(self.session(), &node)),
            false => Err(self.view_without_piece_error(&node)),
        }
    }

    /// The error for a view that has no local piece or distribution of its own.
    pub(crate) fn view_without_piece_error(&self, node: &Node) -> Error {
        Error::ViewHasNoPiece { shape: self.shape().to_vec(), base: node.base.shape.to_vec() }
    }

    /// Copies the values to another distribution over the same ranks. Collective.
    ///
    /// The copy takes as many rounds as the memory budget of the session requires.
    pub fn redistribute(&self, to: &Distribution) -> Result<Array> {
        let session = self.session();
        let placement = validate_placement(session, to, self)?;
        let base = View::c_order(self.dtype(), self.shape());
        let source = self.storage.current();
        if let Some(state) = constant_state(&source, self.dtype(), to) {
            return Ok(Array::from_node(session, Node::new(session, base, placement, state)));
        }
        let (node, memory) = match is_padded(to) {
            true => zeroed_node(session, base.clone(), placement),
            false => Node::with_new_buffer(session, base.clone(), placement),
        };
        let rounds = round_slices(&self.round_steps(to)?);
        if rounds.len() > 1 {
            materialize(session, &source)?;
        }
        for items in rounds {
            let part = |view: &View| index_view(view, &items).map(|indexed| indexed.view);
            let arg = NodeInput::Array(source.clone(), part(self.view())?);
            write_arg(session, &node, &part(&base)?, &memory, &arg)?;
        }
        Ok(Array::from_node(session, node))
    }

    /// The number of rounds that [`Array::redistribute`] takes.
    pub fn redistribution_rounds(&self, to: &Distribution) -> Result<u64> {
        Ok(self.round_steps(to)?.iter().product())
    }

    fn round_steps(&self, to: &Distribution) -> Result<Vec<u64>> {
        let node = self.storage.current();
        let from = match *self.view() == node.base {
            true => node_distribution(self.session(), &node),
            false => self.session().block_distribution(self.shape()),
        };
        let budget =
            MemoryBudget { itemsize: self.dtype().itemsize(), bytes: self.session().budget() };
        Ok(match self.view().is_empty() {
            true => vec![1; self.shape().len()],
            false => round_steps(&from, to, budget),
        })
    }

    /// Lends this rank's local piece, with updated padding. Collective.
    ///
    /// On several ranks a replicated array becomes distributed in blocks, unless its memory is lent
    /// already: then the piece is the whole array.
    pub fn local_piece(&self) -> Result<LentPiece> {
        self.local_piece_in(|| self.session().block_distribution(self.shape()))
    }

    /// Lends this rank's local piece; a replicated array is distributed as `blocks` says.
    /// Collective.
    pub(crate) fn local_piece_in(
        &self,
        blocks: impl FnOnce() -> Distribution,
    ) -> Result<LentPiece> {
        let node = self.storage.current();
        let has_peers = self.session().fabric().size() > 1;
        if node.placement.is_replicated() && (!has_peers || self.is_lent()) {
            return Ok(LentPiece { loan: self.lend()?, view: self.view().clone() });
        }
        if *self.view() != node.base {
            return Err(self.view_without_piece_error(&node));
        }
        if node.placement.is_replicated() {
            let distributed = self.redistribute(&blocks())?.storage.current();
            self.storage.replace(distributed);
        }
        drop(node);
        let loan = self.lend_with_padding()?;
        if has_peers {
            self.storage.pin_lent();
        }
        let node = self.storage.current();
        Ok(LentPiece { loan, view: node.placement.local_view(&node.base).clone() })
    }

    /// This rank's part of the array in a distribution, for immediate reading. Collective.
    ///
    /// No elements move if the array has that distribution.
    pub fn local_part(&self, target: &Distribution) -> Result<(Buffer, View)> {
        let mut node = self.storage.current();
        let has_distribution = match &node.placement {
            Placement::Distributed(placement) => {
                *self.view() == node.base && placement.distribution == *target
            }
            Placement::Replicated => false,
        };
        if !has_distribution {
            node = self.redistribute(target)?.storage.current();
        } else if self.session().fabric().size() > 1 {
            let fingerprint = Fingerprint::of("pieces").with_array(&node, self.view());
            let describe = || format!(" of shape {}", format_shape(self.shape()));
            self.session().next_tag("an operation on local pieces", fingerprint, describe)?;
        }
        Ok((materialize(self.session(), &node)?, node.placement.local_view(&node.base).clone()))
    }

    /// Copies this rank's part in a distribution into memory of its own, in C order. Collective.
    pub(crate) fn copy_local_part(&self, target: &Distribution) -> Result<(Buffer, View)> {
        let node = self.redistribute(target)?.storage.current();
        Ok((materialize(self.session(), &node)?, node.placement.local_view(&node.base).clone()))
    }

    /// The array in the default distribution of its shape. Collective.
    pub(crate) fn in_default_distribution(&self) -> Result<Array> {
        let session = self.session();
        let target = match session.should_replicate(self.shape(), self.dtype().itemsize()) {
            true => session.replicated_distribution(self.shape()),
            false => session.block_distribution(self.shape()),
        };
        match self.distribution() {
            Ok(distribution) if distribution == target => Ok(self.clone()),
            _ => self.redistribute(&target),
        }
    }

    /// This rank's part of the array in a distribution, in C order. Collective.
    pub(crate) fn contiguous_local_part(&self, target: &Distribution) -> Result<(Buffer, View)> {
        let (buffer, view) = self.local_part(target)?;
        match view.is_contiguous() {
            true => Ok((buffer, view)),
            false => self.cast_copy(self.dtype())?.local_part(target),
        }
    }

    /// Creates an array from local pieces in foreign memory, one on each rank.
    pub fn from_piece(
        session: &Session,
        distribution: Distribution,
        memory: Buffer,
        local: View,
    ) -> Result<Array> {
        let shape: Vec<usize> =
            distribution.shape().iter().map(|&length| length as usize).collect();
        if session.fabric().size() == 1 && local.shape[..] == shape && is_replicated(&distribution)
        {
            return Ok(Array::from_foreign(session, memory, local));
        }
        Ok(Array::from_foreign_node(session, node_from_piece(session, distribution, memory, local)))
    }

    /// Creates an array that owns its local pieces, one on each rank.
    pub fn from_owned_piece(
        session: &Session,
        distribution: Distribution,
        memory: Buffer,
        local: View,
    ) -> Array {
        let is_local = session.fabric().size() == 1 && is_replicated(&distribution);
        match is_local {
            true => Array::from_owned(session, memory, local),
            false => {
                Array::from_node(session, node_from_piece(session, distribution, memory, local))
            }
        }
    }
}

fn node_from_piece(
    session: &Session,
    distribution: Distribution,
    memory: Buffer,
    local: View,
) -> Arc<Node> {
    let shape: Vec<usize> = distribution.shape().iter().map(|&length| length as usize).collect();
    let base = View::c_order(local.dtype, &shape);
    let placement = match is_replicated(&distribution) && local == base {
        true => Placement::Replicated,
        false => Placement::Distributed(Arc::new(DistributedPlacement {
            distribution,
            local_view: local,
        })),
    };
    Node::new(session, base, placement, NodeState::Stored(memory))
}

/// The state of a constant array in another distribution: no elements move.
///
/// Padding starts as zeros, so a padded array must be materialised.
fn constant_state(node: &Node, dtype: DType, to: &Distribution) -> Option<NodeState> {
    match node.state() {
        NodeState::Full(value) if value.dtype() == dtype && !is_padded(to) => {
            Some(NodeState::Full(value))
        }
        _ => None,
    }
}

fn is_padded(distribution: &Distribution) -> bool {
    (0..distribution.axes().len()).any(|axis| distribution.is_padded(axis))
}

/// Creates a node in zeroed memory; padding stays zero until it is written.
fn zeroed_node(session: &Session, base: View, placement: Placement) -> (Arc<Node>, Buffer) {
    let bytes = placement.local_view(&base).len() * base.dtype.itemsize();
    let fail = |error: OutOfMemory| out_of_memory(base.dtype, &base.shape, error.bytes).unwind();
    let memory = Buffer::try_zeroed(bytes).unwrap_or_else(fail);
    (Node::new(session, base, placement, NodeState::Stored(memory.clone())), memory)
}

/// The slices of each round: every `step`-th element along each axis.
fn round_slices(steps: &[u64]) -> Vec<Vec<KeyItem>> {
    let mut rounds = vec![Vec::new()];
    for &step in steps {
        let extend = |items: Vec<KeyItem>| {
            (0..step as i64).map(move |start| {
                let item = KeyItem::Slice(Some(start), None, Some(step as i64));
                [&items[..], &[item]].concat()
            })
        };
        rounds = rounds.into_iter().flat_map(extend).collect();
    }
    rounds
}

/// The placement of an array in a distribution, after a check of shape and number of ranks.
fn validate_placement(
    session: &Session,
    distribution: &Distribution,
    array: &Array,
) -> Result<Placement> {
    let shape: Vec<u64> = array.shape().iter().map(|&length| length as u64).collect();
    if distribution.shape() != shape || distribution.nprocs() != session.fabric().size() {
        return Err(Error::Distribution {
            found: (distribution.shape(), distribution.nprocs()),
            expected: (shape, session.fabric().size()),
        });
    }
    Ok(match is_replicated(distribution) {
        true => Placement::Replicated,
        false => {
            Placement::distributed(distribution.clone(), array.dtype(), session.fabric().rank())
        }
    })
}

/// Returns true if every rank has all elements, in order and without padding.
fn is_replicated(distribution: &Distribution) -> bool {
    let is_on_all_ranks = match distribution.held() {
        Held::All => true,
        Held::Grid => distribution.nprocs() == 1,
        Held::One(_) => false,
    };
    let is_plain =
        |(axis, map): (usize, &AxisMap)| map.dist_type() != 'u' && !distribution.is_padded(axis);
    is_on_all_ranks && distribution.axes().iter().enumerate().all(is_plain)
}
