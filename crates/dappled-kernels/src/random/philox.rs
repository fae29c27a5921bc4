//! Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): a counter-based generator.

use crate::loops::variant::CpuVariant;

/// The multipliers of a round, and the increments of the keys.
const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_INCREMENTS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;
const LOW_32_BITS: u64 = 0xFFFF_FFFF;

/// The random words of a seed; each counter block yields two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RandomStream {
    key: [u32; 2],
    salt: u32,
}

impl RandomStream {
    /// The stream of a 96-bit seed.
    pub fn new(seed: [u32; 3]) -> Self {
        Self { key: [seed[0], seed[1]], salt: seed[2] }
    }

    /// Writes the words of consecutive indices from `first` on.
    pub(crate) fn words(self, first: u64, out: &mut [u64]) {
        match CpuVariant::active() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: AVX2 variants are active only on CPUs that support them.
            CpuVariant::Avx2 | CpuVariant::Avx512 => unsafe { words_avx2(self, first, out) },
            _ => words(self, first, out),
        }
    }

    /// Further words for one index.
    pub(crate) fn extra_words(self, index: u64) -> ExtraWords {
        ExtraWords { stream: self, index, attempt: 0, left: None }
    }

    /// The two words of a counter block.
    ///
    /// The third counter is 0 for the first word of every index; attempts of an index are numbered
    /// in it. Counters are the lower halves of these numbers. The upper halves are masked at the
    /// end only, so that a loop over blocks vectorises.
    #[inline(always)]
    fn block(self, number: u64, attempt: u32) -> [u64; 2] {
        let [mut a, mut b, mut c, mut d] = [number, number >> 32, attempt.into(), self.salt.into()];
        for round in 0..ROUNDS {
            let key = |half: usize| {
                u64::from(self.key[half].wrapping_add(KEY_INCREMENTS[half].wrapping_mul(round)))
            };
            let first = (a & LOW_32_BITS).wrapping_mul(MULTIPLIERS[0]);
            let second = (c & LOW_32_BITS).wrapping_mul(MULTIPLIERS[1]);
            (a, b) = ((second >> 32) ^ b ^ key(0), second);
            (c, d) = ((first >> 32) ^ d ^ key(1), first);
        }
        [a & LOW_32_BITS | b << 32, c & LOW_32_BITS | d << 32]
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn words_avx2(stream: RandomStream, first: u64, out: &mut [u64]) {
    words(stream, first, out);
}

#[inline(always)]
fn words(stream: RandomStream, first: u64, out: &mut [u64]) {
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

/// Random words of one index beyond its first.
pub(crate) struct ExtraWords {
    stream: RandomStream,
    index: u64,
    attempt: u32,
    left: Option<u64>,
}

impl ExtraWords {
    #[cold]
    pub(crate) fn word(&mut self) -> u64 {
        self.left.take().unwrap_or_else(|| {
            self.attempt += 1;
            let [word, left] = self.stream.block(self.index, self.attempt);
            self.left = Some(left);
            word
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published by the authors of Philox, for all zeros and all ones.
    #[test]
    fn known_answers() {
        let zeros = RandomStream::new([0, 0, 0]).block(0, 0);
        assert_eq!(zeros, [0xe169_c58d_6627_e8d5, 0x9b00_dbd8_bc57_ac4c]);
        let ones = RandomStream::new([u32::MAX; 3]).block(u64::MAX, u32::MAX);
        assert_eq!(ones, [0x41c8_3b0e_408f_276d, 0x6d54_51fd_a20b_c7c6]);
    }

    #[test]
    fn words_depend_on_their_index() {
        let stream = RandomStream::new([5, 6, 7]);
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
