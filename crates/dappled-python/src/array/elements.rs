//! What every array says of its elements without looking at them.

use dappled::graph::Array;
use dappled::view::gathered_view;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::class::{NdArray, by_numpy};
use super::conversion::axes_argument;
use crate::errors::Raise;

/// What is known of elements without looking at them.
struct Elements<'a> {
    shape: &'a [usize],
    strides: &'a [isize],
    itemsize: usize,
}

impl NdArray {
    /// What is known of the elements; None of an array that NumPy holds.
    fn elements(&self) -> Option<Elements<'_>> {
        let (array, item) = self.memory()?;
        let view = array.view();
        let ndim = view.shape.len() - usize::from(item.is_some());
        let itemsize = if item.is_some() { view.shape[ndim] } else { view.dtype.itemsize() };
        Some(Elements { shape: &view.shape[..ndim], strides: &view.strides[..ndim], itemsize })
    }

    /// What is known of the elements, or the attribute of the array that NumPy holds.
    fn either<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        ours: impl FnOnce(Elements<'_>) -> usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.elements() {
            Some(elements) => Ok(ours(elements).into_pyobject(py)?.into_any()),
            None => self.held_array(py)?.getattr(name),
        }
    }

    /// The same for tuples.
    fn either_tuple<'py, T: IntoPyObject<'py> + Copy>(
        &self,
        py: Python<'py>,
        name: &str,
        ours: impl FnOnce(Elements<'_>) -> &[T],
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.elements() {
            Some(elements) => Ok(PyTuple::new(py, ours(elements).iter().copied())?.into_any()),
            None => self.held_array(py)?.getattr(name),
        }
    }
}

#[pymethods]
impl NdArray {
    /// The lengths of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.either_tuple(py, "shape", |elements| elements.shape)
    }

    #[setter]
    fn set_shape(&self, py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        let (Some((array, _)), Some(elements)) = (self.memory(), self.elements()) else {
            return self.held_array(py)?.setattr("shape", shape);
        };
        let (view, own) = (array.view(), elements.shape);
        let shape = axes_argument(shape)?;
        let shape = dappled::view::resolved(&shape, own.iter().product());
        let shape = shape.map_err(|error| Raise::raise(dappled::graph::GraphError::from(error)))?;
        let shape = [&shape[..], &view.shape[own.len()..]].concat();
        let reshaped = dappled::view::reshaped(view, &shape).ok_or_else(|| {
            PyAttributeError::new_err(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy \
                 with the desired shape.",
            )
        })?;
        self.reshape_in_place(py, reshaped);
        Ok(())
    }

    /// How many axes.
    #[getter]
    fn ndim<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.either(py, "ndim", |elements| elements.shape.len())
    }

    /// How many elements.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.either(py, "size", |elements| elements.shape.iter().product())
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.either(py, "itemsize", |elements| elements.itemsize)
    }

    /// Bytes of all elements, on all ranks together.
    #[getter]
    fn nbytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes =
            |elements: Elements<'_>| elements.shape.iter().product::<usize>() * elements.itemsize;
        self.either(py, "nbytes", bytes)
    }

    /// Bytes from one element to the next along each axis, in the memory that NumPy is given: of a
    /// distributed array a gathered copy without gaps.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.memory() {
            Some((array, item)) if !array.is_whole() => {
                let view = gathered_view(array.view(), item.is_some());
                let ndim = view.shape.len() - usize::from(item.is_some());
                Ok(PyTuple::new(py, view.strides[..ndim].iter().copied())?.into_any())
            }
            _ => self._strides(py),
        }
    }

    /// Bytes from one element to the next along each axis, in the C order of the array that this one is
    /// a view of.
    #[getter]
    fn _strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.either_tuple(py, "strides", |elements| elements.strides)
    }

    /// Bytes from the first element of another array to that of this one; None if they do not see the
    /// same memory.
    fn _distance(&self, other: &NdArray) -> Option<isize> {
        let ((own, _), (other, _)) = (self.memory()?, other.memory()?);
        let offset = |array: &Array| array.view().offset as isize;
        own.shares(other).then(|| offset(own) - offset(other))
    }

    /// Are the elements in C order, in F order, without gaps? In the array that this one is a view of, or
    /// `gathered`: in the memory that NumPy is given.
    fn _contiguous(&self, gathered: bool) -> PyResult<(bool, bool)> {
        let (array, item) = self.memory().ok_or_else(by_numpy)?;
        let view = match gathered && !array.is_whole() {
            true => gathered_view(array.view(), item.is_some()),
            false => array.view().clone(),
        };
        let (mut turned, last) = (view.transposed(), usize::from(item.is_some()));
        turned.shape.rotate_left(last);
        turned.strides.rotate_left(last);
        Ok((view.is_contiguous(), turned.is_contiguous()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        match self.elements() {
            None => self.held_array(py)?.len(),
            Some(elements) => {
                let first = elements.shape.first().copied();
                first.ok_or_else(|| PyTypeError::new_err("len() of unsized object"))
            }
        }
    }
}
