//! Reductions: sums, means, extrema, their positions, and cumulative sums.
//!
//! A method without an axis reduces all elements to a number; the `_axis` form removes one axis,
//! which may be negative to count from the last. All methods are collective.

use dappled_kernels::{ArgReduceOp, DType, Element as _, Error as KernelError, ReduceOp, Scalar};

use super::element::{ArrayElement, RealElement};
use super::{Array, cast_scalar};
use crate::array::Array as DynArray;
use crate::error::{Error, Result};
use crate::graph::reduce_request::ReduceRequest;
use crate::ops::reduce::mean_var::{Moment, MomentRequest};
use crate::view::normalize_axis;

/// Defines a reduction of all elements, and of one axis.
macro_rules! reductions {
    ($($method:ident $axis_method:ident $Op:ident -> $Output:ty, $text:literal;)*) => {
        impl<T: ArrayElement> Array<T> {$(
            #[doc = concat!("The ", $text, " of all elements. Collective.")]
            pub fn $method(&self) -> Result<$Output> {
                let dtype = <$Output as dappled_kernels::Element>::DTYPE;
                reduce_all(&self.dynamic, ReduceOp::$Op, dtype).map(cast_scalar)
            }

            #[doc = concat!("The ", $text, " along an axis, which is removed. Collective.")]
            pub fn $axis_method(&self, axis: isize) -> Result<Array<$Output>> {
                let dtype = <$Output as dappled_kernels::Element>::DTYPE;
                reduce_axis(&self.dynamic, ReduceOp::$Op, axis, dtype).map(Array::from_dynamic)
            }
        )*}
    };
}

reductions! {
    sum sum_axis Add -> T::Sum, "sum";
    prod prod_axis Multiply -> T::Sum, "product";
    min min_axis Minimum -> T, "minimum";
    max max_axis Maximum -> T, "maximum";
    all all_axis All -> dappled_kernels::Bool, "conjunction";
    any any_axis Any -> dappled_kernels::Bool, "disjunction";
}

/// Defines a moment of all elements, and along one axis.
macro_rules! moments {
    ($($method:ident $axis_method:ident ($($ddof:ident)?) $moment:expr => $Output:ty, $text:literal;)*) => {
        impl<T: ArrayElement> Array<T> {$(
            #[doc = concat!("The ", $text, " of all elements; NaN if there are none. Collective.")]
            pub fn $method(&self $(, $ddof: i64)?) -> Result<$Output> {
                moment_all(&self.dynamic, $moment, T::Mean::DTYPE).map(cast_scalar)
            }

            #[doc = concat!("The ", $text, " along an axis, which is removed. Collective.")]
            pub fn $axis_method(&self, axis: isize $(, $ddof: i64)?) -> Result<Array<$Output>> {
                moment_axis(&self.dynamic, $moment, axis, T::Mean::DTYPE).map(Array::from_dynamic)
            }
        )*}
    };
}

/// The real type of means.
type MeanReal<T> = <<T as ArrayElement>::Mean as ArrayElement>::Real;

moments! {
    mean mean_axis () Moment::Mean => T::Mean, "mean";
    var var_axis (ddof) Moment::Variance(ddof) => MeanReal<T>, "variance with `ddof` delta degrees of freedom";
    std std_axis (ddof) Moment::StandardDeviation(ddof) => MeanReal<T>, "standard deviation with `ddof` delta degrees of freedom";
}

impl<T: ArrayElement> Array<T> {
    /// The position of the first minimum in C order; the first NaN, if there is one. Collective.
    pub fn argmin(&self) -> Result<usize> {
        arg_reduce_all(&self.dynamic, ArgReduceOp::ArgMin)
    }

    /// The position of the first maximum in C order; the first NaN, if there is one. Collective.
    pub fn argmax(&self) -> Result<usize> {
        arg_reduce_all(&self.dynamic, ArgReduceOp::ArgMax)
    }

    /// The positions of the minima along an axis, which is removed. Collective.
    pub fn argmin_axis(&self, axis: isize) -> Result<Array<i64>> {
        arg_reduce_axis(&self.dynamic, ArgReduceOp::ArgMin, axis).map(Array::from_dynamic)
    }

    /// The positions of the maxima along an axis, which is removed. Collective.
    pub fn argmax_axis(&self, axis: isize) -> Result<Array<i64>> {
        arg_reduce_axis(&self.dynamic, ArgReduceOp::ArgMax, axis).map(Array::from_dynamic)
    }

