//! The ranks of the job: start, collectives on bytes, end.

use std::sync::{Arc, Mutex, Once, PoisonError};

use dappled::run::RunError;
use dappled_base::memory::copy_of;
use dappled_fabric::{ExchangeRequest, Payload};
use dappled_kernels::{DType, View};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::lock::run_locked;
use super::session::{existing_session, session, start_session};
use crate::errors::{Raise, internal_error};
use crate::interop::buffer_export::{ExportedMemory, ReceivedBytes, borrow_elements, numpy_array};

/// Initialises on the ranks of a communicator, or on those of the launcher.
#[pyfunction]
#[pyo3(signature = (communicator=None))]
pub fn init(py: Python<'_>, communicator: Option<u64>) -> PyResult<()> {
    match existing_session() {
        None => start_session(py, communicator).map(drop),
        Some(_) if communicator.is_none() => Ok(()),
        Some(_) => Err(PyRuntimeError::new_err(
            "dappled.init(comm=...) must be called before the first array is created and before \
             dappled.comm is used",
        )),
    }
}

/// Returns whether the session exists.
#[pyfunction(name = "has_begun")]
pub fn is_initialized() -> bool {
    existing_session().is_some()
}

/// Returns the number of ranks.
#[pyfunction]
pub fn ranks(py: Python<'_>) -> PyResult<u64> {
    Ok(session(py)?.fabric().size())
}

/// Returns the number of this rank.
#[pyfunction]
pub fn rank(py: Python<'_>) -> PyResult<u64> {
    Ok(session(py)?.fabric().rank())
}

/// Returns the number of this rank among those of its node.
#[pyfunction]
pub fn node_rank(py: Python<'_>) -> PyResult<u64> {
    Ok(session(py)?.fabric().node_rank())
}

/// Returns the name of the fabric.
#[pyfunction]
pub fn fabric_name(py: Python<'_>) -> PyResult<String> {
    Ok(session(py)?.fabric().name().to_string())
}

/// Returns the messages and bytes sent so far, and the seconds spent waiting.
#[pyfunction]
pub fn comm_stats(py: Python<'_>) -> PyResult<(u64, u64, f64)> {
    let stats = session(py)?.fabric().stats();
    Ok((stats.messages, stats.bytes, stats.wait_time.as_secs_f64()))
}

/// Allgather: returns the bytes of every rank, in rank order. Collective.
#[pyfunction(name = "gather")]
pub fn allgather<'py>(
    py: Python<'py>,
    what: &str,
    bytes: PyBackedBytes,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let session = session(py)?;
    let all = run_locked(py, usize::MAX, || session.allgather(what, copy_of(&bytes)))?;
    let object = |bytes: &Vec<u8>| {
        PyBytes::new_with(py, bytes.len(), |memory| {
            memory.copy_from_slice(bytes);
            Ok(())
        })
    };
    all.iter().map(object).collect()
}

/// All-to-all: sends `sends[r]` to rank r and returns what each rank sent here. Collective.
///
/// This rank's own array is returned as it is.
#[pyfunction(name = "exchange")]
pub fn all_to_all<'py>(
    py: Python<'py>,
    what: &str,
    sends: Vec<Bound<'py, PyArray1<u8>>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let session = session(py)?;
    let payload = |sent: &Bound<'py, PyArray1<u8>>| Ok(Payload::Shared(shared_bytes(sent)?));
    let bytes = sends.iter().map(payload).collect::<PyResult<Vec<Payload>>>()?;
    let received = run_locked(py, usize::MAX, || session.all_to_all_remote(what, bytes))?;
    let rank_here = session.fabric().rank() as usize;
    let array = |(rank, bytes): (usize, Vec<u8>)| match rank == rank_here {
        true => Ok(sends[rank_here].clone().into_any()),
        false => received_array(py, bytes),
    };
    received.into_iter().enumerate().map(array).collect()
}

/// Borrows the bytes of an array, which the caller must not change until they are sent.
fn shared_bytes(array: &Bound<'_, PyArray1<u8>>) -> PyResult<Arc<dyn AsRef<[u8]> + Send + Sync>> {
    let length = array.try_readonly()?.as_slice()?.len();
    let no_memory = || internal_error("the bytes to send have no memory");
    let (buffer, _) = borrow_elements(array.as_untyped()).ok_or_else(no_memory)?;
    Ok(Arc::new(buffer.read_owned(0..length).map_err(|_| no_memory())?))
}

/// Wraps a message in a NumPy array.
fn received_array(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Bound<'_, PyAny>> {
    let view = View::c_order(DType::UInt8, &[bytes.len()]);
    numpy_array(py, ExportedMemory::Message(ReceivedBytes::new(bytes)), &view, None, true)
}

/// A broadcast in progress.
#[pyclass(frozen, name = "Awaited", module = "dappled")]
pub struct PendingBroadcast(Mutex<Option<ExchangeRequest>>);

#[pymethods]
impl PendingBroadcast {
    /// Waits for the bytes; None on the sending rank and on a second call.
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(pending) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(None);
        };
        let received =
            run_locked(py, usize::MAX, || Ok(pending.wait().map_err(RunError::from)?))?;
        received.into_iter().next().map(|bytes| received_array(py, bytes)).transpose()
    }
}

/// Starts a broadcast of `bytes` of one rank; those of the other ranks are ignored. Collective.
///
/// The sender must not change the bytes before all ranks have them.
#[pyfunction(name = "start_from")]
pub fn start_broadcast(
    py: Python<'_>,
    rank: u64,
    what: &str,
    bytes: &Bound<'_, PyArray1<u8>>,
) -> PyResult<PendingBroadcast> {
    let (session, bytes) = (session(py)?, shared_bytes(bytes)?);
    let pending = run_locked(py, usize::MAX, || session.start_broadcast(rank, what, bytes))?;
    Ok(PendingBroadcast(Mutex::new(Some(pending))))
}

/// Raises if `what`, which is collective, cannot run in this process or thread.
#[pyfunction]
pub fn check_collective(py: Python<'_>, what: &str) -> PyResult<()> {
    let session = session(py)?;
    session.collective_guard().check(what, session.fabric().size()).map_err(Raise::raise)
}

/// Forbids or allows collective operations in this thread.
#[pyfunction]
pub fn set_local(py: Python<'_>, local: bool) -> PyResult<()> {
    session(py)?.collective_guard().set_local(local);
    Ok(())
}

/// Tells the other ranks that this one is done. The last operation of a job.
///
/// MPI itself is finalised when Python exits, as other libraries may use it until then.
#[pyfunction]
pub fn leave(py: Python<'_>, status: i32) -> PyResult<()> {
    static END: Once = Once::new();
    let Some(session) =
        existing_session().filter(|session| !session.collective_guard().is_forked())
    else {
        return Ok(());
    };
    let left = py.detach(|| session.fabric().leave(status));
    left.map_err(Raise::raise)?;
    END.call_once(|| {
        // SAFETY: the callback is a C function without arguments that does not touch Python
        // objects.
        let _ = unsafe { ffi::Py_AtExit(Some(finalize_fabric)) };
    });
    Ok(())
}

extern "C" fn finalize_fabric() {
    if let Some(session) = existing_session() {
        // At this point there is no way left to report an error of MPI.
        let _ = session.fabric().finalize();
    }
}

/// Aborts the job, if there are other ranks.
#[pyfunction]
pub fn abort(status: i32) {
    if let Some(session) = existing_session()
        && session.fabric().size() > 1
        && !session.collective_guard().is_forked()
    {
        session.fabric().abort(status)
    }
}
