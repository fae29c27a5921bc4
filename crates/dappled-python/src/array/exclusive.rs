//! One at a time: arrays may be used from any Python thread.
//!
//! Whatever may take long holds [`LOCK`], mostly without the GIL. What is quick needs no lock while no
//! other thread is in there without the GIL: others that would begin need the GIL first, which the
//! quick one holds. Around a `fork` the lock is held, so that the child finds nothing half done.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use dappled::graph::GraphError;
use dappled::run::RunError;
use dappled_base::memory::{REFUSED, size_text};
use dappled_base::{Interrupted, OutOfMemory, interrupt};
use dappled_kernels::{Error, in_fresh_pool};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;

use super::origin::handle;
use super::session::{begun, session};
use crate::errors::Raise;

static LOCK: Mutex<()> = Mutex::new(());

/// How many threads have gone without the GIL to where the lock is held. Changed by threads that
/// have the GIL.
static DETACHED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Does this thread hold the lock? Freeing an object in between may run Python code.
    static HELD: Cell<bool> = const { Cell::new(false) };
    /// The lock, from just before to just after a fork.
    static FORKING: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
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

/// Does something that rayon's threads share while no other thread uses arrays; see [`exclusive`].
pub fn on_pool<T: Send>(
    py: Python<'_>,
    elements: usize,
    act: impl FnOnce() -> Result<T, GraphError> + Send,
) -> PyResult<T> {
    exclusive(py, elements, || interrupt::pooled(elements, act))
}

/// Does something that neither waits nor sends, with the GIL; see [`exclusive`] for the rest.
///
/// Takes the lock only where another thread is using arrays, and then `act` may be called twice.
pub fn quickly<T>(py: Python<'_>, act: impl Fn() -> Result<T, GraphError>) -> PyResult<T> {
    let act = || catch_unwind(AssertUnwindSafe(&act));
    if HELD.get() || is_idle() {
        let done = act();
        // Memory is claimed by a thread that has lost the GIL to this one while it held the lock.
        if !matches!(&done, Ok(Err(error)) if is_busy(error)) || HELD.get() {
            return finished(py, done);
        }
    }
    let _guard = lock(py);
    finished(py, marked(act))
}

/// Is no other thread using arrays? So it stays until the GIL is released.
#[inline]
pub fn is_idle() -> bool {
    DETACHED.load(Ordering::Relaxed) == 0
}

fn is_busy(error: &GraphError) -> bool {
    matches!(error, GraphError::Run(RunError::Kernel(Error::Busy)))
}

fn finished<T>(py: Python<'_>, caught: std::thread::Result<Result<T, GraphError>>) -> PyResult<T> {
    let done = caught.map_err(|panic| reported(&*panic))?.map_err(Raise::raise)?;
    if HAS_SIGNAL.load(Ordering::Relaxed)
        && let Some(signal) = take_signal()
    {
        return Err(signal); // which came when the work was as good as done
    }
    let session = session(py)?;
    if session.has_notices() {
        handle(py, session.take_notices())?;
    }
    Ok(done)
}

/// A panic as an exception, after which the program may go on: MemoryError where memory was refused,
/// what a signal's handler raised where the work was interrupted; else it is our fault.
fn reported(panic: &(dyn Any + Send)) -> PyErr {
    if let Some(refused) = panic.downcast_ref() {
        return refused_memory(refused);
    }
    if panic.is::<Interrupted>() {
        return take_signal().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()));
    }
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    PyRuntimeError::new_err(format!(
        "{text}. This is a bug of dappled's: please report it with the program that shows it."
    ))
}

/// MemoryError, in NumPy's words; on several ranks it says whose share was refused. They are told.
fn refused_memory(refused: &OutOfMemory) -> PyErr {
    let mut text = refused.to_string();
    if let Some(session) = begun()
        && session.fabric().size() > 1
    {
        let (rank, size) = (session.fabric().rank(), session.fabric().size());
        text += &match refused.array {
            Some(_) => {
                let share = size_text(refused.bytes as u128);
                format!(": {share} of it on rank {rank} of {size}")
            }
            None => format!(" on rank {rank} of {size}"),
        };
        session.fabric().refused(text.clone());
    }
    PyMemoryError::new_err(text)
}