    /// The sums of all elements up to each one, in C order, in one dimension. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// assert_eq!(Array::<i32>::ones(&cx, [2, 2]).cumsum()?.to_vec()?, [1, 2, 3, 4]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn cumsum(&self) -> Result<Array<T::Sum>> {
        self.reshape([-1])?.cumsum_axis(0)
    }

    /// The sums of the elements up to each one along an axis. Collective.
    pub fn cumsum_axis(&self, axis: isize) -> Result<Array<T::Sum>> {
        self.scan(ReduceOp::Add, axis)
    }

    /// The products of all elements up to each one, in C order, in one dimension. Collective.
    pub fn cumprod(&self) -> Result<Array<T::Sum>> {
        self.reshape([-1])?.cumprod_axis(0)
    }

    /// The products of the elements up to each one along an axis. Collective.
    pub fn cumprod_axis(&self, axis: isize) -> Result<Array<T::Sum>> {
        self.scan(ReduceOp::Multiply, axis)
    }

    fn scan(&self, op: ReduceOp, axis: isize) -> Result<Array<T::Sum>> {
        let axis = normalize_axis(axis as i64, self.ndim())?;
        self.dynamic.scan(op, axis, T::Sum::DTYPE, false).map(Array::from_dynamic)
    }
}

impl<T: RealElement> Array<T> {
    /// The difference of the maximum and the minimum along an axis: `numpy.ptp`. Collective.
    pub fn ptp_axis(&self, axis: isize) -> Result<Array<T>> {
        self.max_axis(axis)?.try_sub(&self.min_axis(axis)?)
    }
}

/// The arguments of a reduction; fails if it has no identity and nothing to reduce.
fn reduce_request(
    array: &DynArray,
    op: ReduceOp,
    axes: Vec<usize>,
    dtype: DType,
) -> Result<ReduceRequest> {
    let request = ReduceRequest::new(op, axes, dtype);
    let has_results = !request.reduced_shape(array.shape()).contains(&0);
    if request.initial.is_none() && array.view().is_empty() && has_results {
        return Err(KernelError::EmptyReduction(op.name()).into());
    }
    Ok(request)
}

fn all_axes(array: &DynArray) -> Vec<usize> {
    (0..array.shape().len()).collect()
}

fn reduce_all(array: &DynArray, op: ReduceOp, dtype: DType) -> Result<Scalar> {
    array.reduce_all(&reduce_request(array, op, all_axes(array), dtype)?)
}

fn reduce_axis(array: &DynArray, op: ReduceOp, axis: isize, dtype: DType) -> Result<DynArray> {
    let axis = normalize_axis(axis as i64, array.shape().len())?;
    let request = reduce_request(array, op, vec![axis], dtype)?;
    Ok(array.reduce_lazily(&request, None)?.without_axes(&[axis]))
}

fn moment_all(array: &DynArray, moment: Moment, dtype: DType) -> Result<Scalar> {
    let request = MomentRequest { moment, axes: all_axes(array), origin: None };
    match array.moment_over_all(&request)? {
        Some(value) => Ok(value),
        None => {
            let result = array.moment_in_steps(&request, dtype)?;
            result.element(result.view().offset)
        }
    }
}

fn moment_axis(array: &DynArray, moment: Moment, axis: isize, dtype: DType) -> Result<DynArray> {
    let axis = normalize_axis(axis as i64, array.shape().len())?;
    let request = MomentRequest { moment, axes: vec![axis], origin: None };
    let result = match array.moment(&request)? {
        Some(result) => result,
        None => array.moment_in_steps(&request, dtype)?,
    };
    Ok(result.without_axes(&[axis]))
}

/// Fails if there is no element to find.
fn check_nonempty(op: ArgReduceOp, length: usize) -> Result<()> {
    let name = match op {
        ArgReduceOp::ArgMin => "argmin",
        ArgReduceOp::ArgMax => "argmax",
    };
    if length == 0 { Err(Error::EmptySequence(name)) } else { Ok(()) }
}

fn arg_reduce_all(array: &DynArray, op: ArgReduceOp) -> Result<usize> {
    check_nonempty(op, array.view().len())?;
    let found = array.arg_reduce(op, None)?;
    Ok(cast_scalar::<i64>(found.element(found.view().offset)?) as usize)
}

fn arg_reduce_axis(array: &DynArray, op: ArgReduceOp, axis: isize) -> Result<DynArray> {
    let axis = normalize_axis(axis as i64, array.shape().len())?;
    check_nonempty(op, array.shape()[axis])?;
    Ok(array.arg_reduce(op, Some(axis))?.without_axes(&[axis]))
}
