//! Views of an array in another shape or axis order: methods and NumPy's functions.

use dappled::view;
use dappled::{Array, GraphError};
use dappled_kernels::{Axes, DType, View};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};

use super::arguments::{Attempt, CallArguments};
use super::class::NdArray;
use super::copy_cast::axis_order_for;
use crate::errors::{Raise, axis_error};
use crate::interop::dtypes;
use crate::interop::numpy_arrays::parse_ints;
use crate::runtime::fallback;
use crate::runtime::lock::run_locked;

fn view_error(error: view::ViewError) -> PyErr {
    GraphError::from(error).raise()
}

pub fn new_ndarray(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, NdArray::owned(array))?.into_any())
}

/// Returns the tuple of `f((1, 2))` and `f(1, 2)` alike.
fn unpack_tuple<'py>(args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    match args.len() {
        1 => args.get_item(0),
        _ => Ok(args.clone().into_any()),
    }
}

pub fn reversed_axes(ndim: usize) -> Axes<usize> {
    (0..ndim).rev().collect()
}

/// Reshapes in C order: a view if strides can express it, otherwise a copy.
fn reshape_or_copy<'py>(
    owner: &Bound<'py, NdArray>,
    array: &Array,
    shape: &[usize],
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    match (view::reshape_view(array.view(), shape), copy) {
        (Some(view), None | Some(false)) => NdArray::view_of(owner, view),
        (None, Some(false)) => {
            Err(PyValueError::new_err("Unable to avoid creating a copy while reshaping."))
        }
        _ => new_ndarray(py, run_locked(py, array.view().len(), || array.reshaped_copy(shape))?),
    }
}

/// Returns the axis order in which `ravel` visits the elements.
fn ravel_axis_order(view: &View, letter: char) -> PyResult<Axes<usize>> {
    match letter {
        'K' | 'k' => Ok(view::iteration_order(view).into()),
        _ => axis_order_for(view, letter),
    }
}

/// Normalizes `axis1` and `axis2`, with NumPy's errors.
fn parse_two_axes(axes: [i64; 2], ndim: usize) -> PyResult<[usize; 2]> {
    let named = |axis, name| {
        view::normalize_axis(axis, ndim).map_err(|_| axis_error(axis, ndim, Some(name)))
    };
    Ok([named(axes[0], "axis1")?, named(axes[1], "axis2")?])
}

