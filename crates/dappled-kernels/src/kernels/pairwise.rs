//! NumPy's pairwise sum of floats that lie one behind the other, leaf by leaf without a guess.
//!
//! Leaves differ in length by a row or two. A loop over as many rows ends where the CPU did not
//! expect it, once for each leaf, and that takes as long as the leaf. So there are always as many rows
//! as in a full leaf, and those that are too many add minus zero, which changes nothing.

use super::Variant;
#[cfg(target_arch = "x86_64")]
use super::ahead::ask_ahead;
use super::loops::Kernel;
use crate::DType;

/// The loop that sums a node of the tree, where there is one.
pub(super) fn node_sum(dtype: DType, variant: Variant) -> Option<Kernel> {
    #[cfg(target_arch = "x86_64")]
    if variant.min(Variant::best()) >= Variant::Avx2 {
        return x86::node_sum(dtype, variant.min(Variant::best()));
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::mem::transmute;

    use super::{Kernel, Variant, ask_ahead};
    use crate::DType;
    use crate::element::{typed, typed_mut};
    use crate::tree::{LEAF, Summand, cut};

    /// Elements of a row.
    const ROW: usize = 8;
    const FULL: usize = LEAF as usize;
    const ROWS: usize = FULL / ROW;
    /// What is cut has leaves of so many rows at least: these are always added.
    const ALWAYS: usize = ROWS / 2;

    /// Elements of a leaf behind which memory is asked for: as many as leaves have on average.
    const ASKED: usize = 12 * ROW;

    /// For each row beyond those, what it is masked with and what is put in its place; by the number
    /// of rows. As a table: of what it could compute the compiler makes slower instructions.
    type Ways = [[[u64; 2]; ROWS - ALWAYS]; 2 * ROWS];
    static OF_FLOAT64: Ways = ways((-0.0_f64).to_bits());
    static OF_FLOAT32: Ways = ways((-0.0_f32).to_bits() as u64 * 0x1_0000_0001);

    const fn ways(minus_zero: u64) -> Ways {
        let mut ways = [[[0, minus_zero]; ROWS - ALWAYS]; 2 * ROWS];
        let mut at = 0;
        while at < 2 * ROWS * (ROWS - ALWAYS) {
            let (rows, row) = (at / (ROWS - ALWAYS), at % (ROWS - ALWAYS));
            if ALWAYS + row < rows {
                ways[rows][row] = [!0, 0];
            }
            at += 1;
        }
        ways
    }

    pub fn node_sum(dtype: DType, variant: Variant) -> Option<Kernel> {
        match (dtype, variant) {
            (DType::Float64, Variant::Avx512) => Some(wide_float64),
            (DType::Float64, _) => Some(float64),
            (DType::Float32, _) => Some(float32),
            _ => None,
        }
    }

    #[target_feature(enable = "avx512f,avx2")]
    fn wide_float64(args: &[&[u8]], out: &mut [u8]) {
        let leaf = |values: &[f64; FULL], rows| wide_rows_of_float64(values, rows);
        typed_mut(out)[0] = node(typed(args[0]), args[0].len() / 8, &leaf);
    }

    #[target_feature(enable = "avx2")]
    fn float64(args: &[&[u8]], out: &mut [u8]) {
        let leaf = |values: &[f64; FULL], rows| rows_of_float64(values, rows);
        typed_mut(out)[0] = node(typed(args[0]), args[0].len() / 8, &leaf);
    }

    #[target_feature(enable = "avx2")]
    fn float32(args: &[&[u8]], out: &mut [u8]) {
        let leaf = |values: &[f32; FULL], rows| rows_of_float32(values, rows);
        typed_mut(out)[0] = node(typed(args[0]), args[0].len() / 4, &leaf);
    }

    /// The sum of the first so many values, given that of some rows of which a full leaf is at hand.
    fn node<T: Summand>(values: &[T], len: usize, rows_of: &impl Fn(&[T; FULL], usize) -> T) -> T {
        if let Some(middle) = cut::<T>(&(0..len as u64)) {
            let middle = middle as usize;
            return node(values, middle, rows_of) + node(&values[middle..], len - middle, rows_of);
        }
        match values.first_chunk::<FULL>().filter(|_| len >= ALWAYS * ROW) {
            Some(full) => {
                let sum = rows_of(full, len / ROW);
                values[len / ROW * ROW..len].iter().fold(sum, |sum, &value| sum + value)
            }
            None => T::leaf_sum(&values[..len]),
        }
    }

    #[target_feature(enable = "avx512f")]
    fn wide_rows_of_float64(values: &[f64; FULL], rows: usize) -> f64 {
        ask_ahead(&values[..ASKED]);
        let (values, ways) = (values.as_chunks::<ROW>().0, &OF_FLOAT64[rows % (2 * ROWS)]);
        // SAFETY: 8 elements in a vector, any bytes of which mean something.
        let row = |at: usize| unsafe { transmute::<[f64; ROW], __m512d>(values[at]) };
        let mut sums = row(0);
        for at in 1..ALWAYS {
            sums = _mm512_add_pd(sums, row(at));
        }
        for (at, way) in ways.iter().enumerate() {
            sums = _mm512_mask_add_pd(sums, way[0] as u8, sums, row(ALWAYS + at));
        }
        let (low, high) = (_mm512_castpd512_pd256(sums), _mm512_extractf64x4_pd::<1>(sums));
        total_of_float64(low, high)
    }

    #[target_feature(enable = "avx2")]
    fn rows_of_float64(values: &[f64; FULL], rows: usize) -> f64 {
        ask_ahead(&values[..ASKED]);
        let (values, ways) = (values.as_chunks::<4>().0, &OF_FLOAT64[rows % (2 * ROWS)]);
        // SAFETY: 4 elements in a vector, any bytes of which mean something.
        let vector = |at: usize| unsafe { transmute::<[f64; 4], __m256d>(values[at]) };
        let (mut low, mut high) = (vector(0), vector(1));
        for at in 1..ALWAYS {
            low = _mm256_add_pd(low, vector(2 * at));
            high = _mm256_add_pd(high, vector(2 * at + 1));
        }
        for (at, way) in (ALWAYS..).zip(ways) {
            let [mask, nothing] =
                way.map(|way| _mm256_castsi256_pd(_mm256_set1_epi64x(way as i64)));
            let kept = |value: __m256d| _mm256_or_pd(_mm256_and_pd(mask, value), nothing);
            low = _mm256_add_pd(low, kept(vector(2 * at)));
            high = _mm256_add_pd(high, kept(vector(2 * at + 1)));
        }
        total_of_float64(low, high)
    }

    /// Neighbours first.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn total_of_float64(low: __m256d, high: __m256d) -> f64 {
        let pairs = _mm256_hadd_pd(low, high);
        let fours = _mm_add_pd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd::<1>(pairs));
        _mm_cvtsd_f64(_mm_add_sd(fours, _mm_unpackhi_pd(fours, fours)))
    }

    #[target_feature(enable = "avx2")]
    fn rows_of_float32(values: &[f32; FULL], rows: usize) -> f32 {
        ask_ahead(&values[..ASKED]);
        let (values, ways) = (values.as_chunks::<ROW>().0, &OF_FLOAT32[rows % (2 * ROWS)]);
        // SAFETY: 8 elements in a vector, any bytes of which mean something.
        let row = |at: usize| unsafe { transmute::<[f32; ROW], __m256>(values[at]) };
        let mut sums = row(0);
        for at in 1..ALWAYS {
            sums = _mm256_add_ps(sums, row(at));
        }
        for (at, way) in (ALWAYS..).zip(ways) {
            let [mask, nothing] =
                way.map(|way| _mm256_castsi256_ps(_mm256_set1_epi64x(way as i64)));
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
    use crate::element::{Element, bytes_of, bytes_of_mut};
    use crate::tree::{self, Summand};

    /// Both sums as they are printed: with the sign of zero, and NaN equal to itself.
    fn checked<T: Summand + Element + std::fmt::Debug>(values: &[T]) -> Result<(), TestCaseError> {
        let expected = format!("{:?}", tree::node_sum(values));
        for variant in Variant::available() {
            let Some(sum) = node_sum(T::DTYPE, variant) else { continue };
            let mut found = [T::default()];
            // SAFETY: the variant is one that this CPU has.
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
        fn the_sum_is_that_of_the_tree(values in values()) {
            checked(&values)?;
            checked(&values.iter().map(|&value| value as f32).collect::<Vec<_>>())?;
        }
    }

    #[test]
    fn every_length_about_the_edges_of_leaves() {
        let values: Vec<f64> = (1..=1200).map(|at| 1.0 / f64::from(at)).collect();
        for len in (1..300).chain(500..530).chain(1000..1040).chain([1200]) {
            // Behind the last leaf of some there is a full one, and behind others nothing.
            checked(&values[..len]).unwrap();
            checked(&values[1200 - len..]).unwrap();
        }
    }
}
