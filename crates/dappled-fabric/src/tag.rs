//! Which operation a message belongs to.

use std::fmt;

/// The operation that a message belongs to: the same on every rank, or the ranks diverged.
///
/// ```
/// use dappled_fabric::Tag;
/// let tag = Tag::new(7, "a sum at laplace.py:4");
/// assert_eq!(tag.to_string(), "operation 0: a sum at laplace.py:4");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// What the ranks must agree on: this operation, and all before it.
    pub hash: u64,
    /// The number of the operation, from 1; 0 for what the program did not ask for.
    pub number: u64,
    /// What it is and where it was asked for, for people: never compared.
    pub place: Place,
}

/// Where an operation was written: short text without memory of its own, so that it travels in
/// every header. Of a longer text the end is kept, where paths have the file and the line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Place {
    length: u8,
    text: [u8; Place::ROOM],
}

impl Tag {
    /// A rank that leaves says so under this hash, and under no other.
    pub(crate) const LEAVING: u64 = u64::from_be_bytes(*b"leaving!");

    /// The operation with this hash, asked for at this place.
    pub fn new(hash: u64, place: &str) -> Self {
        Self { hash, number: 0, place: Place::new(place) }
    }

    /// The last message of a rank.
    pub(crate) fn leaving() -> Self {
        Self::new(Self::LEAVING, "the end of the program")
    }

    /// The part `kind` of this operation: another hash, so that a barrier never matches a
    /// broadcast of the same operation.
    pub(crate) fn within(self, kind: &str) -> Self {
        let hash = kind.bytes().fold(self.hash, |hash, byte| mixed(hash, u64::from(byte)));
        let place = if self.place.length == 0 { Place::new(kind) } else { self.place };
        Self { hash, place, ..self }
    }

    /// The same with a number that the ranks must agree on.
    pub(crate) fn with(self, number: u64) -> Self {
        Self { hash: mixed(self.hash, number), ..self }
    }
}

/// One step of FNV-1a, on words: enough to tell operations apart, nothing more is asked of it.
pub(crate) fn mixed(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

impl Place {
    /// The bytes that are kept.
    pub(crate) const ROOM: usize = 223;

    /// The end of `text`, as much as there is room for.
    pub fn new(text: &str) -> Self {
        let from = text.ceil_char_boundary(text.len().saturating_sub(Self::ROOM));
        Self::from_bytes(&text.as_bytes()[from..])
    }

    /// These bytes, at most [`Place::ROOM`].
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut text = [0; Self::ROOM];
        text[..bytes.len()].copy_from_slice(bytes);
        Self { length: bytes.len() as u8, text }
    }

    /// The bytes of the text.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.text[..self.length.into()]
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Place({:?})", self.to_string())
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hash {
            Self::LEAVING => write!(out, "{}", self.place),
            _ => write!(out, "operation {}: {}", self.number, self.place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_place_keeps_its_end_and_whole_characters() {
        let place = Place::new(&format!("{}é/laplace.py:12", "ü".repeat(200)));
        assert!(place.as_bytes().len() <= Place::ROOM);
        assert!(place.to_string().starts_with('ü') && place.to_string().ends_with("laplace.py:12"));
    }

    #[test]
    fn parts_of_an_operation_differ() {
        let tag = Tag::new(1, "a.py:1");
        assert_ne!(tag.within("barrier").hash, tag.within("broadcast").hash);
        assert_ne!(tag.within("broadcast").with(0).hash, tag.within("broadcast").with(1).hash);
        assert_eq!(tag.within("barrier").place.to_string(), "a.py:1");
        assert_eq!(Tag::new(1, "").within("barrier").place.to_string(), "barrier");
    }
}
