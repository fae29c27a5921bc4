//! What was worked out before, by what it was worked out from: a loop works it out once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dappled_kernels::{Axes, DType, Interpreter, Program};
use dappled_protocol::Distribution;

use super::layout::Layout;
use super::recipe::Recipe;
use super::tag::Words;
use crate::plan::{Plan, Through};
use crate::run::Halo;

/// So many are kept; then all are dropped, which costs little.
const MOST: usize = 256;

/// All that is worked out once.
#[derive(Default)]
pub(super) struct Known {
    /// Programs ready to run.
    pub programs: Cache<Program, Arc<Interpreter>>,
    /// The same of small arrays, put together as they are asked for.
    pub recipes: Cache<Recipe, Arc<Interpreter>>,
    /// The program that gives what it reads, by the dtype.
    pub readers: [OnceLock<Arc<Interpreter>>; DType::ALL.len()],
    /// Where arrays lie if nobody says. Equal ones share one layout, and are soon compared.
    pub layouts: Cache<(DType, Axes<usize>), Layout>,
    /// Distributions of arrays that are whole on every rank.
    pub wholes: Cache<Axes<usize>, Distribution>,
    /// What this rank does for an assignment: the target, the operands, and the array that each is of.
    pub plans: Cache<(Seen, Vec<Seen>, Vec<usize>), Arc<Plan>>,
    /// The box of this rank's memory that a write fills.
    pub filled: Cache<Seen, Vec<Range<u64>>>,
    /// What ranks exchange to fill the padding of an array.
    pub halos: Cache<Distribution, Arc<Halo>>,
    /// Operations, by their hash, as text.
    pub said: Cache<u64, Arc<str>>,
}

/// Where a base lies, and how a view runs through it.
pub(super) type Seen = (Distribution, Through);

pub(super) struct Cache<K, V>(Mutex<HashMap<K, V, BuildHasherDefault<Words>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Cache<K, V> {
    /// What is known for a key, or what is made now. Who makes it may not ask this cache.
    pub fn get<E>(&self, key: &K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(key) {
            return Ok(found.clone());
        }
        if known.len() >= MOST {
            known.clear();
        }
        let made = make()?;
        known.insert(key.clone(), made.clone());
        Ok(made)
    }
}
