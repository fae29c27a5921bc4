//! Means, variances and standard deviations, in NumPy's steps to obtain NumPy's bits.

use std::sync::Arc;

use dappled_kernels::{DType, DTypeKind, FpFlags, Op, ReduceOp, Scalar, WeakScalar};

use super::ReduceRequest;
use crate::array::Array;
use crate::dispatch::{eager_buffer, elementwise, ufunc, ufunc_with_loop};
use crate::eager::elementwise::OtherOperand;
use crate::eager::temporary::{EagerSource, Temporary};
use crate::error::Result;
use crate::graph::operand::ElementwiseOperand;
use crate::graph::operand::UfuncOperand;
use crate::session::fp_warnings::{OpRequest, RequestContext};

/// A statistical moment; the argument is NumPy's `ddof`, the delta degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The mean.
    Mean,
    /// The variance.
    Variance(i64),
    /// The standard deviation.
    StandardDeviation(i64),
}

impl Moment {
    fn ddof(self) -> i64 {
        match self {
            Moment::Mean => 0,
            Moment::Variance(less) | Moment::StandardDeviation(less) => less,
        }
    }
}

/// The arguments of a moment.
pub struct MomentRequest {
    /// The moment.
    pub moment: Moment,
    /// The axes to reduce.
    pub axes: Vec<usize>,
    /// The call site, for warnings of deferred operations.
    pub origin: Option<Arc<RequestContext>>,
}

impl MomentRequest {
    /// The dtype in which NumPy computes the moment; `None` if NumPy uses another algorithm.
    fn accumulator_dtype(&self, array: &Array) -> Option<DType> {
        match array.dtype().kind() {
            DTypeKind::Signed | DTypeKind::Unsigned => Some(DType::Float64),
            DTypeKind::Bool if self.moment == Moment::Mean => Some(DType::Float64),
            DTypeKind::Float => Some(array.dtype()).filter(|&dtype| dtype != DType::Float16),
            _ => None,
        }
    }

    /// The request for a sum over the axes.
    fn sum_request(&self, dtype: DType) -> ReduceRequest {
        // Callers that must raise on every rank do not use this function.
        ReduceRequest::new(ReduceOp::Add, self.axes.clone(), dtype)
    }

    fn op_request(&self, op: Op, name: &'static str) -> OpRequest {
        OpRequest { name, context: self.origin.clone(), ..op.into() }
    }
}

impl Array {
    /// Computes a moment along some axes, which are kept with length 1. Collective.
    ///
    /// Returns `None` if NumPy warns or uses another algorithm: for no values, for float16 and for
    /// complex numbers.
    pub fn moment(&self, args: &MomentRequest) -> Result<Option<Array>> {
        let values: usize = args.axes.iter().map(|&axis| self.shape()[axis]).product();
        let divisor = values as i64 - args.moment.ddof();
        let Some(dtype) = args.accumulator_dtype(self).filter(|_| values > 0 && divisor > 0) else {
            return Ok(None);
        };
        let mean =
            divide_sum(args, self.reduce_eager_first(&args.sum_request(dtype))?, values as i64)?;
        if args.moment == Moment::Mean {
            return Ok(Some(mean));
        }
        let squares = squared_deviations(args, self, UfuncOperand::Array(&mean))?;
        let variance =
            divide_sum(args, squares.reduce_eager_first(&args.sum_request(dtype))?, divisor)?;
        if matches!(args.moment, Moment::Variance(_)) {
            return Ok(Some(variance));
        }
        let root = args.op_request(Op::Sqrt, "sqrt");
        let root = ufunc_with_loop(self.session(), root, dtype, &[UfuncOperand::Array(&variance)])?;
        Ok(Some(with_strides_of(&variance, root)))
    }

    /// Computes a moment of all values. Collective.
    ///
    /// Returns `None` in the same cases as [`Array::moment`].
    pub fn moment_over_all(&self, args: &MomentRequest) -> Result<Option<Scalar>> {
        let divisor = self.view().len() as i64 - args.moment.ddof();
        let Some(dtype) =
            args.accumulator_dtype(self).filter(|_| !self.view().is_empty() && divisor > 0)
        else {
            return Ok(None);
        };
        let sum = self.reduce_all(&args.sum_request(dtype))?;
        // NumPy keeps the axes of a mean that it subtracts, so it divides an array.
        let name = if args.moment == Moment::Mean { "scalar divide" } else { "divide" };
        let mean = self.quotient(name, sum, self.view().len() as i64);
        if args.moment == Moment::Mean {
            return Ok(Some(mean));
        }
        let squares = match eager_squared_deviations(self, mean)? {
            Some(squares) => squares,
            None => squared_deviations(args, self, UfuncOperand::Strong(mean))?,
        };
        let variance =
            self.quotient("scalar divide", squares.reduce_all(&args.sum_request(dtype))?, divisor);
        Ok(Some(match args.moment {
            Moment::StandardDeviation(_) => scalar_sqrt(variance),
            _ => variance,
        }))
    }

