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
    all: Vec<(Place, Weak<Versions>)>,
    /// How many there may be before the dead are dropped.
    room: usize,
}

impl Boxes {
    /// Drops the dead; and those that are here twice, as each write that waits adds its box.
    fn drop_dead(&mut self) {
        self.all.retain(|(_, versions)| versions.strong_count() > 0);
        if self.all.len() < FEW / 2 {
            return;
        }
        let mut seen = HashSet::new();
        self.all
            .retain(|(place, versions)| *place != Place::Here || seen.insert(versions.as_ptr()));
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
    /// Adds a box; `together` if all ranks compute it, and have added it.
    pub fn add(&self, versions: &Arc<Versions>, together: bool) {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if boxes.all.len() >= boxes.room.max(FEW) {
            boxes.drop_dead();
            boxes.room = 2 * boxes.all.len();
        }
        let place = if together { Place::Together } else { Place::Here };
        boxes.all.push((place, Arc::downgrade(versions)));
    }

    /// Takes the boxes that live and are still pending.
    fn take(&self) -> Vec<(Place, Arc<Versions>)> {
        let all = std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).all);
        let live =
            all.into_iter().filter_map(|(place, versions)| Some((place, versions.upgrade()?)));
        let is_pending = |versions: &Versions| versions.current().state().is_pending();
        live.filter(|(_, versions)| is_pending(versions)).collect()
    }

    /// Puts back what stays pending.
    fn put_back(&self, place: Place, versions: &Arc<Versions>) {
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.all.push((place, Arc::downgrade(versions)));
    }
}

impl Session {
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
