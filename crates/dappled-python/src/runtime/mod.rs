//! The running program: session, ranks, lock, errstate, call sites, fallback.
//!
//! Input: the state of the interpreter (threads, frames, context variables, warning filters) and
//! the environment. Output: the one [`session`](session::session) of the process, and access to it.
//!
//! Guarantees: one thread at a time uses the core; no thread waits for the lock with the GIL held.
//! [`frames`] is the only module that reads the interpreter's frames and bytecode.

pub mod call_fingerprint;
pub mod call_sites;
#[allow(unsafe_code)]
pub mod contextvar;
pub mod environment;
pub mod errstate;
pub mod fallback;
#[allow(unsafe_code)]
pub mod frames;
pub mod lock;
#[allow(unsafe_code)]
pub mod ranks;
pub mod session;
#[allow(unsafe_code)]
pub mod thread_exit;
pub mod traceback;

use pyo3::prelude::*;

/// Adds the classes and functions of this folder to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(call_fingerprint::call_checked, module)?)?;
    module.add_function(wrap_pyfunction!(call_fingerprint::note, module)?)?;
    module.add_function(wrap_pyfunction!(environment::mpi_library, module)?)?;
    module.add_function(wrap_pyfunction!(environment::cpu, module)?)?;
    module.add_function(wrap_pyfunction!(lock::set_forked, module)?)?;
    module.add_function(wrap_pyfunction!(lock::before_fork, module)?)?;
    module.add_function(wrap_pyfunction!(lock::after_fork, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::init, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::is_initialized, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::node_rank, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::fabric_name, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::comm_stats, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::ranks, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::rank, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::allgather, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::all_to_all, module)?)?;
    module.add_class::<ranks::PendingBroadcast>()?;
    module.add_function(wrap_pyfunction!(ranks::start_broadcast, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::leave, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::set_local, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::check_collective, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::abort, module)?)?;
    module.add_function(wrap_pyfunction!(session::sync, module)?)?;
    module.add_function(wrap_pyfunction!(session::memory_stats, module)?)?;
    module.add_function(wrap_pyfunction!(session::start_explaining, module)?)?;
    module.add_function(wrap_pyfunction!(session::take_explanation, module)?)?;
    module.add_function(wrap_pyfunction!(thread_exit::set_exiting, module)?)
}
