//! Which loop an operation runs in: NumPy's type resolution (NEP 50).

use dappled_kernels::{DType, Op, Scalar, Weak, promote, promote_weak};

use super::map::update;
use super::node::Few;
use super::notice::Request;
use super::quick::quick;
use super::{Array, GraphError, Operand, Session, map};

/// What a Python program hands to an operation.
#[derive(Clone, Copy)]
pub enum Given<'a> {
    /// An array.
    Array(&'a Array),
    /// A value that has a dtype of its own, such as NumPy's scalars.
    Strong(Scalar),
    /// A Python number, which bends to the dtype that it meets.
    Weak(Weak, Scalar),
}

impl Given<'_> {
    /// Its own dtype; a Python number has none.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Given::Array(array) => Some(array.dtype()),
            Given::Strong(value) => Some(value.dtype()),
            Given::Weak(..) => None,
        }
    }
}

/// The dtype in which arguments meet.
fn common(given: &[Given<'_>]) -> DType {
    let strong = given.iter().filter_map(Given::dtype).reduce(promote);
    let weak = given.iter().filter_map(|given| match given {
        Given::Weak(weak, _) => Some(*weak),
        _ => None,
    });
    weak.fold(strong, |dtype, weak| {
        Some(dtype.map_or(default(weak), |dtype| promote_weak(dtype, weak)))
    })
    .unwrap_or(DType::Float64)
}

/// The dtype of a Python number by itself.
fn default(weak: Weak) -> DType {
    match weak {
        Weak::Bool => DType::Bool,
        Weak::Int => DType::Int64,
        Weak::Float => DType::Float64,
        Weak::Complex => DType::Complex128,
    }
}

/// The loop of an operation for arguments that meet in this dtype.
pub fn loop_dtype(op: Op, dtype: DType) -> Result<DType, GraphError> {
    let native = op.loop_for(dtype).filter(|&dtype| op.has_loop(dtype));
    native.ok_or(GraphError::NoLoop { op, dtype })
}

/// The loop of an operation for these arguments.
pub fn loop_of(op: Op, given: &[Given<'_>]) -> Result<DType, GraphError> {
    // What is chosen by takes no part.
    let given = if op == Op::Select { &given[1..] } else { given };
    let dtype = common(given);
    let strong: Few<DType> = given.iter().filter_map(Given::dtype).collect();
    let has_own = op == Op::Divide || op.loop_for(dtype) == Some(dtype);
    if has_own || strong.len() < given.len() {
        return loop_dtype(op, dtype);
    }
    // The first loop that all can be cast to, which may be before the one that they meet in: a signed
    // and an unsigned byte fit in float16, and meet in int16.
    let each = strong.iter().map(|&dtype| loop_dtype(op, dtype).unwrap_or(dtype));
    loop_dtype(op, each.reduce(promote).unwrap_or(dtype))
}

/// An operation as NumPy does it.
pub fn ufunc(
    session: &Session,
    request: impl Into<Request>,
    given: &[Given<'_>],
) -> Result<Array, GraphError> {
    let request = request.into();
    let dtype = loop_of(request.op, given)?;
    ufunc_in(session, request, dtype, given)
}

/// The same in a loop that the caller has found.
pub fn ufunc_in(
    session: &Session,
    request: Request,
    dtype: DType,
    given: &[Given<'_>],
) -> Result<Array, GraphError> {
    let (request, given) = cheaper(request, dtype, given);
    if let Some(result) = quick(&request, dtype, given)? {
        return Ok(result);
    }
    let operands = operands(request.op, dtype, given);
    map(session, request, dtype, &operands)
}

/// `target op= given[1]`, the target being the first that is given. The result's dtype must be one
/// that may be written there.
pub fn ufunc_in_place(
    target: &Array,
    request: impl Into<Request>,
    given: &[Given<'_>],
) -> Result<(), GraphError> {
    let request = request.into();
    let dtype = loop_of(request.op, given)?;
    ufunc_over(target, request, dtype, given)
}

/// The same in a loop that the caller has found.
pub fn ufunc_over(
    target: &Array,
    request: Request,
    dtype: DType,
    given: &[Given<'_>],
) -> Result<(), GraphError> {
    let (request, given) = cheaper(request, dtype, given);
    let operands = operands(request.op, dtype, given);
    update(target, request, dtype, &operands)
}

/// NumPy's loops of powers of floats do some exponents by cheaper operations, which shows in the
/// last digit, and for signed zeros and infinities.
fn cheaper<'a, 'b>(
    request: Request,
    dtype: DType,
    given: &'b [Given<'a>],
) -> (Request, &'b [Given<'a>]) {
    let exponent = match given.get(1) {
        Some(Given::Strong(value) | Given::Weak(_, value)) if request.op == Op::Power => {
            value.cast(DType::Float64).get::<f64>()
        }
        _ => None,
    };
    let op = match exponent.filter(|_| matches!(dtype, DType::Float32 | DType::Float64)) {
        Some(2.0) => Op::Square,
        Some(1.0) => Op::Positive,
        Some(0.5) => Op::Sqrt,
        Some(-1.0) => Op::Reciprocal,
        _ => return (request, given),
    };
    (Request { op, ..request }, &given[..1])
}

fn operands<'a>(op: Op, dtype: DType, given: &[Given<'a>]) -> Few<Operand<'a>> {
    let operand = |(at, given): (usize, &Given<'a>)| match *given {
        Given::Array(array) => Operand::Array(array),
        Given::Strong(value) | Given::Weak(_, value) => {
            Operand::Scalar(value.cast(op.argument(dtype, at)))
        }
    };
    given.iter().enumerate().map(operand).collect()
}

impl<'a> From<&'a Array> for Given<'a> {
    fn from(array: &'a Array) -> Self {
        Given::Array(array)
    }
}

impl From<f64> for Given<'_> {
    fn from(number: f64) -> Self {
        Given::Weak(Weak::Float, Scalar::new(number))
    }
}

impl Array {
    /// The same values in another dtype.
    pub fn cast(&self, dtype: DType) -> Result<Array, GraphError> {
        map(self.session(), Op::Cast(dtype).into(), self.dtype(), &[Operand::Array(self)])
    }

    /// `self + with`
    pub fn add<'a>(&'a self, with: impl Into<Given<'a>>) -> Result<Array, GraphError> {
        ufunc(self.session(), Op::Add, &[self.into(), with.into()])
    }

    /// `self - with`
    pub fn subtract<'a>(&'a self, with: impl Into<Given<'a>>) -> Result<Array, GraphError> {
        ufunc(self.session(), Op::Subtract, &[self.into(), with.into()])
    }

    /// `self * with`
    pub fn multiply<'a>(&'a self, with: impl Into<Given<'a>>) -> Result<Array, GraphError> {
        ufunc(self.session(), Op::Multiply, &[self.into(), with.into()])
    }

    /// `self / with`
    pub fn divide<'a>(&'a self, with: impl Into<Given<'a>>) -> Result<Array, GraphError> {
        ufunc(self.session(), Op::Divide, &[self.into(), with.into()])
    }
}
