//! Other views of the same elements, and copies.

use dappled::graph::{Array, GraphError};
use dappled::view;
use dappled_kernels::{Axes, DType, View};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::class::NdArray;
use super::conversion::axes_argument;
use super::copies::order_of;
use super::exclusive::exclusive;
use super::{dtypes, slow};
use crate::errors::{Raise, axis_error};

fn raised(error: view::ViewError) -> PyErr {
    GraphError::from(error).raise()
}

pub fn owned(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, NdArray::owned(array))?.into_any())
}

/// Arguments that may come one by one or as one tuple.
fn spread<'py>(args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    match args.len() {
        1 => args.get_item(0),
        _ => Ok(args.clone().into_any()),
    }
}

pub fn reversed(ndim: usize) -> Axes<usize> {
    (0..ndim).rev().collect()
}

/// The elements in C order in another shape: a view where strides can say it, else a copy.
fn reshape<'py>(
    owner: &Bound<'py, NdArray>,
    array: &Array,
    shape: &[usize],
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    match (view::reshaped(array.view(), shape), copy) {
        (Some(view), None | Some(false)) => NdArray::view_of(owner, view),
        (None, Some(false)) => {
            Err(PyValueError::new_err("Unable to avoid creating a copy while reshaping."))
        }
        _ => owned(py, exclusive(py, array.view().len(), || array.copied_in_shape(shape))?),
    }
}

/// The order of axes in which elements come one after the other.
fn flat_order(view: &View, letter: char) -> PyResult<Axes<usize>> {
    match letter {
        'K' | 'k' => Ok(view::iteration_order(view).into()),
        _ => order_of(view, letter),
    }
}

/// Two axes by the names that NumPy gives them.
fn two_axes(given: [i64; 2], ndim: usize) -> PyResult<[usize; 2]> {
    let named =
        |given, name| view::axis(given, ndim).map_err(|_| axis_error(given, ndim, Some(name)));
    Ok([named(given[0], "axis1")?, named(given[1], "axis2")?])
}

