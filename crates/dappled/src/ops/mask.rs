//! Deferred selection of elements by a boolean mask.
//!
//! The mask is evaluated at once, since the number of selected elements determines the shape: one
//! pass over its inputs writes a bit for each element. A reduction then reads the values directly,
//! without a compacted copy of the selected elements.

use std::sync::Arc;

use dappled_kernels::element::bytes_of;
use dappled_kernels::{Buffer, DType, ElementSelection, View};
use dappled_protocol::Distribution;

use crate::array::Array;
use crate::array::node::{DeferredValue, Node, NodeInput, NodeState};
use crate::array::placement::Placement;
use crate::config::MAX_RETAINED_SIZE_RATIO;
use crate::error::Result;
use crate::graph::fusion::{FusedProgram, fuse};
use crate::plan::values::is_block_ordered;
use crate::run::evaluate::{input_buffers, input_operands, local_bytes, materialize, write_arg};
use crate::run::fingerprint::describe_operation;
use crate::run::reduce::ReduceInput;
use crate::run::reduce::local_values::local_values;
use crate::session::Session;
use crate::session::fingerprint::Fingerprint;

/// The elements of an array that a mask selects.
pub(crate) struct MaskSelection {
    /// The program that reads this rank's elements, selected or not.
    pub(crate) values: FusedProgram,
    /// The positions of the selected elements.
    pub(crate) selection: ElementSelection,
    /// The number of elements selected on all lower ranks, for each rank, and the total.
    pub(crate) bounds: Vec<u64>,
    /// Holds the source array, so that it is not written in place. On several ranks the program
    /// reads the same memory through another node.
    _source: Arc<Node>,
}

impl Array {
    /// Selects the elements where a mask of the same shape is true, in C order. Collective.
    ///
    /// On several ranks the array must be one-dimensional and in ascending blocks; otherwise the
    /// result is `None`.
    pub fn select_by_mask(&self, mask: &Array) -> Result<Option<Array>> {
        let session = self.session();
        let has_peers = session.fabric().size() > 1;
        let blocks = match session.fabric().size() {
            1 => None,
            _ => match self.block_row_distribution() {
                None => return Ok(None),
                blocks => blocks,
            },
        };
        let read = |array: &Array| -> Result<FusedProgram> {
            let values =
                ReduceInput::new(array, array.dtype())?.with_stored_input(array, array.dtype())?;
            Ok(match &blocks {
                Some(blocks) => {
                    let step = values.plan_values().step_to(blocks.clone());
                    local_values(session, values, &step)?.fused
                }
                None => values.fused,
            })
        };
        if has_peers {
            let values = ReduceInput::new(self, self.dtype())?;
            let fingerprint = values.add_to_fingerprint(session, Fingerprint::default())?.0;
            let (fingerprint, small_inputs) =
                ReduceInput::new(mask, mask.dtype())?.add_to_fingerprint(session, fingerprint)?;
            let describe = || {
                describe_operation(
                    &values.fused.program,
                    self.shape(),
                    &values.fused.inputs,
                    &small_inputs,
                )
            };
            session.next_tag("a mask selection", fingerprint, describe)?;
        }
        let selection = build_selection(session, &read(mask)?)?;
        // A stored source retains no inputs of its own.
        let _source = self.storage.current();
        materialize(session, &_source)?;
        let values = read(self)?;
        let bounds = gather_bounds(session, selection.count())?;
        let mask_selection = MaskSelection { values, selection, bounds, _source };
        self.defer_selection(mask_selection).map(Some)
    }

    /// The distribution of a one-dimensional array in ascending blocks, seen in full.
    fn block_row_distribution(&self) -> Option<Distribution> {
        let node = self.storage.current();
        match &node.placement {
            Placement::Distributed(placement) if *self.view() == node.base => {
                let distribution = &placement.distribution;
                let is_row = matches!(distribution.axes(), [map] if is_block_ordered(map));
                is_row.then(|| distribution.clone())
            }
            _ => None,
        }
    }

