//! Caches, so that a loop computes each program, placement and plan once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dappled_kernels::{DType, Interpreter, Program};

use super::fingerprint::FnvHasher;
use crate::config::MAX_CACHE_ENTRIES;

/// Caches of programs and of the descriptions of operations.
#[derive(Default)]
pub(crate) struct Caches {
    /// Interpreters of fused programs.
    pub programs: Cache<Program, Arc<Interpreter>>,
    /// The program that copies its input, by dtype.
    pub identity_programs: [OnceLock<Arc<Interpreter>>; DType::ALL.len()],
    /// Descriptions of operations, by their hash.
    pub descriptions: Cache<u64, Arc<str>>,
}

/// A map from keys to values that are computed once, of bounded size.
pub(crate) struct Cache<K, V>(Mutex<HashMap<K, V, BuildHasherDefault<FnvHasher>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Cache<K, V> {
    /// Returns the value of a key, which `make` computes if it is missing.
    ///
    /// `make` must not use this cache: the lock is held while it runs.
    pub fn get_or_insert_with<E>(
        &self,
        key: &K,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = entries.get(key) {
            return Ok(value.clone());
        }
        if entries.len() >= MAX_CACHE_ENTRIES {
            entries.clear();
        }
        let value = make()?;
        entries.insert(key.clone(), value.clone());
        Ok(value)
    }
}
