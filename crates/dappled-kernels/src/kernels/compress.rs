//! Truths as bits, and the elements that bits choose, put together.
//!
//! Bits are in words of 64, the first element's lowest. How many are chosen is known afterwards, so
//! every step writes as much as it could, and the next one over what was too much.

use super::Variant;
use crate::element::{typed, typed_mut, with_element};
use crate::{DType, Element};

/// Elements that a word of bits is for.
pub(crate) const WORD: usize = 64;

/// Bytes beyond the last chosen element that may be written.
pub(crate) const BEYOND: usize = 64;

/// Writes the bits of some truths; those beyond the last are 0.
pub(crate) fn pack(truths: &[u8], words: &mut [u64], variant: Variant) {
    let (whole, rest) = truths.as_chunks::<64>();
    let (words, last) = words.split_at_mut(whole.len());
    match variant.min(Variant::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the instructions.
        Variant::Avx2 | Variant::Avx512 => unsafe { x86::pack(whole, words) },
        _ => whole.iter().zip(words).for_each(|(truths, word)| *word = word_of(truths)),
    }
    if let Some(last) = last.first_mut() {
        let mut truths = [0; 64];
        truths[..rest.len()].copy_from_slice(rest);
        *last = word_of(&truths);
    }
}

/// A product of eight truths moves each to its place in the highest byte.
fn word_of(truths: &[u8; 64]) -> u64 {
    let truths = truths.map(|truth| u8::from(truth != 0));
    let (eights, _) = truths.as_chunks::<8>();
    let bits = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080);
    let places = eights.iter().enumerate();
    places.fold(0, |word, (at, eight)| word | (bits(eight) >> 56) << (8 * at))
}

