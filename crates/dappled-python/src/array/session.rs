//! The one session of a Python program.

use std::sync::OnceLock;

use dappled::graph::{Limits, Session};
use dappled_fabric::{Settings, connect_with};
use dappled_kernels::Variant;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::exclusive::exclusive;
use crate::errors::Raise;

static SESSION: OnceLock<Session> = OnceLock::new();

/// The session; the first call looks for other ranks.
pub fn session(py: Python<'_>) -> PyResult<&'static Session> {
    if let Some(session) = SESSION.get() {
        return Ok(session);
    }
    let variant = Variant::from_environment();
    let variant = variant.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let prefix: String = py.import("sys")?.getattr("prefix")?.extract()?;
    let settings = Settings { prefix: Some(prefix.into()), ..Settings::default() };
    let fabric =
        connect_with(&settings).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let session = Session::agreed(fabric, limits(), variant).map_err(Raise::raise)?;
    Ok(SESSION.get_or_init(|| session))
}

/// From which size on arrays are treated as large: `DAPPLED_WHOLE_BELOW`, in bytes, and
/// `DAPPLED_AT_ONCE`, in elements. A test sets them to 0.
fn limits() -> Limits {
    let said = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let usual = Limits::default();
    Limits {
        whole_below: said("DAPPLED_WHOLE_BELOW").unwrap_or(usual.whole_below),
        at_once: said("DAPPLED_AT_ONCE").unwrap_or(usual.at_once),
    }
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

/// What every rank gives, in the order of the ranks. Collective.
#[pyfunction]
pub fn gather<'py>(
    py: Python<'py>,
    place: &str,
    bytes: Vec<u8>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let session = session(py)?;
    let all = exclusive(py, usize::MAX, || session.gather(place, bytes))?;
    Ok(all.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
}

/// Computes all that is pending and held, and waits until every rank has. Collective.
#[pyfunction]
pub fn sync(py: Python<'_>) -> PyResult<()> {
    let session = session(py)?;
    exclusive(py, usize::MAX, || session.sync())
}

/// From now on, or no more, what all ranks would have to do together is an error.
#[pyfunction]
pub fn set_local(py: Python<'_>, local: bool) -> PyResult<()> {
    session(py)?.set_local(local);
    Ok(())
}

/// Tells the other ranks that nothing more will come; the last thing that is done.
#[pyfunction]
pub fn leave() -> PyResult<()> {
    let left = SESSION.get().map_or(Ok(()), |session| session.fabric().leave());
    left.map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Ends all ranks at once, where there are others.
#[pyfunction]
pub fn abort(status: i32) {
    if let Some(session) = SESSION.get()
        && session.fabric().size() > 1
    {
        session.fabric().abort(status)
    }
}

/// Counts of memory: arrays that got fresh memory, that reused some, and bytes kept for reuse.
#[pyfunction]
pub fn memory_stats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let stats = session(py)?.memory_stats();
    let counts = PyDict::new(py);
    counts.set_item("made", stats.made)?;
    counts.set_item("reused", stats.reused)?;
    counts.set_item("kept", stats.kept)?;
    Ok(counts)
}
