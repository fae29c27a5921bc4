//! Validation of the specification of one axis.

use std::collections::HashMap;

use super::spec::{AxisSpec, MAX_SIZE, Padding};
use crate::error::ProtocolError;
use crate::rules::{self, Rule};

impl AxisSpec {
    /// Checks the rules that do not depend on the grid, in the order of their ids.
    pub(super) fn check(&self) -> Result<(), ProtocolError> {
        let kind = self.kind.unwrap_or('b');
        if !"bcun".contains(kind) {
            return rule_error(
                &rules::L06,
                "dist",
                format!("'{kind}'"),
                "one of 'b', 'c', 'u', 'n'",
            );
        }
        if self.size > MAX_SIZE {
            return rule_error(&rules::L07, "shape", self.size, "an int >= 0 and < 2^63");
        }
        self.check_grid(kind)?;
        self.check_options(kind)?;
        self.check_bounds()?;
        match self.block_size {
            Some(size) if !(1..=MAX_SIZE).contains(&size) => {
                rule_error(&rules::L14, "block_size", size, "an int >= 1 and < 2^63")
            }
            _ if kind == 'u' => self.check_lists(),
            _ => Ok(()),
        }
    }

    fn check_grid(&self, kind: char) -> Result<(), ProtocolError> {
        match self.grid {
            Some(grid) if !(1..=MAX_SIZE).contains(&grid) => {
                rule_error(&rules::L08, "grid_shape", grid, "an int >= 1 and < 2^63")
            }
            Some(grid) if kind == 'n' && grid > 1 => rule_error(
                &rules::L08,
                "grid_shape",
                grid,
                "1 rank along an undistributed ('n') axis",
            ),
            _ => Ok(()),
        }
    }

    /// Rejects options that do not apply to the kind of axis, rather than ignoring them.
    fn check_options(&self, kind: char) -> Result<(), ProtocolError> {
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
        match table.into_iter().find(|&(is_set, applies, ..)| is_set && !applies) {
            Some((_, _, rule, key, users)) => {
                let expected = format!("no '{key}' but on a {users} axis");
                rule_error(rule, key, format!("a value on an axis of kind '{kind}'"), expected)
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
            return rule_error(
                &rules::L09,
                "bounds",
                shown(),
                expected("for that many ranks less one"),
            );
        }
        if bounds[0] != 0 || bounds[bounds.len() - 1] != self.size {
            return rule_error(
                &rules::L10,
                "bounds",
                shown(),
                expected(&format!("from 0 to {}", self.size)),
            );
        }
        match bounds.is_sorted() {
            true => Ok(()),
            false => rule_error(&rules::L09, "bounds", shown(), expected("in ascending order")),
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
            return rule_error(&rules::L17, "indices", format!("{} lists", lists.len()), expected);
        }
        if self.size == 0 && lists.iter().any(|list| !list.is_empty()) {
            return rule_error(
                &rules::L17,
                "indices",
                format!("{lists:?}"),
                "no indices where the size is 0",
            );
        }
        self.check_labels(lists)
    }

    /// Checks that labels are unique on each rank; if `one_to_one`, also unique over all ranks and
    /// as many as the size.
    fn check_labels(&self, lists: &[Vec<i64>]) -> Result<(), ProtocolError> {
        let mut rank_of_label: HashMap<i64, usize> = HashMap::new();
        for (rank, list) in lists.iter().enumerate() {
            for &label in list {
                let twice = format!("{label} twice on rank {rank}");
                match rank_of_label.insert(label, rank) {
                    Some(before) if before == rank => {
                        return rule_error(
                            &rules::L17,
                            "indices",
                            twice,
                            "each index once on a rank",
                        );
                    }
                    Some(before) if self.one_to_one => {
                        let value = format!("{label} on ranks {before} and {rank}");
                        return rule_error(&rules::C07, "indices", value, "each index on one rank");
                    }
                    _ => {}
                }
            }
        }
        match rank_of_label.len() as u64 {
            count if self.one_to_one && count != self.size => {
                let expected = format!("as many indices as the size, {}", self.size);
                rule_error(&rules::C07, "indices", format!("{count} indices"), expected)
            }
            _ => Ok(()),
        }
    }
}

/// Returns the error of a rule about an argument.
pub(super) fn rule_error<T>(
    rule: &'static Rule,
    key: &str,
    value: impl std::fmt::Display,
    expected: impl Into<String>,
) -> Result<T, ProtocolError> {
    Err(ProtocolError::new(rule, expected).with_key(key).with_value(value))
}
