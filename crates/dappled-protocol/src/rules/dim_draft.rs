//! A dimension during validation: each rule fills in the keys that it reads.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Rule;
use crate::dim::{Dim, DimKind, communication_padding};
use crate::error::ProtocolError;
use crate::value::{Dict, Value};
use crate::version::Meaning;

/// The largest int in a dictionary.
pub(super) const MAX_INT: u64 = i64::MAX as u64;

/// A `dist_type`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DistType {
    Undistributed,
    Block,
    Cyclic,
    Unstructured,
}

/// The part of a dimension dictionary that has been read; the rest has default values.
pub(crate) struct DimDraft<'a> {
    pub(super) dict: Cow<'a, Dict>,
    pub(super) extent: Option<u64>,
    pub(super) meaning: Meaning,
    pub(super) kind: DistType,
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

impl<'a> DimDraft<'a> {
    /// Creates a draft of a dictionary that has not been read.
    pub(crate) fn new(dict: &'a Dict, extent: Option<u64>, meaning: Meaning) -> Self {
        DimDraft {
            dict: Cow::Borrowed(dict),
            extent,
            meaning,
            kind: DistType::Block,
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

    /// Returns whether it is a block dimension, including undistributed ones.
    pub(super) fn is_block(&self) -> bool {
        matches!(self.kind, DistType::Block | DistType::Undistributed)
    }

    /// Returns whether the dictionary has a `padding` that applies.
    pub(crate) fn has_padding(&self) -> bool {
        self.is_block() && self.get("padding").is_some()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.dict.entries.get(key)
    }

    /// Returns the error for the value of `key`.
    pub(super) fn key_error(
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

    /// Reads an int, which must be in `range`.
    pub(super) fn int(
        &self,
        rule: &'static Rule,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ProtocolError> {
        let int = self.get(key).and_then(non_negative_int).filter(|number| range.contains(number));
        int.ok_or_else(|| self.key_error(rule, key, range_text(key, range)))
    }

    /// Reads a bool; False if the key is missing.
    pub(super) fn flag(&self, rule: &'static Rule, key: &str) -> Result<bool, ProtocolError> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.key_error(rule, key, "a bool")),
        }
    }

    /// Returns the communication part of the padding.
    pub(super) fn communication_padding<W: Default>(
        &self,
        padding: (W, W),
        periodic: bool,
    ) -> (W, W) {
        let ends = (self.grid_rank == 0, self.grid_rank + 1 == self.grid_size);
        communication_padding(padding, ends, self.wraps(periodic))
    }

    /// In 0.9 the outer padding of a periodic dimension is outside the array.
    fn wraps(&self, periodic: bool) -> bool {
        periodic && self.meaning == Meaning::V09
    }

    /// Returns the dimension, after all rules were checked.
    pub(crate) fn finish(self) -> Dim {
        let kind = match self.kind {
            DistType::Undistributed | DistType::Block => self.block(),
            DistType::Cyclic => DimKind::Cyclic { block_size: self.block_size },
            DistType::Unstructured => {
                DimKind::Unstructured { indices: self.indices, one_to_one: self.one_to_one }
            }
        };
        let DimDraft { size, grid_size, grid_rank, periodic, .. } = self;
        Dim { size, grid_size, grid_rank, periodic, kind }
    }

    fn block(&self) -> DimKind {
        let (left, right) = match self.meaning {
            Meaning::Current => self.communication_padding(self.padding, self.periodic),
            Meaning::V09 => (0, 0),
        };
        DimKind::Block {
            owned: self.start + left..self.stop - right,
            padding: self.padding,
            wraps: self.wraps(self.periodic),
            undistributed: self.kind == DistType::Undistributed,
        }
    }
}

/// Converts a value to a non-negative int; a bool is not an int.
pub(super) fn non_negative_int(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok().filter(|number| *number <= MAX_INT),
        _ => None,
    }
}

fn range_text(key: &str, range: RangeInclusive<u64>) -> String {
    let (first, last) = range.into_inner();
    match last {
        MAX_INT => format!("an int, {first} <= {key} < 2**63"),
        _ => format!("an int, {first} <= {key} <= {last}"),
    }
}
