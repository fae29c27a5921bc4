//! What an export may hold before any rule was tried: anything at all.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A value of some other language or file, as it was found. Nothing is assumed of it:
/// the rules decide what is right.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false; never taken for a number.
    Bool(bool),
    /// An integer; one that does not fit is [`Value::Other`].
    Int(i128),
    /// Text.
    Text(String),
    /// A tuple or list of any values.
    List(Vec<Value>),
    /// A dictionary.
    Dict(Dict),
    /// Memory that describes itself (PEP 3118).
    Buffer(Buffer),
    /// A sequence or 1-D buffer of integers, by value: what `indices` should be.
    Labels(Arc<[i64]>),
    /// A sequence of that many items, too many or too few to be read.
    Unread(u64),
    /// Anything else, as text to show to the user.
    Other(String),
}

/// A dictionary: its text keys, and the others as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dict {
    /// The entries whose keys are text.
    pub entries: BTreeMap<String, Value>,
    /// Keys that are not text, as text to show.
    pub strange_keys: Vec<String>,
}

/// What a buffer says of itself (PEP 3118); its bytes are no matter of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The number of elements along each axis.
    pub shape: Vec<u64>,
    /// The format of one element, such as `d` or `<i8`.
    pub format: String,
    /// Bytes of one element.
    pub itemsize: u64,
}

impl Value {
    /// A dictionary of these entries.
    pub fn dict<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
        Value::Dict(Dict { entries, strange_keys: Vec::new() })
    }
}

impl Dict {
    /// Is there no key at all?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.strange_keys.is_empty()
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

/// The value as Python would print it, long ones cut.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(true) => write!(out, "True"),
            Value::Bool(false) => write!(out, "False"),
            Value::Int(value) => write!(out, "{value}"),
            Value::Text(text) => write!(out, "{}", shortened(&format!("'{text}'"))),
            Value::List(items) => show_list(out, items),
            Value::Dict(dict) if dict.is_empty() => write!(out, "{{}}"),
            Value::Dict(dict) => {
                let keys: Vec<&str> = dict.entries.keys().map(String::as_str).collect();
                write!(out, "{}", shortened(&format!("a dict with the keys {keys:?}")))
            }
            Value::Buffer(buffer) => {
                write!(out, "a buffer of shape {:?} and format '{}'", buffer.shape, buffer.format)
            }
            Value::Labels(labels) if labels.len() > SHOWN => {
                write!(out, "{:?}… ({} indices)", &labels[..SHOWN], labels.len())
            }
            Value::Labels(labels) => write!(out, "{labels:?}"),
            Value::Unread(length) => write!(out, "a sequence of {length}"),
            Value::Other(text) => write!(out, "{}", shortened(text)),
        }
    }
}

/// More items than this are not printed.
const SHOWN: usize = 8;
/// Longer text than this is cut.
const SHOWN_TEXT: usize = 80;

fn show_list(out: &mut fmt::Formatter<'_>, items: &[Value]) -> fmt::Result {
    let shown: Vec<String> = items.iter().take(SHOWN).map(Value::to_string).collect();
    let more = if items.len() > SHOWN { ", …" } else { "" };
    write!(out, "{}", shortened(&format!("({}{more})", shown.join(", "))))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_TEXT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
