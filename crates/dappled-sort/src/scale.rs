//! Values by ranges of about as many each, found by arithmetic alone: equal steps of a line.

use dappled_base::interrupt;

use crate::exact::{Exact, along_bits};
use crate::near::NEAR;

/// Values of which a scale is made, and how many of them at either end do not count.
const SAMPLES: usize = 4096;
const ENDS: usize = 4;

/// Chunks of values between two looks whether the work should end.
const LOOK: usize = 4096;

/// Added to a number that is not too large, it leaves the nearest whole number in the lowest bits.
const WHOLE: f64 = (1_u64 << 52) as f64;

/// Which range a value is in, counted from 0. Every step of the arithmetic keeps the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    low: f64,
    factor: f64,
    last: f64,
    by_bits: bool,
}

impl Scale {
    /// One range, for all.
    const ALL: Self = Self { low: 0.0, factor: 1.0, last: 0.0, by_bits: true };

    /// So many ranges, fewer than 65,536 and not none. Along values, or along their bits where values
    /// are spread over many magnitudes: where the fullest range of a sample has fewer.
    pub fn of<T: Exact>(values: &[T], ranges: usize) -> Self {
        let samples = samples(values);
        let scales = [false, true].map(|by_bits| Self::along(&samples, ranges, by_bits));
        let fullest = |scale: Self| {
            let mut counts = vec![0_usize; ranges];
            scale.each(&samples, |_, range| counts[range] += 1);
            counts.into_iter().max()
        };
        match scales {
            [Some(plain), Some(by_bits)] if fullest(by_bits) < fullest(plain) => by_bits,
            [Some(plain), _] => plain,
            [None, scale] => scale.unwrap_or(Self::ALL),
        }
    }

    /// None if there are no steps between finite numbers.
    fn along<T: Exact>(samples: &[T], ranges: usize, by_bits: bool) -> Option<Self> {
        let at = |at: usize| {
            let sample = *samples.get(at)?;
            Some(if by_bits { along_bits(sample) } else { sample.along() })
        };
        let (low, high) =
            (at(ENDS.min(samples.len() / 2))?, at(samples.len().checked_sub(ENDS + 1)?)?);
        // Along bits there is a step even where samples are alike: what is not is beside it.
        let length = if by_bits { f64::max(high - low, 1.0) } else { high - low };
        let factor = ranges.saturating_sub(3) as f64 / length;
        let usable = low.is_finite() && factor.is_finite() && factor > 0.0;
        usable.then_some(Self { low, factor, last: (ranges - 1) as f64, by_bits })
    }

    /// Calls for each value with its range.
    #[inline(always)]
    pub fn each<T: Exact>(&self, values: &[T], act: impl FnMut(T, usize)) {
        match self.by_bits {
            true => self.each_along(values, along_bits, act),
            false => self.each_along(values, T::along, act),
        }
    }

    /// A few at a time, so that several are computed at once.
    #[inline(always)]
    fn each_along<T: Exact>(
        &self,
        values: &[T],
        along: impl Fn(T) -> f64,
        mut act: impl FnMut(T, usize),
    ) {
        let mut ranges = [0; NEAR];
        for (number, values) in values.chunks(NEAR).enumerate() {
            if number % LOOK == 0 {
                interrupt::check();
            }
            for (range, &value) in ranges.iter_mut().zip(values) {
                *range = self.range(along(value));
            }
            for (&value, &range) in values.iter().zip(&ranges) {
                act(value, range.into());
            }
        }
    }

    /// What is less than most is in the first one; what is more, or nowhere, in the last.
    #[inline(always)]
    fn range(&self, along: f64) -> u16 {
        let step = (along - self.low) * self.factor + 1.0;
        let step = if step < self.last { step } else { self.last };
        let step = if step > 0.0 { step } else { 0.0 };
        (step + WHOLE).to_bits() as u16
    }
}

/// Some values from everywhere, in order.
fn samples<T: Exact>(values: &[T]) -> Vec<T> {
    let step = (values.len() / SAMPLES).max(1);
    // Not every so many, as values may come back as often.
    let any = |at: usize| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize % step;
    let some = (0..values.len() / step).map(|at| values[at * step + any(at)]);
    let mut samples: Vec<T> = some.collect();
    samples.sort_unstable_by_key(|sample| sample.exact());
    samples
}
