//! A dimension while its rules are tried: each fills in what it has read.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Rule;
use crate::dim::{Dim, DimKind, communication};
use crate::error::ProtocolError;
use crate::value::{Dict, Value};
use crate::version::Meaning;

/// The largest number that a dictionary may say.
pub(super) const LARGEST: u64 = i64::MAX as u64;

/// A `dist_type`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Undistributed,
    Block,
    Cyclic,
    Unstructured,
}

/// What was read so far of a dimension dictionary; the rest is at its default.
pub(crate) struct Draft<'a> {
    pub(super) dict: Cow<'a, Dict>,
    pub(super) extent: Option<u64>,
    pub(super) meaning: Meaning,
    pub(super) kind: Kind,
    pub(super) size: u64,
    pub(super) grid_size: u64,
    pub(super) grid_rank: u64,
    pub(super) start: u64,
    pub(super) stop: u64,
    pub(super) padding: (u64, u64),
    pub(super) periodic: bool,
    pub(super) block_size: u64,
    pub(super) indices: Arc<[i64]>,
    pub(super) one_to_one: bool,
}

impl<'a> Draft<'a> {
    /// A dictionary of which nothing was read yet.
    pub(crate) fn new(dict: &'a Dict, extent: Option<u64>, meaning: Meaning) -> Self {
        Draft {
            dict: Cow::Borrowed(dict),
            extent,
            meaning,
            kind: Kind::Block,
            size: 0,
            grid_size: 1,
            grid_rank: 0,
            start: 0,
            stop: 0,
            padding: (0, 0),
            periodic: false,
            block_size: 1,
            indices: Arc::new([]),
            one_to_one: false,
        }
    }

    /// Is it a block dimension, undistributed ones included?
    pub(super) fn is_block(&self) -> bool {
        matches!(self.kind, Kind::Block | Kind::Undistributed)
    }

    /// Is there a `padding` that means something?
    pub(crate) fn has_padding(&self) -> bool {
        self.is_block() && self.get("padding").is_some()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.dict.entries.get(key)
    }

    /// The error that `key`, with what was found there, is not as expected.
    pub(super) fn wrong(
        &self,
        rule: &'static Rule,
        key: &str,
        expected: impl Into<String>,
    ) -> ProtocolError {
        let error = ProtocolError::new(rule, expected).with_key(key);
        match self.get(key) {
            Some(value) => error.with_value(value),
            None => error,
        }
    }

    /// An int of the dictionary that must lie in the range.
    pub(super) fn int(
        &self,
        rule: &'static Rule,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ProtocolError> {
        let found = self.get(key).and_then(natural).filter(|number| range.contains(number));
        found.ok_or_else(|| self.wrong(rule, key, within(key, range)))
    }

    /// A bool of the dictionary, False where it is missing.
    pub(super) fn flag(&self, rule: &'static Rule, key: &str) -> Result<bool, ProtocolError> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(rule, key, "a bool")),
        }
    }

    /// Of this padding, what is communication padding.
    pub(super) fn communication<W: Default>(&self, padding: (W, W), periodic: bool) -> (W, W) {
        let ends = (self.grid_rank == 0, self.grid_rank + 1 == self.grid_size);
        communication(padding, ends, self.wraps(periodic))
    }

    /// In 0.9 the padding at the ends of a periodic dimension lies outside of the array.
    fn wraps(&self, periodic: bool) -> bool {
        periodic && self.meaning == Meaning::V09
    }

    /// The dimension, once all rules hold.
    pub(crate) fn finish(self) -> Dim {
        let kind = match self.kind {
            Kind::Undistributed | Kind::Block => self.block(),
            Kind::Cyclic => DimKind::Cyclic { block_size: self.block_size },
            Kind::Unstructured => {
                DimKind::Unstructured { indices: self.indices, one_to_one: self.one_to_one }
            }
        };
        let Draft { size, grid_size, grid_rank, periodic, .. } = self;
        Dim { size, grid_size, grid_rank, periodic, kind }
    }

    fn block(&self) -> DimKind {
        let (left, right) = match self.meaning {
            Meaning::Current => self.communication(self.padding, self.periodic),
            Meaning::V09 => (0, 0),
        };
        DimKind::Block {
            owned: self.start + left..self.stop - right,
            padding: self.padding,
            wraps: self.wraps(self.periodic),
            undistributed: self.kind == Kind::Undistributed,
        }
    }
}

/// The value as a number that a dictionary may say: an int, and no bool.
pub(super) fn natural(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok().filter(|number| *number <= LARGEST),
        _ => None,
    }
}

fn within(key: &str, range: RangeInclusive<u64>) -> String {
    let (first, last) = range.into_inner();
    match last {
        LARGEST => format!("an int, {first} <= {key} < 2**63"),
        _ => format!("an int, {first} <= {key} <= {last}"),
    }
}
