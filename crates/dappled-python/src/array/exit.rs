//! Daemon threads that are still running when Python exits.
//!
//! Before 3.14 Python ends such a thread by `pthread_exit`, as soon as it wants the GIL. glibc does
//! that by unwinding the stack; where functions of ours are on it, below Python code that they have
//! called, that aborts the process. So a thread that comes here is made to stop for ever instead, as
//! Python 3.14 does itself. Elsewhere than in glibc `pthread_exit` does not unwind.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

static EXITING: AtomicBool = AtomicBool::new(false);

/// From now on threads that Python ends stop for ever. Called when the interpreter exits.
#[pyfunction]
pub fn set_exiting() {
    EXITING.store(true, Ordering::Relaxed);
}

/// Makes this thread stop, and not unwind, if Python ends it while the interpreter exits.
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
    struct Buffer {
        routine: Option<extern "C" fn(*mut c_void)>,
        argument: *mut c_void,
        cancel_type: c_int,
        previous: *mut Buffer,
    }

    /// `_pthread_cleanup_push`: part of glibc's ABI, though no longer of its headers.
    type Push = unsafe extern "C" fn(*mut Buffer, extern "C" fn(*mut c_void), *mut c_void);

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
        static PUSH: OnceLock<Option<Push>> = OnceLock::new();
        // SAFETY: the function of this name has this type.
        let find = || unsafe { Library::this().get(b"_pthread_cleanup_push\0").ok().map(|f| *f) };
        let Some(push) = *PUSH.get_or_init(find) else { return };
        // In the heap, and never freed: glibc calls the routine as soon as a frame is unwound that
        // is not below this, which is the first one, before any of ours.
        let (routine, argument) = (None, null_mut());
        let buffer = Buffer { routine, argument, cancel_type: 0, previous: null_mut() };
        // SAFETY: memory for the list of this thread's routines that lives as long as the thread.
        unsafe { push(Box::leak(Box::new(buffer)), stop, null_mut()) };
    }

    extern "C" fn stop(_: *mut c_void) {
        while super::EXITING.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
}
