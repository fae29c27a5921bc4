//! Which of a few rows are in a part, and where in it, while they are in the nearest cache.

/// Rows that are looked at together: their places among each other fit into a byte.
pub(crate) const NEAR: usize = 256;

/// Places that are written at a time.
const LANES: usize = 8;

/// The places of the bits of each byte, from the lowest on, as the bytes of a number.
pub(crate) const PLACES: [u64; 256] = {
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
pub(crate) const ONES: u64 = u64::MAX / 255;

/// Those of a few rows that are in a part, with room for those that are written beside them.
pub(crate) struct Chosen {
    /// Which of the rows.
    at: [u8; NEAR + LANES],
    /// Which of the part's, as far as four bytes say it.
    places: [[u8; 4]; NEAR + LANES],
    count: usize,
}

impl Chosen {
    pub fn none() -> Self {
        Self { at: [0; _], places: [[0; 4]; _], count: 0 }
    }

    /// Which of the rows are chosen.
    pub fn at(&self) -> &[u8] {
        &self.at[..self.count]
    }

    /// Their places in the part as little-endian bytes, where it has no more than four of them can say.
    pub fn places(&self) -> &[u8] {
        self.places[..self.count].as_flattened()
    }

    /// Chooses those rows, none of which is more than a signed number says, that are in a part.
    pub fn choose(&mut self, rows: &[u64], start: u64, stop: u64) {
        #[cfg(target_arch = "x86_64")]
        if rows.len() == NEAR && wide::is_there() {
            // SAFETY: the CPU has what the function is compiled for.
            return unsafe { wide::choose(self, rows, start, stop) };
        }
        self.choose_plain(rows, start, stop);
    }

    /// Every one is written, and the next one over it if it is not in the part: nothing is guessed.
    fn choose_plain(&mut self, rows: &[u64], start: u64, stop: u64) {
        let length = stop - start;
        self.count = 0;
        for (at, row) in rows.iter().enumerate() {
            let place = row.wrapping_sub(start);
            self.at[self.count % NEAR] = at as u8;
            self.places[self.count % NEAR] = (place as u32).to_le_bytes();
            self.count = self.count.wrapping_add(usize::from(place < length));
        }
    }
}

/// Writes the rows that numbers mean, which may count from the end; are all of them below `length`?
pub(crate) fn rows_of(numbers: &[i64], length: usize, rows: &mut [u64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if wide::is_there() {
        // SAFETY: the CPU has what the function is compiled for.
        return unsafe { wide::rows_of(numbers, length, rows) };
    }
    rows_plain(numbers, length, rows)
}

#[inline(always)]
fn rows_plain(numbers: &[i64], length: usize, rows: &mut [u64]) -> bool {
    let mut wrong = false;
    for (row, &number) in rows.iter_mut().zip(numbers) {
        let found = crate::place(number, length);
        *row = found as u64;
        wrong |= (found as i64) < 0 || found as i64 >= length as i64;
    }
    !wrong
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::{Chosen, LANES, ONES, PLACES};

    pub fn is_there() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
    }

    #[target_feature(enable = "avx2")]
    pub fn rows_of(numbers: &[i64], length: usize, rows: &mut [u64]) -> bool {
        super::rows_plain(numbers, length, rows)
    }

    /// As `choose_plain`, of a multiple of [`LANES`] rows.
    #[target_feature(enable = "avx2,popcnt")]
    pub fn choose(chosen: &mut Chosen, rows: &[u64], start: u64, stop: u64) {
        let length = _mm256_set1_epi64x((stop - start) as i64);
        let start = _mm256_set1_epi64x(start as i64);
        let mut count = 0;
        for (at, rows) in rows.as_chunks::<LANES>().0.iter().enumerate() {
            // SAFETY: both are 64 bytes, any of which mean something.
            let [low, high] = unsafe { transmute::<[u64; LANES], [__m256i; 2]>(*rows) };
            let [low, high] = [_mm256_sub_epi64(low, start), _mm256_sub_epi64(high, start)];
            let mask = inside(low, length) | inside(high, length) << 4;
            let order = PLACES[mask % 256];
            let places = put_first(lower_halves(low, high), order);
            // SAFETY: as above, of 32 bytes.
            let places = unsafe { transmute::<__m256i, [[u8; 4]; LANES]>(places) };
            chosen.places[count..][..LANES].copy_from_slice(&places);
            let order = order.wrapping_add((LANES * at) as u64 * ONES);
            chosen.at[count..][..LANES].copy_from_slice(&order.to_le_bytes());
            count += mask.count_ones() as usize;
        }
        chosen.count = count;
    }

    /// A bit for each that is neither negative nor as much as `length`.
    #[target_feature(enable = "avx2")]
    fn inside(places: __m256i, length: __m256i) -> usize {
        let before = _mm256_cmpgt_epi64(_mm256_setzero_si256(), places);
        let inside = _mm256_andnot_si256(before, _mm256_cmpgt_epi64(length, places));
        _mm256_movemask_pd(_mm256_castsi256_pd(inside)) as usize
    }

    /// The lower halves of eight numbers.
    #[target_feature(enable = "avx2")]
    fn lower_halves(low: __m256i, high: __m256i) -> __m256i {
        let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        let mixed = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed)
    }

    /// The numbers at these places, which are the bytes of a word.
    #[target_feature(enable = "avx2")]
    fn put_first(numbers: __m256i, places: u64) -> __m256i {
        let places = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(places as i64));
        _mm256_permutevar8x32_epi32(numbers, places)
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
                let (mut one, mut other) = (Chosen::none(), Chosen::none());
                one.choose(&rows, start, start + 13);
                other.choose_plain(&rows, start, start + 13);
                prop_assert_eq!(one.at(), other.at());
                prop_assert_eq!(one.places(), other.places());
            }
        }

        #[test]
        fn whoever_counts_from_the_end(
            numbers in prop::collection::vec(-12..12_i64, 0..40),
            length in 8..12_usize,
        ) {
            let (mut one, mut other) = (vec![0; numbers.len()], vec![0; numbers.len()]);
            let fine = rows_of(&numbers, length, &mut one);
            prop_assert_eq!(fine, rows_plain(&numbers, length, &mut other));
            prop_assert_eq!(fine, one.iter().all(|&row| row < length as u64));
            prop_assert_eq!(one, other);
        }
    }
}
