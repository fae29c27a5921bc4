//! The Python class `Piece`: one rank's local piece, exported and imported without a copy.

use std::ffi::c_int;

use dappled_protocol::{Dim, Entries, Export, Meaning, ProtocolError, Value, rules};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit, ffi};

use super::convert::{self, to_python};
use super::export::VersionArgument;
use crate::errors::Raise;

/// One rank's local piece of a distributed array: its memory and its dimension dictionaries.
///
/// The piece exports its buffer, without a copy, through `__distarray__`, the buffer protocol and
/// `__array_interface__`.
///
/// >>> import numpy
/// >>> from dappled import protocol
/// >>> memory = numpy.arange(3.0)
/// >>> distribution = protocol.Distribution((5,), nprocs=2)
/// >>> piece = protocol.Piece(memory, distribution.dim_data(0))
/// >>> numpy.asarray(piece)[0] = 7
/// >>> memory
/// array([7., 1., 2.])
/// >>> sorted(piece.__distarray__())
/// ['__version__', 'buffer', 'dim_data']
#[pyclass(frozen, name = "Piece", module = "dappled.protocol")]
pub struct PyPiece {
    buffer: Py<PyAny>,
    dims: Vec<Dim>,
    /// Whether `padding` is written for each axis: version 0.9 wants it for all axes or none.
    writes_padding: Vec<bool>,
    meaning: Meaning,
}

impl PyPiece {
    fn read(export: &Bound<'_, PyAny>) -> PyResult<Self> {
        let read = Export::read(&convert::export_value(export)).map_err(Raise::raise)?;
        let buffer = export.get_item("buffer")?.unbind();
        Ok(Self {
            buffer,
            dims: read.dims,
            writes_padding: read.has_padding_key,
            meaning: read.meaning,
        })
    }
}

#[pymethods]
impl PyPiece {
    #[new]
    #[pyo3(signature = (buffer, dim_data, *, version=VersionArgument::CURRENT), text_signature = "(buffer, dim_data, *, version='0.10.0')")]
    fn new(
        buffer: &Bound<'_, PyAny>,
        dim_data: &Bound<'_, PyAny>,
        version: VersionArgument,
    ) -> PyResult<Self> {
        let export = PyDict::new(buffer.py());
        export.set_item("__version__", version.meaning()?.version().to_string())?;
        export.set_item("buffer", buffer)?;
        export.set_item("dim_data", dim_data)?;
        Self::read(&export)
    }

    /// The object that owns the memory.
    #[getter]
    fn buffer<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.buffer.bind(py).clone()
    }

    /// One dimension dictionary per axis, in canonical form.
    #[getter]
    fn dim_data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let dims = self.dims.iter().zip(&self.writes_padding).enumerate();
        let write = |(axis, (dim, &padded)): (usize, (&Dim, &bool))| {
            dim.write(self.meaning, padded).map_err(|error| error.with_dimension(axis).raise())
        };
        dim_dicts(py, dims.map(write).collect::<PyResult<_>>()?)
    }

    /// The protocol version of the dictionaries.
    #[getter]
    fn version(&self) -> String {
        self.meaning.version().to_string()
    }

    /// The export: a dict with `__version__`, `buffer` and `dim_data`.
    fn __distarray__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let export = PyDict::new(py);
        export.set_item("__version__", self.version())?;
        export.set_item("buffer", &self.buffer)?;
        export.set_item("dim_data", self.dim_data(py)?)?;
        Ok(export)
    }

    /// NumPy's description of the memory.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?.call_method1("asarray", (&self.buffer,))?.getattr("__array_interface__")
    }

    /// Exports the memory through the buffer protocol.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python calls this slot with a view to fill, and holds the GIL. The request is
        // forwarded unchanged; `view.obj` becomes the buffer's owner, which releases the view
        // itself, so this class needs no release slot.
        let status = unsafe { ffi::PyObject_GetBuffer(slf.get().buffer.as_ptr(), view, flags) };
        if status == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let extents: Vec<u64> = self.dims.iter().map(Dim::extent).collect();
        let sizes: Vec<u64> = self.dims.iter().map(|dim| dim.size).collect();
        let (extents, sizes) = (PyTuple::new(py, extents)?, PyTuple::new(py, sizes)?);
        Ok(format!("<Piece {extents} of {sizes}>"))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.buffer)
    }
}

/// Converts dimension dictionaries to Python dicts.
pub fn dim_dicts(py: Python<'_>, dims: Vec<Entries>) -> PyResult<Bound<'_, PyTuple>> {
    let dictionaries = dims.into_iter().map(|entries| to_python(py, &Value::dict(entries)));
    PyTuple::new(py, dictionaries.collect::<PyResult<Vec<_>>>()?)
}

/// Import the piece that an object with `__distarray__` exports, without a copy.
///
/// >>> import numpy
/// >>> from dappled import protocol
/// >>> class Producer:
/// ...     memory = numpy.zeros((2, 3))
/// ...     def __distarray__(self):
/// ...         return {'__version__': '0.10.0', 'buffer': self.memory, 'dim_data': ({}, {})}
/// >>> piece = protocol.from_distarray(Producer())
/// >>> numpy.shares_memory(numpy.asarray(piece), Producer.memory)
/// True
/// >>> piece.dim_data[1]['size']
/// 3
#[pyfunction]
pub fn from_distarray(obj: &Bound<'_, PyAny>) -> PyResult<PyPiece> {
    let export = obj.call_method0("__distarray__").map_err(|cause| {
        let error =
            ProtocolError::new(&rules::L01, "an object whose __distarray__() returns a dict")
                .with_value(format!("{} ({cause})", convert::repr_or_class(obj)))
                .raise();
        error.set_cause(obj.py(), Some(cause));
        error
    })?;
    PyPiece::read(&export)
}