/// Writes the elements that bits choose one behind the other, and says how many. `out` has room for
/// them, for a [`WORD`] more, and for [`BEYOND`].
pub(crate) fn compress(
    dtype: DType,
    variant: Variant,
    values: &[u8],
    words: &[u64],
    out: &mut [u8],
) -> usize {
    let item = dtype.itemsize();
    let done = match (variant.min(Variant::best()), item) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the instructions.
        (Variant::Avx512, 4) => unsafe { x86::wide_compress::<16>(values, words, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the instructions.
        (Variant::Avx512, 8) => unsafe { x86::wide_compress::<8>(values, words, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the instructions.
        (Variant::Avx2, 4) => unsafe { x86::compress::<8>(values, words, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the instructions.
        (Variant::Avx2, 8) => unsafe { x86::compress::<4>(values, words, out) },
        _ => Done::default(),
    };
    let (values, words) = (&values[done.words * 64 * item..], &words[done.words..]);
    let out = &mut out[done.chosen * item..];
    done.chosen + with_element!(dtype, T => one_by_one::<T>(typed(values), words, typed_mut(out)))
}

/// How far a loop came that does whole words only.
#[derive(Default)]
struct Done {
    words: usize,
    chosen: usize,
}

fn one_by_one<T: Element>(values: &[T], words: &[u64], out: &mut [T]) -> usize {
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

    use super::{BEYOND, Done, WORD};

    /// How far ahead memory is asked for: it arrives while elements are moved.
    const AHEAD: usize = 2048;

    /// 32 bytes in a register. (What loads by pointer is checked where assertions are, by way of the
    /// stack, which takes longer than all the rest.)
    #[target_feature(enable = "avx2")]
    fn register(bytes: [u8; 32]) -> __m256i {
        // SAFETY: both are 32 bytes, any of which mean something.
        unsafe { transmute::<[u8; 32], __m256i>(bytes) }
    }

    #[target_feature(enable = "avx2")]
    pub fn pack(truths: &[[u8; 64]], words: &mut [u64]) {
        let zeros = _mm256_setzero_si256();
        let bits = |half: [u8; 32]| {
            u64::from(!_mm256_movemask_epi8(_mm256_cmpeq_epi8(register(half), zeros)) as u32)
        };
        for (truths, word) in truths.iter().zip(words) {
            if let ([low, high], _) = truths.as_chunks::<32>() {
                *word = bits(*low) | bits(*high) << 32;
            }
        }
    }

    /// Where each of eight lanes of four bytes comes from, a byte each; and how many bytes are chosen.
    struct Moves {
        from: [u64; 256],
        bytes: [u8; 256],
    }

    static OF_EIGHT: Moves = moves(1);
    /// Of four elements of two lanes, the lanes as they are used: so few that all stay at hand.
    static OF_FOUR: [[u8; 32]; 16] = spread(&moves(2));
    static BYTES_OF_FOUR: [u8; 256] = moves(2).bytes;

    /// For elements of so many lanes.
    const fn moves(lanes: usize) -> Moves {
        let mut moves = Moves { from: [0; 256], bytes: [0; 256] };
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

    const fn spread(moves: &Moves) -> [[u8; 32]; 16] {
        let mut spread = [[0; 32]; 16];
        let mut at = 0;
        while at < 16 * 8 {
            spread[at / 8][at % 8 * 4] = moves.from[at / 8].to_le_bytes()[at % 8];
            at += 1;
        }
        spread
    }

    /// The same of whole words, so many elements in a step.
    #[target_feature(enable = "avx2")]
    pub fn compress<const IN_STEP: usize>(values: &[u8], words: &[u64], out: &mut [u8]) -> Done {
        let word_bytes = WORD * 32 / IN_STEP;
        let (mut filled, mut done) = (0_usize, 0);
        for (&word, values) in words.iter().zip(values.chunks_exact(word_bytes)) {
            let room = &mut out[filled..][..word_bytes + BEYOND];
            filled += compress_word::<IN_STEP>(values, word, room);
            done += 1;
        }
        Done { words: done, chosen: filled * IN_STEP / 32 }
    }

    /// Those of one word, into room for all of it and for what is too much; how many bytes it is.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn compress_word<const IN_STEP: usize>(values: &[u8], word: u64, room: &mut [u8]) -> usize {
        let (pairs, _) = values.as_chunks::<64>();
        let (mut filled, mut left) = (0_usize, word);
        for pair in pairs {
            _mm_prefetch::<_MM_HINT_T0>(pair.as_ptr().wrapping_add(AHEAD).cast());
            for values in pair.as_chunks::<32>().0 {
                let (moved, bytes) = compressed::<IN_STEP>(*values, left as usize);
                if let Some(target) = room[filled..].first_chunk_mut::<32>() {
                    *target = moved;
                }
                filled = filled.wrapping_add(bytes);
                left >>= IN_STEP;
            }
        }
        filled
    }

    /// The same with vectors of 64 bytes: they are compressed in a register, as into memory it takes
    /// longer.
    #[target_feature(enable = "avx512f,popcnt")]
    pub fn wide_compress<const IN_STEP: usize>(
        values: &[u8],
        words: &[u64],
        out: &mut [u8],
    ) -> Done {
        let word_bytes = WORD * 64 / IN_STEP;
        let (mut filled, mut done) = (0_usize, 0);
        for (&word, values) in words.iter().zip(values.chunks_exact(word_bytes)) {
            let room = &mut out[filled..][..word_bytes + BEYOND];
            filled += wide_compress_word::<IN_STEP>(values, word, room);
            done += 1;
        }
        Done { words: done, chosen: filled * IN_STEP / 64 }
    }

    #[inline]
    #[target_feature(enable = "avx512f,popcnt")]
    fn wide_compress_word<const IN_STEP: usize>(
        values: &[u8],
        word: u64,
        room: &mut [u8],
    ) -> usize {
        let (mut filled, mut left) = (0_usize, word);
        for values in values.as_chunks::<64>().0 {
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(AHEAD).cast());
            // SAFETY: both are 64 bytes, any of which mean something.
            let vector = unsafe { transmute::<[u8; 64], __m512i>(*values) };
            let (moved, count) = match IN_STEP {
                16 => {
                    let chosen = left as u16;
                    (_mm512_maskz_compress_epi32(chosen, vector), chosen.count_ones())
                }
                _ => {
                    let chosen = left as u8;
                    (_mm512_maskz_compress_epi64(chosen, vector), chosen.count_ones())
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

    /// The elements of a vector that the lowest bits choose, and how many bytes they are.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn compressed<const IN_STEP: usize>(values: [u8; 32], bits: usize) -> ([u8; 32], usize) {
        let (from, bytes) = match IN_STEP {
            8 => {
                let from = _mm_cvtsi64_si128(OF_EIGHT.from[bits % 256] as i64);
                (_mm256_cvtepu8_epi32(from), OF_EIGHT.bytes[bits % 256])
            }
            _ => (register(OF_FOUR[bits % 16]), BYTES_OF_FOUR[bits % 16]),
        };
        let moved = _mm256_permutevar8x32_epi32(register(values), from);
        // SAFETY: both are 32 bytes, any of which mean something.
        (unsafe { transmute::<__m256i, [u8; 32]>(moved) }, usize::from(bytes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::element::bytes_of;

    fn checked<T: Element + std::fmt::Debug>(
        values: &[T],
        truths: &[u8],
        variant: Variant,
    ) -> Result<(), TestCaseError> {
        let mut words = vec![!0; truths.len().div_ceil(64)];
        pack(truths, &mut words, variant);
        let bit = |at: usize| words[at / 64] >> (at % 64) & 1 == 1;
        prop_assert!(
            (0..64 * words.len()).all(|at| bit(at) == truths.get(at).is_some_and(|t| *t != 0))
        );
        let mut out = vec![T::default(); values.len() + WORD + BEYOND];
        let bytes = crate::element::bytes_of_mut(&mut out[..]);
        let count = compress(T::DTYPE, variant, bytes_of(values), &words, bytes);
        let chosen = values.iter().zip(truths).filter(|(_, truth)| **truth != 0);
        let expected: Vec<T> = chosen.map(|(value, _)| *value).collect();
        prop_assert_eq!(&out[..count], &expected[..]);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_true_is_chosen(
            truths in prop::collection::vec(prop::sample::select(vec![0, 0, 0, 1, 1, 255]), 0..300)
        ) {
            for variant in Variant::available() {
                let numbers = 0..truths.len() as u64;
                checked(&numbers.clone().collect::<Vec<u64>>(), &truths, variant)?;
                checked(&numbers.clone().map(|n| n as u32).collect::<Vec<_>>(), &truths, variant)?;
                checked(&numbers.map(|n| n as u8).collect::<Vec<_>>(), &truths, variant)?;
            }
        }
    }
}
