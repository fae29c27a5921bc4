//! Evaluation of pending arrays: all of them, or those that retain much memory.

use std::collections::{HashMap, HashSet};

use super::evaluate::materialize;
use crate::array::storage::Storage;
use crate::error::Result;
use crate::graph::pending::PendingScope;
use crate::session::Session;
use crate::session::fingerprint::{Fingerprint, fnv_hash};

impl Session {
    /// Evaluates pending results that retain large operands, if they exceed the budget.
    ///
    /// Only results that this rank evaluates alone: which arrays are alive may differ between
    /// ranks.
    pub(crate) fn limit_retained(&self, retained: usize) -> Result<()> {
        if !self.pending().exceeds_budget(retained) {
            return Ok(());
        }
        let holders = self.pending().take_over_budget(retained);
        holders.iter().try_for_each(|storage| materialize(self, &storage.current()).map(drop))
    }

    /// Evaluates all pending arrays, and waits until every rank has done so. Collective.
    pub fn sync(&self) -> Result<()> {
        let list = self.pending().take_all();
        let mut memo = HashMap::new();
        let mut key = |scope: &PendingScope, storage: &Storage| match scope {
            PendingScope::Collective => storage.current().origin_hash(&mut memo),
            PendingScope::Local => 0,
        };
        let mut counts = HashMap::<u64, u64>::new();
        let numbered = |key: u64| {
            let count = counts.entry(key).or_default();
            *count += 1;
            fnv_hash((key, *count))
        };
        let keys: Vec<u64> =
            list.iter().map(|(scope, storage)| key(scope, storage)).map(numbered).collect();
        let collective =
            list.iter().zip(&keys).filter(|((scope, _), _)| *scope == PendingScope::Collective);
        let sent = collective.flat_map(|(_, key)| key.to_le_bytes()).collect();
        let mut everywhere =
            self.allgather("sync", sent)?.into_iter().map(|sent| decode_keys(&sent));
        let first = everywhere.next().unwrap_or_default();
        let everywhere = everywhere.fold(first, |both, sent| &both & &sent);
        for ((scope, storage), key) in list.into_iter().zip(keys) {
            match scope {
                PendingScope::Collective if !everywhere.contains(&key) => {
                    self.pending().restore(scope, &storage)
                }
                _ => drop(materialize(self, &storage.current())?),
            }
        }
        let tag = self.next_tag("end of sync", Fingerprint::default(), String::new)?;
        Ok(self.fabric().barrier(tag)?)
    }
}

fn decode_keys(bytes: &[u8]) -> HashSet<u64> {
    bytes.as_chunks().0.iter().map(|&key| u64::from_le_bytes(key)).collect()
}
