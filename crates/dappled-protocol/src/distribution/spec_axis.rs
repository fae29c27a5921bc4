//! Checking what is wanted of one axis.

use std::collections::HashMap;

use super::spec::{AxisSpec, LARGEST, Padding};
use crate::error::ProtocolError;
use crate::rules::{self, Rule};

impl AxisSpec {
    /// The rules that need no grid, in the order of their ids.
    pub(super) fn check(&self) -> Result<(), ProtocolError> {
        let kind = self.kind.unwrap_or('b');
        if !"bcun".contains(kind) {
            return wrong(&rules::L06, "dist", format!("'{kind}'"), "one of 'b', 'c', 'u', 'n'");
        }
        if self.size > LARGEST {
            return wrong(&rules::L07, "shape", self.size, "an int >= 0 and < 2^63");
        }
        self.check_grid(kind)?;
        self.check_uses(kind)?;
        self.check_bounds()?;
        match self.block_size {
            Some(size) if !(1..=LARGEST).contains(&size) => {
                wrong(&rules::L14, "block_size", size, "an int >= 1 and < 2^63")
            }
            _ if kind == 'u' => self.check_lists(),
            _ => Ok(()),
        }
    }

    fn check_grid(&self, kind: char) -> Result<(), ProtocolError> {
        match self.grid {
            Some(grid) if !(1..=LARGEST).contains(&grid) => {
                wrong(&rules::L08, "grid_shape", grid, "an int >= 1 and < 2^63")
            }
            Some(grid) if kind == 'n' && grid > 1 => {
                wrong(&rules::L08, "grid_shape", grid, "1 rank along an undistributed ('n') axis")
            }
            _ => Ok(()),
        }
    }

    /// An option that the kind of axis has no use for is a mistake, not a wish to be ignored.
    fn check_uses(&self, kind: char) -> Result<(), ProtocolError> {
        let is_block = matches!(kind, 'b' | 'n');
        let no_padding = matches!(self.padding, None | Some(Padding::Uniform(0)));
        let table: [(bool, bool, &'static Rule, &str, &str); 6] = [
            (self.bounds.is_some(), is_block, &rules::L09, "bounds", "block ('b')"),
            (!no_padding, is_block, &rules::L12, "padding", "block ('b')"),
            (self.periodic, is_block, &rules::L13, "periodic", "block ('b')"),
            (
                self.block_size.unwrap_or(1) != 1,
                kind == 'c',
                &rules::L14,
                "block_size",
                "cyclic ('c')",
            ),
            (self.indices.is_some(), kind == 'u', &rules::L17, "indices", "unstructured ('u')"),
            (self.one_to_one, kind == 'u', &rules::L18, "one_to_one", "unstructured ('u')"),
        ];
        match table.into_iter().find(|&(given, useful, ..)| given && !useful) {
            Some((_, _, rule, key, users)) => {
                let expected = format!("no '{key}' but on a {users} axis");
                wrong(rule, key, format!("a value on an axis of kind '{kind}'"), expected)
            }
            None => Ok(()),
        }
    }

    fn check_bounds(&self) -> Result<(), ProtocolError> {
        let Some(bounds) = &self.bounds else { return Ok(()) };
        let shown = || format!("{bounds:?}");
        let expected = |what: &str| match self.ranks() {
            Some(ranks) => format!("{} bounds {what}", ranks + 1),
            None => format!("bounds {what}"),
        };
        if bounds.len() < 2 || self.ranks() != Some(bounds.len() as u64 - 1) {
            return wrong(&rules::L09, "bounds", shown(), expected("for that many ranks less one"));
        }
        if bounds[0] != 0 || bounds[bounds.len() - 1] != self.size {
            return wrong(
                &rules::L10,
                "bounds",
                shown(),
                expected(&format!("from 0 to {}", self.size)),
            );
        }
        match bounds.is_sorted() {
            true => Ok(()),
            false => wrong(&rules::L09, "bounds", shown(), expected("in ascending order")),
        }
    }

    fn check_lists(&self) -> Result<(), ProtocolError> {
        let Some(lists) = &self.indices else {
            return Err(ProtocolError::new(&rules::L17, "one list of indices for each rank")
                .with_key("indices"));
        };
        if lists.is_empty() || self.ranks() != Some(lists.len() as u64) {
            let expected =
                format!("one list for each of the {} ranks", self.ranks().unwrap_or(1).max(1));
            return wrong(&rules::L17, "indices", format!("{} lists", lists.len()), expected);
        }
        if self.size == 0 && lists.iter().any(|list| !list.is_empty()) {
            return wrong(
                &rules::L17,
                "indices",
                format!("{lists:?}"),
                "no indices where the size is 0",
            );
        }
        self.check_labels(lists)
    }

    /// Labels once a rank; and once at all, as many as the size, if they are one to one.
    fn check_labels(&self, lists: &[Vec<i64>]) -> Result<(), ProtocolError> {
        let mut seen: HashMap<i64, usize> = HashMap::new();
        for (rank, list) in lists.iter().enumerate() {
            for &label in list {
                let twice = format!("{label} twice on rank {rank}");
                match seen.insert(label, rank) {
                    Some(before) if before == rank => {
                        return wrong(&rules::L17, "indices", twice, "each index once on a rank");
                    }
                    Some(before) if self.one_to_one => {
                        let value = format!("{label} on ranks {before} and {rank}");
                        return wrong(&rules::C07, "indices", value, "each index on one rank");
                    }
                    _ => {}
                }
            }
        }
        match seen.len() as u64 {
            count if self.one_to_one && count != self.size => {
                let expected = format!("as many indices as the size, {}", self.size);
                wrong(&rules::C07, "indices", format!("{count} indices"), expected)
            }
            _ => Ok(()),
        }
    }
}

/// An error of a rule about an argument.
pub(super) fn wrong<T>(
    rule: &'static Rule,
    key: &str,
    value: impl std::fmt::Display,
    expected: impl Into<String>,
) -> Result<T, ProtocolError> {
    Err(ProtocolError::new(rule, expected).with_key(key).with_value(value))
}