#[pymethods]
impl NdArray {
    /// The axes in the opposite order: a view.
    #[getter(T)]
    fn transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return slow::function(slf.py(), "attribute")?.call1((slf, "T"));
        };
        NdArray::view_of(slf, array.view().transposed())
    }

    /// The axes in another order: a view.
    #[pyo3(signature = (*axes))]
    fn transpose<'py>(
        slf: &Bound<'py, Self>,
        axes: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return slow::function(slf.py(), "method")?.call1((slf, "transpose", axes));
        };
        let given = spread(axes)?;
        if axes.is_empty() || given.is_none() {
            return NdArray::view_of(slf, array.view().transposed());
        }
        let order =
            view::axis_order(&axes_argument(&given)?, array.shape().len()).map_err(raised)?;
        NdArray::view_of(slf, view::permuted(array.view(), &order))
    }

    /// Two axes exchanged: a view.
    fn swapaxes<'py>(
        slf: &Bound<'py, Self>,
        axis1: i64,
        axis2: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return slow::function(slf.py(), "method")?.call1((slf, "swapaxes", (axis1, axis2)));
        };
        let ndim = array.shape().len();
        let mut order: Vec<usize> = (0..ndim).collect();
        let [first, second] = two_axes([axis1, axis2], ndim)?;
        order.swap(first, second);
        NdArray::view_of(slf, view::permuted(array.view(), &order))
    }

    /// The elements in another shape: a view where NumPy gives one.
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
            return slow::function(slf.py(), "method")?.call1((slf, "reshape", shape, options));
        };
        let shape = view::resolved(&axes_argument(&spread(shape)?)?, array.view().len());
        let shape = shape.map_err(raised)?;
        let is_f = || array.view().transposed().is_contiguous() && !array.view().is_contiguous();
        match order {
            'C' | 'c' => reshape(slf, array, &shape, copy),
            'F' | 'f' => Self::reshaped_backwards(slf, array, shape, copy),
            'A' | 'a' if is_f() => Self::reshaped_backwards(slf, array, shape, copy),
            'A' | 'a' => reshape(slf, array, &shape, copy),
            _ => Err(PyValueError::new_err(format!(
                "order must be one of 'C', 'F', or 'A' (got '{order}')"
            ))),
        }
    }

    /// All elements along one axis: a view where they lie evenly.
    #[pyo3(signature = (order=None), text_signature = "($self, order='C')")]
    fn ravel<'py>(slf: &Bound<'py, Self>, order: Option<char>) -> PyResult<Bound<'py, PyAny>> {
        let order = order.unwrap_or('C');
        let Some(array) = slf.get().array() else {
            return slow::function(slf.py(), "method")?.call1((slf, "ravel", (order,)));
        };
        if array.view().is_contiguous() && matches!(order, 'C' | 'c') {
            return reshape(slf, array, &[array.view().len()], None);
        }
        let order = flat_order(array.view(), order)?;
        let turned = view::permuted(array.view(), &order);
        let turned = array.with_view(turned);
        // NumPy gives a view of what is contiguous, else a copy.
        match turned.view().is_contiguous() {
            true => reshape(slf, &turned, &[turned.view().len()], None),
            false => reshape(slf, &turned, &[turned.view().len()], Some(true)),
        }
    }

    /// A copy along one axis.
    #[pyo3(signature = (order=None), text_signature = "($self, order='C')")]
    fn flatten<'py>(slf: &Bound<'py, Self>, order: Option<char>) -> PyResult<Bound<'py, PyAny>> {
        let order = order.unwrap_or('C');
        let Some(array) = slf.get().array() else {
            return slow::function(slf.py(), "method")?.call1((slf, "flatten", (order,)));
        };
        let order = flat_order(array.view(), order)?;
        let turned = array.transposed(&order);
        reshape(slf, &turned, &[turned.view().len()], Some(true))
    }

    /// Without axes of length 1: a view.
    #[pyo3(signature = (axis=None))]
    fn squeeze<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return slow::function(slf.py(), "method")?.call1((slf, "squeeze", (axis,)));
        };
        let (own, ndim) = (array.view(), array.shape().len());
        let dropped: Vec<usize> = match axis {
            None => (0..ndim).filter(|&axis| own.shape[axis] == 1).collect(),
            // As in NumPy, of no axis at all the first and the last may be taken away.
            Some(axes) if ndim == 0 && matches!(axes_argument(axes)?[..], [0 | -1]) => vec![],
            Some(axes) => {
                let axes = axes_argument(axes)?.into_iter().map(|axis| view::axis(axis, ndim));
                axes.collect::<Result<_, _>>().map_err(raised)?
            }
        };
        if dropped.iter().any(|&axis| own.shape[axis] != 1) {
            let message = "cannot select an axis to squeeze out which has size not equal to one";
            return Err(PyValueError::new_err(message));
        }
        if dropped.is_empty() {
            return Ok(slf.clone().into_any());
        }
        let kept: Vec<usize> = (0..ndim).filter(|axis| !dropped.contains(axis)).collect();
        NdArray::view_of(slf, view::permuted(own, &kept))
    }

    /// The diagonal along two axes: a view, which may not be written, as in NumPy.
    #[pyo3(signature = (offset=0, axis1=0, axis2=1))]
    fn diagonal<'py>(
        slf: &Bound<'py, Self>,
        offset: i64,
        axis1: i64,
        axis2: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(array) = slf.get().array() else {
            return slow::function(slf.py(), "method")?.call1((
                slf,
                "diagonal",
                (offset, axis1, axis2),
            ));
        };
        let ndim = array.shape().len();
        if ndim < 2 {
            return Err(PyValueError::new_err("diag requires an array of at least two dimensions"));
        }
        let [first, second] = two_axes([axis1, axis2], ndim)?;
        if first == second {
            return Err(PyValueError::new_err("axis1 and axis2 cannot be the same"));
        }
        let found = NdArray::view_of(slf, view::diagonal(array.view(), offset, first, second))?;
        found.setattr("_writeable", false)?;
        Ok(found)
    }

    /// Repeated to a shape: a view that may not be written.
    fn _broadcast_to<'py>(
        slf: &Bound<'py, Self>,
        shape: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(array) = slf.get().array() else { return Ok(None) };
        let shape: Axes<usize> =
            axes_argument(shape)?.into_iter().map(|length| length.max(0) as usize).collect();
        let Some(mut view) = array.view().broadcast(&shape) else { return Ok(None) };
        for (stride, &length) in view.strides.iter_mut().zip(&view.shape) {
            *stride *= isize::from(length != 1); // as NumPy has it
        }
        let found = NdArray::view_of(slf, view)?;
        found.setattr("_writeable", false)?;
        Ok(Some(found))
    }

    /// A view with other strides, in bytes: whoever calls it knows that they stay inside.
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
        let Some(item) = dtypes::item(dtype) else { return Ok(None) };
        shape.push(item);
        strides.push(1);
        let view = View { dtype: DType::UInt8, offset, shape, strides };
        NdArray::seen_as(slf, view, Some(dtype.clone().unbind())).map(Some)
    }
}

impl NdArray {
    /// In Fortran's order: all axes turned around, before and after.
    fn reshaped_backwards<'py>(
        slf: &Bound<'py, Self>,
        array: &Array,
        mut shape: Axes<usize>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        shape.reverse();
        let turned = array.with_view(array.view().transposed());
        let found = reshape(slf, &turned, &shape, copy)?;
        let found = found.cast_into::<NdArray>()?;
        let view = found.get().ours()?.view().transposed();
        match found.get().has_base() {
            true => NdArray::view_of(slf, view),
            false => owned(slf.py(), found.get().ours()?.with_view(view)),
        }
    }
}
