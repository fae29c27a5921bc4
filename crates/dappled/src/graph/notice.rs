//! What operations signalled: the conditions that NumPy warns of.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use dappled_kernels::{Flags, Op, Raised};

/// Where an operation was asked for, and what the program wants done about what it signals. Both
/// mean something only to who asked.
#[derive(Clone)]
pub struct Origin {
    /// What is to be done.
    pub policy: u32,
    /// The place in the program.
    pub place: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Origin {{ policy: {} }}", self.policy)
    }
}

/// An operation that is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is done.
    pub op: Op,
    /// What NumPy calls it; a power may be done by a square.
    pub name: &'static str,
    /// Where; None for what is computed at once, so that nobody has to remember it.
    pub origin: Option<Arc<Origin>>,
}

impl From<Op> for Request {
    fn from(op: Op) -> Self {
        Self { op, name: op.numpy_name(), origin: None }
    }
}

/// Something that an operation signalled when it was computed.
#[derive(Clone, Debug)]
pub struct Notice {
    /// NumPy's name of the operation.
    pub operation: &'static str,
    /// What it signalled.
    pub flags: Flags,
    /// Where it was asked for; None for what was asked for and computed just now.
    pub origin: Option<Arc<Origin>>,
}

/// The notices of a session that nobody has taken yet.
#[derive(Default)]
pub(super) struct Notices {
    some: AtomicBool,
    all: Mutex<Vec<Notice>>,
}

impl Notices {
    /// Notes what an operation signalled, if it did.
    pub fn add(&self, operation: &'static str, flags: Flags, origin: Option<&Arc<Origin>>) {
        if flags.is_empty() {
            return;
        }
        let notice = Notice { operation, flags, origin: origin.cloned() };
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
        self.some.store(true, Ordering::Release);
    }

    /// Notes what the steps of a program signalled.
    pub fn add_all(&self, steps: &[Request], raised: &Raised) {
        for (step, flags) in raised.iter() {
            if let Some(request) = steps.get(step) {
                self.add(request.name, flags, request.origin.as_ref());
            }
        }
    }

    /// Takes what an operation of this name has signalled that was asked for there, or just now.
    pub fn take_of(&self, operation: &str, origin: Option<&Arc<Origin>>) -> Flags {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = |notice: &mut Notice| {
            let own = match (&notice.origin, origin) {
                (Some(found), Some(origin)) => Arc::ptr_eq(found, origin),
                (found, _) => found.is_none(),
            };
            own && notice.operation == operation
        };
        all.extract_if(.., is_own).fold(Flags::NONE, |flags, notice| flags | notice.flags)
    }

    /// Is there any? Seldom: a look is cheaper than taking.
    #[inline]
    pub fn is_some(&self) -> bool {
        self.some.load(Ordering::Relaxed)
    }

    pub fn take(&self) -> Vec<Notice> {
        match self.is_some() && self.some.swap(false, Ordering::Acquire) {
            true => std::mem::take(&mut *self.all.lock().unwrap_or_else(PoisonError::into_inner)),
            false => Vec::new(),
        }
    }
}
