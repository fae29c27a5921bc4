//! Vectorised pairwise sum of contiguous floats, leaf by leaf without branch mispredictions.
//!
//! Leaves differ in length by a row or two, and a loop with that many iterations would be
//! mispredicted once per leaf, which costs as much as the leaf. Each leaf is therefore summed with
//! the rows of a full leaf, and surplus rows are replaced by minus zero, which is neutral.

use crate::loops::multiversion::LoopKernel;
#[cfg(target_arch = "x86_64")]
use crate::loops::prefetch::prefetch;
use crate::loops::variant::CpuVariant;
use crate::types::dtype::DType;

/// The kernel that sums a tree node, if there is one.
pub(crate) fn node_sum(dtype: DType, variant: CpuVariant) -> Option<LoopKernel> {
    #[cfg(target_arch = "x86_64")]
    if variant.min(CpuVariant::best()) >= CpuVariant::Avx2 {
        return x86::node_sum(dtype, variant.min(CpuVariant::best()));
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::{CpuVariant, LoopKernel, prefetch};
    use crate::loops::reduce::pairwise_tree::{LEAF, Summand, split_point};
    use crate::types::dtype::DType;
    use crate::types::element::{typed, typed_mut};

    /// The number of elements of a row.
    const ROW_ELEMENTS: usize = 8;
    const LEAF_ELEMENTS: usize = LEAF as usize;
    const LEAF_ROWS: usize = LEAF_ELEMENTS / ROW_ELEMENTS;
    /// The minimal number of rows of a leaf of a larger node: these are added unconditionally.
    const UNCONDITIONAL_ROWS: usize = LEAF_ROWS / 2;

    /// The number of elements of a leaf after which memory is prefetched: the average length of a
    /// leaf.
    const PREFETCHED_ELEMENTS: usize = 12 * ROW_ELEMENTS;

    /// For each number of rows: the mask of each conditional row, and its replacement. As a table,
    /// since the compiler computes it with slower instructions.
    type RowMasks = [[[u64; 2]; LEAF_ROWS - UNCONDITIONAL_ROWS]; 2 * LEAF_ROWS];
    static OF_FLOAT64: RowMasks = masks((-0.0_f64).to_bits());
    static OF_FLOAT32: RowMasks = masks((-0.0_f32).to_bits() as u64 * 0x1_0000_0001);

    const fn masks(minus_zero: u64) -> RowMasks {
        let mut masks = [[[0, minus_zero]; LEAF_ROWS - UNCONDITIONAL_ROWS]; 2 * LEAF_ROWS];
        let mut at = 0;
        while at < 2 * LEAF_ROWS * (LEAF_ROWS - UNCONDITIONAL_ROWS) {
            let (rows, row) =
                (at / (LEAF_ROWS - UNCONDITIONAL_ROWS), at % (LEAF_ROWS - UNCONDITIONAL_ROWS));
            if UNCONDITIONAL_ROWS + row < rows {
                masks[rows][row] = [!0, 0];
            }
            at += 1;
        }
        masks
    }

    pub fn node_sum(dtype: DType, variant: CpuVariant) -> Option<LoopKernel> {
        match (dtype, variant) {
            (DType::Float64, CpuVariant::Avx512) => Some(avx512_float64),
            (DType::Float64, _) => Some(float64),
            (DType::Float32, _) => Some(float32),
            _ => None,
        }
    }

    #[target_feature(enable = "avx512f,avx2")]
    fn avx512_float64(args: &[&[u8]], out: &mut [u8]) {
        let leaf = |values: &[f64; LEAF_ELEMENTS], rows| avx512_rows_of_float64(values, rows);
        typed_mut(out)[0] = node(typed(args[0]), args[0].len() / 8, &leaf);
    }

    #[target_feature(enable = "avx2")]
    fn float64(args: &[&[u8]], out: &mut [u8]) {
        let leaf = |values: &[f64; LEAF_ELEMENTS], rows| rows_of_float64(values, rows);
        typed_mut(out)[0] = node(typed(args[0]), args[0].len() / 8, &leaf);
    }

    #[target_feature(enable = "avx2")]
    fn float32(args: &[&[u8]], out: &mut [u8]) {
        let leaf = |values: &[f32; LEAF_ELEMENTS], rows| rows_of_float32(values, rows);
        typed_mut(out)[0] = node(typed(args[0]), args[0].len() / 4, &leaf);
    }

    /// The sum of the first `len` values. `rows_of` sums some rows of a full leaf.
    fn node<T: Summand>(
        values: &[T],
        len: usize,
        rows_of: &impl Fn(&[T; LEAF_ELEMENTS], usize) -> T,
    ) -> T {
        if let Some(middle) = split_point::<T>(&(0..len as u64)) {
            let middle = middle as usize;
            return node(values, middle, rows_of) + node(&values[middle..], len - middle, rows_of);
        }
        match values
            .first_chunk::<LEAF_ELEMENTS>()
            .filter(|_| len >= UNCONDITIONAL_ROWS * ROW_ELEMENTS)
        {
            Some(full) => {
                let sum = rows_of(full, len / ROW_ELEMENTS);
                values[len / ROW_ELEMENTS * ROW_ELEMENTS..len]
                    .iter()
                    .fold(sum, |sum, &value| sum + value)
            }
            None => T::leaf_sum(&values[..len]),
        }
    }

    #[target_feature(enable = "avx512f")]
    fn avx512_rows_of_float64(values: &[f64; LEAF_ELEMENTS], rows: usize) -> f64 {
        prefetch(&values[..PREFETCHED_ELEMENTS]);
        let (values, masks) =
            (values.as_chunks::<ROW_ELEMENTS>().0, &OF_FLOAT64[rows % (2 * LEAF_ROWS)]);
        // SAFETY: 8 elements in a vector; every bit pattern is valid.
        let row = |at: usize| unsafe { transmute::<[f64; ROW_ELEMENTS], __m512d>(values[at]) };
        let mut sums = row(0);
        for at in 1..UNCONDITIONAL_ROWS {
            sums = _mm512_add_pd(sums, row(at));
        }
        for (at, row_mask) in masks.iter().enumerate() {
            sums = _mm512_mask_add_pd(sums, row_mask[0] as u8, sums, row(UNCONDITIONAL_ROWS + at));
        }
        let (low, high) = (_mm512_castpd512_pd256(sums), _mm512_extractf64x4_pd::<1>(sums));
        total_of_float64(low, high)
    }

    #[target_feature(enable = "avx2")]
    fn rows_of_float64(values: &[f64; LEAF_ELEMENTS], rows: usize) -> f64 {
        prefetch(&values[..PREFETCHED_ELEMENTS]);
        let (values, masks) = (values.as_chunks::<4>().0, &OF_FLOAT64[rows % (2 * LEAF_ROWS)]);
        // SAFETY: 4 elements in a vector; every bit pattern is valid.
        let vector = |at: usize| unsafe { transmute::<[f64; 4], __m256d>(values[at]) };
        let (mut low, mut high) = (vector(0), vector(1));
        for at in 1..UNCONDITIONAL_ROWS {
            low = _mm256_add_pd(low, vector(2 * at));
            high = _mm256_add_pd(high, vector(2 * at + 1));
        }
        for (at, row_mask) in (UNCONDITIONAL_ROWS..).zip(masks) {
            let [mask, nothing] =
                row_mask.map(|row_mask| _mm256_castsi256_pd(_mm256_set1_epi64x(row_mask as i64)));
            let kept = |value: __m256d| _mm256_or_pd(_mm256_and_pd(mask, value), nothing);
            low = _mm256_add_pd(low, kept(vector(2 * at)));
            high = _mm256_add_pd(high, kept(vector(2 * at + 1)));
        }
        total_of_float64(low, high)
    }

    /// The sum of all lanes, adjacent pairs first.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn total_of_float64(low: __m256d, high: __m256d) -> f64 {
        let pairs = _mm256_hadd_pd(low, high);
        let fours = _mm_add_pd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd::<1>(pairs));
        _mm_cvtsd_f64(_mm_add_sd(fours, _mm_unpackhi_pd(fours, fours)))
    }

    #[target_feature(enable = "avx2")]
    fn rows_of_float32(values: &[f32; LEAF_ELEMENTS], rows: usize) -> f32 {
        prefetch(&values[..PREFETCHED_ELEMENTS]);
        let (values, masks) =
            (values.as_chunks::<ROW_ELEMENTS>().0, &OF_FLOAT32[rows % (2 * LEAF_ROWS)]);
        // SAFETY: 8 elements in a vector; every bit pattern is valid.
        let row = |at: usize| unsafe { transmute::<[f32; ROW_ELEMENTS], __m256>(values[at]) };
        let mut sums = row(0);
        for at in 1..UNCONDITIONAL_ROWS {
            sums = _mm256_add_ps(sums, row(at));
        }
        for (at, row_mask) in (UNCONDITIONAL_ROWS..).zip(masks) {
            let [mask, nothing] =
                row_mask.map(|row_mask| _mm256_castsi256_ps(_mm256_set1_epi64x(row_mask as i64)));
            sums = _mm256_add_ps(sums, _mm256_or_ps(_mm256_and_ps(mask, row(at)), nothing));
        }
        let pairs = _mm256_hadd_ps(sums, sums);
        let fours = _mm256_hadd_ps(pairs, pairs);
        let (low, high) = (_mm256_castps256_ps128(fours), _mm256_extractf128_ps::<1>(fours));
        _mm_cvtss_f32(_mm_add_ss(low, high))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::loops::reduce::pairwise_tree::{self, Summand};
    use crate::types::element::{Element, bytes_of, bytes_of_mut};

    /// Compares sums as printed: with the sign of zero, and NaN equal to itself.
    fn checked<T: Summand + Element + std::fmt::Debug>(values: &[T]) -> Result<(), TestCaseError> {
        let expected = format!("{:?}", pairwise_tree::node_sum(values));
        for variant in CpuVariant::available() {
            let Some(sum) = node_sum(T::DTYPE, variant) else { continue };
            let mut found = [T::default()];
            // SAFETY: the variant is available on this CPU.
            unsafe { sum(&[bytes_of(values)], bytes_of_mut(&mut found[..])) };
            prop_assert_eq!(format!("{:?}", found[0]), &expected[..], "{:?}", variant);
        }
        Ok(())
    }

    fn values() -> impl Strategy<Value = Vec<f64>> {
        let plain = || prop::collection::vec(-1e3..1e3, 1..3000);
        let minus_zeros = (1..3000_usize).prop_map(|count| vec![-0.0; count]);
        let rare = prop::sample::select(vec![f64::NAN, f64::INFINITY, -f64::INFINITY, 5e-324, 0.0]);
        let mixed = (plain(), rare, any::<prop::sample::Index>()).prop_map(|(mut all, one, at)| {
            let at = at.index(all.len());
            all[at] = one;
            all
        });
        prop_oneof![plain(), minus_zeros, mixed]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn kernels_agree_with_the_tree(values in values()) {
            checked(&values)?;
            checked(&values.iter().map(|&value| value as f32).collect::<Vec<_>>())?;
        }
    }

    #[test]
    fn lengths_near_leaf_boundaries() {
        let values: Vec<f64> = (1..=1200).map(|at| 1.0 / f64::from(at)).collect();
        for len in (1..300).chain(500..530).chain(1000..1040).chain([1200]) {
            // Some last leaves are followed by further values, others by nothing.
            checked(&values[..len]).unwrap();
            checked(&values[1200 - len..]).unwrap();
        }
    }
}
