//! What ranks must agree on when they do something together: a hash of what is done.

use std::hash::{Hash, Hasher};

/// A hash that is the same in every process, and costs little.
pub(super) fn hashed(what: impl Hash) -> u64 {
    let mut hasher = Words(0);
    what.hash(&mut hasher);
    hasher.finish()
}

/// Hashes words, soon.
#[derive(Default)]
pub(super) struct Words(u64);

impl Words {
    /// FNV-1a on words; the turn brings the high bits down.
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.word(byte.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.word(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.word(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.word(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.word(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
