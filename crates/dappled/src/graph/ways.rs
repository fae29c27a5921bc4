//! What a process may do with arrays in pieces, and how it says which line of the program asks.

use std::fmt::Write;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};

use super::GraphError;

/// The line of the program that is running, for people.
pub type Line = Box<dyn Fn() -> Option<Arc<str>> + Send + Sync>;

/// What stands between a process and the other ranks.
#[derive(Default)]
pub struct Ways {
    state: AtomicU8,
    /// The one thread that speaks for this rank.
    thread: OnceLock<ThreadId>,
    line: OnceLock<Line>,
}

const OPEN: u8 = 0;
const LOCAL: u8 = 1;
const FORKED: u8 = 2;

impl Ways {
    /// From now on, or no more, what all ranks would have to do together is an error.
    pub fn set_local(&self, local: bool) {
        let (from, to) = if local { (OPEN, LOCAL) } else { (LOCAL, OPEN) };
        // A forked process stays what it is.
        let _ = self.state.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// This process is a copy of a rank, and not a rank itself.
    pub fn set_forked(&self) {
        self.state.store(FORKED, Ordering::Relaxed);
    }

    /// Is this process a copy of a rank?
    pub fn is_forked(&self) -> bool {
        self.state.load(Ordering::Relaxed) == FORKED
    }

    /// Who is asked for the line of the program.
    pub fn set_line(&self, line: Line) {
        let _ = self.line.set(line);
    }

    /// May this process, in this thread, do what all ranks do together?
    pub(super) fn check(&self, what: &str, ranks: u64) -> Result<(), GraphError> {
        let own = thread::current().id();
        match self.state.load(Ordering::Relaxed) {
            _ if ranks == 1 => Ok(()),
            LOCAL => Err(GraphError::Local(what.to_string())),
            FORKED => Err(GraphError::Forked(what.to_string())),
            _ if *self.thread.get_or_init(|| own) != own => {
                Err(GraphError::Thread(what.to_string()))
            }
            _ => Ok(()),
        }
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
