//! Radix sort by the two or three most significant digits that differ.
//!
//! Sorts from the last of these digits to the first (LSD); keys with equal digits are sorted by
//! comparison.

use dappled_base::interrupt;

use crate::config::{DIGIT_BITS, MIN_RADIX_KEYS, MIN_THREE_DIGIT_KEYS};

/// A key that starts with an integer.
pub(crate) trait RadixKey: Copy + Ord + Send + Sync {
    const MIN: Self;

    /// Returns the integer by which keys are ordered first.
    fn leading_word(self) -> u64;
}

impl RadixKey for u64 {
    const MIN: Self = 0;

    #[inline(always)]
    fn leading_word(self) -> u64 {
        self
    }
}

impl RadixKey for [u64; 2] {
    const MIN: Self = [0; 2];

    #[inline(always)]
    fn leading_word(self) -> u64 {
        self[0]
    }
}

const DIGIT_VALUES: usize = 1 << DIGIT_BITS;
/// Sorts keys using `scratch` as scratch; returns the slice that holds the result.
pub(crate) fn sort<'a, K: RadixKey>(keys: &'a mut [K], scratch: &'a mut [K]) -> &'a mut [K] {
    match keys.len() {
        0..MIN_RADIX_KEYS => {
            keys.sort_unstable();
            keys
        }
        MIN_RADIX_KEYS..MIN_THREE_DIGIT_KEYS => sort_by_digits::<K, 2>(keys, scratch),
        _ => sort_by_digits::<K, 3>(keys, scratch),
    }
}

fn sort_by_digits<'a, K: RadixKey, const DIGITS: usize>(
    keys: &'a mut [K],
    scratch: &'a mut [K],
) -> &'a mut [K] {
    let window = DigitWindow::spanning(keys, DIGITS as u32);
    let (mut from, mut to) = (keys, scratch);
    for (digit, mut counts) in window.counts::<K, DIGITS>(from).into_iter().enumerate() {
        interrupt::check();
        if !counts.contains(&from.len()) {
            counting_pass(from, to, &mut counts, |key| window.digit(key, digit));
            (from, to) = (to, from);
        }
    }
    sort_equal_digits(from, &window);
    from
}

/// Sorts the runs of keys that have equal digits.
fn sort_equal_digits<K: RadixKey>(keys: &mut [K], window: &DigitWindow) {
    let mut done = 0;
    while let Some(unsorted) = keys[done..].windows(2).position(|pair| pair[0] > pair[1]) {
        let at = done + unsorted;
        let same = |key: &K| window.digits(*key) == window.digits(keys[at]);
        let before = keys[done..at].iter().rev().take_while(|key| same(key)).count();
        let after = keys[at..].iter().take_while(|key| same(key)).count();
        keys[at - before..at + after].sort_unstable();
        done = at + after;
    }
}

/// The position of the digits: directly below the highest bit in which keys differ.
struct DigitWindow {
    min: u64,
    shift: u32,
}

impl DigitWindow {
    fn spanning<K: RadixKey>(keys: &[K], digits: u32) -> Self {
        let leading = keys.iter().map(|key| key.leading_word());
        let (min, max) =
            leading.fold((u64::MAX, 0), |(min, max), key| (key.min(min), key.max(max)));
        let bits = u64::BITS - max.wrapping_sub(min).leading_zeros();
        Self { min, shift: bits.saturating_sub(digits * DIGIT_BITS) }
    }

    #[inline(always)]
    fn digits<K: RadixKey>(&self, key: K) -> u64 {
        key.leading_word().wrapping_sub(self.min) >> self.shift
    }

    /// Returns a digit; digit 0 is the least significant.
    #[inline(always)]
    fn digit<K: RadixKey>(&self, key: K, digit: usize) -> usize {
        (self.digits(key) >> (digit as u32).wrapping_mul(DIGIT_BITS)) as usize % DIGIT_VALUES
    }

    /// Counts how often each digit has each value.
    fn counts<K: RadixKey, const DIGITS: usize>(
        &self,
        keys: &[K],
    ) -> [[usize; DIGIT_VALUES]; DIGITS] {
        let mut counts = [[0_usize; DIGIT_VALUES]; DIGITS];
        for &key in keys {
            for (digit, counts) in counts.iter_mut().enumerate() {
                let count = &mut counts[self.digit(key, digit)];
                *count = count.wrapping_add(1);
            }
        }
        counts
    }
}

/// One stable counting-sort pass by a digit; turns `counts` into end positions.
fn counting_pass<K: RadixKey>(
    from: &[K],
    to: &mut [K],
    counts: &mut [usize; DIGIT_VALUES],
    digit: impl Fn(K) -> usize,
) {
    let mut before = 0;
    for count in counts.iter_mut() {
        before += std::mem::replace(count, before);
    }
    for &key in from {
        let position = &mut counts[digit(key)];
        to[*position] = key;
        *position = position.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_sorts_like_std<K: RadixKey + std::fmt::Debug>(keys: &[K]) {
        let (mut one, mut scratch, mut expected) = (keys.to_vec(), keys.to_vec(), keys.to_vec());
        expected.sort_unstable();
        assert_eq!(sort(&mut one, &mut scratch), expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        /// Narrow and wide keys, clustered and spread, with and without an outlier.
        #[test]
        fn sorts_like_std(seed: u64, bits in 0..65_u32, length in 0..3 * MIN_THREE_DIGIT_KEYS, far: bool) {
            let random = |at: u64| (at ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
                .wrapping_mul(0xd6e8_feb8_6659_fd93);
            let key = |at: usize| random(at as u64).checked_shr(64 - bits).unwrap_or(0);
            let mut keys: Vec<u64> = (0..length).map(key).collect();
            if far {
                keys.push(u64::MAX);
            }
            assert_sorts_like_std(&keys);
            let backwards = keys.iter().zip((0..).map(|at: u64| 1 << 40 ^ at));
            assert_sorts_like_std(&backwards.map(|(&key, at)| [key, !at]).collect::<Vec<_>>());
        }
    }
}
