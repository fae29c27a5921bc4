//! Dispatch: which way an element-wise operation takes.

use dappled_kernels::{DType, DTypeKind, Op, View};
use smallvec::smallvec;

use crate::array::Array;
use crate::array::node::{ElementwiseOp, Node, NodeInput, NodeState, OperandVec};
use crate::array::placement::Placement;
use crate::config::MAX_FUSED_OPERATIONS;
use crate::eager::elementwise::{OtherOperand, eager_buffer, try_eager};
use crate::eager::single_op::apply_small;
use crate::eager::temporary::EagerSource;
use crate::error::Result;
use crate::graph::complex_fma::numpy_complex_loop;
use crate::graph::elementwise::{
    broadcast_shape, deferred_array, in_memory_order, result_axis_order, shape_of,
};
use crate::graph::operand::{ElementwiseOperand, UfuncOperand};
use crate::graph::result_placement::placement_like;
use crate::graph::type_resolution::{elementwise_operands, reduce_power, resolve_loop};
use crate::run::evaluate::materialize;
use crate::session::Session;
use crate::session::buffer_pool::recycle_small;
use crate::session::fp_warnings::OpRequest;

/// Requests an operation with NumPy's type resolution.
pub fn ufunc(
    session: &Session,
    request: impl Into<OpRequest>,
    operands: &[UfuncOperand<'_>],
) -> Result<Array> {
    let request = request.into();
    let dtype = resolve_loop(request.op, operands)?;
    ufunc_with_loop(session, request, dtype, operands)
}

/// Requests an operation in a loop that the caller has resolved.
pub fn ufunc_with_loop(
    session: &Session,
    request: OpRequest,
    dtype: DType,
    operands: &[UfuncOperand<'_>],
) -> Result<Array> {
    let (request, operands) = reduce_power(request, dtype, operands);
    if let Some(result) = try_eager(&request, dtype, operands)? {
        return Ok(result);
    }
    let operands = elementwise_operands(request.op, dtype, operands);
    elementwise(session, request, dtype, &operands)
}

/// In-place operation `target op= operands[1]`, where the target is `operands[0]`.
///
/// The result must be castable to the dtype of the target.
pub fn ufunc_in_place(
    target: &Array,
    request: impl Into<OpRequest>,
    operands: &[UfuncOperand<'_>],
) -> Result<()> {
    let request = request.into();
    let dtype = resolve_loop(request.op, operands)?;
    ufunc_in_place_with_loop(target, request, dtype, operands)
}

/// In-place operation in a loop that the caller has resolved.
pub fn ufunc_in_place_with_loop(
    target: &Array,
    request: OpRequest,
    dtype: DType,
    operands: &[UfuncOperand<'_>],
) -> Result<()> {
    let (request, operands) = reduce_power(request, dtype, operands);
    let operands = elementwise_operands(request.op, dtype, operands);
    update(target, request, dtype, &operands)
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

/// In-place operation on a small local array; false if it is not one.
pub fn eager_in_place(op: Op, target: &Array, other: OtherOperand<'_>) -> Result<bool> {
    eager_into(op, target, EagerSource::Array(target), other)
}

/// Runs an operation into a target of the same shape; false if the operands are not small and
/// local.
pub fn eager_into(
    op: Op,
    target: &Array,
    source: EagerSource<'_>,
    other: OtherOperand<'_>,
) -> Result<bool> {
    let (view, dtype) = (target.view(), source.dtype());
    // Powers may be reduced to cheaper operations, and may raise before writing; complex numbers
    // have several loops.
    let is_special = op == Op::Power || dtype.kind() == DTypeKind::Complex;
    if is_special
        || *view.shape != *source.shape()
        || !view.is_contiguous()
        || !op.has_loop(dtype)
        || op.result(dtype) != view.dtype
    {
        return Ok(false);
    }
    let Some(out) = eager_buffer(op, source, other)? else { return Ok(false) };
    let (start, bytes) = (view.offset, view.len() * view.dtype.itemsize());
    let written = target.storage.with_writable(|memory| {
        memory.write().ok()?[start..start + bytes].copy_from_slice(&out.read().ok()?);
        Some(())
    });
    match written {
        Some(()) => recycle_small(out),
        None => {
            let base = View::c_order(view.dtype, &view.shape);
            target.assign(&Array::replicated(target.session(), base, out))?;
        }
    }
    Ok(true)
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

impl Array {
    /// Casts the array to another dtype.
    pub fn cast(&self, dtype: DType) -> Result<Array> {
        elementwise(
            self.session(),
            Op::Cast(dtype).into(),
            self.dtype(),
            &[ElementwiseOperand::Array(self)],
        )
    }

    /// `self + with`
    pub fn add<'a>(&'a self, other: impl Into<UfuncOperand<'a>>) -> Result<Array> {
        ufunc(self.session(), Op::Add, &[self.into(), other.into()])
    }

    /// `self - with`
    pub fn subtract<'a>(&'a self, other: impl Into<UfuncOperand<'a>>) -> Result<Array> {
        ufunc(self.session(), Op::Subtract, &[self.into(), other.into()])
    }

    /// `self * with`
    pub fn multiply<'a>(&'a self, other: impl Into<UfuncOperand<'a>>) -> Result<Array> {
        ufunc(self.session(), Op::Multiply, &[self.into(), other.into()])
    }

    /// `self / with`
    pub fn divide<'a>(&'a self, other: impl Into<UfuncOperand<'a>>) -> Result<Array> {
        ufunc(self.session(), Op::Divide, &[self.into(), other.into()])
    }
}
