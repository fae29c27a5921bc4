//! NumPy's order of values.

/// A value as a number that is ordered as NumPy orders values: NaN last, -0.0 as 0.0. Numbers
/// themselves compare in the same order.
pub trait Key: Copy + PartialOrd + Send + Sync {
    /// The key as 64 bits, of which those of a narrow type are the lowest.
    fn key(self) -> u64;

    /// Is it not a number?
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
}

/// Floats whose bits have the sign on top; all are made ascending, a NaN the largest.
#[inline(always)]
fn ascending(bits: i64, is_nan: bool, is_zero: bool) -> u64 {
    let flipped = (bits ^ (((bits >> 63) as u64) >> 1) as i64) as u64 ^ (1 << 63);
    if is_nan {
        u64::MAX
    } else if is_zero {
        1 << 63
    } else {
        flipped
    }
}

impl Key for f64 {
    #[inline(always)]
    fn key(self) -> u64 {
        ascending(self.to_bits() as i64, self.is_nan(), self == 0.0)
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
}

impl Key for f32 {
    #[inline(always)]
    fn key(self) -> u64 {
        ascending((self.to_bits() as i64) << 32, self.is_nan(), self == 0.0) >> 32
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
}

impl Key for i64 {
    #[inline(always)]
    fn key(self) -> u64 {
        self as u64 ^ (1 << 63)
    }
}

impl Key for u64 {
    #[inline(always)]
    fn key(self) -> u64 {
        self
    }
}

impl Key for i32 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self as u32 ^ (1 << 31))
    }
}

impl Key for u32 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self)
    }
}

impl Key for i16 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self as u16 ^ (1 << 15))
    }
}

impl Key for u16 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self)
    }
}

impl Key for i8 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self as u8 ^ (1 << 7))
    }
}

impl Key for u8 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self)
    }
}
