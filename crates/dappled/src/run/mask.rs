//! Elements that a mask selects: their positions, their counts, and their compaction.

use std::sync::Arc;

use dappled_kernels::element::bytes_of;
use dappled_kernels::{Buffer, DType, ElementSelection, View};

use super::evaluate::{input_buffers, input_operands, local_bytes, write_arg};
use crate::array::node::{DeferredValue, Node, NodeInput, NodeState};
use crate::array::placement::Placement;
use crate::error::Result;
use crate::graph::fusion::{FusedProgram, fuse};
use crate::plan::mask::selected_distribution;
use crate::session::Session;

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
    pub(crate) _source: Arc<Node>,
}

/// Evaluates the program of a mask, all of whose inputs are local.
pub(crate) fn build_selection(session: &Session, mask: &FusedProgram) -> Result<ElementSelection> {
    let engine = session.interpreter(&mask.program)?;
    let buffers = input_buffers(session, &mask.inputs)?;
    let inputs = input_operands(&buffers, &mask.inputs)?;
    let (selection, raised) = ElementSelection::new(&engine, &inputs)?;
    session.fp_warnings().add_program(&mask.requests, &raised);
    Ok(selection)
}

/// The number of elements selected on all lower ranks, for each rank, and the total. Collective.
pub(crate) fn gather_bounds(session: &Session, count: usize) -> Result<Vec<u64>> {
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
        let distribution = selected_distribution(&self.bounds);
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
