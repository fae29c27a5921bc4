//! Which of a few elements are chosen, while they are in the nearest cache.

/// Elements that are looked at together: their places among each other fit into a byte.
pub(crate) const NEAR: usize = 256;

/// Places of those that are chosen, with room for those that are written beside them.
pub(crate) type Chosen = [u8; NEAR + LANES];

/// What is in no place yet.
pub(crate) const NONE: Chosen = [0; NEAR + LANES];

/// Places that are written at a time.
const LANES: usize = 64;

/// Writes which of a few rows are in a part; how many are.
pub(crate) fn chosen_of(rows: &[u64], start: u64, stop: u64, chosen: &mut Chosen) -> usize {
    #[cfg(target_arch = "x86_64")]
    if rows.len() == NEAR && wide::is_there() {
        // SAFETY: the CPU has what the function is compiled for.
        return unsafe { wide::chosen_of(rows, start, stop, chosen) };
    } else if rows.len() == NEAR && is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        return unsafe { by_eights::chosen_of(rows, start, stop, chosen) };
    }
    plain(rows, start, stop, chosen)
}

/// Every one is written, and the next one over it if it is not in the part: nothing is guessed.
fn plain(rows: &[u64], start: u64, stop: u64, chosen: &mut Chosen) -> usize {
    let (mut count, length) = (0, stop - start);
    for (at, row) in rows.iter().enumerate() {
        chosen[count % NEAR] = at as u8;
        count = count.wrapping_add(usize::from(row.wrapping_sub(start) < length));
    }
    count
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;

    use super::{Chosen, LANES};

    pub fn is_there() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vbmi2")
    }

    /// As `plain`, of a multiple of [`LANES`] rows.
    #[target_feature(enable = "avx512f,avx512vbmi2")]
    pub fn chosen_of(rows: &[u64], start: u64, stop: u64, chosen: &mut Chosen) -> usize {
        let length = _mm512_set1_epi64((stop - start) as i64);
        let start = _mm512_set1_epi64(start as i64);
        let places: [u8; LANES] = std::array::from_fn(|at| at as u8);
        // SAFETY: as many bytes as are read.
        let mut places = unsafe { _mm512_loadu_si512(places.as_ptr().cast()) };
        let mut count = 0;
        for rows in rows.as_chunks::<LANES>().0 {
            let mut mask = 0;
            for (at, rows) in rows.as_chunks::<8>().0.iter().enumerate() {
                // SAFETY: as many bytes as are read.
                let rows = unsafe { _mm512_loadu_si512(rows.as_ptr().cast()) };
                let inside = _mm512_cmplt_epu64_mask(_mm512_sub_epi64(rows, start), length);
                mask |= u64::from(inside) << (8 * at);
            }
            let found = _mm512_maskz_compress_epi8(mask, places);
            let slots = &mut chosen[count..][..LANES];
            // SAFETY: as many bytes as are written.
            unsafe { _mm512_storeu_si512(slots.as_mut_ptr().cast(), found) };
            places = _mm512_add_epi8(places, _mm512_set1_epi8(LANES as i8));
            count += mask.count_ones() as usize;
        }
        count
    }
}

#[cfg(target_arch = "x86_64")]
mod by_eights {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::Chosen;

    /// The places of the bits of each byte, from the lowest on, as the bytes of a number.
    const PLACES: [u64; 256] = {
        let mut places = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut bit, mut count) = (0, 0);
            while bit < 8 {
                if byte >> bit & 1 == 1 {
                    places[byte] |= bit << (8 * count);
                    count += 1;
                }
                bit += 1;
            }
            byte += 1;
        }
        places
    };
    /// One in each byte.
    const ONES: u64 = u64::MAX / 255;

    /// As `plain`, of a multiple of eight rows, none of which is more than a signed number says.
    #[target_feature(enable = "avx2")]
    pub fn chosen_of(rows: &[u64], start: u64, stop: u64, chosen: &mut Chosen) -> usize {
        let length = _mm256_set1_epi64x((stop - start) as i64);
        let start = _mm256_set1_epi64x(start as i64);
        let inside = |rows: &[u64; 4]| {
            // SAFETY: both are 32 bytes, any of which mean something.
            let place = _mm256_sub_epi64(unsafe { transmute::<[u64; 4], __m256i>(*rows) }, start);
            let before = _mm256_cmpgt_epi64(_mm256_setzero_si256(), place);
            let inside = _mm256_andnot_si256(before, _mm256_cmpgt_epi64(length, place));
            _mm256_movemask_pd(_mm256_castsi256_pd(inside)) as usize
        };
        let mut count = 0;
        for (at, rows) in rows.as_chunks::<8>().0.iter().enumerate() {
            let fours = rows.as_chunks::<4>().0;
            let mask = inside(&fours[0]) | inside(&fours[1]) << 4;
            let places = PLACES[mask % 256].wrapping_add((8 * at as u64).wrapping_mul(ONES));
            chosen[count..][..8].copy_from_slice(&places.to_le_bytes());
            count += mask.count_ones() as usize;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whoever_chooses(rows in prop::collection::vec(0..40_u64, 0..=NEAR), start in 0..40_u64) {
            for rows in [rows.clone(), rows.iter().copied().cycle().take(NEAR).collect()] {
                let (mut one, mut other) = (NONE, NONE);
                let count = chosen_of(&rows, start, start + 13, &mut one);
                prop_assert_eq!(count, plain(&rows, start, start + 13, &mut other));
                prop_assert_eq!(&one[..count], &other[..count]);
            }
        }
    }
}