    /// Computes a moment for which the core has no program, in NumPy's steps. Collective.
    ///
    /// That is of float16, of complex numbers, of bools, and of no values, whose moments are NaN.
    /// `dtype` is that of the mean.
    pub(crate) fn moment_in_steps(&self, args: &MomentRequest, dtype: DType) -> Result<Array> {
        let session = self.session();
        let op = |op: Op, operands: &[UfuncOperand<'_>]| ufunc(session, op, operands);
        let mean_of = |values: &Array, dtype: DType, divisor: i64| {
            let divisor = UfuncOperand::Weak(WeakScalar::Float, Scalar::new(divisor as f64));
            op(Op::Divide, &[(&values.reduce(&args.sum_request(dtype))?).into(), divisor])
        };
        let count = args.axes.iter().map(|&axis| self.shape()[axis]).product::<usize>() as i64;
        if args.moment == Moment::Mean {
            // NumPy adds float16 in float32.
            let wide = if dtype == DType::Float16 { DType::Float32 } else { dtype };
            let mean = mean_of(self, wide, count)?;
            return if wide == dtype { Ok(mean) } else { mean.cast(dtype) };
        }
        let values = if self.dtype() == dtype { self.clone() } else { self.cast(dtype)? };
        let mean = mean_of(&values, dtype, count)?;
        let deviations = op(Op::Subtract, &[(&values).into(), (&mean).into()])?;
        let squares = match dtype.kind() == DTypeKind::Complex {
            true => {
                let part =
                    |part: Op| op(Op::Square, &[(&op(part, &[(&deviations).into()])?).into()]);
                op(Op::Add, &[(&part(Op::Real)?).into(), (&part(Op::Imag)?).into()])?
            }
            false => op(Op::Square, &[(&deviations).into()])?,
        };
        let divisor = (count - args.moment.ddof()).max(0);
        let variance = mean_of(&squares, squares.dtype(), divisor)?;
        match args.moment {
            Moment::StandardDeviation(_) => op(Op::Sqrt, &[(&variance).into()]),
            _ => Ok(variance),
        }
    }

    /// Divides NumPy scalars: a float divided by an int64 is computed in float64 and cast back.
    fn quotient(&self, name: &'static str, sum: Scalar, divisor: i64) -> Scalar {
        let wide = sum.cast(DType::Float64).get::<f64>().unwrap_or(f64::NAN);
        let quotient = wide / divisor as f64;
        let is_exact = quotient.mul_add(divisor as f64, -wide) == 0.0;
        if quotient.abs() < f64::MIN_POSITIVE && !is_exact {
            self.session().fp_warnings().add(name, FpFlags::UNDERFLOW, None);
        }
        Scalar::new(quotient).cast(sum.dtype())
    }
}

fn scalar_sqrt(value: Scalar) -> Scalar {
    match value.get::<f32>() {
        Some(value) => Scalar::new(value.sqrt()),
        None => Scalar::new(value.get::<f64>().unwrap_or(f64::NAN).sqrt()),
    }
}

/// The squared deviations of few local values from a mean; `None` for others.
///
/// Skips the type resolution and broadcasting of [`squared_deviations`], a third of the time of a
/// variance of 100 values.
fn eager_squared_deviations(values: &Array, mean: Scalar) -> Result<Option<Array>> {
    let source = EagerSource::Array(values);
    if mean.dtype() != values.dtype() {
        return Ok(None);
    }
    let mean = OtherOperand::ScalarRight(mean);
    let Some(memory) = eager_buffer(Op::Subtract, source, mean)? else { return Ok(None) };
    let deviations = Temporary::new(Op::Subtract, source, memory);
    let deviations = EagerSource::Temporary(&deviations);
    let squares = eager_buffer(Op::Square, deviations, OtherOperand::None)?;
    Ok(squares.map(|memory| Temporary::new(Op::Square, source, memory).array().clone()))
}

/// The squared deviations of the values from a mean.
fn squared_deviations(
    args: &MomentRequest,
    values: &Array,
    mean: UfuncOperand<'_>,
) -> Result<Array> {
    let (session, dtype) = (values.session(), mean.dtype().unwrap_or(DType::Float64));
    let operands = [UfuncOperand::Array(values), mean];
    let deviations =
        ufunc_with_loop(session, args.op_request(Op::Subtract, "subtract"), dtype, &operands)?;
    ufunc_with_loop(
        session,
        args.op_request(Op::Square, "square"),
        dtype,
        &[UfuncOperand::Array(&deviations)],
    )
}

/// Divides a sum by an int64 as NumPy's `true_divide` does: in float64.
fn divide_sum(args: &MomentRequest, sum: Array, divisor: i64) -> Result<Array> {
    let (session, dtype) = (sum.session(), sum.dtype());
    let cast = |array: &Array, to: DType| {
        let operand = [ElementwiseOperand::Array(array)];
        elementwise(session, args.op_request(Op::Cast(to), "divide"), array.dtype(), &operand)
    };
    let wide = if dtype == DType::Float64 { sum.clone() } else { cast(&sum, DType::Float64)? };
    let divisor = UfuncOperand::Weak(WeakScalar::Float, Scalar::new(divisor as f64));
    let request = args.op_request(Op::Divide, "divide");
    let quotient =
        ufunc_with_loop(session, request, DType::Float64, &[UfuncOperand::Array(&wide), divisor])?;
    let quotient = if dtype == DType::Float64 { quotient } else { cast(&quotient, dtype)? };
    Ok(with_strides_of(&sum, quotient))
}

/// Gives axes of length 1 the strides of another array, as NumPy's division in place does.
///
/// On several ranks the result is returned as it is, because there a view follows the axes of its
/// base.
fn with_strides_of(like: &Array, result: Array) -> Array {
    if like.session().fabric().size() > 1 {
        return result;
    }
    let mut view = result.view().clone();
    for (axis, stride) in view.strides.iter_mut().enumerate() {
        if view.shape[axis] == 1 {
            *stride = like.view().strides[axis];
        }
    }
    result.with_view(view)
}
