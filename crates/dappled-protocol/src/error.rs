//! Protocol errors: the violated rule, and where.

use std::fmt;

use crate::rules::Rule;

/// A violated rule of the protocol, with the data needed to fix it.
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
    /// The violated rule.
    pub rule: &'static Rule,
    /// The dimension, if the rule concerns one dimension.
    pub dimension: Option<usize>,
    /// The rank, if exports of several ranks are checked.
    pub rank: Option<u64>,
    /// The dictionary key or argument that is wrong.
    pub key: Option<String>,
    /// The value that is wrong, as text; None if it is missing.
    pub value: Option<String>,
    /// The expected value.
    pub expected: String,
}

impl ProtocolError {
    /// Creates an error; the `with` methods add the details.
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

    /// Adds the key or argument.
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Adds the value.
    pub fn with_value(mut self, value: impl fmt::Display) -> Self {
        self.value = Some(value.to_string());
        self
    }

    /// Adds the dimension.
    pub fn with_dimension(mut self, dimension: usize) -> Self {
        self.dimension = Some(dimension);
        self
    }

    /// Adds the rank.
    pub fn with_rank(mut self, rank: u64) -> Self {
        self.rank = Some(rank);
        self
    }
}

/// Formats as `L12: rank 2, dimension 0, 'padding': got (3, -1), expected two ints >= 0`.
impl fmt::Display for ProtocolError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.rank.map(|rank| format!("rank {rank}"));
        let dimension = self.dimension.map(|dimension| format!("dimension {dimension}"));
        let key = self.key.as_ref().map(|key| format!("'{key}'"));
        let location: Vec<String> = [rank, dimension, key].into_iter().flatten().collect();
        write!(out, "{}: ", self.rule.id)?;
        if !location.is_empty() {
            write!(out, "{}: ", location.join(", "))?;
        }
        match &self.value {
            Some(value) => write!(out, "got {value}, expected {}", self.expected),
            None if self.key.is_some() => write!(out, "missing, expected {}", self.expected),
            None => write!(out, "expected {}", self.expected),
        }
    }
}
