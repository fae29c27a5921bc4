//! Philox4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw 2011): counters in, random bits out.

use crate::kernels::Variant;

/// The multipliers of a round, and what the keys grow by.
const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const GROWTH: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;
const LOW: u64 = 0xFFFF_FFFF;

/// The random words of a seed: two for each block of counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    key: [u32; 2],
    salt: u32,
}

impl Stream {
    /// The stream of 96 bits of seed.
    pub fn new(seed: [u32; 3]) -> Self {
        Self { key: [seed[0], seed[1]], salt: seed[2] }
    }

    /// The words of these places, from `first` on.
    pub(super) fn words(self, first: u64, out: &mut [u64]) {
        match Variant::chosen() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the CPU has AVX2, or this would not be chosen.
            Variant::Avx2 | Variant::Avx512 => unsafe { words_avx2(self, first, out) },
            _ => words(self, first, out),
        }
    }

    /// More words for one place.
    pub(super) fn again(self, place: u64) -> Again {
        Again { stream: self, place, attempt: 0, left: None }
    }

    /// The two words of a block. The third counter is 0 for the words that every place has; attempts
    /// of a place are numbered in it.
    ///
    /// Counters are the lower halves of these numbers. What is above them is left there until the
    /// end, so that a loop over blocks has nothing to do but Philox itself, in wide registers.
    #[inline(always)]
    fn block(self, number: u64, attempt: u32) -> [u64; 2] {
        let [mut a, mut b, mut c, mut d] = [number, number >> 32, attempt.into(), self.salt.into()];
        for round in 0..ROUNDS {
            let key = |half: usize| {
                u64::from(self.key[half].wrapping_add(GROWTH[half].wrapping_mul(round)))
            };
            let first = (a & LOW).wrapping_mul(MULTIPLIERS[0]);
            let second = (c & LOW).wrapping_mul(MULTIPLIERS[1]);
            (a, b) = ((second >> 32) ^ b ^ key(0), second);
            (c, d) = ((first >> 32) ^ d ^ key(1), first);
        }
        [a & LOW | b << 32, c & LOW | d << 32]
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn words_avx2(stream: Stream, first: u64, out: &mut [u64]) {
    words(stream, first, out);
}

#[inline(always)]
fn words(stream: Stream, first: u64, out: &mut [u64]) {
    let skipped = (first % 2) as usize;
    let (head, rest) = out.split_at_mut(skipped.min(out.len()));
    head.fill(stream.block(first / 2, 0)[1]);
    let block = |at: usize| stream.block(first.div_ceil(2).wrapping_add(at as u64), 0);
    let (pairs, rest) = rest.as_chunks_mut::<2>();
    for (at, pair) in pairs.iter_mut().enumerate() {
        *pair = block(at);
    }
    rest.fill(block(pairs.len())[0]);
}

/// Random words for one place beyond its first.
pub(super) struct Again {
    stream: Stream,
    place: u64,
    attempt: u32,
    left: Option<u64>,
}

impl Again {
    #[cold]
    pub(super) fn word(&mut self) -> u64 {
        self.left.take().unwrap_or_else(|| {
            self.attempt += 1;
            let [word, left] = self.stream.block(self.place, self.attempt);
            self.left = Some(left);
            word
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers that the authors of Philox publish for all zeros and all ones.
    #[test]
    fn known_answers() {
        let zeros = Stream::new([0, 0, 0]).block(0, 0);
        assert_eq!(zeros, [0xe169_c58d_6627_e8d5, 0x9b00_dbd8_bc57_ac4c]);
        let ones = Stream::new([u32::MAX; 3]).block(u64::MAX, u32::MAX);
        assert_eq!(ones, [0x41c8_3b0e_408f_276d, 0x6d54_51fd_a20b_c7c6]);
    }

    #[test]
    fn words_by_their_place() {
        let stream = Stream::new([5, 6, 7]);
        let mut all = [0; 100];
        stream.words(3, &mut all);
        let mut plain = [0; 100];
        words(stream, 3, &mut plain);
        assert_eq!(plain, all, "the same on every CPU");
        for (start, len) in [(0, 0), (1, 1), (2, 17), (7, 33), (50, 50)] {
            let mut part = vec![0; len];
            stream.words(3 + start as u64, &mut part);
            assert_eq!(part, all[start..start + len]);
        }
    }
}
