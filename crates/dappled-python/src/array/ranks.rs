//! The ranks of a Python program: who they are, what they say, how they begin and end.

use std::sync::{Arc, Mutex, Once, PoisonError};

use dappled::run::RunError;
use dappled_base::memory::copied;
use dappled_fabric::{Payload, Pending};
use dappled_kernels::{DType, View};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::exclusive::exclusive;
use super::lending::{Kept, Message, borrowed, numpy_array};
use super::session::{begin, begun, session};
use crate::errors::Raise;

/// Begins on the ranks of this communicator, or on those that were launched.
#[pyfunction]
#[pyo3(signature = (communicator=None))]
pub fn init(py: Python<'_>, communicator: Option<u64>) -> PyResult<()> {
    match begun() {
        None => begin(py, communicator).map(drop),
        Some(_) if communicator.is_none() => Ok(()),
        Some(_) => Err(PyRuntimeError::new_err(
            "dappled.init(comm=...) comes too late: the ranks are known since the first array was \
             made or dappled.comm was first asked",
        )),
    }
}

/// Are the ranks known?
#[pyfunction]
pub fn has_begun() -> bool {
    begun().is_some()
}

/// How many ranks there are.
#[pyfunction]
pub fn ranks(py: Python<'_>) -> PyResult<u64> {
    Ok(session(py)?.fabric().size())
}

/// Which of the ranks this is.
#[pyfunction]
pub fn rank(py: Python<'_>) -> PyResult<u64> {
    Ok(session(py)?.fabric().rank())
}

/// Which of the ranks on this machine this is.
#[pyfunction]
pub fn node_rank(py: Python<'_>) -> PyResult<u64> {
    Ok(session(py)?.fabric().node_rank())
}

/// What carries messages.
#[pyfunction]
pub fn fabric_name(py: Python<'_>) -> PyResult<String> {
    Ok(session(py)?.fabric().name().to_string())
}

/// Messages and bytes sent so far, and seconds waited.
#[pyfunction]
pub fn comm_stats(py: Python<'_>) -> PyResult<(u64, u64, f64)> {
    let stats = session(py)?.fabric().stats();
    Ok((stats.messages, stats.bytes, stats.waited.as_secs_f64()))
}

/// What every rank gives, in the order of the ranks. Collective.
#[pyfunction]
pub fn gather<'py>(
    py: Python<'py>,
    what: &str,
    bytes: PyBackedBytes,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let session = session(py)?;
    let all = exclusive(py, usize::MAX, || session.gather(what, copied(&bytes)))?;
    let object = |bytes: &Vec<u8>| {
        PyBytes::new_with(py, bytes.len(), |memory| {
            memory.copy_from_slice(bytes);
            Ok(())
        })
    };
    all.iter().map(object).collect()
}

/// Sends to every rank what is meant for it, and gives what every rank has for this one: of its own the
/// array itself. Collective.
#[pyfunction]
pub fn exchange<'py>(
    py: Python<'py>,
    what: &str,
    sends: Vec<Bound<'py, PyArray1<u8>>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let session = session(py)?;
    let payload = |sent: &Bound<'py, PyArray1<u8>>| Ok(Payload::Kept(kept(sent)?));
    let bytes = sends.iter().map(payload).collect::<PyResult<Vec<Payload>>>()?;
    let came = exclusive(py, usize::MAX, || session.send_to_each(what, bytes))?;
    let own = session.fabric().rank() as usize;
    let array = |(rank, bytes): (usize, Vec<u8>)| match rank == own {
        true => Ok(sends[own].clone().into_any()),
        false => received(py, bytes),
    };
    came.into_iter().enumerate().map(array).collect()
}

/// The bytes of an array, which stay as they are until they are sent.
fn kept(array: &Bound<'_, PyArray1<u8>>) -> PyResult<Arc<dyn AsRef<[u8]> + Send + Sync>> {
    let length = array.try_readonly()?.as_slice()?.len();
    let not_there = || PyValueError::new_err("bytes that are nowhere");
    let (buffer, _) = borrowed(array.as_untyped()).ok_or_else(not_there)?;
    Ok(Arc::new(buffer.keep(0..length).map_err(|_| not_there())?))
}

/// A message as NumPy's array.
fn received(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Bound<'_, PyAny>> {
    let view = View::c_order(DType::UInt8, &[bytes.len()]);
    numpy_array(py, Kept::Message(Message::new(bytes)), &view, None, true)
}

/// What one rank gives to all, on its way.
#[pyclass(frozen, module = "dappled")]
pub struct Awaited(Mutex<Option<Pending>>);

#[pymethods]
impl Awaited {
    /// The bytes; None on the rank that gave them. To be asked once.
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(pending) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(None);
        };
        let came = exclusive(py, usize::MAX, || Ok(pending.wait().map_err(RunError::from)?))?;
        came.into_iter().next().map(|bytes| received(py, bytes)).transpose()
    }
}

/// Begins to send what one rank gives to all others, and nobody changes until they have it; what they
/// give is not looked at. Collective.
#[pyfunction]
pub fn start_from(
    py: Python<'_>,
    rank: u64,
    what: &str,
    bytes: &Bound<'_, PyArray1<u8>>,
) -> PyResult<Awaited> {
    let (session, bytes) = (session(py)?, kept(bytes)?);
    let pending = exclusive(py, usize::MAX, || session.start_from(rank, what, bytes))?;
    Ok(Awaited(Mutex::new(Some(pending))))
}

/// Raises where this process or thread may not communicate; `what` would.
#[pyfunction]
pub fn check_collective(py: Python<'_>, what: &str) -> PyResult<()> {
    let session = session(py)?;
    session.ways().check(what, session.fabric().size()).map_err(Raise::raise)
}

/// Refuses, or allows again, what communicates in the current thread.
#[pyfunction]
pub fn set_local(py: Python<'_>, local: bool) -> PyResult<()> {
    session(py)?.ways().set_local(local);
    Ok(())
}

/// Tells the other ranks that nothing more will come; the last thing that is done. MPI itself is
/// ended when Python is: others may use it until then.
#[pyfunction]
pub fn leave(py: Python<'_>, status: i32) -> PyResult<()> {
    static END: Once = Once::new();
    let Some(session) = begun().filter(|session| !session.ways().is_forked()) else {
        return Ok(());
    };
    let left = py.detach(|| session.fabric().leave(status));
    left.map_err(Raise::raise)?;
    END.call_once(|| {
        // SAFETY: a C function without arguments, which touches nothing of Python's.
        let _ = unsafe { ffi::Py_AtExit(Some(end)) };
    });
    Ok(())
}

extern "C" fn end() {
    if let Some(session) = begun() {
        // There is nobody left to tell that MPI did not end well.
        let _ = session.fabric().end();
    }
}

/// Ends all ranks at once, where there are others.
#[pyfunction]
pub fn abort(status: i32) {
    if let Some(session) = begun()
        && session.fabric().size() > 1
        && !session.ways().is_forked()
    {
        session.fabric().abort(status)
    }
}
