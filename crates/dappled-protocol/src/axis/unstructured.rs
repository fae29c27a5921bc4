//! Unstructured: each rank has a list of labels.
//!
//! | | |
//! |---|---|
//! | owner of label `g` | the lowest rank whose list has it |
//! | local index of `g` | its position in that list |
//!
//! Found through a directory of all labels in order, made when it is first asked for.

use std::sync::{Arc, OnceLock};

use crate::region::Region;

/// The unstructured axis map, seen through a region.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Unstructured {
    size: u64,
    lists: Arc<[Arc<[i64]>]>,
    /// None is the axis itself. A region has a meaning only where the labels are exact.
    region: Option<Region>,
    pub one_to_one: bool,
    /// 0.9 can say so; it means nothing here but that it must be written again.
    pub periodic: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    directory: OnceLock<Arc<[Entry]>>,
}

/// One label at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub label: i64,
    pub rank: u64,
    pub local: u64,
}

impl Unstructured {
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

    /// Is it an axis itself, not a part of one?
    pub fn is_axis(&self) -> bool {
        self.region.is_none()
    }

    /// What is left of the axis in a region of it; each rank keeps its order.
    pub fn view(&self, region: Region) -> Self {
        let region = self.region.unwrap_or(Region::all(self.size)).then(region);
        let axis = Self::new(self.size, self.lists.clone(), true);
        Self { region: Some(region), ..axis }
    }

    /// The labels of one rank, in local order.
    pub fn labels(&self, rank: u64) -> Arc<[i64]> {
        let list = &self.lists[rank as usize];
        match self.region {
            None => list.clone(),
            Some(region) => list.iter().filter_map(|&label| position_of(region, label)).collect(),
        }
    }

    /// How many labels a rank has.
    pub fn count(&self, rank: u64) -> u64 {
        match self.region {
            None => self.lists[rank as usize].len() as u64,
            Some(_) => self.labels(rank).len() as u64,
        }
    }

    /// Every place of a label, the lowest rank first.
    pub fn places(&self, label: i64) -> &[Entry] {
        let directory = self.directory();
        let first = directory.partition_point(|entry| entry.label < label);
        let after = directory[first..].partition_point(|entry| entry.label == label);
        &directory[first..first + after]
    }

    /// Are the labels exactly 0 to size - 1, each once? Only then they are indices.
    pub fn is_exact(&self) -> bool {
        let directory = self.directory();
        directory.len() as u64 == self.size()
            && directory.iter().zip(0i64..).all(|(entry, label)| entry.label == label)
    }

    fn directory(&self) -> &[Entry] {
        self.directory.get_or_init(|| {
            let of_rank = |rank: u64| {
                let labels = self.labels(rank);
                (0..labels.len()).map(move |local| Entry {
                    label: labels[local],
                    rank,
                    local: local as u64,
                })
            };
            let mut entries: Vec<Entry> = (0..self.grid()).flat_map(of_rank).collect();
            entries.sort_unstable();
            entries.into()
        })
    }
}

/// The position of an index in a region, if it is in it.
fn position_of(region: Region, label: i64) -> Option<i64> {
    let index = u64::try_from(label).ok()?;
    let found = region.positions(index..index.checked_add(1)?);
    (!found.is_empty()).then_some(found.start as i64)
}

/// The directory follows from the rest.
impl PartialEq for Unstructured {
    fn eq(&self, other: &Self) -> bool {
        (self.size, &self.lists, self.region, self.one_to_one, self.periodic)
            == (other.size, &other.lists, other.region, other.one_to_one, other.periodic)
    }
}

impl Eq for Unstructured {}
