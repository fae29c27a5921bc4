//! The lock of the core: arrays may be used from any Python thread, one at a time.
//!
//! A long operation holds [`LOCK`], usually without the GIL. A short one needs no lock while no
//! thread is detached from the interpreter: any other thread would need the GIL to start, and the
//! short operation holds it. The lock is held around a `fork`, so that the child sees a consistent
//! state.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use dappled::GraphError;
use dappled::run::RunError;
use dappled_base::memory::{OUT_OF_MEMORY_PREFIX, format_bytes};
use dappled_base::{Interrupted, OutOfMemory, interrupt};
use dappled_kernels::{Error, install_after_fork};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;

use super::errstate::report_warnings;
use super::session::{existing_session, session};
use crate::config::MAX_ATTACHED_ELEMENTS;
use crate::errors::{Raise, internal_error};

static LOCK: Mutex<()> = Mutex::new(());

/// Number of threads that hold, or wait for, the lock without the GIL. Written with the GIL held.
static DETACHED_THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread holds the lock. Dropping an object may run Python code meanwhile.
    static HOLDS_LOCK: Cell<bool> = const { Cell::new(false) };
    /// The guard of the lock, from just before to just after a fork.
    static FORK_GUARD: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// Runs `act` with the lock held; raises its error, and reports its floating-point warnings.
///
/// Releases the GIL if the operation has many elements, or if it has to wait.
pub fn run_locked<T: Send>(
    py: Python<'_>,
    elements: usize,
    act: impl FnOnce() -> Result<T, GraphError> + Send,
) -> PyResult<T> {
    // Arrays are replaced as a whole, and a panic releases claims of memory: the state stays
    // consistent.
    finish(py, run_exclusively(py, elements, || catch_unwind(AssertUnwindSafe(act))))
}

/// Runs `act` with the lock held, as a job of the thread pool; see [`run_locked`].
pub fn run_on_pool<T: Send>(
    py: Python<'_>,
    elements: usize,
    act: impl FnOnce() -> Result<T, GraphError> + Send,
) -> PyResult<T> {
    run_locked(py, elements, || interrupt::run_in_pool(elements, act))
}

/// Runs `act`, which neither waits nor communicates, with the GIL held.
///
/// Takes the lock only if a thread is detached; `act` may then run twice. Errors and warnings are
/// those of [`run_locked`].
pub fn run_attached<T>(py: Python<'_>, act: impl Fn() -> Result<T, GraphError>) -> PyResult<T> {
    let act = || catch_unwind(AssertUnwindSafe(&act));
    if is_idle() || HOLDS_LOCK.get() {
        let done = act();
        // A thread that holds the lock has lost the GIL to this one while it claimed memory.
        if !matches!(&done, Ok(Err(error)) if is_busy(error)) || HOLDS_LOCK.get() {
            return finish(py, done);
        }
    }
    let _guard = lock_attached(py);
    finish(py, run_holding_lock(act))
}

/// Returns whether no thread is detached. Stays true until this thread releases the GIL.
#[inline]
pub fn is_idle() -> bool {
    DETACHED_THREADS.load(Ordering::Relaxed) == 0
}

fn is_busy(error: &GraphError) -> bool {
    matches!(error, GraphError::Run(RunError::Kernel(Error::BufferBusy)))
}

fn finish<T>(py: Python<'_>, caught: std::thread::Result<Result<T, GraphError>>) -> PyResult<T> {
    let done = caught.map_err(|panic| panic_to_error(&*panic))?.map_err(Raise::raise)?;
    if HAS_SIGNAL.load(Ordering::Relaxed)
        && let Some(signal) = take_signal()
    {
        return Err(signal); // a signal arrived after the last interruption point
    }
    let session = session(py)?;
    if session.has_fp_warnings() {
        report_warnings(py, session.take_fp_warnings())?;
    }
    Ok(done)
}

/// Converts a panic to an exception, after which the program may continue.
///
/// Failed allocations raise MemoryError; an interrupt raises what the signal handler raised; any
/// other panic is an internal error.
fn panic_to_error(panic: &(dyn Any + Send)) -> PyErr {
    if let Some(refused) = panic.downcast_ref() {
        return memory_error(refused);
    }
    if panic.is::<Interrupted>() {
        return take_signal().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()));
    }
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    internal_error(text)
}

/// Builds NumPy's MemoryError; on several ranks it names the rank, and the others are informed.
fn memory_error(refused: &OutOfMemory) -> PyErr {
    let mut text = refused.to_string();
    if let Some(session) = existing_session()
        && session.fabric().size() > 1
    {
        let (rank, size) = (session.fabric().rank(), session.fabric().size());
        text += &match refused.array {
            Some(_) => {
                let share = format_bytes(refused.bytes as u128);
                format!(": {share} of it on rank {rank} of {size}")
            }
            None => format!(" on rank {rank} of {size}"),
        };
        session.fabric().report_out_of_memory(text.clone());
    }
    PyMemoryError::new_err(text)
}