#[pymethods]
impl NdArray {
    /// The transposed array: a view with its axes reversed.
    #[getter(T)]
    fn transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return fallback::function(slf.py(), "attribute")?.call1((slf, "T"));
        };
        NdArray::view_of(slf, array.view().transposed())
    }

    /// Return a view with permuted axes.
    #[pyo3(signature = (*axes))]
    fn transpose<'py>(
        slf: &Bound<'py, Self>,
        axes: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return fallback::function(slf.py(), "method")?.call1((slf, "transpose", axes));
        };
        let order_object = unpack_tuple(axes)?;
        if axes.is_empty() || order_object.is_none() {
            return NdArray::view_of(slf, array.view().transposed());
        }
        let order = view::normalize_axes(&parse_ints(&order_object)?, array.shape().len())
            .map_err(view_error)?;
        NdArray::view_of(slf, view::permute_axes(array.view(), &order))
    }

    /// Return a view with two axes interchanged.
    fn swapaxes<'py>(
        slf: &Bound<'py, Self>,
        axis1: i64,
        axis2: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return fallback::function(slf.py(), "method")?.call1((
                slf,
                "swapaxes",
                (axis1, axis2),
            ));
        };
        let ndim = array.shape().len();
        let mut order: Vec<usize> = (0..ndim).collect();
        let [first, second] = parse_two_axes([axis1, axis2], ndim)?;
        order.swap(first, second);
        NdArray::view_of(slf, view::permute_axes(array.view(), &order))
    }

    /// Return the elements in another shape: a view where NumPy returns one.
    #[pyo3(
        signature = (*shape, order=None, copy=None),
        text_signature = "($self, *shape, order='C', copy=None)"
    )]
    fn reshape<'py>(
        slf: &Bound<'py, Self>,
        shape: &Bound<'py, PyTuple>,
        order: Option<char>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let order = order.unwrap_or('C');
        let Some(array) = slf.get().array() else {
            let options = PyDict::new(slf.py());
            options.set_item("order", order)?;
            options.set_item("copy", copy)?;
            return fallback::function(slf.py(), "method")?.call1((slf, "reshape", shape, options));
        };
        let shape = view::resolve_shape(&parse_ints(&unpack_tuple(shape)?)?, array.view().len());
        let shape = shape.map_err(view_error)?;
        let is_f = || array.view().transposed().is_contiguous() && !array.view().is_contiguous();
        match order {
            'C' | 'c' => reshape_or_copy(slf, array, &shape, copy),
            'F' | 'f' => Self::reshape_fortran(slf, array, shape, copy),
            'A' | 'a' if is_f() => Self::reshape_fortran(slf, array, shape, copy),
            'A' | 'a' => reshape_or_copy(slf, array, &shape, copy),
            _ => Err(PyValueError::new_err(format!(
                "order must be one of 'C', 'F', or 'A' (got '{order}')"
            ))),
        }
    }

    /// Return the flattened array: a view if the elements are contiguous.
    #[pyo3(signature = (order=None), text_signature = "($self, order='C')")]
    fn ravel<'py>(slf: &Bound<'py, Self>, order: Option<char>) -> PyResult<Bound<'py, PyAny>> {
        let order = order.unwrap_or('C');
        let Some(array) = slf.get().array() else {
            return fallback::function(slf.py(), "method")?.call1((slf, "ravel", (order,)));
        };
        if array.view().is_contiguous() && matches!(order, 'C' | 'c') {
            return reshape_or_copy(slf, array, &[array.view().len()], None);
        }
        let order = ravel_axis_order(array.view(), order)?;
        let transposed_array = view::permute_axes(array.view(), &order);
        let transposed_array = array.with_view(transposed_array);
        // NumPy returns a view of a contiguous array, otherwise a copy.
        match transposed_array.view().is_contiguous() {
            true => reshape_or_copy(slf, &transposed_array, &[transposed_array.view().len()], None),
            false => reshape_or_copy(
                slf,
                &transposed_array,
                &[transposed_array.view().len()],
                Some(true),
            ),
        }
    }

    /// Return a flattened copy.
    #[pyo3(signature = (order=None), text_signature = "($self, order='C')")]
    fn flatten<'py>(slf: &Bound<'py, Self>, order: Option<char>) -> PyResult<Bound<'py, PyAny>> {
        let order = order.unwrap_or('C');
        let Some(array) = slf.get().array() else {
            return fallback::function(slf.py(), "method")?.call1((slf, "flatten", (order,)));
        };
        let order = ravel_axis_order(array.view(), order)?;
        let transposed_array = array.transposed(&order);
        reshape_or_copy(slf, &transposed_array, &[transposed_array.view().len()], Some(true))
    }

    /// Return a view without axes of length 1.
    #[pyo3(signature = (axis=None))]
    fn squeeze<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return fallback::function(slf.py(), "method")?.call1((slf, "squeeze", (axis,)));
        };
        let (own, ndim) = (array.view(), array.shape().len());
        let dropped: Vec<usize> = match axis {
            None => (0..ndim).filter(|&axis| own.shape[axis] == 1).collect(),
            // NumPy accepts 0 and -1 as axes of a 0-d array.
            Some(axes) if ndim == 0 && matches!(parse_ints(axes)?[..], [0 | -1]) => vec![],
            Some(axes) => {
                let axes =
                    parse_ints(axes)?.into_iter().map(|axis| view::normalize_axis(axis, ndim));
                axes.collect::<Result<_, _>>().map_err(view_error)?
            }
        };
        if dropped.iter().any(|&axis| own.shape[axis] != 1) {
            let message = "cannot select an axis to squeeze out which has size not equal to one";
            return Err(PyValueError::new_err(message));
        }
        if dropped.is_empty() {
            return Ok(slf.clone().into_any());
        }
        let remaining: Vec<usize> = (0..ndim).filter(|axis| !dropped.contains(axis)).collect();
        NdArray::view_of(slf, view::permute_axes(own, &remaining))
    }

    /// Return the diagonal along two axes: a read-only view.
    #[pyo3(signature = (offset=0, axis1=0, axis2=1))]
    fn diagonal<'py>(
        slf: &Bound<'py, Self>,
        offset: i64,
        axis1: i64,
        axis2: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return fallback::function(slf.py(), "method")?.call1((
                slf,
                "diagonal",
                (offset, axis1, axis2),
            ));
        };
        let ndim = array.shape().len();
        if ndim < 2 {
            return Err(PyValueError::new_err("diag requires an array of at least two dimensions"));
        }
        let [first, second] = parse_two_axes([axis1, axis2], ndim)?;
        if first == second {
            return Err(PyValueError::new_err("axis1 and axis2 cannot be the same"));
        }
        let result = NdArray::view_of(slf, view::diagonal(array.view(), offset, first, second))?;
        result.setattr("_writeable", false)?;
        Ok(result)
    }

    /// Returns a read-only view broadcast to a shape.
    fn _broadcast_to<'py>(
        slf: &Bound<'py, Self>,
        shape: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(array) = slf.get().array() else { return Ok(None) };
        let shape: Axes<usize> =
            parse_ints(shape)?.into_iter().map(|length| length.max(0) as usize).collect();
        let Some(mut view) = array.view().broadcast(&shape) else { return Ok(None) };
        for (stride, &length) in view.strides.iter_mut().zip(&view.shape) {
            *stride *= isize::from(length != 1); // NumPy sets the strides of axes of length 1 to 0
        }
        let result = NdArray::view_of(slf, view)?;
        result.setattr("_writeable", false)?;
        Ok(Some(result))
    }

    /// Returns a view with any strides in bytes; the caller guarantees that they stay inside the
    /// memory.
    fn _strided<'py>(
        slf: &Bound<'py, Self>,
        offset: isize,
        shape: Vec<usize>,
        strides: Vec<isize>,
        dtype: &Bound<'py, PyArrayDescr>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((array, _)) = slf.get().memory() else { return Ok(None) };
        let offset = (array.view().offset as isize + offset) as usize;
        let (mut shape, mut strides): (Axes<usize>, Axes<isize>) = (shape.into(), strides.into());
        if let Some(dtype) = dtypes::from_numpy(dtype) {
            return NdArray::view_of(slf, View { dtype, offset, shape, strides }).map(Some);
        }
        let Some(item) = dtypes::opaque_itemsize(dtype) else { return Ok(None) };
        shape.push(item);
        strides.push(1);
        let view = View { dtype: DType::UInt8, offset, shape, strides };
        NdArray::memory_view_of(slf, view, Some(dtype.clone().unbind())).map(Some)
    }
}

