//! Something went wrong on a rank: it is told to all, and all say the same about it.
//!
//! A rank that fails sends its last operations to all others, and those that hear of it do the same.
//! So each can tell where the program first went different ways, and not only where that was noticed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::error::{FabricError, is_refusal};
use crate::logbook::first_difference;
use crate::notice::Notice;
use crate::tag::Tag;

/// A rank that is busy elsewhere is not waited for any longer.
const LIMIT: Duration = Duration::from_secs(1);

/// What is known of what went wrong.
pub(crate) struct Trouble {
    since: Instant,
    /// What this rank itself has found.
    error: Option<FabricError>,
    /// What the others said about themselves.
    pub heard: BTreeMap<u64, Notice>,
}

impl Trouble {
    pub fn new(error: Option<FabricError>, heard: BTreeMap<u64, Notice>) -> Self {
        Self { since: Instant::now(), error, heard }
    }

    /// Is it time to say what it is? Others are heard out, as long as that makes sense.
    pub fn is_settled(&self, others: &[u64]) -> bool {
        others.iter().all(|peer| self.heard.contains_key(peer)) || self.since.elapsed() > LIMIT
    }

    /// What went wrong: the same on every rank that has heard the same.
    pub fn error(&self, own: &Notice) -> FabricError {
        let mut all: BTreeMap<u64, &Notice> =
            self.heard.iter().map(|(rank, notice)| (*rank, notice)).collect();
        all.insert(own.rank, own);
        let told = self.heard.values().find(|notice| !notice.reason.is_empty());
        // Ranks that part after memory was refused do so because of that.
        let refused = all.values().find(|notice| is_refusal(&notice.reason));
        refused
            .map(|notice| failed(notice))
            .or_else(|| parted(&all))
            .or_else(|| self.error.clone())
            .or_else(|| told.map(failed))
            .unwrap_or_else(|| failed(own))
    }
}

fn failed(notice: &Notice) -> FabricError {
    FabricError::Failed { rank: notice.rank, reason: notice.reason.clone() }
}

/// Where these ranks went different ways, or who left while another went on.
pub(crate) fn parted(all: &BTreeMap<u64, &Notice>) -> Option<FabricError> {
    let logs: Vec<(u64, &[Tag])> = all.iter().map(|(rank, one)| (*rank, &one.log[..])).collect();
    if let Some([one, other]) = first_difference(&logs) {
        let tags = Box::new([one.1, other.1]);
        return Some(FabricError::Parted { ranks: [one.0, other.0], tags });
    }
    let leaving = all.values().filter(|one| one.leaving.is_some());
    let left = leaving.min_by_key(|one| (count(one), one.rank))?;
    let after = |one: &&Notice| count(one) > count(left);
    let other = all.values().copied().find(after)?;
    let next = other.log.iter().find(|tag| tag.number > count(left))?;
    Some(FabricError::Left {
        rank: left.rank,
        status: left.leaving.unwrap_or(0),
        last: left.log.last().copied().map(Box::new),
        waiting: other.rank,
        awaited: Box::new(*next),
    })
}

/// The number of a rank's last operation.
pub(crate) fn count(notice: &Notice) -> u64 {
    notice.log.last().map_or(0, |tag| tag.number)
}
