//! Bit packing, and compaction of the elements whose bit is set.
//!
//! Bits are in words of 64, with the first element in the lowest bit. Each step writes a whole
//! vector, of which the next step overwrites the surplus.

use crate::loops::variant::CpuVariant;
use crate::types::dtype::DType;
use crate::types::element::Element;
use crate::types::element::{typed, typed_mut, with_element};

/// The number of elements per word of bits.
pub(crate) const ELEMENTS_PER_WORD: usize = 64;

/// The number of bytes beyond the last selected element that may be overwritten.
pub(crate) const SLACK_BYTES: usize = 64;

/// Packs bools into bits; the bits beyond the last are 0.
pub(crate) fn pack_bits(bools: &[u8], words: &mut [u64], variant: CpuVariant) {
    let (whole, rest) = bools.as_chunks::<64>();
    let (words, last) = words.split_at_mut(whole.len());
    match variant.min(CpuVariant::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this CPU supports the instructions.
        CpuVariant::Avx2 | CpuVariant::Avx512 => unsafe { x86::pack_bits(whole, words) },
        _ => whole.iter().zip(words).for_each(|(bools, word)| *word = pack_word(bools)),
    }
    if let Some(last) = last.first_mut() {
        let mut bools = [0; 64];
        bools[..rest.len()].copy_from_slice(rest);
        *last = pack_word(&bools);
    }
}

/// Packs 64 bools; a product moves eight of them to the highest byte.
fn pack_word(bools: &[u8; 64]) -> u64 {
    let bools = bools.map(|is_true| u8::from(is_true != 0));
    let (eights, _) = bools.as_chunks::<8>();
    let bits = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080);
    let places = eights.iter().enumerate();
    places.fold(0, |word, (at, eight)| word | (bits(eight) >> 56) << (8 * at))
}

