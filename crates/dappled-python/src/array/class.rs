//! The class, and what every array says of itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use dappled::graph::Array;
use dappled_kernels::View;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::conversion::shape_argument;
use super::exclusive::exclusive;
use super::{dtypes, scalars};
use crate::errors::Raise;

/// An array in pieces over the ranks, with NumPy's meaning.
///
/// Made by `dappled.array`, `dappled.zeros` and so on, never by its class.
///
/// >>> import dappled as np
/// >>> a = np.zeros((2, 3))
/// >>> a[:, 1] = 5
/// >>> a
/// array([[0., 5., 0.],
///        [0., 5., 0.]])
#[pyclass(frozen, weakref, name = "ndarray", module = "dappled", freelist = 64)]
pub struct NdArray {
    value: Value,
    /// The array that this one is a view of.
    base: Option<Py<PyAny>>,
    writeable: AtomicBool,
}

/// Where the elements are.
pub enum Value {
    /// With us.
    Ours(Shaped),
    /// In an array of NumPy's, the same on every rank: dtypes that are not native.
    Held(Py<PyAny>),
}

/// An array, and what assigning to `shape` made of it: what was borrowed before stays valid.
pub struct Shaped {
    array: Array,
    next: OnceLock<Box<Shaped>>,
}

impl Shaped {
    fn new(array: Array) -> Self {
        Self { array, next: OnceLock::new() }
    }

    fn last(&self) -> &Shaped {
        let mut last = self;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last
    }
}

impl NdArray {
    /// An array that owns its memory.
    pub fn owned(array: Array) -> Self {
        Self::new(Value::Ours(Shaped::new(array)), None, true)
    }

    fn new(value: Value, base: Option<Py<PyAny>>, writeable: bool) -> Self {
        Self { value, base, writeable: AtomicBool::new(writeable) }
    }

    /// An array of NumPy's, as it is.
    pub fn held(array: Py<PyAny>, base: Option<Py<PyAny>>, writeable: bool) -> Self {
        Self::new(Value::Held(array), base, writeable)
    }

    /// An array in memory that somebody else made; a view if there is a base.
    pub fn foreign(array: Array, base: Option<Py<PyAny>>, writeable: bool) -> Self {
        Self::new(Value::Ours(Shaped::new(array)), base, writeable)
    }

    /// A view of one of ours.
    pub fn view_of<'py>(owner: &Bound<'py, NdArray>, view: View) -> PyResult<Bound<'py, PyAny>> {
        let own = owner.get();
        let array = own.ours()?.with_view(view);
        let base = own
            .base
            .as_ref()
            .map_or_else(|| owner.clone().into_any().unbind(), |base| base.clone_ref(owner.py()));
        let array = Self::foreign(array, Some(base), own.is_writeable());
        Ok(Bound::new(owner.py(), array)?.into_any())
    }

    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Our array, if the dtype is native.
    pub fn array(&self) -> Option<&Array> {
        match &self.value {
            Value::Ours(shaped) => Some(&shaped.last().array),
            Value::Held(_) => None,
        }
    }

    /// Our array; callers have sent what is held elsewhere.
    pub fn ours(&self) -> PyResult<&Array> {
        self.array().ok_or_else(|| PyTypeError::new_err("an array that NumPy holds"))
    }

    /// Is it a view of something?
    pub fn has_base(&self) -> bool {
        self.base.is_some()
    }

    pub fn is_writeable(&self) -> bool {
        self.writeable.load(Ordering::Relaxed)
    }

    pub fn check_writeable(&self) -> PyResult<()> {
        match self.is_writeable() {
            true => Ok(()),
            false => Err(PyValueError::new_err("assignment destination is read-only")),
        }
    }

    /// The view, or the attribute of the array that NumPy holds.
    fn either<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        ours: impl FnOnce(&View) -> usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.value {
            Value::Held(array) => array.bind(py).getattr(name),
            Value::Ours(shaped) => {
                Ok(ours(shaped.last().array.view()).into_pyobject(py)?.into_any())
            }
        }
    }
}

