//! Keys in order by a few leading digits, from the last of these to the first; what has the same ones is
//! compared.

use dappled_base::interrupt;

/// A key that begins with a number.
pub(crate) trait Digits: Copy + Ord + Send + Sync {
    const LEAST: Self;

    /// The number, by which keys are ordered first.
    fn leading(self) -> u64;
}

impl Digits for u64 {
    const LEAST: Self = 0;

    #[inline(always)]
    fn leading(self) -> u64 {
        self
    }
}

impl Digits for [u64; 2] {
    const LEAST: Self = [0; 2];

    #[inline(always)]
    fn leading(self) -> u64 {
        self[0]
    }
}

/// The bits of a digit: as many ends of rows as a digit has values stay in near memory.
const BITS: u32 = 10;
const VALUES: usize = 1 << BITS;
/// Fewer keys are compared at once.
const FEW: usize = 1 << 10;
/// Of fewer keys than these few have two digits alike; of more, three.
const MANY: usize = 1 << 16;

/// Sorts keys, with as much memory beside them; gives the one in which they are then.
pub(crate) fn sort<'a, K: Digits>(keys: &'a mut [K], beside: &'a mut [K]) -> &'a mut [K] {
    match keys.len() {
        0..FEW => {
            keys.sort_unstable();
            keys
        }
        FEW..MANY => by_digits::<K, 2>(keys, beside),
        _ => by_digits::<K, 3>(keys, beside),
    }
}

fn by_digits<'a, K: Digits, const DIGITS: usize>(
    keys: &'a mut [K],
    beside: &'a mut [K],
) -> &'a mut [K] {
    let window = Window::over(keys, DIGITS as u32);
    let (mut from, mut to) = (keys, beside);
    for (digit, mut counts) in window.counts::<K, DIGITS>(from).into_iter().enumerate() {
        interrupt::check();
        if !counts.contains(&from.len()) {
            deal(from, to, &mut counts, |key| window.digit(key, digit));
            (from, to) = (to, from);
        }
    }
    compare(from, &window);
    from
}

/// Puts those in order that have the same digits.
fn compare<K: Digits>(keys: &mut [K], window: &Window) {
    let mut done = 0;
    while let Some(wrong) = keys[done..].windows(2).position(|pair| pair[0] > pair[1]) {
        let at = done + wrong;
        let same = |key: &K| window.digits(*key) == window.digits(keys[at]);
        let before = keys[done..at].iter().rev().take_while(|key| same(key)).count();
        let after = keys[at..].iter().take_while(|key| same(key)).count();
        keys[at - before..at + after].sort_unstable();
        done = at + after;
    }
}

/// Where the digits are: right below the highest bit in which keys differ.
struct Window {
    least: u64,
    shift: u32,
}

impl Window {
    fn over<K: Digits>(keys: &[K], digits: u32) -> Self {
        let leading = keys.iter().map(|key| key.leading());
        let (least, most) =
            leading.fold((u64::MAX, 0), |(least, most), key| (key.min(least), key.max(most)));
        let bits = u64::BITS - most.wrapping_sub(least).leading_zeros();
        Self { least, shift: bits.saturating_sub(digits * BITS) }
    }

    #[inline(always)]
    fn digits<K: Digits>(&self, key: K) -> u64 {
        key.leading().wrapping_sub(self.least) >> self.shift
    }

    /// A digit, of which the last one is the first.
    #[inline(always)]
    fn digit<K: Digits>(&self, key: K, digit: usize) -> usize {
        (self.digits(key) >> (digit as u32).wrapping_mul(BITS)) as usize % VALUES
    }

    /// How often each digit has each value.
    fn counts<K: Digits, const DIGITS: usize>(&self, keys: &[K]) -> [[usize; VALUES]; DIGITS] {
        let mut counts = [[0_usize; VALUES]; DIGITS];
        for &key in keys {
            for (digit, counts) in counts.iter_mut().enumerate() {
                let count = &mut counts[self.digit(key, digit)];
                *count = count.wrapping_add(1);
            }
        }
        counts
    }
}

/// Deals keys out by a digit, in the order in which they are; `counts` become where each value ends.
fn deal<K: Digits>(
    from: &[K],
    to: &mut [K],
    counts: &mut [usize; VALUES],
    digit: impl Fn(K) -> usize,
) {
    let mut before = 0;
    for count in counts.iter_mut() {
        before += std::mem::replace(count, before);
    }
    for &key in from {
        let place = &mut counts[digit(key)];
        to[*place] = key;
        *place = place.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_as_compared<K: Digits + std::fmt::Debug>(keys: &[K]) {
        let (mut one, mut beside, mut expected) = (keys.to_vec(), keys.to_vec(), keys.to_vec());
        expected.sort_unstable();
        assert_eq!(sort(&mut one, &mut beside), expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        /// Of few bits and of all, spread out and close together, and one far from the others.
        #[test]
        fn as_compared(seed: u64, bits in 0..65_u32, length in 0..3 * MANY, far: bool) {
            let random = |at: u64| (at ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
                .wrapping_mul(0xd6e8_feb8_6659_fd93);
            let key = |at: usize| random(at as u64).checked_shr(64 - bits).unwrap_or(0);
            let mut keys: Vec<u64> = (0..length).map(key).collect();
            if far {
                keys.push(u64::MAX);
            }
            is_as_compared(&keys);
            let backwards = keys.iter().zip((0..).map(|at: u64| 1 << 40 ^ at));
            is_as_compared(&backwards.map(|(&key, at)| [key, !at]).collect::<Vec<_>>());
        }
    }
}
