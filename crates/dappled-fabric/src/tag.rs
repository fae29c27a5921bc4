//! Tags: identify the operation that a message belongs to.

use std::fmt;

/// Identifies an operation. All ranks use the same tag unless they have diverged.
///
/// ```
/// use dappled_fabric::Tag;
/// let tag = Tag::new(7, "a sum at laplace.py:4");
/// assert_eq!(tag.to_string(), "operation 0: a sum at laplace.py:4");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Chained hash of this operation and all operations before it; equal on all ranks.
    pub hash: u64,
    /// The sequence number of the operation, from 1; 0 for internal operations.
    pub sequence_number: u64,
    /// Hashes of the fields of the operation; only used to report which field differs.
    pub field_hashes: FieldHashes,
    /// Description and call site of the operation, for messages; never compared.
    pub label: OperationLabel,
}

/// Short hashes of the fields of an operation; the caller defines the fields.
pub type FieldHashes = [u16; 8];

/// Description and call site of an operation, stored inline to fit into every header. A long text
/// loses its middle: its start describes the operation, its end is the file and line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OperationLabel {
    length: u8,
    text: [u8; OperationLabel::MAX_BYTES],
}

/// Identifies one message between two ranks, and the operation it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageId {
    /// The sequence number among the messages of this sender to this receiver, from 1.
    pub sequence: u64,
    /// The operation.
    pub tag: Tag,
}

impl Tag {
    /// The hash of goodbye messages; no operation uses it.
    pub(crate) const LEAVING_HASH: u64 = u64::from_be_bytes(*b"leaving!");

    /// Creates the tag of an operation from its hash and label.
    pub fn new(hash: u64, place: &str) -> Self {
        Self {
            hash,
            sequence_number: 0,
            field_hashes: FieldHashes::default(),
            label: OperationLabel::new(place),
        }
    }

    /// Returns the tag of the goodbye message of a rank.
    pub(crate) fn leaving() -> Self {
        Self::new(Self::LEAVING_HASH, "the end of the program")
    }

    /// Returns the tag of a collective within this operation. Each collective has its own hash, so
    /// a barrier never matches a broadcast of the same operation.
    pub(crate) fn for_collective(self, kind: &str) -> Self {
        let hash = kind.bytes().fold(self.hash, |hash, byte| mix_hash(hash, u64::from(byte)));
        let place = if self.label.length == 0 { OperationLabel::new(kind) } else { self.label };
        Self { hash, label: place, ..self }
    }

    /// Returns the tag with a word mixed into its hash that ranks must agree on.
    pub(crate) fn with_word(self, word: u64) -> Self {
        Self { hash: mix_hash(self.hash, word), ..self }
    }
}

/// One step of an FNV-1a style hash over 64-bit words. Distinguishes operations; not cryptographic.
pub(crate) fn mix_hash(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

impl OperationLabel {
    /// Capacity of a label in bytes.
    pub(crate) const MAX_BYTES: usize = 207;

    /// Bytes kept of the start of a long text.
    const PREFIX_BYTES: usize = 80;

    /// Replaces the omitted middle of a long text.
    const ELLIPSIS: &str = " … ";

    /// Creates a label; a text that is too long keeps its start and its end.
    pub fn new(text: &str) -> Self {
        if text.len() <= Self::MAX_BYTES {
            return Self::from_bytes(text.as_bytes());
        }
        let start = &text[..text.floor_char_boundary(Self::PREFIX_BYTES)];
        let room = Self::MAX_BYTES - start.len() - Self::ELLIPSIS.len();
        let end = &text[text.ceil_char_boundary(text.len() - room)..];
        Self::from_bytes([start, Self::ELLIPSIS, end].concat().as_bytes())
    }

    /// Creates a label from encoded bytes, at most [`Self::MAX_BYTES`].
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut text = [0; Self::MAX_BYTES];
        text[..bytes.len()].copy_from_slice(bytes);
        Self { length: bytes.len() as u8, text }
    }

    /// Returns the bytes of the text.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.text[..self.length.into()]
    }
}

impl fmt::Display for OperationLabel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

impl fmt::Debug for OperationLabel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Place({:?})", self.to_string())
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hash {
            Self::LEAVING_HASH => write!(out, "{}", self.label),
            _ => write!(out, "operation {}: {}", self.sequence_number, self.label),
        }
    }
}

/// Decodes the field hashes of a tag.
pub(crate) fn decode_field_hashes(bytes: &[u8]) -> FieldHashes {
    std::array::from_fn(|at| u16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]]))
}

impl fmt::Display for MessageId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "message {} ({})", self.sequence, self.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_label_keeps_its_start_and_end() {
        for more in 0..4 {
            let start = format!("a sum{} of", " ".repeat(more));
            let text = format!("{start} {}é/laplace.py:12", "ü".repeat(200));
            let place = OperationLabel::new(&text).to_string();
            assert!(
                place.len() <= OperationLabel::MAX_BYTES
                    && place.len() > OperationLabel::MAX_BYTES - 4
            );
            assert!(place.starts_with(&start));
            assert!(place.contains("ü … ü") && place.ends_with("é/laplace.py:12"));
        }
    }

    #[test]
    fn collectives_of_one_operation_differ() {
        let tag = Tag::new(1, "a.py:1");
        assert_ne!(tag.for_collective("barrier").hash, tag.for_collective("broadcast").hash);
        assert_ne!(
            tag.for_collective("broadcast").with_word(0).hash,
            tag.for_collective("broadcast").with_word(1).hash
        );
        assert_eq!(tag.for_collective("barrier").label.to_string(), "a.py:1");
        assert_eq!(Tag::new(1, "").for_collective("barrier").label.to_string(), "barrier");
    }
}
