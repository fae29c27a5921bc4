//! Unstructured axis map: each rank has a list of labels.
//!
//! | | |
//! |---|---|
//! | owner of label `g` | the lowest rank whose list contains it |
//! | local index of `g` | its position in that list |
//!
//! Lookups use a sorted directory of all labels, built on first use.

use std::sync::{Arc, OnceLock};

use crate::region::Region;

/// An unstructured axis map, restricted to a region.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct UnstructuredMap {
    size: u64,
    lists: Arc<[Arc<[i64]>]>,
    /// None for the complete axis. A region requires labels that are indices.
    region: Option<Region>,
    pub one_to_one: bool,
    /// Only version 0.9 allows it here; kept so that it can be written back.
    pub periodic: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    directory: OnceLock<Arc<[LabelEntry]>>,
}

/// One label and its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LabelEntry {
    pub label: i64,
    pub rank: u64,
    pub local: u64,
}

impl UnstructuredMap {
    pub fn new(size: u64, lists: Arc<[Arc<[i64]>]>, one_to_one: bool) -> Self {
        let directory = OnceLock::new();
        Self { size, lists, region: None, one_to_one, periodic: false, directory }
    }

    pub fn size(&self) -> u64 {
        self.region.map_or(self.size, Region::len)
    }

    pub fn grid(&self) -> u64 {
        self.lists.len() as u64
    }

    /// Returns whether this is a complete axis rather than a view.
    pub fn is_axis(&self) -> bool {
        self.region.is_none()
    }

    /// Returns the map of a region; each rank keeps its local order.
    pub fn view(&self, region: Region) -> Self {
        let region = self.region.unwrap_or(Region::all(self.size)).then(region);
        let axis = Self::new(self.size, self.lists.clone(), true);
        Self { region: Some(region), ..axis }
    }

    /// Returns the labels of a rank, in local order.
    pub fn labels(&self, rank: u64) -> Arc<[i64]> {
        let list = &self.lists[rank as usize];
        match self.region {
            None => list.clone(),
            Some(region) => list.iter().filter_map(|&label| position_of(region, label)).collect(),
        }
    }

    /// Returns the number of labels of a rank.
    pub fn count(&self, rank: u64) -> u64 {
        match self.region {
            None => self.lists[rank as usize].len() as u64,
            Some(_) => self.labels(rank).len() as u64,
        }
    }

    /// Returns all locations of a label, the lowest rank first.
    pub fn entries(&self, label: i64) -> &[LabelEntry] {
        let directory = self.directory();
        let first = directory.partition_point(|entry| entry.label < label);
        let after = directory[first..].partition_point(|entry| entry.label == label);
        &directory[first..first + after]
    }

    /// Returns whether the labels are exactly 0 to size - 1, each once.
    pub fn labels_are_indices(&self) -> bool {
        let directory = self.directory();
        directory.len() as u64 == self.size()
            && directory.iter().zip(0i64..).all(|(entry, label)| entry.label == label)
    }

    fn directory(&self) -> &[LabelEntry] {
        self.directory.get_or_init(|| {
            let of_rank = |rank: u64| {
                let labels = self.labels(rank);
                (0..labels.len()).map(move |local| LabelEntry {
                    label: labels[local],
                    rank,
                    local: local as u64,
                })
            };
            let mut entries: Vec<LabelEntry> = (0..self.grid()).flat_map(of_rank).collect();
            entries.sort_unstable();
            entries.into()
        })
    }
}

/// Returns the position of an index in a region, if it is in the region.
fn position_of(region: Region, label: i64) -> Option<i64> {
    let index = u64::try_from(label).ok()?;
    let positions = region.positions(index..index.checked_add(1)?);
    (!positions.is_empty()).then_some(positions.start as i64)
}

/// The directory is derived from the other fields.
impl PartialEq for UnstructuredMap {
    fn eq(&self, other: &Self) -> bool {
        (self.size, &self.lists, self.region, self.one_to_one, self.periodic)
            == (other.size, &other.lists, other.region, other.one_to_one, other.periodic)
    }
}

impl Eq for UnstructuredMap {}
