//! Element-wise operations: shape, dtype and errors are resolved now, values later.

use dappled_kernels::{Axes, DType, DTypeKind, Op, Scalar, View};
use smallvec::smallvec;

use super::complex_fma::numpy_complex_loop;
use super::node::{ElementwiseOp, Node, NodeInput, NodeState, OperandVec};
use crate::array::Array;
use crate::array::placement::{Placement, placement_like};
use crate::config::MAX_FUSED_OPERATIONS;
use crate::eager::elementwise::OtherOperand;
use crate::eager::single_op::apply_small;
use crate::eager::temporary::EagerSource;
use crate::error::Result;
use crate::run::evaluate::materialize;
use crate::session::Session;
use crate::session::fp_warnings::OpRequest;
use crate::view;
use crate::view::memory_order::{inverse_permutation, permute_axes};

/// An operand of an element-wise operation.
#[derive(Clone, Copy)]
pub enum ElementwiseOperand<'a> {
    /// An array.
    Array(&'a Array),
    /// A scalar, broadcast to all elements.
    Scalar(Scalar),
}

impl<'a> From<&'a Array> for ElementwiseOperand<'a> {
    fn from(array: &'a Array) -> Self {
        ElementwiseOperand::Array(array)
    }
}

impl From<Scalar> for ElementwiseOperand<'_> {
    fn from(value: Scalar) -> Self {
        ElementwiseOperand::Scalar(value)
    }
}

impl ElementwiseOperand<'_> {
    fn input(&self, shape: &[usize]) -> NodeInput {
        match self {
            ElementwiseOperand::Scalar(value) => NodeInput::Scalar(*value),
            ElementwiseOperand::Array(array) => {
                let view = array
                    .view()
                    .broadcast(shape)
                    .expect("operands broadcast to their common shape");
                NodeInput::Array(array.storage.current(), view)
            }
        }
    }

    fn dtype(&self) -> DType {
        match self {
            ElementwiseOperand::Scalar(value) => value.dtype(),
            ElementwiseOperand::Array(array) => array.dtype(),
        }
    }

    fn is_lent(&self) -> bool {
        matches!(self, ElementwiseOperand::Array(array) if array.storage.is_lent())
    }
}

/// Requests an element-wise operation in a loop of this dtype. At least one operand is an array.
pub fn elementwise(
    session: &Session,
    request: OpRequest,
    dtype: DType,
    operands: &[ElementwiseOperand<'_>],
) -> Result<Array> {
    let shape = broadcast_shape(operands)?;
    let inputs: OperandVec<NodeInput> =
        operands.iter().map(|operand| operand.input(&shape)).collect();
    let at_once = operands.iter().any(ElementwiseOperand::is_lent);
    // If no operand is cast or broadcast, NumPy only tests whether all are in F order.
    let is_plain = request.op != Op::Select
        && operands.iter().enumerate().all(|(at, operand)| {
            shape_of(operand).is_none_or(|source| *source == *shape)
                && operand.dtype() == request.op.argument(dtype, at)
        });
    let order = match request.elided {
        Some(at) => result_axis_order(&inputs[usize::from(at)..][..1], shape.len(), true),
        None => result_axis_order(&inputs, shape.len(), is_plain),
    };
    in_memory_order(inputs, &shape, order, |inputs, shape| {
        elementwise_in_c_order(
            session,
            ElementwiseRequest { request, dtype, inputs },
            shape,
            at_once,
        )
    })
}

fn broadcast_shape(operands: &[ElementwiseOperand<'_>]) -> Result<Axes<usize>> {
    let shapes: OperandVec<&[usize]> = operands.iter().filter_map(shape_of).collect();
    match shapes.windows(2).all(|pair| pair[0] == pair[1]) {
        true => Ok(shapes[0].into()),
        false => Ok(view::broadcast_shapes(&shapes)?.into()),
    }
}

fn shape_of<'a>(operand: &ElementwiseOperand<'a>) -> Option<&'a [usize]> {
    match operand {
        ElementwiseOperand::Array(array) => Some(array.shape()),
        ElementwiseOperand::Scalar(_) => None,
    }
}

