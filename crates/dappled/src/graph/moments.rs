//! Means and variances, step by step as NumPy does them, so that the bits are NumPy's.

use std::sync::Arc;

use dappled_kernels::{DType, Flags, Fold, Kind, Op, Scalar, Weak};

use super::notice::{Origin, Request};
use super::{Array, Folding, Given, GraphError, Operand, map, ufunc_in};

/// A moment of the values along some axes. Less so many degrees of freedom (NumPy's `ddof`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The mean.
    Mean,
    /// The variance.
    Variance(i64),
    /// The standard deviation.
    Deviation(i64),
}

impl Moment {
    fn less(self) -> i64 {
        match self {
            Moment::Mean => 0,
            Moment::Variance(less) | Moment::Deviation(less) => less,
        }
    }
}

/// A moment as it is asked for.
pub struct MomentOf {
    /// Which.
    pub moment: Moment,
    /// The axes that go away.
    pub axes: Vec<usize>,
    /// Where, for what may be computed later.
    pub origin: Option<Arc<Origin>>,
}

impl MomentOf {
    /// The dtype that NumPy computes it in; None for what it does in another way.
    fn dtype(&self, array: &Array) -> Option<DType> {
        match array.dtype().kind() {
            Kind::Signed | Kind::Unsigned => Some(DType::Float64),
            Kind::Bool if self.moment == Moment::Mean => Some(DType::Float64),
            Kind::Float => Some(array.dtype()).filter(|&dtype| dtype != DType::Float16),
            _ => None,
        }
    }

    fn sum(&self, dtype: DType) -> Folding {
        let (fold, axes) = (Fold::Add, self.axes.clone());
        // Who wants to be told at once does not ask here.
        Folding { fold, axes, dtype, initial: fold.identity(dtype), reports: false }
    }

    fn request(&self, op: Op, name: &'static str) -> Request {
        Request { op, name, origin: self.origin.clone() }
    }
}

impl Array {
    /// A moment along some axes, which stay, with length 1. None where NumPy warns or does it in
    /// another way: of no values, of float16, of complex numbers. Collective.
    pub fn moment(&self, of: &MomentOf) -> Result<Option<Array>, GraphError> {
        let values: usize = of.axes.iter().map(|&axis| self.shape()[axis]).product();
        let divisor = values as i64 - of.moment.less();
        let Some(dtype) = of.dtype(self).filter(|_| values > 0 && divisor > 0) else {
            return Ok(None);
        };
        let mean = divided(of, self.folded(&of.sum(dtype))?, values as i64)?;
        if of.moment == Moment::Mean {
            return Ok(Some(mean));
        }
        let squares = squares(of, self, Given::Array(&mean))?;
        let variance = divided(of, squares.folded(&of.sum(dtype))?, divisor)?;
        if matches!(of.moment, Moment::Variance(_)) {
            return Ok(Some(variance));
        }
        let root = of.request(Op::Sqrt, "sqrt");
        let root = ufunc_in(self.session(), root, dtype, &[Given::Array(&variance)])?;
        Ok(Some(lying_as(&variance, root)))
    }

    /// The same of all values. Collective.
    pub fn moment_of_all(&self, of: &MomentOf) -> Result<Option<Scalar>, GraphError> {
        let divisor = self.view().len() as i64 - of.moment.less();
        let Some(dtype) = of.dtype(self).filter(|_| !self.view().is_empty() && divisor > 0) else {
            return Ok(None);
        };
        let sum = self.total(&of.sum(dtype))?;
        // NumPy keeps the axes of a mean that it subtracts, and divides an array then.
        let name = if of.moment == Moment::Mean { "scalar divide" } else { "divide" };
        let mean = self.quotient(name, sum, self.view().len() as i64);
        if of.moment == Moment::Mean {
            return Ok(Some(mean));
        }
        let squares = squares(of, self, Given::Strong(mean))?;
        let variance = self.quotient("scalar divide", squares.total(&of.sum(dtype))?, divisor);
        Ok(Some(match of.moment {
            Moment::Deviation(_) => root(variance),
            _ => variance,
        }))
    }

    /// NumPy's scalars: a float divided by an int64 is a float64, cast back.
    fn quotient(&self, name: &'static str, sum: Scalar, divisor: i64) -> Scalar {
        let wide = sum.cast(DType::Float64).get::<f64>().unwrap_or(f64::NAN);
        let quotient = wide / divisor as f64;
        let is_exact = quotient.mul_add(divisor as f64, -wide) == 0.0;
        if quotient.abs() < f64::MIN_POSITIVE && !is_exact {
            self.session().notices().add(name, Flags::UNDERFLOW, None);
        }
        Scalar::new(quotient).cast(sum.dtype())
    }
}

fn root(value: Scalar) -> Scalar {
    match value.get::<f32>() {
        Some(value) => Scalar::new(value.sqrt()),
        None => Scalar::new(value.get::<f64>().unwrap_or(f64::NAN).sqrt()),
    }
}

/// The squares of what the values are away from a mean.
fn squares(of: &MomentOf, values: &Array, mean: Given<'_>) -> Result<Array, GraphError> {
    let (session, dtype) = (values.session(), mean.dtype().unwrap_or(DType::Float64));
    let given = [Given::Array(values), mean];
    let away = ufunc_in(session, of.request(Op::Subtract, "subtract"), dtype, &given)?;
    ufunc_in(session, of.request(Op::Square, "square"), dtype, &[Given::Array(&away)])
}

/// A sum divided as NumPy's `true_divide` does it by an int64: in float64.
fn divided(of: &MomentOf, sum: Array, divisor: i64) -> Result<Array, GraphError> {
    let (session, dtype) = (sum.session(), sum.dtype());
    let cast = |array: &Array, to: DType| {
        let operand = [Operand::Array(array)];
        map(session, of.request(Op::Cast(to), "divide"), array.dtype(), &operand)
    };
    let wide = if dtype == DType::Float64 { sum.clone() } else { cast(&sum, DType::Float64)? };
    let divisor = Given::Weak(Weak::Float, Scalar::new(divisor as f64));
    let request = of.request(Op::Divide, "divide");
    let quotient = ufunc_in(session, request, DType::Float64, &[Given::Array(&wide), divisor])?;
    let quotient = if dtype == DType::Float64 { quotient } else { cast(&quotient, dtype)? };
    Ok(lying_as(&sum, quotient))
}

/// NumPy divides in place, so that axes of length 1 keep the strides that they had. (In pieces a
/// view is its base, or a part of it.)
fn lying_as(array: &Array, result: Array) -> Array {
    if array.session().fabric().size() > 1 {
        return result;
    }
    let mut view = result.view().clone();
    for (axis, stride) in view.strides.iter_mut().enumerate() {
        if view.shape[axis] == 1 {
            *stride = array.view().strides[axis];
        }
    }
    result.with_view(view)
}
