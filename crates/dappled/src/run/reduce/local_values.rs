//! This rank's block of a program's values.
//!
//! Blocks of distributed arrays are read in place where possible.

use std::sync::Arc;

use dappled_kernels::View;
use dappled_protocol::Distribution;

use super::ReduceInput;
use crate::array::node::{Node, NodeInput, NodeState};
use crate::array::placement::Placement;
use crate::error::{Error, Result};
use crate::graph::fusion::{FusedProgram, fuse};
use crate::plan::operand::PlanOperand;
use crate::plan::values::{PlanValues, ValueInput, ValuesStep, local_shape, owned_range};
use crate::run::distributed::materialize_program;
use crate::run::evaluate::materialize;
use crate::run::piece::LocalPiece;
use crate::session::Session;
use crate::view::axis_mapping;

/// This rank's block of the values, or all of them if they are gathered. Collective.
pub(crate) fn local_values(
    session: &Session,
    values: ReduceInput,
    step: &ValuesStep,
) -> Result<ReduceInput> {
    let fused = match step {
        ValuesStep::InPlace(target) => {
            let inputs = values.fused.inputs.iter();
            let inputs = inputs.map(|(node, view)| local_input(session, node, view, target));
            FusedProgram { inputs: inputs.collect::<Result<_, _>>()?, ..values.fused }
        }
        ValuesStep::Redistribute(target) => {
            let dtype = values.dtype();
            let placement = Placement::distributed(target.clone(), dtype, session.fabric().rank());
            let base = View::c_order(dtype, &values.shape);
            let node = materialize_program(session, &values.fused, base, placement)?;
            let (node, view) = local_input(session, &node, &node.base, target)?;
            fuse(&NodeInput::Array(node, view), dtype)
        }
        ValuesStep::Gather => {
            let (dtype, base) = (values.dtype(), View::c_order(values.dtype(), &values.shape));
            let fused = &values.fused;
            let node = materialize_program(session, fused, base.clone(), Placement::Replicated)?;
            fuse(&NodeInput::Array(node, base), dtype)
        }
    };
    Ok(ReduceInput { fused, ..values })
}

impl ReduceInput {
    /// The values as plans see them: their shape, and the distributions of the inputs.
    pub fn plan_values(&self) -> PlanValues {
        let input = |(node, view): &(Arc<Node>, View)| match &node.placement {
            Placement::Replicated => ValueInput::Replicated,
            Placement::Distributed(placement) => ValueInput::Distributed {
                base: placement.distribution.clone(),
                mapping: axis_mapping(view, &node.base),
                is_full_view: *view == node.base,
            },
        };
        PlanValues {
            shape: self.shape.clone(),
            strides: self.strides.clone(),
            casts: self.casts,
            inputs: self.fused.inputs.iter().map(input).collect(),
        }
    }
}

/// This rank's part of a view, as a replicated array.
fn local_input(
    session: &Session,
    node: &Arc<Node>,
    view: &View,
    target: &Distribution,
) -> Result<(Arc<Node>, View)> {
    let (rank, memory) = (session.fabric().rank(), materialize(session, node)?);
    let local = local_shape(target, rank);
    let part = match &node.placement {
        _ if local.contains(&0) => View::c_order(view.dtype, &local),
        Placement::Replicated => local_slice(view, target, rank),
        Placement::Distributed(placement) => {
            let mapping = axis_mapping(view, &node.base).ok_or(Error::UnmappedTarget)?;
            let operand = PlanOperand::new(&placement.distribution, mapping)?;
            let (cells, lengths) = operand.strided_cells(rank).ok_or(Error::UnmappedTarget)?;
            let piece = LocalPiece { buffer: memory.clone(), view: placement.local_view.clone() };
            piece.cells_view(&cells, &lengths)
        }
    };
    Ok((Node::new(session, part.clone(), Placement::Replicated, NodeState::Stored(memory)), part))
}

/// The block of a view that a rank owns.
fn local_slice(view: &View, target: &Distribution, rank: u64) -> View {
    let coords = target.coords(rank);
    let ranges = target.axes().iter().zip(coords).map(|(map, coord)| owned_range(map, coord));
    ranges.enumerate().fold(view.clone(), |view, (axis, range)| {
        view.slice_axis(axis, range.start as usize, 1, (range.end - range.start) as usize)
    })
}