/// Compacts the elements whose bit is set and returns their number.
///
/// `out` has room for them, for [`ELEMENTS_PER_WORD`] more, and for [`SLACK_BYTES`].
pub(crate) fn compress(
    dtype: DType,
    variant: CpuVariant,
    values: &[u8],
    words: &[u64],
    out: &mut [u8],
) -> usize {
    let item = dtype.itemsize();
    let done = match (variant.min(CpuVariant::best()), item) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this CPU supports the instructions.
        (CpuVariant::Avx512, 4) => unsafe { x86::avx512_compress::<16>(values, words, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this CPU supports the instructions.
        (CpuVariant::Avx512, 8) => unsafe { x86::avx512_compress::<8>(values, words, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this CPU supports the instructions.
        (CpuVariant::Avx2, 4) => unsafe { x86::compress::<8>(values, words, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this CPU supports the instructions.
        (CpuVariant::Avx2, 8) => unsafe { x86::compress::<4>(values, words, out) },
        _ => CompressProgress::default(),
    };
    let (values, words) = (&values[done.words * 64 * item..], &words[done.words..]);
    let out = &mut out[done.selected * item..];
    done.selected
        + with_element!(dtype, T => compress_scalar::<T>(typed(values), words, typed_mut(out)))
}

/// The progress of a loop that processes whole words.
#[derive(Default)]
struct CompressProgress {
    words: usize,
    selected: usize,
}

fn compress_scalar<T: Element>(values: &[T], words: &[u64], out: &mut [T]) -> usize {
    let mut filled = 0;
    for (values, &word) in values.chunks(64).zip(words) {
        let mut left = word;
        while left != 0 {
            out[filled] = values[left.trailing_zeros() as usize];
            filled += 1;
            left &= left - 1;
        }
    }
    filled
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::{CompressProgress, ELEMENTS_PER_WORD, SLACK_BYTES};
    use crate::config::MASK_PREFETCH_BYTES;

    /// Loads 32 bytes. In builds with assertions, a load by pointer is checked via the stack, which
    /// dominates the run time.
    #[target_feature(enable = "avx2")]
    fn register(bytes: [u8; 32]) -> __m256i {
        // SAFETY: both are 32 bytes, and every bit pattern is valid.
        unsafe { transmute::<[u8; 32], __m256i>(bytes) }
    }

    #[target_feature(enable = "avx2")]
    pub fn pack_bits(bools: &[[u8; 64]], words: &mut [u64]) {
        let zeros = _mm256_setzero_si256();
        let bits = |half: [u8; 32]| {
            u64::from(!_mm256_movemask_epi8(_mm256_cmpeq_epi8(register(half), zeros)) as u32)
        };
        for (bools, word) in bools.iter().zip(words) {
            if let ([low, high], _) = bools.as_chunks::<32>() {
                *word = bits(*low) | bits(*high) << 32;
            }
        }
    }

    /// For each bit pattern, the source of each of eight 4-byte lanes, and the number of selected
    /// bytes.
    struct PermuteTable {
        from: [u64; 256],
        bytes: [u8; 256],
    }

    static PERMUTE_8: PermuteTable = permute_table(1);
    /// The expanded permutations of four elements of two lanes, few enough to stay in the cache.
    static PERMUTE_4: [[u8; 32]; 16] = expand_permutations(&permute_table(2));
    static BYTES_4: [u8; 256] = permute_table(2).bytes;

    /// The table for elements of `lanes` lanes.
    const fn permute_table(lanes: usize) -> PermuteTable {
        let mut moves = PermuteTable { from: [0; 256], bytes: [0; 256] };
        let mut bits = 0;
        while bits < 1 << (8 / lanes) {
            let (mut at, mut filled) = (0, 0);
            while at < 8 {
                if bits >> (at / lanes) & 1 == 1 {
                    moves.from[bits] |= (at as u64) << (8 * filled);
                    filled += 1;
                }
                at += 1;
            }
            moves.bytes[bits] = 4 * filled as u8;
            bits += 1;
        }
        moves
    }

    const fn expand_permutations(moves: &PermuteTable) -> [[u8; 32]; 16] {
        let mut spread = [[0; 32]; 16];
        let mut at = 0;
        while at < 16 * 8 {
            spread[at / 8][at % 8 * 4] = moves.from[at / 8].to_le_bytes()[at % 8];
            at += 1;
        }
        spread
    }

    /// Compacts whole words with AVX2, `IN_STEP` elements at a time.
    #[target_feature(enable = "avx2")]
    pub fn compress<const IN_STEP: usize>(
        values: &[u8],
        words: &[u64],
        out: &mut [u8],
    ) -> CompressProgress {
        let word_bytes = ELEMENTS_PER_WORD * 32 / IN_STEP;
        let (mut filled, mut done) = (0_usize, 0);
        for (&word, values) in words.iter().zip(values.chunks_exact(word_bytes)) {
            let room = &mut out[filled..][..word_bytes + SLACK_BYTES];
            filled += compress_word::<IN_STEP>(values, word, room);
            done += 1;
        }
        CompressProgress { words: done, selected: filled * IN_STEP / 32 }
    }

    /// Compacts one word and returns the number of bytes. `room` has space for all of it and the
    /// surplus.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn compress_word<const IN_STEP: usize>(values: &[u8], word: u64, room: &mut [u8]) -> usize {
        let (pairs, _) = values.as_chunks::<64>();
        let (mut filled, mut left) = (0_usize, word);
        for pair in pairs {
            _mm_prefetch::<_MM_HINT_T0>(pair.as_ptr().wrapping_add(MASK_PREFETCH_BYTES).cast());
            for values in pair.as_chunks::<32>().0 {
                let (moved, bytes) = compress_vector::<IN_STEP>(*values, left as usize);
                if let Some(target) = room[filled..].first_chunk_mut::<32>() {
                    *target = moved;
                }
                filled = filled.wrapping_add(bytes);
                left >>= IN_STEP;
            }
        }
        filled
    }

    /// Compacts whole words with AVX-512. Compressing in a register is faster than to memory.
    #[target_feature(enable = "avx512f,popcnt")]
    pub fn avx512_compress<const IN_STEP: usize>(
        values: &[u8],
        words: &[u64],
        out: &mut [u8],
    ) -> CompressProgress {
        let word_bytes = ELEMENTS_PER_WORD * 64 / IN_STEP;
        let (mut filled, mut done) = (0_usize, 0);
        for (&word, values) in words.iter().zip(values.chunks_exact(word_bytes)) {
            let room = &mut out[filled..][..word_bytes + SLACK_BYTES];
            filled += avx512_compress_word::<IN_STEP>(values, word, room);
            done += 1;
        }
        CompressProgress { words: done, selected: filled * IN_STEP / 64 }
    }

    #[inline]
    #[target_feature(enable = "avx512f,popcnt")]
    fn avx512_compress_word<const IN_STEP: usize>(
        values: &[u8],
        word: u64,
        room: &mut [u8],
    ) -> usize {
        let (mut filled, mut left) = (0_usize, word);
        for values in values.as_chunks::<64>().0 {
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(MASK_PREFETCH_BYTES).cast());
            // SAFETY: both are 64 bytes, and every bit pattern is valid.
            let vector = unsafe { transmute::<[u8; 64], __m512i>(*values) };
            let (moved, count) = match IN_STEP {
                16 => {
                    let selected = left as u16;
                    (_mm512_maskz_compress_epi32(selected, vector), selected.count_ones())
                }
                _ => {
                    let selected = left as u8;
                    (_mm512_maskz_compress_epi64(selected, vector), selected.count_ones())
                }
            };
            if let Some(target) = room[filled..].first_chunk_mut::<64>() {
                // SAFETY: as above.
                *target = unsafe { transmute::<__m512i, [u8; 64]>(moved) };
            }
            filled = filled.wrapping_add(count as usize * (64 / IN_STEP));
            left >>= IN_STEP;
        }
        filled
    }

    /// The elements of a vector that the lowest bits select, and their number of bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn compress_vector<const IN_STEP: usize>(values: [u8; 32], bits: usize) -> ([u8; 32], usize) {
        let (from, bytes) = match IN_STEP {
            8 => {
                let from = _mm_cvtsi64_si128(PERMUTE_8.from[bits % 256] as i64);
                (_mm256_cvtepu8_epi32(from), PERMUTE_8.bytes[bits % 256])
            }
            _ => (register(PERMUTE_4[bits % 16]), BYTES_4[bits % 16]),
        };
        let moved = _mm256_permutevar8x32_epi32(register(values), from);
        // SAFETY: both are 32 bytes, and every bit pattern is valid.
        (unsafe { transmute::<__m256i, [u8; 32]>(moved) }, usize::from(bytes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::types::element::bytes_of;

    fn checked<T: Element + std::fmt::Debug>(
        values: &[T],
        bools: &[u8],
        variant: CpuVariant,
    ) -> Result<(), TestCaseError> {
        let mut words = vec![!0; bools.len().div_ceil(64)];
        pack_bits(bools, &mut words, variant);
        let bit = |at: usize| words[at / 64] >> (at % 64) & 1 == 1;
        prop_assert!(
            (0..64 * words.len()).all(|at| bit(at) == bools.get(at).is_some_and(|t| *t != 0))
        );
        let mut out = vec![T::default(); values.len() + ELEMENTS_PER_WORD + SLACK_BYTES];
        let bytes = crate::types::element::bytes_of_mut(&mut out[..]);
        let count = compress(T::DTYPE, variant, bytes_of(values), &words, bytes);
        let selected = values.iter().zip(bools).filter(|(_, is_true)| **is_true != 0);
        let expected: Vec<T> = selected.map(|(value, _)| *value).collect();
        prop_assert_eq!(&out[..count], &expected[..]);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn compress_selects_true_elements(
            bools in prop::collection::vec(prop::sample::select(vec![0, 0, 0, 1, 1, 255]), 0..300)
        ) {
            for variant in CpuVariant::available() {
                let numbers = 0..bools.len() as u64;
                checked(&numbers.clone().collect::<Vec<u64>>(), &bools, variant)?;
                checked(&numbers.clone().map(|n| n as u32).collect::<Vec<_>>(), &bools, variant)?;
                checked(&numbers.map(|n| n as u8).collect::<Vec<_>>(), &bools, variant)?;
            }
        }
    }
}