#[pymethods]
impl NdArray {
    /// The lengths of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.value {
            Value::Held(array) => array.bind(py).getattr("shape"),
            Value::Ours(shaped) => {
                Ok(PyTuple::new(py, &shaped.last().array.view().shape)?.into_any())
            }
        }
    }

    #[setter]
    fn set_shape(&self, py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        let shaped = match &self.value {
            Value::Held(array) => return array.bind(py).setattr("shape", shape),
            Value::Ours(shaped) => shaped.last(),
        };
        let view = shaped.array.view();
        let shape = dappled::view::resolved(&shape_argument(shape)?, view.len());
        let shape = shape.map_err(|error| Raise::raise(dappled::graph::GraphError::from(error)))?;
        let reshaped = dappled::view::reshaped(view, &shape).ok_or_else(|| {
            PyAttributeError::new_err(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy \
                 with the desired shape.",
            )
        })?;
        let next = Shaped::new(shaped.array.with_view(reshaped));
        let _ = shaped.next.set(Box::new(next));
        Ok(())
    }

    /// The type of the elements, NumPy's.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.array() {
            Some(array) => dtypes::to_numpy(py, array.dtype()),
            None => self.either(py, "dtype", |_| 0usize),
        }
    }

    /// How many axes.
    #[getter]
    fn ndim<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.either(py, "ndim", |view| view.shape.len())
    }

    /// How many elements.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.either(py, "size", View::len)
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.either(py, "itemsize", |view| view.dtype.itemsize())
    }

    /// Bytes of all elements, on all ranks together.
    #[getter]
    fn nbytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.either(py, "nbytes", |view| view.len() * view.dtype.itemsize())
    }

    /// Bytes from one element to the next along each axis, in the whole array's C order.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.value {
            Value::Held(array) => array.bind(py).getattr("strides"),
            Value::Ours(shaped) => {
                Ok(PyTuple::new(py, &shaped.last().array.view().strides)?.into_any())
            }
        }
    }

    /// The array whose memory this is a view of; None if it is its own.
    #[getter]
    fn base(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.base.as_ref().map(|base| base.clone_ref(py))
    }

    /// May it be written?
    #[getter(_writeable)]
    fn get_writeable(&self) -> bool {
        self.is_writeable()
    }

    #[setter(_writeable)]
    fn set_writeable(&self, py: Python<'_>, writeable: bool) -> PyResult<()> {
        if let Value::Held(array) = &self.value {
            array.bind(py).call_method1("setflags", (writeable,))?;
        }
        self.writeable.store(writeable, Ordering::Relaxed);
        Ok(())
    }

    /// Are the elements in C order, in F order, without gaps?
    #[getter]
    fn _contiguous(&self) -> PyResult<(bool, bool)> {
        let view = self.ours()?.view();
        Ok((view.is_contiguous(), view.transposed().is_contiguous()))
    }

    /// Is all of it on every rank?
    #[getter]
    fn _whole(&self) -> bool {
        self.array().is_none_or(Array::is_whole)
    }

    /// Is it an array that NumPy holds, its dtype being none of ours?
    #[getter]
    fn _held(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        match &self.value {
            Value::Held(array) => Some(array.clone_ref(py)),
            Value::Ours(_) => None,
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        match &self.value {
            Value::Held(array) => array.bind(py).len(),
            Value::Ours(shaped) => {
                let first = shaped.last().array.shape().first().copied();
                first.ok_or_else(|| PyTypeError::new_err("len() of unsized object"))
            }
        }
    }

    /// The same as an array that owns its memory, for who made the only other one.
    fn _owner<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, NdArray>> {
        Bound::new(py, NdArray::owned(self.ours()?.clone()))
    }

    /// Computes what is pending.
    fn _compute(&self, py: Python<'_>) -> PyResult<()> {
        match self.array() {
            Some(array) => exclusive(py, usize::MAX, || array.compute()),
            None => Ok(()),
        }
    }
}

/// An array as a result of an operation: NumPy gives a scalar where there is no axis.
pub fn result(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    match array.shape().is_empty() {
        true => {
            let value = exclusive(py, 1, || array.element(array.view().offset))?;
            scalars::to_numpy(py, value)
        }
        false => Ok(Bound::new(py, NdArray::owned(array))?.into_any()),
    }
}
