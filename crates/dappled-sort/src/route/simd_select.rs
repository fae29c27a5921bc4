//! SIMD selection of the rows of a block that belong to one part.

/// Rows per block; an offset in a block fits into a byte.
pub(crate) const BLOCK_ROWS: usize = 256;

/// Positions written per step.
const SIMD_LANES: usize = 8;

/// For each byte, the positions of its set bits in ascending order, packed into bytes.
pub(crate) const SET_BIT_POSITIONS: [u64; 256] = {
    let mut positions = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                positions[byte] |= bit << (8 * count);
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    positions
};
/// The value 1 in each byte.
pub(crate) const ONE_PER_BYTE: u64 = u64::MAX / 255;

/// The rows of a block that are in one part, with room for surplus stores.
pub(crate) struct PartRows {
    /// Offsets of the rows in the block.
    offsets: [u8; BLOCK_ROWS + SIMD_LANES],
    /// Positions of the rows in the part, truncated to four bytes.
    positions: [[u8; 4]; BLOCK_ROWS + SIMD_LANES],
    count: usize,
}

impl PartRows {
    pub fn new() -> Self {
        Self { offsets: [0; _], positions: [[0; 4]; _], count: 0 }
    }

    /// Returns the offsets in the block of the selected rows.
    pub fn offsets(&self) -> &[u8] {
        &self.offsets[..self.count]
    }

    /// Returns the positions in the part as little-endian bytes, for parts of at most 2^32 rows.
    pub fn positions(&self) -> &[u8] {
        self.positions[..self.count].as_flattened()
    }

    /// Selects the rows in `start..stop`. All rows are below 2^63.
    pub fn select(&mut self, rows: &[u64], start: u64, stop: u64) {
        #[cfg(target_arch = "x86_64")]
        if rows.len() == BLOCK_ROWS && avx2::is_supported() {
            // SAFETY: the CPU supports AVX2 and POPCNT.
            return unsafe { avx2::select(self, rows, start, stop) };
        }
        self.select_scalar(rows, start, stop);
    }

    /// Stores every row and overwrites those outside the part, which avoids branch mispredictions.
    fn select_scalar(&mut self, rows: &[u64], start: u64, stop: u64) {
        let length = stop - start;
        self.count = 0;
        for (at, row) in rows.iter().enumerate() {
            let position = row.wrapping_sub(start);
            self.offsets[self.count % BLOCK_ROWS] = at as u8;
            self.positions[self.count % BLOCK_ROWS] = (position as u32).to_le_bytes();
            self.count = self.count.wrapping_add(usize::from(position < length));
        }
    }
}

/// Converts indices, negative ones counted from the end, to rows. Returns whether all are in
/// bounds.
pub(crate) fn wrap_indices(indices: &[i64], length: usize, rows: &mut [u64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if avx2::is_supported() {
        // SAFETY: the CPU supports AVX2.
        return unsafe { avx2::wrap_indices(indices, length, rows) };
    }
    wrap_indices_scalar(indices, length, rows)
}

#[inline(always)]
fn wrap_indices_scalar(indices: &[i64], length: usize, rows: &mut [u64]) -> bool {
    let mut is_out_of_bounds = false;
    for (row, &index) in rows.iter_mut().zip(indices) {
        let row_index = crate::wrap_index(index, length);
        *row = row_index as u64;
        is_out_of_bounds |= (row_index as i64) < 0 || row_index as i64 >= length as i64;
    }
    !is_out_of_bounds
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::{ONE_PER_BYTE, PartRows, SET_BIT_POSITIONS, SIMD_LANES};

    pub fn is_supported() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")
    }

    #[target_feature(enable = "avx2")]
    pub fn wrap_indices(indices: &[i64], length: usize, rows: &mut [u64]) -> bool {
        super::wrap_indices_scalar(indices, length, rows)
    }

    /// Vectorised `select_scalar` for a multiple of [`SIMD_LANES`] rows.
    #[target_feature(enable = "avx2,popcnt")]
    pub fn select(selected: &mut PartRows, rows: &[u64], start: u64, stop: u64) {
        let length = _mm256_set1_epi64x((stop - start) as i64);
        let start = _mm256_set1_epi64x(start as i64);
        let mut count = 0;
        for (at, rows) in rows.as_chunks::<SIMD_LANES>().0.iter().enumerate() {
            // SAFETY: both types have 64 bytes and no invalid values.
            let [low, high] = unsafe { transmute::<[u64; SIMD_LANES], [__m256i; 2]>(*rows) };
            let [low, high] = [_mm256_sub_epi64(low, start), _mm256_sub_epi64(high, start)];
            let mask = in_range_mask(low, length) | in_range_mask(high, length) << 4;
            let order = SET_BIT_POSITIONS[mask % 256];
            let positions = compact(low_halves(low, high), order);
            // SAFETY: both types have 32 bytes and no invalid values.
            let positions = unsafe { transmute::<__m256i, [[u8; 4]; SIMD_LANES]>(positions) };
            selected.positions[count..][..SIMD_LANES].copy_from_slice(&positions);
            let order = order.wrapping_add((SIMD_LANES * at) as u64 * ONE_PER_BYTE);
            selected.offsets[count..][..SIMD_LANES].copy_from_slice(&order.to_le_bytes());
            count += mask.count_ones() as usize;
        }
        selected.count = count;
    }

    /// Returns a bit for each position in `0..length`.
    #[target_feature(enable = "avx2")]
    fn in_range_mask(positions: __m256i, length: __m256i) -> usize {
        let before = _mm256_cmpgt_epi64(_mm256_setzero_si256(), positions);
        let inside = _mm256_andnot_si256(before, _mm256_cmpgt_epi64(length, positions));
        _mm256_movemask_pd(_mm256_castsi256_pd(inside)) as usize
    }

    /// Returns the low halves of eight 64-bit lanes.
    #[target_feature(enable = "avx2")]
    fn low_halves(low: __m256i, high: __m256i) -> __m256i {
        let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        let mixed = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed)
    }

    /// Moves the lanes at these positions, packed into the bytes of a word, to the front.
    #[target_feature(enable = "avx2")]
    fn compact(indices: __m256i, positions: u64) -> __m256i {
        let positions = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(positions as i64));
        _mm256_permutevar8x32_epi32(indices, positions)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn avx2_selects_like_scalar(rows in prop::collection::vec(0..40_u64, 0..=BLOCK_ROWS), start in 0..40_u64) {
            for rows in [rows.clone(), rows.iter().copied().cycle().take(BLOCK_ROWS).collect()] {
                let (mut one, mut other) = (PartRows::new(), PartRows::new());
                one.select(&rows, start, start + 13);
                other.select_scalar(&rows, start, start + 13);
                prop_assert_eq!(one.offsets(), other.offsets());
                prop_assert_eq!(one.positions(), other.positions());
            }
        }

        #[test]
        fn avx2_wraps_like_scalar(
            indices in prop::collection::vec(-12..12_i64, 0..40),
            length in 8..12_usize,
        ) {
            let (mut one, mut other) = (vec![0; indices.len()], vec![0; indices.len()]);
            let in_bounds = wrap_indices(&indices, length, &mut one);
            prop_assert_eq!(in_bounds, wrap_indices_scalar(&indices, length, &mut other));
            prop_assert_eq!(in_bounds, one.iter().all(|&row| row < length as u64));
            prop_assert_eq!(one, other);
        }
    }
}
