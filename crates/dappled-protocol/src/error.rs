//! What is wrong with a description of a distributed array, and by which rule.

use std::fmt;

use crate::rules::Rule;

/// A rule of the protocol that does not hold, with what is needed to mend it.
///
/// ```
/// use dappled_protocol::{Dim, Meaning, Value};
/// let dict = Value::dict([("dist_type", Value::from("x"))]);
/// let error = Dim::read(&dict, None, Meaning::Current).unwrap_err();
/// assert_eq!(error.rule.id, "L06");
/// assert_eq!(error.key.as_deref(), Some("dist_type"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ProtocolError {
    /// The rule that does not hold.
    pub rule: &'static Rule,
    /// The dimension it fails in, where it is one dimension's matter.
    pub dimension: Option<usize>,
    /// The rank whose export fails, where exports of several ranks are seen.
    pub rank: Option<u64>,
    /// The key of the dictionary, or the argument, that is at fault.
    pub key: Option<String>,
    /// What was found, as text; None where it is missing.
    pub value: Option<String>,
    /// What would have been right.
    pub expected: String,
}

impl ProtocolError {
    /// An error of `rule` that says what was expected; the rest is added by the `with` methods.
    pub fn new(rule: &'static Rule, expected: impl Into<String>) -> Self {
        Self {
            rule,
            dimension: None,
            rank: None,
            key: None,
            value: None,
            expected: expected.into(),
        }
    }

    /// Names the key, or the argument, at fault.
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Says what was found.
    pub fn with_value(mut self, value: impl fmt::Display) -> Self {
        self.value = Some(value.to_string());
        self
    }

    /// Names the dimension.
    pub fn with_dimension(mut self, dimension: usize) -> Self {
        self.dimension = Some(dimension);
        self
    }

    /// Names the rank.
    pub fn with_rank(mut self, rank: u64) -> Self {
        self.rank = Some(rank);
        self
    }
}

/// `L12: rank 2, dimension 0, 'padding': got (3, -1), expected two ints >= 0`
impl fmt::Display for ProtocolError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.rank.map(|rank| format!("rank {rank}"));
        let dimension = self.dimension.map(|dimension| format!("dimension {dimension}"));
        let key = self.key.as_ref().map(|key| format!("'{key}'"));
        let place: Vec<String> = [rank, dimension, key].into_iter().flatten().collect();
        write!(out, "{}: ", self.rule.id)?;
        if !place.is_empty() {
            write!(out, "{}: ", place.join(", "))?;
        }
        match &self.value {
            Some(value) => write!(out, "got {value}, expected {}", self.expected),
            None if self.key.is_some() => write!(out, "missing, expected {}", self.expected),
            None => write!(out, "expected {}", self.expected),
        }
    }
}
