//! Guards collective operations, and labels them with the source line of the program.

use std::cell::Cell;
use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};

use crate::error::{Error, Result};

/// Returns the running source line of the program, for messages.
pub type SourceLineFn = Box<dyn Fn() -> Option<Arc<str>> + Send + Sync>;

/// Returns the name of the running thread, for messages.
pub type ThreadNameFn = Box<dyn Fn() -> Option<Arc<str>> + Send + Sync>;

/// Rejects collective operations inside `local()`, after `fork`, and from a second thread.
#[derive(Default)]
pub struct CollectiveGuard {
    forked: AtomicBool,
    /// The only thread that communicates, and its name.
    communicating_thread: OnceLock<(ThreadId, Arc<str>)>,
    thread_name_fn: OnceLock<ThreadNameFn>,
    source_line_fn: OnceLock<SourceLineFn>,
}

thread_local! {
    /// Whether collective operations are rejected in this thread; other threads may still
    /// communicate.
    static IN_LOCAL: Cell<bool> = const { Cell::new(false) };
}

impl CollectiveGuard {
    /// Rejects or allows collective operations in the current thread.
    pub fn set_local(&self, local: bool) {
        IN_LOCAL.set(local);
    }

    /// Marks this process as a fork of a rank.
    pub fn set_forked(&self) {
        self.forked.store(true, Ordering::Relaxed);
    }

    /// Returns true if this process was forked from a rank.
    pub fn is_forked(&self) -> bool {
        self.forked.load(Ordering::Relaxed)
    }

    /// Sets the function that names a thread; the default is the operating system's name.
    pub fn set_thread_name(&self, name: ThreadNameFn) {
        let _ = self.thread_name_fn.set(name);
    }

    /// Sets the function that returns the source line of the program.
    pub fn set_source_line(&self, line: SourceLineFn) {
        let _ = self.source_line_fn.set(line);
    }

    /// Returns an error if this process or thread may not run a collective operation.
    ///
    /// The first thread that calls this method, or creates a distributed array, is the one that may
    /// communicate.
    pub fn check(&self, operation: impl Display, ranks: u64) -> Result<()> {
        if ranks == 1 {
            return Ok(());
        }
        if self.is_forked() {
            return Err(Error::Forked(operation.to_string()));
        }
        if IN_LOCAL.get() {
            return Err(Error::InsideLocal(operation.to_string()));
        }
        if self.is_communicating_thread() {
            return Ok(());
        }
        let (_, first) = self.communicating_thread();
        let (operation, thread) = (operation.to_string(), self.current_thread_name());
        Err(Error::WrongThread { operation, thread, first: first.clone() })
    }

    /// Returns true if the current thread may communicate, or no thread has communicated yet.
    pub(crate) fn is_communicating_thread(&self) -> bool {
        self.communicating_thread().0 == thread::current().id()
    }

    /// The thread that communicates. The first caller becomes that thread.
    fn communicating_thread(&self) -> &(ThreadId, Arc<str>) {
        if let Some(first) = self.communicating_thread.get() {
            return first;
        }
        // The name is computed before the cell is initialised: it may wait for the GIL, whose
        // holder may wait for the cell.
        let current = (thread::current().id(), self.current_thread_name());
        self.communicating_thread.get_or_init(|| current)
    }

    fn current_thread_name(&self) -> Arc<str> {
        let name = self.thread_name_fn.get().and_then(|name| name());
        name.unwrap_or_else(|| thread::current().name().unwrap_or("without a name").into())
    }

    /// The label of an operation: its kind, description and source line.
    pub(crate) fn operation_label(&self, kind: &str, description: &str) -> String {
        let mut text = String::with_capacity(160);
        text.push_str(kind);
        text.push_str(description);
        if let Some(line) = self.source_line_fn.get().and_then(|line| line()) {
            let _ = write!(text, " at {line}");
        }
        text
    }
}
