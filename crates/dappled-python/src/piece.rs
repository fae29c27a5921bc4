//! One rank's piece, as it is handed over: the producer's and the consumer's side.

use std::ffi::c_int;

use dappled_protocol::{Dim, Entries, Export, Meaning, ProtocolError, Value, rules};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit, ffi};

use crate::convert::{self, to_python};
use crate::errors::Raise;
use crate::export::Spoken;

/// One rank's piece of a distributed array: memory, and what it is a piece of.
///
/// Nothing is copied: the piece lends the buffer that it was given, as it lies in memory, through
/// `__distarray__`, the buffer protocol and `__array_interface__`.
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
#[pyclass(frozen, module = "dappled.protocol")]
pub struct Piece {
    buffer: Py<PyAny>,
    dims: Vec<Dim>,
    /// Where 0.9's rule of all or none wants `padding` written.
    padded: Vec<bool>,
    meaning: Meaning,
}

impl Piece {
    fn read(export: &Bound<'_, PyAny>) -> PyResult<Self> {
        let read = Export::read(&convert::export(export)).map_err(Raise::raise)?;
        let buffer = export.get_item("buffer")?.unbind();
        Ok(Self { buffer, dims: read.dims, padded: read.padding_given, meaning: read.meaning })
    }
}

#[pymethods]
impl Piece {
    #[new]
    #[pyo3(signature = (buffer, dim_data, *, version=Spoken::CURRENT), text_signature = "(buffer, dim_data, *, version='0.10.0')")]
    fn new(
        buffer: &Bound<'_, PyAny>,
        dim_data: &Bound<'_, PyAny>,
        version: Spoken,
    ) -> PyResult<Self> {
        let export = PyDict::new(buffer.py());
        export.set_item("__version__", version.meaning()?.version().to_string())?;
        export.set_item("buffer", buffer)?;
        export.set_item("dim_data", dim_data)?;
        Self::read(&export)
    }

    /// The object whose memory this is.
    #[getter]
    fn buffer<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.buffer.bind(py).clone()
    }

    /// One dimension dictionary an axis, in canonical form.
    #[getter]
    fn dim_data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let dims = self.dims.iter().zip(&self.padded).enumerate();
        let write = |(axis, (dim, &padded)): (usize, (&Dim, &bool))| {
            dim.write(self.meaning, padded).map_err(|error| error.with_dimension(axis).raise())
        };
        dictionaries(py, dims.map(write).collect::<PyResult<_>>()?)
    }

    /// The version of the protocol that the piece is written in.
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

    /// Lends the memory.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: Python calls this slot with a view to fill and holds the GIL. The request is
        // passed on as it is; `view.obj` becomes the buffer's owner, which releases it by itself,
        // so that this class needs no release slot.
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

/// Dimension dictionaries as Python's.
pub fn dictionaries(py: Python<'_>, dims: Vec<Entries>) -> PyResult<Bound<'_, PyTuple>> {
    let dictionaries = dims.into_iter().map(|entries| to_python(py, &Value::dict(entries)));
    PyTuple::new(py, dictionaries.collect::<PyResult<Vec<_>>>()?)
}

/// Takes the piece that any object with `__distarray__` offers. Nothing is copied.
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
pub fn from_distarray(obj: &Bound<'_, PyAny>) -> PyResult<Piece> {
    let export = obj.call_method0("__distarray__").map_err(|cause| {
        let error =
            ProtocolError::new(&rules::L01, "an object whose __distarray__() returns a dict")
                .with_value(format!("{} ({cause})", convert::shown(obj)))
                .raise();
        error.set_cause(obj.py(), Some(cause));
        error
    })?;
    Piece::read(&export)
}
