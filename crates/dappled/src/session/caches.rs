//! Caches of programs, placements and plans, so that a loop computes each of them once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dappled_kernels::{Axes, DType, Interpreter, Program};
use dappled_protocol::Distribution;

use super::fingerprint::FnvHasher;
use crate::array::placement::Placement;
use crate::config::MAX_CACHE_ENTRIES;
use crate::eager::chain_program::ChainProgram;
use crate::plan::step::Plan;
use crate::run::halo::HaloExchange;
use crate::view::axis_mapping::AxisMapping;

/// The caches of a session.
#[derive(Default)]
pub(crate) struct Caches {
    /// Interpreters of fused programs.
    pub programs: Cache<Program, Arc<Interpreter>>,
    /// Interpreters of operation chains on small arrays.
    pub chains: Cache<ChainProgram, Arc<Interpreter>>,
    /// The program that copies its input, by dtype.
    pub identity_programs: [OnceLock<Arc<Interpreter>>; DType::ALL.len()],
    /// Default placements. Equal placements share one allocation, so comparing them is cheap.
    pub placements: Cache<(DType, Axes<usize>), Placement>,
    /// Distributions of replicated arrays, by shape.
    pub replicated: Cache<Axes<usize>, Distribution>,
    /// Plans of assignments, by target, operands, and the array that each operand reads.
    pub plans: Cache<(OperandKey, Vec<OperandKey>, Vec<usize>), Arc<Plan>>,
    /// The box of this rank's memory that a write covers.
    pub written_boxes: Cache<OperandKey, Vec<Range<u64>>>,
    /// Messages that fill the padding of an array.
    pub halos: Cache<Distribution, Arc<HaloExchange>>,
    /// Descriptions of operations, by their hash.
    pub descriptions: Cache<u64, Arc<str>>,
}

/// The distribution of a base and the axis mapping of a view of it.
pub(crate) type OperandKey = (Distribution, AxisMapping);

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
