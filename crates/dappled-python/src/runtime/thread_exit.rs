//! Daemon threads that still run when Python exits.
//!
//! Before 3.14 Python ends such a thread by `pthread_exit` when it requests the GIL. glibc unwinds
//! the stack for that; frames of Rust on it, below Python code that they have called, abort the
//! process. A thread that calls this extension therefore sleeps forever instead, as in Python 3.14.
//! Outside of glibc `pthread_exit` does not unwind.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

static EXITING: AtomicBool = AtomicBool::new(false);

/// Makes threads that Python ends from now on sleep forever. Called when the interpreter exits.
#[pyfunction]
pub fn set_exiting() {
    EXITING.store(true, Ordering::Relaxed);
}

/// Makes this thread sleep instead of unwind if Python ends it while the interpreter exits.
#[inline]
pub fn hang_at_exit() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::register();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::cell::Cell;
    use std::ffi::{c_int, c_void};
    use std::ptr::null_mut;
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use libloading::os::unix::Library;

    /// `struct _pthread_cleanup_buffer` of glibc's `pthread.h`.
    #[repr(C)]
    struct CleanupBuffer {
        routine: Option<extern "C" fn(*mut c_void)>,
        argument: *mut c_void,
        cancel_type: c_int,
        previous: *mut CleanupBuffer,
    }

    /// `_pthread_cleanup_push`: part of glibc's ABI, but no longer of its headers.
    type CleanupPush =
        unsafe extern "C" fn(*mut CleanupBuffer, extern "C" fn(*mut c_void), *mut c_void);

    thread_local! {
        static REGISTERED: Cell<bool> = const { Cell::new(false) };
    }

    #[inline]
    pub fn register() {
        if !REGISTERED.replace(true) {
            push();
        }
    }

    /// Registers [`stop`] for this thread, once.
    #[cold]
    fn push() {
        static PUSH: OnceLock<Option<CleanupPush>> = OnceLock::new();
        // SAFETY: glibc's function of this name has this signature.
        let find = || unsafe { Library::this().get(b"_pthread_cleanup_push\0").ok().map(|f| *f) };
        let Some(push) = *PUSH.get_or_init(find) else { return };
        // On the heap, and never freed: glibc calls the routine when it unwinds a frame that is not
        // below this address, which is the first one, before any frame of Rust.
        let (routine, argument) = (None, null_mut());
        let buffer = CleanupBuffer { routine, argument, cancel_type: 0, previous: null_mut() };
        // SAFETY: the entry of this thread's list of routines lives as long as the thread.
        unsafe { push(Box::leak(Box::new(buffer)), stop, null_mut()) };
    }

    extern "C" fn stop(_: *mut c_void) {
        while super::EXITING.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
}
