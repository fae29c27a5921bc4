//! Records the plans of operations as text, while a program asks for an explanation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Session;
use crate::error::Result;

/// The plans of the operations since recording started.
#[derive(Default)]
pub(crate) struct PlanLog {
    is_recording: AtomicBool,
    recording: Mutex<Recording>,
}

/// A number of ranks that plans are made for, and the plans.
#[derive(Default)]
struct Recording {
    ranks: Option<u64>,
    text: String,
}

impl PlanLog {
    /// Returns true if plans are recorded.
    pub fn is_recording(&self) -> bool {
        self.is_recording.load(Ordering::Relaxed)
    }

    /// The number of ranks to plan for; `None` for those that run.
    pub fn ranks(&self) -> Option<u64> {
        self.lock().ranks
    }

    /// Appends the text of a plan.
    pub fn append(&self, text: &str) {
        self.lock().text.push_str(text);
    }

    /// Appends a plan, if plans of the ranks that run are recorded.
    pub fn append_if_recording(&self, plan: &impl std::fmt::Display) {
        if self.is_recording() && self.ranks().is_none() {
            self.append(&plan.to_string());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Records a collective of several ranks, if plans are recorded.
    ///
    /// The messages of a distributed algorithm depend on the data. If plans are made for another
    /// number of ranks, the text says that the collective is one of the ranks that run.
    pub(crate) fn record_collective(&self, describe: impl FnOnce() -> String) {
        let (log, size) = (self.plan_log(), self.fabric().size());
        if !log.is_recording() || size == 1 {
            return;
        }
        let is_planned = log.ranks().is_none_or(|ranks| ranks == size);
        let note =
            if is_planned { String::new() } else { format!(", on the {size} ranks that run") };
        log.append(&format!("{}{note}\n", describe()));
    }

    /// Runs operations, and returns their plans as text.
    ///
    /// With `ranks`, the plans are those of one rank of that many, however many run. The operations
    /// run in any case: they may be collective.
    pub fn explain<T>(
        &self,
        ranks: Option<u64>,
        run: impl FnOnce() -> Result<T>,
    ) -> Result<String> {
        self.start_explaining(ranks);
        let result = run();
        let text = self.take_explanation();
        result.map(|_| text)
    }

    /// Starts to record plans, for the ranks that run or for another number.
    pub fn start_explaining(&self, ranks: Option<u64>) {
        *self.plan_log().lock() = Recording { ranks, text: String::new() };
        self.plan_log().is_recording.store(true, Ordering::Relaxed);
    }

    /// Stops recording, and returns the plans as text.
    pub fn take_explanation(&self) -> String {
        self.plan_log().is_recording.store(false, Ordering::Relaxed);
        std::mem::take(&mut self.plan_log().lock().text)
    }
}
