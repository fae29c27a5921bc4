//! The session of the process.

use std::sync::OnceLock;

use dappled::Session;
use dappled::config::{Config, ConfigError};
use dappled_fabric::{Fabric, FabricConfig, FabricError, connect_with, mpi};
use dappled_kernels::set_thread_count;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::lock::run_locked;
use super::thread_exit::hang_at_exit;
use super::traceback::{running_line, running_thread_name};
use crate::errors::Raise;
use crate::ops::openblas;

static SESSION: OnceLock<Session> = OnceLock::new();

/// Returns the settings of the environment variables.
pub fn config() -> &'static Result<Config, ConfigError> {
    static CONFIG: OnceLock<Result<Config, ConfigError>> = OnceLock::new();
    CONFIG.get_or_init(Config::from_environment)
}

/// Returns the session; the first call connects to the other ranks.
pub fn session(py: Python<'_>) -> PyResult<&'static Session> {
    hang_at_exit();
    match SESSION.get() {
        Some(session) => Ok(session),
        None => start_session(py, None),
    }
}

/// Returns the session if it exists.
pub fn existing_session() -> Option<&'static Session> {
    SESSION.get()
}

/// Starts the session on the ranks of a communicator, or on those of the launcher.
pub fn start_session(py: Python<'_>, communicator: Option<u64>) -> PyResult<&'static Session> {
    let config = config().as_ref().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let prefix: String = py.import("sys")?.getattr("prefix")?.extract()?;
    if let Some(count) = config.threads {
        set_thread_count(count.get());
    }
    let launcher = py.import("dappled.launch.client")?;
    if communicator.is_none() && mpi::detect_launch().is_ok_and(|launch| launch.is_some()) {
        launcher.call_method1("tell", ("connecting",))?;
    }
    let connected = FabricConfig::from_environment().and_then(|settings| {
        let prefix = Some(prefix.into());
        connect(&FabricConfig { python_prefix: prefix, communicator, ..settings })
    });
    let fabric = connected.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let word = if fabric.name() == "solo" { "alone" } else { "connected" };
    launcher.call_method1("tell", (word,))?;
    let session = Session::with_config(fabric, config).map_err(Raise::raise)?;
    let session = SESSION.get_or_init(|| {
        session.collective_guard().set_source_line(Box::new(running_line));
        session.collective_guard().set_thread_name(Box::new(running_thread_name));
        session.into_static()
    });
    openblas::install(py, session);
    // Starts the threads now, in parallel with the program's first steps.
    dappled_kernels::thread_count();
    py.import("dappled._ranks.lifecycle")?.call_method0("begin")?;
    Ok(session)
}

fn connect(settings: &FabricConfig) -> Result<Box<dyn Fabric>, FabricError> {
    match settings.communicator {
        Some(_) => mpi::connect_with(settings),
        None => connect_with(settings),
    }
}

/// Evaluates all pending arrays that are referenced, and waits for every rank. Collective.
#[pyfunction]
pub fn sync(py: Python<'_>) -> PyResult<()> {
    let session = session(py)?;
    run_locked(py, usize::MAX, || session.sync())
}

/// Starts to record the plans of operations, for the ranks that run or for another number.
#[pyfunction]
#[pyo3(signature = (ranks=None))]
pub fn start_explaining(py: Python<'_>, ranks: Option<u64>) -> PyResult<()> {
    session(py)?.start_explaining(ranks);
    Ok(())
}

/// Stops recording, and returns the plans as text.
#[pyfunction]
pub fn take_explanation(py: Python<'_>) -> PyResult<String> {
    Ok(session(py)?.take_explanation())
}

/// Returns counters of the buffer pool.
///
/// Buffers created and reused; bytes in use, at their peak and kept for reuse; bytes of distributed
/// arrays that were gathered.
#[pyfunction]
pub fn memory_stats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let stats = session(py)?.memory_stats();
    let counts = PyDict::new(py);
    for (name, count) in [
        ("made", stats.allocations),
        ("reused", stats.reuses),
        ("live", stats.live_bytes),
        ("peak", stats.peak_bytes),
        ("kept", stats.pooled_bytes),
        ("gathered", session(py)?.gathered_bytes()),
    ] {
        counts.set_item(name, count)?;
    }
    Ok(counts)
}