/// Tells the other ranks of memory that NumPy has refused to a function of ours on this one.
pub fn tell_refused(py: Python<'_>, error: &PyErr) {
    if error.is_instance_of::<PyMemoryError>(py)
        && let Some(session) = begun()
    {
        let (rank, size) = (session.fabric().rank(), session.fabric().size());
        let (text, place) = (error.value(py).to_string(), format!("on rank {rank} of {size}"));
        let is_told = text.is_empty() || !text.starts_with(REFUSED) || text.ends_with(&place);
        if !is_told {
            session.fabric().refused(format!("{text} {place}"));
        }
    }
}

/// Does something that may need memory, with the GIL: MemoryError where there is none.
pub fn fallible<T>(act: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|panic| reported(&*panic))
}

/// What the handler of a signal has raised while the main thread was at work without the GIL.
static SIGNAL: Mutex<Option<PyErr>> = Mutex::new(None);
/// Has one? To look costs less than to lock.
static HAS_SIGNAL: AtomicBool = AtomicBool::new(false);

fn take_signal() -> Option<PyErr> {
    HAS_SIGNAL.store(false, Ordering::Relaxed);
    SIGNAL.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Runs the handlers of signals that have come, and says whether one has raised.
fn has_signal() -> bool {
    let Err(error) = Python::attach(|py| py.check_signals()) else { return false };
    SIGNAL.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
    HAS_SIGNAL.store(true, Ordering::Relaxed);
    true
}

/// Is this Python's main thread, which alone runs the handlers of signals?
fn is_main(py: Python<'_>) -> bool {
    thread_local! {
        static MAIN: Cell<Option<bool>> = const { Cell::new(None) };
    }
    MAIN.get().unwrap_or_else(|| {
        let current = |name| py.import("threading")?.call_method0(name);
        let is_main =
            current("current_thread").and_then(|own| Ok(own.is(&current("main_thread")?)));
        let is_main = is_main.unwrap_or(false);
        MAIN.set(Some(is_main));
        is_main
    })
}

fn alone<T: Send>(py: Python<'_>, elements: usize, act: impl FnOnce() -> T + Send) -> T {
    if HELD.get() {
        return act();
    }
    let is_forked = begun().is_some_and(|session| session.ways().is_forked());
    if elements <= LARGE
        && !is_forked
        && let Some(_guard) = try_lock()
    {
        // What is small may wait for other ranks.
        return match begun().is_some_and(|session| session.fabric().size() > 1) {
            true => attentive(is_main(py), || marked(act)),
            false => marked(act),
        };
    }
    let (_away, is_main) = (Away::new(), is_main(py));
    py.detach(|| {
        let _guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        match is_forked {
            true => in_fresh_pool(|| marked(act)),
            false => attentive(is_main, || marked(act)),
        }
    })
}

/// Does something that ends early when a signal comes to the main thread, if this is it.
fn attentive<T>(is_main: bool, act: impl FnOnce() -> T) -> T {
    if !is_main {
        return act();
    }
    let done = interrupt::watched(has_signal, act);
    interrupt::clear();
    done
}

/// The lock, for a thread that keeps the GIL: released only to wait.
fn lock(py: Python<'_>) -> MutexGuard<'static, ()> {
    loop {
        if let Some(guard) = try_lock() {
            return guard;
        }
        py.detach(|| drop(LOCK.lock()));
    }
}

fn try_lock() -> Option<MutexGuard<'static, ()>> {
    match LOCK.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Counts a thread that is about to go without the GIL, until it has the GIL again.
struct Away;

impl Away {
    fn new() -> Self {
        DETACHED.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        DETACHED.fetch_sub(1, Ordering::Relaxed);
    }
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

/// Waits until no other thread uses arrays, just before a fork.
#[pyfunction]
pub fn before_fork(py: Python<'_>) {
    if !HELD.get() {
        let guard = lock(py);
        HELD.set(true);
        FORKING.set(Some(guard));
    }
}

/// Lets other threads use arrays again, just after a fork, in the parent.
#[pyfunction]
pub fn after_fork() {
    // A thread that held the lock before the fork goes on holding it.
    if FORKING.take().is_some() {
        HELD.set(false);
    }
}

/// Says that this process was forked: other threads, and those of the pools, are gone.
#[pyfunction]
pub fn set_forked() {
    after_fork();
    // Those that waited for the lock are not here.
    DETACHED.store(0, Ordering::Relaxed);
    if let Some(session) = begun() {
        session.ways().set_forked();
        dappled_kernels::set_forked();
    }
}
