//! Truths as bits, and the elements that bits choose, put together.
//!
//! Bits are in words of 64, the first element's lowest. How many are chosen is known afterwards, so
//! every step writes as much as it could, and the next one over what was too much.

use super::Variant;
use crate::element::{typed, typed_mut, with_element};
use crate::{DType, Element};

/// Bytes beyond the last chosen element that may be written.
pub(crate) const BEYOND: usize = 32;

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
/// all elements, and for [`BEYOND`].
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
        (Variant::Avx2 | Variant::Avx512, 4) => unsafe { x86::compress::<8>(values, words, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the CPU has the instructions.
        (Variant::Avx2 | Variant::Avx512, 8) => unsafe { x86::compress::<4>(values, words, out) },
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

    use super::{BEYOND, Done};

    /// How far ahead memory is asked for: it arrives while elements are moved.
    const AHEAD: usize = 8192;

    #[target_feature(enable = "avx2")]
    pub fn pack(truths: &[[u8; 64]], words: &mut [u64]) {
        for (truths, word) in truths.iter().zip(words) {
            let half = |at: usize| {
                // SAFETY: 32 of the 64 bytes.
                let bytes = unsafe { _mm256_loadu_si256(truths.as_ptr().add(at).cast()) };
                !_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())) as u32
            };
            *word = u64::from(half(0)) | u64::from(half(32)) << 32;
        }
    }

    /// Where each lane of four bytes comes from, and how many of the lanes are chosen.
    struct Moves {
        from: [[u8; 8]; 256],
        counts: [u8; 256],
    }

    static OF_EIGHT: Moves = moves(1);
    static OF_FOUR: Moves = moves(2);

    /// For elements of so many lanes.
    const fn moves(lanes: usize) -> Moves {
        let mut moves = Moves { from: [[0; 8]; 256], counts: [0; 256] };
        let mut bits = 0;
        while bits < 1 << (8 / lanes) {
            let (mut at, mut filled) = (0, 0);
            while at < 8 {
                if bits >> (at / lanes) & 1 == 1 {
                    moves.from[bits][filled] = at as u8;
                    filled += 1;
                }
                at += 1;
            }
            moves.counts[bits] = (filled / lanes) as u8;
            bits += 1;
        }
        moves
    }

    /// The same of whole words, so many elements in a step.
    #[target_feature(enable = "avx2")]
    pub fn compress<const IN_STEP: usize>(values: &[u8], words: &[u64], out: &mut [u8]) -> Done {
        let (item, moves) = (32 / IN_STEP, if IN_STEP == 8 { &OF_EIGHT } else { &OF_FOUR });
        assert!(out.len() >= values.len() + BEYOND, "room for all, and for what is too much");
        let mut done = Done::default();
        for (&word, values) in words.iter().zip(values.chunks_exact(64 * item)) {
            for (step, values) in values.chunks_exact(32).enumerate() {
                if step % 2 == 0 {
                    _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(AHEAD).cast());
                }
                let bits = (word >> (step * IN_STEP)) as usize & ((1 << IN_STEP) - 1);
                // SAFETY: eight bytes of the table; 32 of the values; and of the output, as no more
                // elements were written than were read.
                unsafe {
                    let from = _mm_loadl_epi64(moves.from[bits].as_ptr().cast());
                    let values = _mm256_loadu_si256(values.as_ptr().cast());
                    let moved = _mm256_permutevar8x32_epi32(values, _mm256_cvtepu8_epi32(from));
                    _mm256_storeu_si256(out.as_mut_ptr().add(done.chosen * item).cast(), moved);
                }
                done.chosen += usize::from(moves.counts[bits]);
            }
            done.words += 1;
        }
        done
    }
}
