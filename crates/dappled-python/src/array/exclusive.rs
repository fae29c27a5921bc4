//! One at a time: arrays may be used from any Python thread.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use dappled::graph::GraphError;
use dappled_kernels::{OutOfMemory, in_fresh_pool};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;

use super::origin::handle;
use super::session::{begun, session};
use crate::errors::Raise;

static LOCK: Mutex<()> = Mutex::new(());

thread_local! {
    /// Does this thread hold the lock? Freeing an object in between may run Python code.
    static HELD: Cell<bool> = const { Cell::new(false) };
}

/// Elements from which on other Python threads may run meanwhile.
const LARGE: usize = 1 << 14;

/// Does something with arrays while no other thread does; other Python threads may run meanwhile
/// if it is about many elements, or if it has to wait. Then errors are raised, and what operations
/// signalled is warned of.
pub fn exclusive<T: Send>(
    py: Python<'_>,
    elements: usize,
    act: impl FnOnce() -> Result<T, GraphError> + Send,
) -> PyResult<T> {
    // Arrays are replaced whole, and claims on memory end with the panic: what is left is sound.
    finished(py, alone(py, elements, || catch_unwind(AssertUnwindSafe(act))))
}

/// The same for what neither waits nor sends, and only looks at memory that nobody writes now: there
/// is no need to be alone, for claims on the memory keep others out.
pub fn quickly<T>(py: Python<'_>, act: impl FnOnce() -> Result<T, GraphError>) -> PyResult<T> {
    finished(py, catch_unwind(AssertUnwindSafe(act)))
}

fn finished<T>(py: Python<'_>, caught: std::thread::Result<Result<T, GraphError>>) -> PyResult<T> {
    let done = caught.map_err(|panic| reported(&*panic))?.map_err(Raise::raise)?;
    let session = session(py)?;
    if session.has_notices() {
        handle(py, session.take_notices())?;
    }
    Ok(done)
}

/// A panic is our fault: an exception that says so, after which the program may go on. A want of
/// memory is nobody's.
fn reported(panic: &(dyn Any + Send)) -> PyErr {
    if let Some(OutOfMemory { bytes }) = panic.downcast_ref() {
        return PyMemoryError::new_err(format!("Unable to allocate {bytes} bytes for an array"));
    }
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    PyRuntimeError::new_err(format!(
        "{text}. This is a bug of dappled's: please report it with the program that shows it."
    ))
}

fn alone<T: Send>(py: Python<'_>, elements: usize, act: impl FnOnce() -> T + Send) -> T {
    if HELD.get() {
        return act();
    }
    if begun().is_some_and(|session| session.ways().is_forked()) {
        return py.detach(|| in_fresh_pool(|| marked(act)));
    }
    if elements <= LARGE
        && let Ok(_guard) = LOCK.try_lock()
    {
        return marked(act);
    }
    py.detach(|| {
        let _guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        marked(act)
    })
}

fn marked<T>(act: impl FnOnce() -> T) -> T {
    /// Takes the mark away, also if there was a panic.
    struct Mark;
    impl Drop for Mark {
        fn drop(&mut self) {
            HELD.set(false);
        }
    }
    HELD.set(true);
    let _mark = Mark;
    act()
}