/// In-place operation `target op= ...`; the result has the shape of the target.
pub fn update(
    target: &Array,
    request: OpRequest,
    dtype: DType,
    operands: &[ElementwiseOperand<'_>],
) -> Result<()> {
    let session = target.session();
    let inputs: OperandVec<NodeInput> =
        operands.iter().map(|operand| operand.input(target.shape())).collect();
    let request = OpRequest {
        op: numpy_complex_loop(request.op, dtype, &inputs, Some(target.view())),
        ..request
    };
    let base = View::c_order(request.op.result(dtype), target.shape());
    let small = base.len() <= session.limits().eager_max;
    let state = match small
        .then(|| apply_small(session, &request, dtype, &inputs, base.len()))
        .transpose()?
        .flatten()
    {
        Some(memory) => NodeState::Stored(memory),
        None => NodeState::Elementwise(ElementwiseOp::new(request, dtype, inputs).into()),
    };
    // If all operands are replicated, each rank writes all elements without a message.
    let is_local = target.is_replicated()
        && matches!(&state, NodeState::Elementwise(map) if !map.is_distributed);
    let placement = match is_local || matches!(state, NodeState::Stored(_)) {
        true => Placement::Replicated,
        false => session.default_placement(base.dtype, target.shape()),
    };
    target.assign_result(Node::new(session, base, placement, state))
}

/// Runs a function with axes permuted to memory order, and permutes the result back; None is C
/// order.
fn in_memory_order(
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
fn result_axis_order(inputs: &[NodeInput], ndim: usize, is_plain: bool) -> Option<Vec<usize>> {
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

/// Casts an array to a result in C order, whatever the order of the operand.
pub fn cast_in_c_order(array: &Array, request: OpRequest) -> Result<Array> {
    let operation = ElementwiseRequest {
        request,
        dtype: array.dtype(),
        inputs: [array.input()].into_iter().collect(),
    };
    elementwise_in_c_order(array.session(), operation, array.shape(), array.storage.is_lent())
}

/// An operation on inputs of one shape.
struct ElementwiseRequest {
    request: OpRequest,
    dtype: DType,
    inputs: OperandVec<NodeInput>,
}

fn elementwise_in_c_order(
    session: &Session,
    operation: ElementwiseRequest,
    shape: &[usize],
    at_once: bool,
) -> Result<Array> {
    let ElementwiseRequest { mut request, dtype, inputs } = operation;
    request.op = numpy_complex_loop(request.op, dtype, &inputs, None);
    let base = View::c_order(request.op.result(dtype), shape);
    let small = base.len() <= session.limits().eager_max;
    if small && let Some(memory) = apply_small(session, &request, dtype, &inputs, base.len())? {
        return Ok(Array::replicated(session, base, memory));
    }
    let placement = placement_like(session, &inputs, base.dtype, shape);
    let mut op = ElementwiseOp::new(request, dtype, inputs);
    if small || at_once || op.exceeds_operations(MAX_FUSED_OPERATIONS) || op.retains_much(&base) {
        let node = Node::new(session, base, placement, NodeState::Elementwise(op.into()));
        materialize(session, &node)?;
        return Ok(Array::from_node(session, node));
    }
    if op.is_distributed || !placement.is_replicated() {
        // Ranks number their deferred operations, so only the communicating thread may defer.
        session.collective_guard().check(op.request.op, session.fabric().size())?;
    }
    session.limit_retained(op.retained_bytes(&base))?;
    Ok(deferred_array(session, base, placement, op))
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

/// Returns true if an operation can be deferred directly: same shape and dtype, C order, one rank.
///
/// Other operations go through [`super::type_resolution::ufunc`].
pub fn can_defer_uniform(op: Op, source: EagerSource<'_>, other: OtherOperand<'_>) -> bool {
    // Temporaries are small, and small operations are eager.
    let EagerSource::Array(array) = source else { return false };
    let (session, view) = (array.session(), array.view());
    // Powers may be reduced to cheaper operations, and may raise; complex numbers have several
    // loops.
    let is_special = op == Op::Power || view.dtype.kind() == DTypeKind::Complex;
    let is_alike = match other {
        OtherOperand::Source(EagerSource::Array(other)) => {
            is_same_layout(other.view(), view) && !other.is_lent()
        }
        OtherOperand::Source(EagerSource::Temporary(_)) => false,
        _ => true,
    };
    !is_special
        && is_alike
        && view.len() > session.limits().eager_max
        && has_c_strides(view)
        && op.has_loop(view.dtype)
        && session.fabric().size() == 1
        && !array.is_lent()
}

/// Defers a uniform operation; None if it would retain too much memory or too many operations.
pub fn defer_uniform(request: OpRequest, array: &Array, other: OtherOperand<'_>) -> Option<Array> {
    let inputs: OperandVec<NodeInput> = match other {
        OtherOperand::None => smallvec![array.input()],
        OtherOperand::Source(other) => smallvec![array.input(), other.array().input()],
        OtherOperand::ScalarRight(value) => smallvec![array.input(), NodeInput::Scalar(value)],
        OtherOperand::ScalarLeft(value) => smallvec![NodeInput::Scalar(value), array.input()],
    };
    let base = View::c_order(request.op.result(array.dtype()), array.shape());
    let mut op = ElementwiseOp::new(request, array.dtype(), inputs);
    let session = array.session();
    let is_much = op.exceeds_operations(MAX_FUSED_OPERATIONS)
        || op.retains_much(&base)
        || session.pending().exceeds_budget(op.retained_bytes(&base));
    (!is_much).then(|| deferred_array(session, base, Placement::Replicated, op))
}

fn is_same_layout(view: &View, other: &View) -> bool {
    view.dtype == other.dtype && view.shape == other.shape && view.strides == other.strides
}

/// Axes of length 1 included: NumPy's memory order depends on their strides.
fn has_c_strides(view: &View) -> bool {
    let mut step = view.dtype.itemsize() as isize;
    view.shape.iter().zip(&view.strides).rev().all(|(&length, &stride)| {
        let fits = stride == step;
        step *= length as isize;
        fits
    })
}
