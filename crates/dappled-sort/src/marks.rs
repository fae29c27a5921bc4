//! Which of some places are in which part of a target: a bit for each.

use crate::place;

/// Places that a word of bits is for.
pub(crate) const WORD: usize = 64;

/// A target in parts of equal size, but for the last: all of what is numbered, or some of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    /// How many are numbered.
    pub length: usize,
    /// The number of the first of the target.
    pub first: usize,
    pub size: usize,
    pub count: usize,
}

impl Parts {
    /// Writes, for each [`WORD`] indices, a word for each part: the first index is the lowest bit. Is
    /// every index in range?
    pub fn mark(&self, at: &[i64], marks: &mut [u64]) -> bool {
        let (whole, rest) = at.as_chunks::<WORD>();
        let (marks, last) = marks.split_at_mut(whole.len() * self.count);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has what the function is compiled for.
            return unsafe { wide::mark(self, whole, marks) } & self.mark_plain(rest, last);
        }
        self.mark_plain(whole.as_flattened(), marks) & self.mark_plain(rest, last)
    }

    fn mark_plain(&self, at: &[i64], marks: &mut [u64]) -> bool {
        let mut right = true;
        for (at, marks) in at.chunks(WORD).zip(marks.chunks_exact_mut(self.count)) {
            marks.fill(0);
            for (bit, &index) in at.iter().enumerate() {
                let place = place(index, self.length);
                right &= place < self.length;
                for (part, mark) in marks.iter_mut().enumerate() {
                    let start = self.first.wrapping_add(part.wrapping_mul(self.size));
                    let inside = place.wrapping_sub(start) < self.size;
                    *mark |= u64::from(inside) << bit;
                }
            }
        }
        right
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::{Parts, WORD};

    /// As `mark_plain`, four at a time.
    #[target_feature(enable = "avx2")]
    pub fn mark(parts: &Parts, at: &[[i64; WORD]], marks: &mut [u64]) -> bool {
        let zero = _mm256_setzero_si256();
        let mut wrong = zero;
        for (at, marks) in at.iter().zip(marks.chunks_exact_mut(parts.count)) {
            marks.fill(0);
            for (four, at) in at.as_chunks::<4>().0.iter().enumerate() {
                // SAFETY: both are 32 bytes, any of which mean something.
                let index = unsafe { transmute::<[i64; 4], __m256i>(*at) };
                let length = _mm256_set1_epi64x(parts.length as i64);
                let from_end = _mm256_and_si256(length, _mm256_cmpgt_epi64(zero, index));
                let place = _mm256_add_epi64(index, from_end);
                let below = _mm256_cmpgt_epi64(length, place);
                wrong = _mm256_or_si256(wrong, _mm256_or_si256(place, not(below)));
                let mut start = _mm256_set1_epi64x(parts.first as i64);
                for mark in marks.iter_mut() {
                    let stop = _mm256_add_epi64(start, _mm256_set1_epi64x(parts.size as i64));
                    let before = _mm256_cmpgt_epi64(start, place);
                    let inside = _mm256_andnot_si256(before, _mm256_cmpgt_epi64(stop, place));
                    *mark |= signs(inside) << (4 * four);
                    start = stop;
                }
            }
        }
        signs(wrong) == 0
    }

    #[target_feature(enable = "avx2")]
    fn not(mask: __m256i) -> __m256i {
        _mm256_xor_si256(mask, _mm256_set1_epi64x(-1))
    }

    /// The highest bit of each.
    #[target_feature(enable = "avx2")]
    fn signs(numbers: __m256i) -> u64 {
        _mm256_movemask_pd(_mm256_castsi256_pd(numbers)) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whoever_marks(
            at in prop::collection::vec(-10..10_i64, 0..300),
            length in 9..11_usize,
            first in 0..5_usize,
            count in 1..5_usize,
        ) {
            let parts = Parts { length, first, size: (length - first).div_ceil(count), count };
            let (mut one, mut other) = (vec![1; at.len().div_ceil(WORD) * count], vec![]);
            other.clone_from(&one);
            prop_assert_eq!(parts.mark(&at, &mut one), parts.mark_plain(&at, &mut other));
            prop_assert_eq!(one, other);
        }
    }
}
