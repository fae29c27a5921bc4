//! Division by an invariant integer using multiplication (Granlund and Montgomery, 1994).

/// A divisor of at least 2, as a fixed-point reciprocal.
#[derive(Clone, Copy)]
pub(crate) struct ConstantDivisor {
    factor: u64,
    /// The exponent of the smallest power of two not below the divisor, minus one.
    shift: u32,
}

impl ConstantDivisor {
    pub fn new(by: i64) -> Option<Self> {
        let by = u64::try_from(by).ok().filter(|&by| by >= 2)?;
        let digits = 64 - (by - 1).leading_zeros();
        let (by, power) = (u128::from(by), 1 << digits);
        Some(Self { factor: (((power - by) << 64) / by + 1) as u64, shift: digits - 1 })
    }

    /// The quotient, rounded down.
    #[inline(always)]
    pub fn floor(self, value: i64) -> i64 {
        // For negative values, floor(v / d) = !floor(!v / d).
        let sign = value >> 63;
        let value = (value ^ sign) as u64;
        let high = (u128::from(self.factor).wrapping_mul(value.into()) >> 64) as u64;
        let quotient = high.wrapping_add(value.wrapping_sub(high) >> 1) >> self.shift;
        quotient as i64 ^ sign
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_agree_with_division() {
        let powers = (1..63).map(|digits| 1i64 << digits);
        let near = |value: i64| [-1, 0, 1].map(|step| value.wrapping_add(step));
        let some: Vec<i64> = powers.flat_map(near).chain([3, 7, 10, 641, i64::MAX]).collect();
        for &by in some.iter().filter(|&&by| by >= 2) {
            let divisor = ConstantDivisor::new(by).unwrap();
            let multiples = some.iter().flat_map(|&value| near(value / by * by));
            let all = some.iter().copied().chain(multiples).chain([0, i64::MAX]);
            for value in all.flat_map(|value| [value, !value]) {
                assert_eq!(divisor.floor(value), value.div_euclid(by), "{value} / {by}");
            }
        }
        assert!([1, 0, -1, i64::MIN].into_iter().all(|by| ConstantDivisor::new(by).is_none()));
    }
}
