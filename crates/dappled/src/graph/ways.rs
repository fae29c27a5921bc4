//! What a process may do with arrays in pieces, and how it says which line of the program asks.

use std::cell::Cell;
use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};

use super::GraphError;

/// The line of the program that is running, for people.
pub type Line = Box<dyn Fn() -> Option<Arc<str>> + Send + Sync>;

/// The name of the thread that is running, for people.
pub type ThreadName = Box<dyn Fn() -> Option<Arc<str>> + Send + Sync>;

/// What stands between a process and the other ranks.
#[derive(Default)]
pub struct Ways {
    forked: AtomicBool,
    /// The one thread that communicates, and its name.
    thread: OnceLock<(ThreadId, Arc<str>)>,
    thread_name: OnceLock<ThreadName>,
    line: OnceLock<Line>,
}

thread_local! {
    /// Is communication refused in this thread? Others may communicate meanwhile.
    static LOCAL: Cell<bool> = const { Cell::new(false) };
}

impl Ways {
    /// Refuses, or allows again, what communicates in the current thread.
    pub fn set_local(&self, local: bool) {
        LOCAL.set(local);
    }

    /// This process is a copy of a rank, and not a rank itself.
    pub fn set_forked(&self) {
        self.forked.store(true, Ordering::Relaxed);
    }

    /// Is this process a copy of a rank?
    pub fn is_forked(&self) -> bool {
        self.forked.load(Ordering::Relaxed)
    }

    /// Who is asked for the name of a thread; without one, it is the operating system's.
    pub fn set_thread_name(&self, name: ThreadName) {
        let _ = self.thread_name.set(name);
    }

    /// Who is asked for the line of the program.
    pub fn set_line(&self, line: Line) {
        let _ = self.line.set(line);
    }

    /// Refuses an operation that communicates, where this process or thread may not.
    ///
    /// The first thread that comes here, or makes a distributed array, is the one that may.
    pub fn check(&self, what: impl Display, ranks: u64) -> Result<(), GraphError> {
        if ranks == 1 {
            return Ok(());
        }
        if self.is_forked() {
            return Err(GraphError::Forked(what.to_string()));
        }
        if LOCAL.get() {
            return Err(GraphError::Local(what.to_string()));
        }
        if self.is_first_thread() {
            return Ok(());
        }
        let (_, first) = self.first_thread();
        let (what, thread) = (what.to_string(), self.name_of_thread());
        Err(GraphError::Thread { what, thread, first: first.clone() })
    }

    /// May the current thread communicate? It may if none has before.
    pub(super) fn is_first_thread(&self) -> bool {
        self.first_thread().0 == thread::current().id()
    }

    /// The thread that communicates: the current one, where none has before.
    fn first_thread(&self) -> &(ThreadId, Arc<str>) {
        if let Some(first) = self.thread.get() {
            return first;
        }
        // Named before the cell is filled: naming may wait for Python, whose lock others hold that
        // would wait for the cell.
        let own = (thread::current().id(), self.name_of_thread());
        self.thread.get_or_init(|| own)
    }

    fn name_of_thread(&self) -> Arc<str> {
        let known = self.thread_name.get().and_then(|name| name());
        known.unwrap_or_else(|| thread::current().name().unwrap_or("without a name").into())
    }

    /// What is done, and where.
    pub(super) fn place(&self, kind: &str, said: &str) -> String {
        let mut text = String::with_capacity(160);
        text.push_str(kind);
        text.push_str(said);
        if let Some(line) = self.line.get().and_then(|line| line()) {
            let _ = write!(text, " at {line}");
        }
        text
    }
}