impl NdArray {
    /// Reshapes in Fortran order, as the transpose of a C-order reshape of the transpose.
    fn reshape_fortran<'py>(
        slf: &Bound<'py, Self>,
        array: &Array,
        mut shape: Axes<usize>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        shape.reverse();
        let transposed = array.with_view(array.view().transposed());
        let reshaped = reshape_or_copy(slf, &transposed, &shape, copy)?;
        let reshaped = reshaped.cast_into::<NdArray>()?;
        let view = reshaped.get().native()?.view().transposed();
        match reshaped.get().has_base() {
            true => NdArray::view_of(slf, view),
            false => new_ndarray(slf.py(), reshaped.get().native()?.with_view(view)),
        }
    }
}

// NumPy's functions of views. The fast path of each calls the method of the array.

/// Calls a method of the first of at most `most` arguments, if it is an array.
fn call_method<'py>(
    call: &CallArguments<'_, 'py>,
    most: usize,
    name: &Bound<'py, PyString>,
) -> Attempt<'py> {
    if call.kwargs.is_some() || call.args.is_empty() || call.args.len() > most {
        return Ok(None);
    }
    let array = call.args.get_item(0)?;
    match array.is_exact_instance_of::<NdArray>() {
        true => array.call_method1(name, remaining_arguments(call)).map(Some),
        false => Ok(None),
    }
}

/// Returns all arguments but the first.
fn remaining_arguments<'py>(call: &CallArguments<'_, 'py>) -> Bound<'py, PyTuple> {
    call.args.get_slice(1, call.args.len())
}

pub fn ravel<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    call_method(call, 1, intern!(numpy.py(), "ravel"))
}

pub fn reshape<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    if call.args.len() == 2 {
        call_method(call, 2, intern!(numpy.py(), "reshape"))
    } else {
        Ok(None)
    }
}

pub fn transpose<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    call_method(call, 2, intern!(numpy.py(), "transpose"))
}

/// Takes the diagonal of a matrix; the general function builds a matrix from a vector.
pub fn diag<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    let first = call.args.iter().next();
    match first.is_some_and(|first| native_ndim(&first) == Some(2)) && call.args.len() <= 2 {
        true => diagonal(call, numpy),
        false => Ok(None),
    }
}

pub fn diagonal<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    let known =
        remaining_arguments(call).iter().all(|number| number.is_exact_instance_of::<PyInt>());
    if known { call_method(call, 4, intern!(numpy.py(), "diagonal")) } else { Ok(None) }
}

/// Permutes the axes of one array: `ij->ji`.
pub fn einsum<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    if call.kwargs.is_some() || call.args.len() != 2 {
        return Ok(None);
    }
    let (subscripts, array) = (call.args.get_item(0)?, call.args.get_item(1)?);
    let (Ok(text), Some(ndim)) = (subscripts.cast_exact::<PyString>(), native_ndim(&array)) else {
        return Ok(None);
    };
    match einsum_axis_order(text.to_str()?, ndim) {
        Some(order) => array.call_method1(intern!(array.py(), "transpose"), (order,)).map(Some),
        None => Ok(None),
    }
}

/// Returns the permutation of axes, if subscripts describe nothing else.
fn einsum_axis_order(subscripts: &str, ndim: usize) -> Option<Vec<usize>> {
    let (input, result) = subscripts.split_once("->")?;
    let is_once = |letter| input.matches(letter).count() == 1;
    let all_once = input.chars().all(|letter| letter.is_ascii_alphabetic() && is_once(letter));
    let order: Vec<usize> =
        result.chars().map(|letter| input.find(letter)).collect::<Option<_>>()?;
    let is_whole = (0..ndim).all(|axis| order.contains(&axis));
    (ndim > 0 && all_once && input.len() == ndim && order.len() == ndim && is_whole)
        .then_some(order)
}

/// Returns the number of axes of an array with a native dtype.
fn native_ndim(object: &Bound<'_, PyAny>) -> Option<usize> {
    Some(object.cast_exact::<NdArray>().ok()?.get().array()?.shape().len())
}
