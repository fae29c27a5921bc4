//! What is pending and still held: boxes whose current version is not computed yet.
//!
//! Which of them live may differ from rank to rank, as garbage is collected at different times. So
//! what all ranks compute together is what lives on all of them, which they agree on first: a pending
//! array is known by what it is computed from.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::evaluate::value;
use super::tag::{Fingerprint, hashed};
use super::versions::Versions;
use super::{GraphError, Session};
use crate::run::RunError;

/// Fewer boxes are not worth looking for dead ones.
const FEW: usize = 64;

/// The boxes of a session that were pending when they were made, in program order.
#[derive(Default)]
pub(super) struct Pending(Mutex<Boxes>);

#[derive(Default)]
struct Boxes {
    all: Vec<Entry>,
    /// Bytes that all entries hold, at most: some are dead or computed by now.
    held: usize,
    /// How many there may be before the dead are dropped.
    room: usize,
}

struct Entry {
    place: Place,
    versions: Weak<Versions>,
    /// Bytes of the largest operand that the result does not have itself.
    held: usize,
}

impl Entry {
    /// The box, if it lives and is still pending.
    fn pending(&self) -> Option<Arc<Versions>> {
        let versions = self.versions.upgrade()?;
        versions.current().state().is_pending().then_some(versions)
    }
}

/// Bytes of operands that pending results may keep alive, or eight times what one of them does.
const MOST_HELD: usize = 256 << 20;

impl Boxes {
    /// Drops the dead; and those that are here twice, as each write that waits adds its box.
    fn drop_dead(&mut self) {
        self.all.retain(|entry| entry.versions.strong_count() > 0);
        if self.all.len() < FEW / 2 {
            return;
        }
        let mut seen = HashSet::new();
        self.all.retain(|entry| entry.place != Place::Here || seen.insert(entry.versions.as_ptr()));
    }
}

/// Who computes a box.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// This rank, by itself.
    Here,
    /// All ranks.
    Together,
}

impl Pending {
    /// Adds a box; `together` if all ranks compute it, and have added it. `held`: bytes of the
    /// largest operand that the result does not have itself.
    pub fn add(&self, versions: &Arc<Versions>, together: bool, held: usize) {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if boxes.all.len() >= boxes.room.max(FEW) {
            boxes.drop_dead();
            boxes.room = 2 * boxes.all.len();
        }
        let place = if together { Place::Together } else { Place::Here };
        let held = if together { 0 } else { held };
        boxes.held = boxes.held.saturating_add(held);
        boxes.all.push(Entry { place, versions: Arc::downgrade(versions), held });
    }

    /// Do pending results, and one more that holds so much, perhaps keep too much memory alive?
    pub fn is_over(&self, held: usize) -> bool {
        let boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held > 0 && boxes.held.saturating_add(held) > MOST_HELD.max(held.saturating_mul(8))
    }

    /// Takes the boxes that keep more than their result alive, if it is too much; and else counts.
    fn take_holders(&self, held: usize) -> Vec<Arc<Versions>> {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let holders = boxes.all.iter().filter(|entry| entry.held > 0);
        let found = holders.filter_map(|entry| Some((entry.held, entry.pending()?)));
        let found: Vec<(usize, Arc<Versions>)> = found.collect();
        let total =
            found.iter().map(|(held, _)| held).fold(held, |sum, &held| sum.saturating_add(held));
        if total <= MOST_HELD.max(held.saturating_mul(8)) / 2 {
            boxes.held = total - held;
            return Vec::new();
        }
        boxes.held = 0;
        boxes.all.retain(|entry| entry.held == 0);
        found.into_iter().map(|(_, versions)| versions).collect()
    }

    /// Takes the boxes that live and are still pending.
    fn take(&self) -> Vec<(Place, Arc<Versions>)> {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.held = 0;
        let all = std::mem::take(&mut boxes.all);
        drop(boxes);
        all.into_iter().filter_map(|entry| Some((entry.place, entry.pending()?))).collect()
    }

    /// Puts back what stays pending.
    fn put_back(&self, place: Place, versions: &Arc<Versions>) {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.all.push(Entry { place, versions: Arc::downgrade(versions), held: 0 });
    }
}

impl Session {
    /// Computes pending results that keep large operands alive, if another one makes them too many.
    ///
    /// Only what this rank computes by itself: which boxes live may differ from rank to rank.
    pub(super) fn limit_held(&self, held: usize) -> Result<(), GraphError> {
        if !self.pending().is_over(held) {
            return Ok(());
        }
        let holders = self.pending().take_holders(held);
        holders.iter().try_for_each(|versions| value(self, &versions.current()).map(drop))
    }

    /// Computes all that is pending and held, and returns when every rank has done so. Collective.
    pub fn sync(&self) -> Result<(), GraphError> {
        let boxes = self.pending().take();
        let mut known = HashMap::new();
        let mut key = |place: &Place, versions: &Versions| match place {
            Place::Together => versions.current().origin(&mut known),
            Place::Here => 0,
        };
        let mut counts = HashMap::<u64, u64>::new();
        let numbered = |key: u64| {
            let count = counts.entry(key).or_default();
            *count += 1;
            hashed((key, *count))
        };
        let keys: Vec<u64> =
            boxes.iter().map(|(place, versions)| key(place, versions)).map(numbered).collect();
        let together = boxes.iter().zip(&keys).filter(|((place, _), _)| *place == Place::Together);
        let sent = together.flat_map(|(_, key)| key.to_le_bytes()).collect();
        let mut everywhere = self.gather("a sync", sent)?.into_iter().map(|sent| keys_of(&sent));
        let first = everywhere.next().unwrap_or_default();
        let everywhere = everywhere.fold(first, |both, sent| &both & &sent);
        for ((place, versions), key) in boxes.into_iter().zip(keys) {
            match place {
                Place::Together if !everywhere.contains(&key) => {
                    self.pending().put_back(place, &versions)
                }
                _ => drop(value(self, &versions.current())?),
            }
        }
        let tag = self.next("the end of a sync", Fingerprint::default(), String::new)?;
        Ok(self.fabric().barrier(tag).map_err(RunError::from)?)
    }
}

fn keys_of(bytes: &[u8]) -> HashSet<u64> {
    bytes.as_chunks().0.iter().map(|&key| u64::from_le_bytes(key)).collect()
}
