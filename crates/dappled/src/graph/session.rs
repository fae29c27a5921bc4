//! What all arrays of a program share: the fabric, and a count of what was done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dappled_fabric::{Fabric, Tag};
use dappled_protocol::Distribution;

use super::memory::Freed;

/// Pending operations are run when there are more than this: counted, never timed, so that every
/// rank does it at the same place.
pub(super) const HEAVIEST: usize = 64;

/// The ranks that arrays are shared among.
///
/// ```
/// use dappled::graph::{Array, Session};
/// let session = Session::new(dappled_fabric::connect()?);
/// let ones = Array::full(&session, &[3], 1.0);
/// assert_eq!(ones.add(&ones)?.to_vec::<f64>()?, [2.0, 2.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    fabric: Box<dyn Fabric>,
    operations: AtomicU64,
    freed: Arc<Freed>,
}

impl Session {
    /// A program on this fabric.
    pub fn new(fabric: Box<dyn Fabric>) -> Self {
        Self(Arc::new(Shared { fabric, operations: AtomicU64::new(0), freed: Arc::default() }))
    }

    /// The ranks and the bytes between them.
    pub fn fabric(&self) -> &dyn Fabric {
        &*self.0.fabric
    }

    /// Memory that versions leave behind.
    pub(super) fn freed(&self) -> &Arc<Freed> {
        &self.0.freed
    }

    /// The next collective operation; every rank counts the same.
    pub(super) fn next(&self, place: &str) -> Tag {
        Tag::new(self.0.operations.fetch_add(1, Ordering::Relaxed), place)
    }

    /// Where an array of this shape lies if nobody says: compact blocks.
    pub(super) fn default_distribution(&self, shape: &[u64]) -> Distribution {
        let spec = Distribution::spec(shape).nprocs(self.fabric().size());
        spec.build().expect("blocks of any shape on any number of ranks")
    }
}
