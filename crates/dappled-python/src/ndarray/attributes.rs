//! Attributes of an array that are known without its elements.

use dappled::Array;
use dappled::view::gathered_view;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::class::{NdArray, not_native};
use crate::errors::Raise;
use crate::interop::numpy_arrays::parse_ints;

/// Shape, strides and itemsize of an array, for native and opaque dtypes alike.
struct ElementLayout<'a> {
    shape: &'a [usize],
    strides: &'a [isize],
    itemsize: usize,
}

impl NdArray {
    /// Returns the layout of the elements; `None` for an array that NumPy holds.
    fn layout(&self) -> Option<ElementLayout<'_>> {
        let (array, item) = self.memory()?;
        let view = array.view();
        let ndim = view.shape.len() - usize::from(item.is_some());
        let itemsize = if item.is_some() { view.shape[ndim] } else { view.dtype.itemsize() };
        Some(ElementLayout { shape: &view.shape[..ndim], strides: &view.strides[..ndim], itemsize })
    }

    /// Returns an integer of the layout, or the attribute of the array that NumPy holds.
    fn int_attribute<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        native: impl FnOnce(ElementLayout<'_>) -> usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.layout() {
            Some(elements) => Ok(native(elements).into_pyobject(py)?.into_any()),
            None => self.numpy_array(py)?.getattr(name),
        }
    }

    /// Returns a tuple of the layout, or the attribute of the array that NumPy holds.
    fn tuple_attribute<'py, T: IntoPyObject<'py> + Copy>(
        &self,
        py: Python<'py>,
        name: &str,
        native: impl FnOnce(ElementLayout<'_>) -> &[T],
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.layout() {
            Some(elements) => Ok(PyTuple::new(py, native(elements).iter().copied())?.into_any()),
            None => self.numpy_array(py)?.getattr(name),
        }
    }
}

#[pymethods]
impl NdArray {
    /// The lengths of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.tuple_attribute(py, "shape", |elements| elements.shape)
    }

    #[setter]
    fn set_shape(&self, py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        let (Some((array, _)), Some(elements)) = (self.memory(), self.layout()) else {
            return self.numpy_array(py)?.setattr("shape", shape);
        };
        let (view, own) = (array.view(), elements.shape);
        let shape = parse_ints(shape)?;
        let shape = dappled::view::resolve_shape(&shape, own.iter().product());
        let shape = shape.map_err(|error| Raise::raise(dappled::GraphError::from(error)))?;
        let shape = [&shape[..], &view.shape[own.len()..]].concat();
        let reshaped = dappled::view::reshape_view(view, &shape).ok_or_else(|| {
            PyAttributeError::new_err(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy \
                 with the desired shape.",
            )
        })?;
        self.reshape_in_place(py, reshaped);
        Ok(())
    }

    /// The number of axes.
    #[getter]
    fn ndim<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.int_attribute(py, "ndim", |elements| elements.shape.len())
    }

    /// The number of elements.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.int_attribute(py, "size", |elements| elements.shape.iter().product())
    }

    /// The size of one element in bytes.
    #[getter]
    fn itemsize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.int_attribute(py, "itemsize", |elements| elements.itemsize)
    }

    /// The size of all elements in bytes, on all ranks together.
    #[getter]
    fn nbytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = |elements: ElementLayout<'_>| {
            elements.shape.iter().product::<usize>() * elements.itemsize
        };
        self.int_attribute(py, "nbytes", bytes)
    }

    /// The strides in bytes of the memory that NumPy gets.
    ///
    /// For a distributed array these are the strides of the gathered, contiguous copy.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.memory() {
            Some((array, item)) if !array.is_replicated() => {
                let view = gathered_view(array.view(), item.is_some());
                let ndim = view.shape.len() - usize::from(item.is_some());
                Ok(PyTuple::new(py, view.strides[..ndim].iter().copied())?.into_any())
            }
            _ => self._strides(py),
        }
    }

    /// The strides in bytes, relative to the C-ordered array that this one is a view of.
    #[getter]
    fn _strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.tuple_attribute(py, "strides", |elements| elements.strides)
    }

    /// Returns the bytes from another array's first element to this one's; None if they share no
    /// memory.
    fn _distance(&self, other: &NdArray) -> Option<isize> {
        let ((own, _), (other, _)) = (self.memory()?, other.memory()?);
        let offset = |array: &Array| array.view().offset as isize;
        own.shares_storage(other).then(|| offset(own) - offset(other))
    }

    /// Returns whether the array is C-contiguous and whether it is F-contiguous.
    ///
    /// With `gathered` the memory that NumPy gets counts, otherwise the array that this one is a
    /// view of.
    fn _contiguous(&self, gathered: bool) -> PyResult<(bool, bool)> {
        let (array, item) = self.memory().ok_or_else(not_native)?;
        let view = match gathered && !array.is_replicated() {
            true => gathered_view(array.view(), item.is_some()),
            false => array.view().clone(),
        };
        let (mut transposed, last) = (view.transposed(), usize::from(item.is_some()));
        transposed.shape.rotate_left(last);
        transposed.strides.rotate_left(last);
        Ok((view.is_contiguous(), transposed.is_contiguous()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        match self.layout() {
            None => self.numpy_array(py)?.len(),
            Some(elements) => {
                let first = elements.shape.first().copied();
                first.ok_or_else(|| PyTypeError::new_err("len() of unsized object"))
            }
        }
    }
}
