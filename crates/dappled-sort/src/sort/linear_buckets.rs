//! Buckets of about equal population, computed by a linear function of the value.

use dappled_base::interrupt;

use crate::config::{BLOCKS_PER_INTERRUPT_CHECK, BUCKET_SAMPLES, IGNORED_EXTREMES};
use crate::route::simd_select::BLOCK_ROWS;
use crate::sort_key::{SortKey, key_to_f64};

/// Adding this leaves the nearest integer of a small number in the lowest bits.
const UNSIGNED_ROUNDING_BIAS: f64 = (1_u64 << 52) as f64;

/// Maps values to buckets. Every arithmetic step is monotonic, so buckets are in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearBuckets {
    low: f64,
    factor: f64,
    last: f64,
    by_bits: bool,
}

impl LinearBuckets {
    /// A single bucket for all values.
    const SINGLE: Self = Self { low: 0.0, factor: 1.0, last: 0.0, by_bits: true };

    /// Chooses between 1 and 65,535 buckets that are linear in the value or in its sort key. The
    /// key is roughly logarithmic and suits values of many magnitudes; the choice minimises the
    /// fullest bucket of a sample.
    pub fn fit<T: SortKey>(values: &[T], ranges: usize) -> Self {
        let samples = sorted_samples(values);
        let scales = [false, true].map(|by_bits| Self::between_extremes(&samples, ranges, by_bits));
        let fullest = |scale: Self| {
            let mut counts = vec![0_usize; ranges];
            scale.for_each(&samples, |_, range| counts[range] += 1);
            counts.into_iter().max()
        };
        match scales {
            [Some(plain), Some(by_bits)] if fullest(by_bits) < fullest(plain) => by_bits,
            [Some(plain), _] => plain,
            [None, scale] => scale.unwrap_or(Self::SINGLE),
        }
    }

    /// Spaces the buckets between the extremes of the samples; None if these are not finite.
    fn between_extremes<T: SortKey>(samples: &[T], ranges: usize, by_bits: bool) -> Option<Self> {
        let at = |at: usize| {
            let sample = *samples.get(at)?;
            Some(if by_bits { key_to_f64(sample) } else { sample.to_f64() })
        };
        let (low, high) = (
            at(IGNORED_EXTREMES.min(samples.len() / 2))?,
            at(samples.len().checked_sub(IGNORED_EXTREMES + 1)?)?,
        );
        // Keys have a spacing even if all samples are equal; other values fall into the outer
        // buckets.
        let length = if by_bits { f64::max(high - low, 1.0) } else { high - low };
        let factor = ranges.saturating_sub(3) as f64 / length;
        let usable = low.is_finite() && factor.is_finite() && factor > 0.0;
        usable.then_some(Self { low, factor, last: (ranges - 1) as f64, by_bits })
    }

    /// Calls `act` with each value and its bucket.
    #[inline(always)]
    pub fn for_each<T: SortKey>(&self, values: &[T], act: impl FnMut(T, usize)) {
        match self.by_bits {
            true => self.for_each_by(values, key_to_f64, act),
            false => self.for_each_by(values, T::to_f64, act),
        }
    }

    /// Computes the buckets block by block, so that the loop vectorises.
    #[inline(always)]
    fn for_each_by<T: SortKey>(
        &self,
        values: &[T],
        along: impl Fn(T) -> f64,
        mut act: impl FnMut(T, usize),
    ) {
        let mut ranges = [0; BLOCK_ROWS];
        for (number, values) in values.chunks(BLOCK_ROWS).enumerate() {
            if number % BLOCKS_PER_INTERRUPT_CHECK == 0 {
                interrupt::check();
            }
            for (range, &value) in ranges.iter_mut().zip(values) {
                *range = self.bucket_of(along(value));
            }
            for (&value, &range) in values.iter().zip(&ranges) {
                act(value, range.into());
            }
        }
    }

    /// Returns the bucket; values below the samples go to the first, those above and NaN to the
    /// last.
    #[inline(always)]
    fn bucket_of(&self, along: f64) -> u16 {
        let step = (along - self.low) * self.factor + 1.0;
        let step = if step < self.last { step } else { self.last };
        let step = if step > 0.0 { step } else { 0.0 };
        (step + UNSIGNED_ROUNDING_BIAS).to_bits() as u16
    }
}

/// Returns a sorted sample of the values.
fn sorted_samples<T: SortKey>(values: &[T]) -> Vec<T> {
    let step = (values.len() / BUCKET_SAMPLES).max(1);
    // Jittered sampling, because values may be periodic.
    let any = |at: usize| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize % step;
    let some = (0..values.len() / step).map(|at| values[at * step + any(at)]);
    let mut samples: Vec<T> = some.collect();
    samples.sort_unstable_by_key(|sample| sample.to_sort_key());
    samples
}
