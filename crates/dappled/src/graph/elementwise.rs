//! Deferred element-wise operations: their shape, memory order and node.

use dappled_kernels::{Axes, View};

use super::operand::ElementwiseOperand;
use crate::array::Array;
use crate::array::node::{ElementwiseOp, Node, NodeInput, NodeState, OperandVec};
use crate::array::placement::Placement;
use crate::error::Result;
use crate::session::Session;
use crate::view;
use crate::view::memory_order::{inverse_permutation, permute_axes};

/// The common shape of the operands.
pub(crate) fn broadcast_shape(operands: &[ElementwiseOperand<'_>]) -> Result<Axes<usize>> {
    let shapes: OperandVec<&[usize]> = operands.iter().filter_map(shape_of).collect();
    match shapes.windows(2).all(|pair| pair[0] == pair[1]) {
        true => Ok(shapes[0].into()),
        false => Ok(view::broadcast_shapes(&shapes)?.into()),
    }
}

/// The shape of an operand; None for a scalar.
pub(crate) fn shape_of<'a>(operand: &ElementwiseOperand<'a>) -> Option<&'a [usize]> {
    match operand {
        ElementwiseOperand::Array(array) => Some(array.shape()),
        ElementwiseOperand::Scalar(_) => None,
    }
}

/// Runs a function with axes permuted to memory order, and permutes the result back; None is C
/// order.
pub(crate) fn in_memory_order(
    inputs: OperandVec<NodeInput>,
    shape: &[usize],
    order: Option<Vec<usize>>,
    ask: impl FnOnce(OperandVec<NodeInput>, &[usize]) -> Result<Array>,
) -> Result<Array> {
    let Some(order) = order else { return ask(inputs, shape) };
    let permuted = inputs.into_iter().map(|arg| match arg {
        NodeInput::Array(node, view) => NodeInput::Array(node, permute_axes(&view, &order)),
        scalar => scalar,
    });
    let permuted_shape: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    Ok(ask(permuted.collect(), &permuted_shape)?.transposed(&inverse_permutation(&order)))
}

/// The memory order of the result, which follows the operands; None for C order.
pub(crate) fn result_axis_order(
    inputs: &[NodeInput],
    ndim: usize,
    is_plain: bool,
) -> Option<Vec<usize>> {
    let views = inputs.iter().filter_map(|arg| match arg {
        NodeInput::Array(_, view) => Some(view),
        NodeInput::Scalar(_) => None,
    });
    let views = views.collect::<OperandVec<&View>>();
    match is_plain && views.iter().all(|view| view::is_f_ordered(view)) {
        true => Some((0..ndim).rev().collect()),
        false => view::memory_order(&views, ndim),
    }
}

/// Creates the array of a deferred operation.
pub(crate) fn deferred_array(
    session: &Session,
    base: View,
    placement: Placement,
    op: ElementwiseOp,
) -> Array {
    let (is_collective, retained) =
        (op.is_distributed || !placement.is_replicated(), op.retained_bytes(&base));
    let array = Array::from_node(
        session,
        Node::new(session, base, placement, NodeState::Elementwise(op.into())),
    );
    session.pending().add(&array.storage, is_collective, retained);
    array
}
