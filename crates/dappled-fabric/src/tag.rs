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
    /// Hashes of the parts of the operation, to say what differs: never compared otherwise.
    pub aspects: Aspects,
    /// What it is and where it was asked for, for people: never compared.
    pub place: Place,
}

/// Short hashes of the parts of an operation, whose meaning the caller decides.
pub type Aspects = [u16; 8];

/// Where an operation was written: short text without memory of its own, so that it travels in
/// every header. Of a longer text the middle is left out: its start says what the operation is, and
/// its end has the file and the line.
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
        Self { hash, number: 0, aspects: Aspects::default(), place: Place::new(place) }
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
    pub(crate) const ROOM: usize = 207;

    /// The bytes of a long text that are kept of its start.
    const START: usize = 80;

    /// What stands for the text that is left out.
    const GAP: &str = " … ";

    /// The text, or its start and its end where there is no room for all of it.
    pub fn new(text: &str) -> Self {
        if text.len() <= Self::ROOM {
            return Self::from_bytes(text.as_bytes());
        }
        let start = &text[..text.floor_char_boundary(Self::START)];
        let room = Self::ROOM - start.len() - Self::GAP.len();
        let end = &text[text.ceil_char_boundary(text.len() - room)..];
        Self::from_bytes([start, Self::GAP, end].concat().as_bytes())
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
    fn a_long_place_keeps_its_start_and_its_end_and_whole_characters() {
        for more in 0..4 {
            let start = format!("a sum{} of", " ".repeat(more));
            let text = format!("{start} {}é/laplace.py:12", "ü".repeat(200));
            let place = Place::new(&text).to_string();
            assert!(place.len() <= Place::ROOM && place.len() > Place::ROOM - 4);
            assert!(place.starts_with(&start));
            assert!(place.contains("ü … ü") && place.ends_with("é/laplace.py:12"));
        }
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
