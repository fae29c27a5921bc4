//! NumPy's sort order as integer keys.

/// A value with a key in NumPy's sort order: NaN last, -0.0 equal to 0.0. `PartialOrd` agrees with
/// the keys of numbers.
pub trait NumpyOrder: Copy + PartialOrd + Send + Sync {
    /// Returns the key in 64 bits; the key of a narrow type uses the lowest bits.
    fn key(self) -> u64;

    /// Returns whether the value is NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
}

/// Converts the bits of a float to an ascending key; NaN is the largest.
#[inline(always)]
fn ascending_bits(bits: i64, is_nan: bool, is_zero: bool) -> u64 {
    let flipped = (bits ^ (((bits >> 63) as u64) >> 1) as i64) as u64 ^ (1 << 63);
    if is_nan {
        u64::MAX
    } else if is_zero {
        1 << 63
    } else {
        flipped
    }
}

impl NumpyOrder for f64 {
    #[inline(always)]
    fn key(self) -> u64 {
        ascending_bits(self.to_bits() as i64, self.is_nan(), self == 0.0)
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
}

impl NumpyOrder for f32 {
    #[inline(always)]
    fn key(self) -> u64 {
        ascending_bits((self.to_bits() as i64) << 32, self.is_nan(), self == 0.0) >> 32
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
}

impl NumpyOrder for i64 {
    #[inline(always)]
    fn key(self) -> u64 {
        self as u64 ^ (1 << 63)
    }
}

impl NumpyOrder for u64 {
    #[inline(always)]
    fn key(self) -> u64 {
        self
    }
}

impl NumpyOrder for i32 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self as u32 ^ (1 << 31))
    }
}

impl NumpyOrder for u32 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self)
    }
}

impl NumpyOrder for i16 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self as u16 ^ (1 << 15))
    }
}

impl NumpyOrder for u16 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self)
    }
}

impl NumpyOrder for i8 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self as u8 ^ (1 << 7))
    }
}

impl NumpyOrder for u8 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self)
    }
}
