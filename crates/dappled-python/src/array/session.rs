//! The one session of a Python program.

use std::sync::OnceLock;

use dappled::config::{Config, ConfigError};
use dappled::graph::Session;
use dappled_fabric::{Fabric, FabricError, Settings, connect_with, mpi};
use dappled_kernels::use_threads;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::exclusive::exclusive;
use super::exit::hang_at_exit;
use super::line::{running_line, running_thread};
use crate::errors::Raise;

static SESSION: OnceLock<Session> = OnceLock::new();

/// The settings that the environment variables of this process give.
pub fn config() -> &'static Result<Config, ConfigError> {
    static CONFIG: OnceLock<Result<Config, ConfigError>> = OnceLock::new();
    CONFIG.get_or_init(Config::from_environment)
}

/// The session; the first call looks for other ranks.
pub fn session(py: Python<'_>) -> PyResult<&'static Session> {
    hang_at_exit();
    match SESSION.get() {
        Some(session) => Ok(session),
        None => begin(py, None),
    }
}

/// The session, if there is one already.
pub fn begun() -> Option<&'static Session> {
    SESSION.get()
}

/// Begins the session: on the ranks of an MPI communicator, or on those that were launched.
pub fn begin(py: Python<'_>, communicator: Option<u64>) -> PyResult<&'static Session> {
    let config = config().as_ref().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let prefix: String = py.import("sys")?.getattr("prefix")?.extract()?;
    if let Some(count) = config.threads {
        use_threads(count.get());
    }
    let launcher = py.import("dappled._launched")?;
    if communicator.is_none() && mpi::launched().is_ok_and(|launch| launch.is_some()) {
        launcher.call_method1("tell", ("connecting",))?;
    }
    let connected = Settings::from_environment().and_then(|settings| {
        let prefix = Some(prefix.into());
        connect(&Settings { prefix, communicator, ..settings })
    });
    let fabric = connected.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let word = if fabric.name() == "solo" { "alone" } else { "connected" };
    launcher.call_method1("tell", (word,))?;
    let session = Session::agreed(fabric, config).map_err(Raise::raise)?;
    let session = SESSION.get_or_init(|| {
        session.ways().set_line(Box::new(running_line));
        session.ways().set_thread_name(Box::new(running_thread));
        session.forever()
    });
    // Threads start now, beside the program's first steps, and not when it first has work for them.
    dappled_kernels::threads();
    py.import("dappled._job")?.call_method0("begin")?;
    Ok(session)
}

fn connect(settings: &Settings) -> Result<Box<dyn Fabric>, FabricError> {
    match settings.communicator {
        Some(_) => mpi::connect_with(settings),
        None => connect_with(settings),
    }
}

/// Computes all that is pending and held, and waits until every rank has. Collective.
#[pyfunction]
pub fn sync(py: Python<'_>) -> PyResult<()> {
    let session = session(py)?;
    exclusive(py, usize::MAX, || session.sync())
}

/// Counts of memory: pieces made and reused; bytes in use, now and at most, and kept for reuse; bytes
/// of arrays in pieces that were gathered.
#[pyfunction]
pub fn memory_stats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let stats = session(py)?.memory_stats();
    let counts = PyDict::new(py);
    for (name, count) in [
        ("made", stats.made),
        ("reused", stats.reused),
        ("live", stats.live),
        ("peak", stats.peak),
        ("kept", stats.kept),
        ("gathered", session(py)?.gathered_bytes()),
    ] {
        counts.set_item(name, count)?;
    }
    Ok(counts)
}
