//! Claims on foreign memory by address, as several buffers may cover the same bytes.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Error;

/// A read or write claim on a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForeignClaim {
    pub addresses: Range<usize>,
    pub is_writer: bool,
}

/// All live claims; a handful at any time.
static LIVE_CLAIMS: Mutex<Vec<ForeignClaim>> = Mutex::new(Vec::new());

impl ForeignClaim {
    /// Registers the claim, unless it conflicts with a live one.
    pub fn acquire(&self) -> Result<(), Error> {
        let mut claims = live_claims();
        if claims.iter().any(|other| self.conflicts_with(other)) {
            return Err(Error::BufferBusy);
        }
        claims.push(self.clone());
        Ok(())
    }

    /// Removes the claim.
    pub fn release(&self) {
        let mut claims = live_claims();
        if let Some(at) = claims.iter().rposition(|claim| claim == self) {
            claims.swap_remove(at);
        }
    }

    fn conflicts_with(&self, other: &ForeignClaim) -> bool {
        let (ours, theirs) = (&self.addresses, &other.addresses);
        (self.is_writer || other.is_writer) && ours.start < theirs.end && theirs.start < ours.end
    }
}

fn live_claims() -> MutexGuard<'static, Vec<ForeignClaim>> {
    LIVE_CLAIMS.lock().unwrap_or_else(PoisonError::into_inner)
}
