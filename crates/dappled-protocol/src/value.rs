//! Untyped values of an export before validation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::config::{MAX_SHOWN_CHARS, MAX_SHOWN_ITEMS};

/// A value from another language or file, not validated; the rules decide whether it is right.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A bool; never an integer.
    Bool(bool),
    /// An integer; one that does not fit into 128 bits is [`Value::Other`].
    Int(i128),
    /// Text.
    Text(String),
    /// A tuple or list of any values.
    List(Vec<Value>),
    /// A dictionary.
    Dict(Dict),
    /// A buffer (PEP 3118).
    Buffer(Buffer),
    /// A sequence or 1-D buffer of integers, as `indices` should be.
    Labels(Arc<[i64]>),
    /// A sequence of this length, not read because the length is wrong.
    WrongLength(u64),
    /// Anything else, as text for messages.
    Other(String),
}

/// A dictionary: entries with text keys, and the other keys as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dict {
    /// The entries with text keys.
    pub entries: BTreeMap<String, Value>,
    /// The other keys, as text for messages.
    pub non_text_keys: Vec<String>,
}

/// The metadata of a buffer (PEP 3118), without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The number of elements along each axis.
    pub shape: Vec<u64>,
    /// The PEP 3118 format of one element, such as `d` or `<i8`.
    pub format: String,
    /// The size of one element in bytes.
    pub itemsize: u64,
}

impl Value {
    /// Creates a dictionary.
    pub fn dict<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
        Value::Dict(Dict { entries, non_text_keys: Vec::new() })
    }
}

impl Dict {
    /// Returns whether the dictionary has no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.non_text_keys.is_empty()
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value.into())
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Int(value.into())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.to_owned())
    }
}

/// Formats the value as Python does; long values are shortened.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(true) => write!(out, "True"),
            Value::Bool(false) => write!(out, "False"),
            Value::Int(value) => write!(out, "{value}"),
            Value::Text(text) => write!(out, "{}", shorten(&format!("'{text}'"))),
            Value::List(items) => write_list(out, items),
            Value::Dict(dict) if dict.is_empty() => write!(out, "{{}}"),
            Value::Dict(dict) => {
                let keys: Vec<&str> = dict.entries.keys().map(String::as_str).collect();
                write!(out, "{}", shorten(&format!("a dict with the keys {keys:?}")))
            }
            Value::Buffer(buffer) => {
                write!(out, "a buffer of shape {:?} and format '{}'", buffer.shape, buffer.format)
            }
            Value::Labels(labels) if labels.len() > MAX_SHOWN_ITEMS => {
                write!(out, "{:?}… ({} indices)", &labels[..MAX_SHOWN_ITEMS], labels.len())
            }
            Value::Labels(labels) => write!(out, "{labels:?}"),
            Value::WrongLength(length) => write!(out, "a sequence of {length}"),
            Value::Other(text) => write!(out, "{}", shorten(text)),
        }
    }
}

fn write_list(out: &mut fmt::Formatter<'_>, items: &[Value]) -> fmt::Result {
    let shown: Vec<String> = items.iter().take(MAX_SHOWN_ITEMS).map(Value::to_string).collect();
    let more = if items.len() > MAX_SHOWN_ITEMS { ", …" } else { "" };
    write!(out, "{}", shorten(&format!("({}{more})", shown.join(", "))))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
