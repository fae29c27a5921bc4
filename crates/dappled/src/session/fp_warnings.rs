//! Floating-point warnings: conditions that operations raised and NumPy would report.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use dappled_kernels::{FpFlags, Op, StepFlags};

/// The call site and errstate of a requested operation. Opaque to the core.
#[derive(Clone)]
pub struct RequestContext {
    /// NumPy's errstate when the operation was requested, encoded by the caller.
    pub errstate: u32,
    /// The call site in the program.
    pub call_site: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Origin {{ policy: {} }}", self.errstate)
    }
}

/// A requested operation.
#[derive(Clone, Debug)]
pub struct OpRequest {
    /// The operation that runs.
    pub op: Op,
    /// NumPy's name of the ufunc, which may differ from `op`: `power(x, 2)` runs as a square.
    pub name: &'static str,
    /// The context of the request; None for eager operations, whose caller still knows it.
    pub context: Option<Arc<RequestContext>>,
    /// The operand whose memory NumPy reuses for the result (temporary elision), so that the result
    /// has its strides.
    pub elided: Option<u8>,
    /// Whether the caller must know now if the operation raises, by NumPy's errstate.
    pub is_strict: bool,
}

impl From<Op> for OpRequest {
    fn from(op: Op) -> Self {
        Self { op, name: op.numpy_name(), context: None, elided: None, is_strict: false }
    }
}

/// Floating-point flags that an operation raised.
#[derive(Clone, Debug)]
pub struct FpWarning {
    /// NumPy's name of the operation.
    pub operation: &'static str,
    /// The flags.
    pub flags: FpFlags,
    /// The context of the request; None for eager operations.
    pub origin: Option<Arc<RequestContext>>,
}

/// Warnings of a session that were not reported yet.
#[derive(Default)]
pub(crate) struct FpWarnings {
    has_pending: AtomicBool,
    warnings: Mutex<Vec<FpWarning>>,
}

impl FpWarnings {
    /// Adds a warning if any flag is set.
    pub fn add(
        &self,
        operation: &'static str,
        flags: FpFlags,
        origin: Option<&Arc<RequestContext>>,
    ) {
        if flags.is_empty() {
            return;
        }
        let warning = FpWarning { operation, flags, origin: origin.cloned() };
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
        self.has_pending.store(true, Ordering::Release);
    }

    /// Adds the warnings of the steps of a program.
    pub fn add_program(&self, steps: &[OpRequest], raised: &StepFlags) {
        for (step, flags) in raised.iter() {
            if let Some(request) = steps.get(step) {
                self.add(request.name, flags, request.context.as_ref());
            }
        }
    }

    /// Removes the warnings of an operation requested in this context or eagerly; returns their
    /// flags.
    pub fn take_matching(&self, operation: &str, origin: Option<&Arc<RequestContext>>) -> FpFlags {
        let mut all = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = |warning: &mut FpWarning| {
            let is_match = match (&warning.origin, origin) {
                (Some(context), Some(origin)) => Arc::ptr_eq(context, origin),
                (context, _) => context.is_none(),
            };
            is_match && warning.operation == operation
        };
        all.extract_if(.., is_own).fold(FpFlags::NONE, |flags, warning| flags | warning.flags)
    }

    /// Returns true if there are warnings. Cheaper than [`Self::take_all`], and rarely true.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.has_pending.load(Ordering::Relaxed)
    }

    pub fn take_all(&self) -> Vec<FpWarning> {
        match self.is_pending() && self.has_pending.swap(false, Ordering::Acquire) {
            true => {
                std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
            }
            false => Vec::new(),
        }
    }
}