    /// Creates the array of the selected elements; materialises it if it is lent or small.
    fn defer_selection(&self, selection: MaskSelection) -> Result<Array> {
        let session = self.session();
        let count = selection.total_count();
        let base = View::c_order(self.dtype(), &[count]);
        let placement = session.default_placement(self.dtype(), &[count]);
        let is_single_rank = session.fabric().size() == 1;
        let source_len = self.storage.with_current(|node| node.base.len());
        let is_small = MAX_RETAINED_SIZE_RATIO * count < source_len
            || (!is_single_rank && placement.is_replicated());
        let is_eager = self.is_lent() || is_small;
        let node = Node::new(session, base, placement, NodeState::Deferred(Arc::new(selection)));
        if is_eager {
            materialize(session, &node)?;
        }
        let array = Array::from_node(session, node);
        if !is_eager {
            session.pending().add(&array.storage, !is_single_rank, 0);
        }
        Ok(array)
    }
}

/// Evaluates the program of a mask, all of whose inputs are local.
fn build_selection(session: &Session, mask: &FusedProgram) -> Result<ElementSelection> {
    let engine = session.interpreter(&mask.program)?;
    let buffers = input_buffers(session, &mask.inputs)?;
    let inputs = input_operands(&buffers, &mask.inputs)?;
    let (selection, raised) = ElementSelection::new(&engine, &inputs)?;
    session.fp_warnings().add_program(&mask.requests, &raised);
    Ok(selection)
}

/// The number of elements selected on all lower ranks, for each rank, and the total. Collective.
fn gather_bounds(session: &Session, count: usize) -> Result<Vec<u64>> {
    let counts = match session.fabric().size() {
        1 => vec![count as u64],
        _ => {
            let messages = session
                .allgather("the count of a mask selection", bytes_of(&[count as u64]).to_vec())?;
            messages.iter().flat_map(|bytes| Buffer::from_slice(bytes).to_vec::<u64>()).collect()
        }
    };
    let sums = counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    Ok(std::iter::once(0).chain(sums).collect())
}

impl MaskSelection {
    /// The number of elements selected on all ranks.
    pub fn total_count(&self) -> usize {
        self.bounds[self.bounds.len() - 1] as usize
    }

    /// A node of the selected elements, each on the rank of its source.
    fn local_node(&self, session: &Session, dtype: DType, memory: Buffer) -> Arc<Node> {
        let count = self.total_count();
        let mut spec =
            Distribution::spec(&[count as u64]).dist("b").nprocs(session.fabric().size());
        spec.axes[0].bounds = Some(self.bounds.clone());
        let distribution = spec.build().expect("bounds ascend and there is one for each rank");
        let placement = Placement::distributed(distribution, dtype, session.fabric().rank());
        Node::new(session, View::c_order(dtype, &[count]), placement, NodeState::Stored(memory))
    }

    /// The program that reads this rank's elements, selected or not, in another dtype.
    pub fn values_in_dtype(&self, dtype: DType) -> FusedProgram {
        match &self.values.inputs[..] {
            [(node, view)] => fuse(&NodeInput::Array(node.clone(), view.clone()), dtype),
            _ => self.values.clone(),
        }
    }
}

impl DeferredValue for MaskSelection {
    /// This rank's memory of a node with the selected elements. Collective on several ranks.
    fn compute(&self, session: &Session, node: &Arc<Node>) -> Result<Buffer> {
        let dtype = node.base.dtype;
        let memory =
            session.buffer_pool().allocate(self.selection.count() * dtype.itemsize(), &node.base);
        let engine = session.interpreter(&self.values.program)?;
        let buffers = input_buffers(session, &self.values.inputs)?;
        let inputs = input_operands(&buffers, &self.values.inputs)?;
        self.selection.compress(&engine, &inputs, &memory)?;
        if session.fabric().size() == 1 {
            return Ok(memory);
        }
        let local = self.local_node(session, dtype, memory).with_id_of(node);
        let target = session.buffer_pool().allocate(local_bytes(node), &node.base);
        let base = local.base.clone();
        write_arg(session, node, &node.base, &target, &NodeInput::Array(local, base))?;
        Ok(target)
    }

    fn description(&self) -> &'static str {
        "elements selected by a mask"
    }
}
