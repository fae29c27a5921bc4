//! Claims on memory that is not our own, by address: several buffers may be over the same bytes.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Error;

/// A reader's or a writer's claim on some addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub addresses: Range<usize>,
    pub is_writer: bool,
}

/// The claims that live: a few at any time.
static CLAIMS: Mutex<Vec<Claim>> = Mutex::new(Vec::new());

impl Claim {
    /// Makes the claim, unless a living one overlaps it and one of the two is a writer's.
    pub fn make(&self) -> Result<(), Error> {
        let mut claims = claims();
        if claims.iter().any(|other| self.excludes(other)) {
            return Err(Error::Busy);
        }
        claims.push(self.clone());
        Ok(())
    }

    /// Gives the claim back.
    pub fn end(&self) {
        let mut claims = claims();
        if let Some(at) = claims.iter().rposition(|claim| claim == self) {
            claims.swap_remove(at);
        }
    }

    fn excludes(&self, other: &Claim) -> bool {
        let (own, others) = (&self.addresses, &other.addresses);
        (self.is_writer || other.is_writer) && own.start < others.end && others.start < own.end
    }
}

fn claims() -> MutexGuard<'static, Vec<Claim>> {
    CLAIMS.lock().unwrap_or_else(PoisonError::into_inner)
}