/// Informs the other ranks of a MemoryError that NumPy raised in a collective function.
pub fn announce_memory_error(py: Python<'_>, error: &PyErr) {
    if error.is_instance_of::<PyMemoryError>(py)
        && let Some(session) = existing_session()
    {
        let (rank, size) = (session.fabric().rank(), session.fabric().size());
        let (text, location) = (error.value(py).to_string(), format!("on rank {rank} of {size}"));
        let is_announced =
            text.is_empty() || !text.starts_with(OUT_OF_MEMORY_PREFIX) || text.ends_with(&location);
        if !is_announced {
            session.fabric().report_out_of_memory(format!("{text} {location}"));
        }
    }
}

/// Runs `act`, which may allocate, with the GIL held; a panic becomes an exception.
pub fn catch_panic<T>(act: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|panic| panic_to_error(&*panic))
}

/// The exception of a signal handler that ran while the main thread worked without the GIL.
static PENDING_SIGNAL: Mutex<Option<PyErr>> = Mutex::new(None);
/// Whether there is one: cheaper to read than the mutex.
static HAS_SIGNAL: AtomicBool = AtomicBool::new(false);

fn take_signal() -> Option<PyErr> {
    HAS_SIGNAL.store(false, Ordering::Relaxed);
    PENDING_SIGNAL.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Runs pending signal handlers; returns whether one raised.
fn poll_signals() -> bool {
    let Err(error) = Python::attach(|py| py.check_signals()) else { return false };
    PENDING_SIGNAL.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
    HAS_SIGNAL.store(true, Ordering::Relaxed);
    true
}

/// Returns whether this is Python's main thread, the only one that runs signal handlers.
fn is_main_thread(py: Python<'_>) -> bool {
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

fn run_exclusively<T: Send>(py: Python<'_>, elements: usize, act: impl FnOnce() -> T + Send) -> T {
    if HOLDS_LOCK.get() {
        return act();
    }
    let is_forked =
        existing_session().is_some_and(|session| session.collective_guard().is_forked());
    if elements <= MAX_ATTACHED_ELEMENTS
        && !is_forked
        && let Some(_guard) = try_lock()
    {
        // A small operation may wait for other ranks, too.
        return match existing_session().is_some_and(|session| session.fabric().size() > 1) {
            true => run_interruptible(is_main_thread(py), || run_holding_lock(act)),
            false => run_holding_lock(act),
        };
    }
    let (_away, is_main) = (DetachedCount::new(), is_main_thread(py));
    py.detach(|| {
        let _guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        match is_forked {
            true => install_after_fork(|| run_holding_lock(act)),
            false => run_interruptible(is_main, || run_holding_lock(act)),
        }
    })
}

/// Runs `act` so that a signal interrupts it, if this is the main thread.
fn run_interruptible<T>(is_main: bool, act: impl FnOnce() -> T) -> T {
    if !is_main {
        return act();
    }
    let done = interrupt::with_interrupt_check(poll_signals, act);
    interrupt::clear();
    done
}

/// Takes the lock; releases the GIL only while it waits.
fn lock_attached(py: Python<'_>) -> MutexGuard<'static, ()> {
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

/// Counts this thread as detached until it is dropped.
struct DetachedCount;

impl DetachedCount {
    fn new() -> Self {
        DETACHED_THREADS.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for DetachedCount {
    fn drop(&mut self) {
        DETACHED_THREADS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn run_holding_lock<T>(act: impl FnOnce() -> T) -> T {
    /// Clears the flag, also after a panic.
    struct HoldsLockGuard;
    impl Drop for HoldsLockGuard {
        fn drop(&mut self) {
            HOLDS_LOCK.set(false);
        }
    }
    HOLDS_LOCK.set(true);
    let _mark = HoldsLockGuard;
    act()
}

/// Waits until no other thread uses the core, just before a fork.
#[pyfunction]
pub fn before_fork(py: Python<'_>) {
    if !HOLDS_LOCK.get() {
        let guard = lock_attached(py);
        HOLDS_LOCK.set(true);
        FORK_GUARD.set(Some(guard));
    }
}

/// Releases the lock just after a fork, in the parent.
#[pyfunction]
pub fn after_fork() {
    // A thread that held the lock before the fork keeps it.
    if FORK_GUARD.take().is_some() {
        HOLDS_LOCK.set(false);
    }
}

/// Marks this process as forked: other threads, and those of the pools, do not exist here.
#[pyfunction]
pub fn set_forked() {
    after_fork();
    // The threads that waited for the lock do not exist here.
    DETACHED_THREADS.store(0, Ordering::Relaxed);
    if let Some(session) = existing_session() {
        session.collective_guard().set_forked();
        dappled_kernels::set_forked();
    }
}
