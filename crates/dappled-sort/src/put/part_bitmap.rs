//! Bitmaps that say which indices fall into which part of a target.

use crate::wrap_index;

/// Indices per bitmap word.
pub(crate) const WORD_BITS: usize = 64;

/// A target split into parts of equal size, except the last. The target is all or a contiguous
/// range of the indexed elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetParts {
    /// Number of indexed elements.
    pub length: usize,
    /// Index of the first element of the target.
    pub first: usize,
    pub size: usize,
    pub count: usize,
}

impl TargetParts {
    /// Writes one word per part for every [`WORD_BITS`] indices; the first index is the lowest bit.
    /// Returns whether every index is in bounds.
    pub fn mark(&self, indices: &[i64], marks: &mut [u64]) -> bool {
        let (whole, rest) = indices.as_chunks::<WORD_BITS>();
        let (marks, last) = marks.split_at_mut(whole.len() * self.count);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU supports AVX2.
            return unsafe { avx2::mark(self, whole, marks) } & self.mark_scalar(rest, last);
        }
        self.mark_scalar(whole.as_flattened(), marks) & self.mark_scalar(rest, last)
    }

    fn mark_scalar(&self, indices: &[i64], marks: &mut [u64]) -> bool {
        let mut is_valid = true;
        for (indices, marks) in indices.chunks(WORD_BITS).zip(marks.chunks_exact_mut(self.count)) {
            marks.fill(0);
            for (bit, &index) in indices.iter().enumerate() {
                let position = wrap_index(index, self.length);
                is_valid &= position < self.length;
                for (part, mark) in marks.iter_mut().enumerate() {
                    let start = self.first.wrapping_add(part.wrapping_mul(self.size));
                    let inside = position.wrapping_sub(start) < self.size;
                    *mark |= u64::from(inside) << bit;
                }
            }
        }
        is_valid
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::{TargetParts, WORD_BITS};

    /// Vectorised `mark_scalar`, four indices at a time.
    #[target_feature(enable = "avx2")]
    pub fn mark(parts: &TargetParts, indices: &[[i64; WORD_BITS]], marks: &mut [u64]) -> bool {
        let zero = _mm256_setzero_si256();
        let mut out_of_bounds = zero;
        for (indices, marks) in indices.iter().zip(marks.chunks_exact_mut(parts.count)) {
            marks.fill(0);
            for (four, indices) in indices.as_chunks::<4>().0.iter().enumerate() {
                // SAFETY: both types have 32 bytes and no invalid values.
                let index = unsafe { transmute::<[i64; 4], __m256i>(*indices) };
                let length = _mm256_set1_epi64x(parts.length as i64);
                let from_end = _mm256_and_si256(length, _mm256_cmpgt_epi64(zero, index));
                let position = _mm256_add_epi64(index, from_end);
                let below = _mm256_cmpgt_epi64(length, position);
                out_of_bounds =
                    _mm256_or_si256(out_of_bounds, _mm256_or_si256(position, not(below)));
                let mut start = _mm256_set1_epi64x(parts.first as i64);
                for mark in marks.iter_mut() {
                    let stop = _mm256_add_epi64(start, _mm256_set1_epi64x(parts.size as i64));
                    let before = _mm256_cmpgt_epi64(start, position);
                    let inside = _mm256_andnot_si256(before, _mm256_cmpgt_epi64(stop, position));
                    *mark |= signs(inside) << (4 * four);
                    start = stop;
                }
            }
        }
        signs(out_of_bounds) == 0
    }

    #[target_feature(enable = "avx2")]
    fn not(mask: __m256i) -> __m256i {
        _mm256_xor_si256(mask, _mm256_set1_epi64x(-1))
    }

    /// Returns the highest bit of each lane.
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
        fn avx2_marks_like_scalar(
            indices in prop::collection::vec(-10..10_i64, 0..300),
            length in 9..11_usize,
            first in 0..5_usize,
            count in 1..5_usize,
        ) {
            let parts = TargetParts { length, first, size: (length - first).div_ceil(count), count };
            let (mut one, mut other) = (vec![1; indices.len().div_ceil(WORD_BITS) * count], vec![]);
            other.clone_from(&one);
            prop_assert_eq!(parts.mark(&indices, &mut one), parts.mark_scalar(&indices, &mut other));
            prop_assert_eq!(one, other);
        }
    }
}
