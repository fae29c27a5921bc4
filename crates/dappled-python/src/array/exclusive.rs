//! One at a time: arrays may be used from any Python thread.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use dappled::graph::GraphError;
use pyo3::prelude::*;

use super::origin::handle;
use super::session::session;
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
    let done = alone(py, elements, act).map_err(Raise::raise)?;
    let notices = session(py)?.take_notices();
    if !notices.is_empty() {
        handle(py, notices)?;
    }
    Ok(done)
}

fn alone<T: Send>(py: Python<'_>, elements: usize, act: impl FnOnce() -> T + Send) -> T {
    if HELD.get() {
        return act();
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
