//! Type resolution: which loop an operation runs in, as NEP 50 defines it.

use dappled_kernels::{DType, Op, Scalar, WeakScalar, promote, promote_weak};

use super::elementwise::ElementwiseOperand;
use super::elementwise::elementwise;
use super::elementwise::update;
use super::node::OperandVec;
use crate::array::Array;
use crate::eager::elementwise::try_eager;
use crate::error::{Error, Result};
use crate::session::Session;
use crate::session::fp_warnings::OpRequest;

/// An operand of a ufunc, as the program passed it.
#[derive(Clone, Copy)]
pub enum UfuncOperand<'a> {
    /// An array.
    Array(&'a Array),
    /// A scalar with a dtype, such as NumPy's scalars.
    Strong(Scalar),
    /// A Python number, which adapts to the dtypes of the other operands.
    Weak(WeakScalar, Scalar),
}

impl UfuncOperand<'_> {
    /// The dtype of the operand; None for a Python number.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            UfuncOperand::Array(array) => Some(array.dtype()),
            UfuncOperand::Strong(value) => Some(value.dtype()),
            UfuncOperand::Weak(..) => None,
        }
    }
}

/// The common dtype of the operands.
fn common_dtype(operands: &[UfuncOperand<'_>]) -> DType {
    let strong = operands.iter().filter_map(UfuncOperand::dtype).reduce(promote);
    let weak = operands.iter().filter_map(|operands| match operands {
        UfuncOperand::Weak(weak, _) => Some(*weak),
        _ => None,
    });
    weak.fold(strong, |dtype, weak| {
        Some(dtype.map_or(default_dtype(weak), |dtype| promote_weak(dtype, weak)))
    })
    .unwrap_or(DType::Float64)
}

/// The dtype of a Python number without other operands.
fn default_dtype(weak: WeakScalar) -> DType {
    match weak {
        WeakScalar::Bool => DType::Bool,
        WeakScalar::Int => DType::Int64,
        WeakScalar::Float => DType::Float64,
        WeakScalar::Complex => DType::Complex128,
    }
}

/// The loop of an operation for operands of one common dtype.
pub fn loop_dtype(op: Op, dtype: DType) -> Result<DType> {
    let native = op.loop_for(dtype).filter(|&dtype| op.has_loop(dtype));
    native.ok_or(Error::NoLoop { op, dtype })
}

/// The loop of an operation for these operands.
pub fn resolve_loop(op: Op, operands: &[UfuncOperand<'_>]) -> Result<DType> {
    // The condition does not take part.
    let operands = if op == Op::Select { &operands[1..] } else { operands };
    let dtype = common_dtype(operands);
    let strong: OperandVec<DType> = operands.iter().filter_map(UfuncOperand::dtype).collect();
    let has_own = op == Op::Divide || op.loop_for(dtype) == Some(dtype);
    if has_own || strong.len() < operands.len() {
        return loop_dtype(op, dtype);
    }
    // NumPy takes the first loop that all operands can be cast to, which may precede the loop of
    // the common dtype: int8 and uint8 fit in float16, and their common dtype is int16.
    let each = strong.iter().map(|&dtype| loop_dtype(op, dtype).unwrap_or(dtype));
    loop_dtype(op, each.reduce(promote).unwrap_or(dtype))
}

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

/// Replaces powers of floats with special exponents, as NumPy's loops do.
///
/// The replacement differs in the last digit, and for signed zeros and infinities.
fn reduce_power<'a, 'b>(
    request: OpRequest,
    dtype: DType,
    operands: &'b [UfuncOperand<'a>],
) -> (OpRequest, &'b [UfuncOperand<'a>]) {
    let exponent = match operands.get(1) {
        Some(UfuncOperand::Strong(value) | UfuncOperand::Weak(_, value))
            if request.op == Op::Power =>
        {
            value.cast(DType::Float64).get::<f64>()
        }
        _ => None,
    };
    let op = match exponent.filter(|_| matches!(dtype, DType::Float32 | DType::Float64)) {
        Some(2.0) => Op::Square,
        Some(1.0) => Op::Positive,
        Some(0.5) => Op::Sqrt,
        Some(-1.0) => Op::Reciprocal,
        _ => return (request, operands),
    };
    (OpRequest { op, ..request }, &operands[..1])
}

fn elementwise_operands<'a>(
    op: Op,
    dtype: DType,
    operands: &[UfuncOperand<'a>],
) -> OperandVec<ElementwiseOperand<'a>> {
    let operand = |(at, operands): (usize, &UfuncOperand<'a>)| match *operands {
        UfuncOperand::Array(array) => ElementwiseOperand::Array(array),
        UfuncOperand::Strong(value) | UfuncOperand::Weak(_, value) => {
            ElementwiseOperand::Scalar(value.cast(op.argument(dtype, at)))
        }
    };
    operands.iter().enumerate().map(operand).collect()
}

impl<'a> From<&'a Array> for UfuncOperand<'a> {
    fn from(array: &'a Array) -> Self {
        UfuncOperand::Array(array)
    }
}

impl From<f64> for UfuncOperand<'_> {
    fn from(value: f64) -> Self {
        UfuncOperand::Weak(WeakScalar::Float, Scalar::new(value))
    }
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
