//! Casts between all dtypes, with NumPy's values on x86-64.

use half::f16;
use num_complex::{Complex, Complex32, Complex64};

use super::float16::float16_from_float64;
use super::ops::UnaryOp;
use crate::types::dtype::DType;
use crate::types::element::{Bool, Element};
use crate::types::fp_flags::FpFlags;

/// The cast to `U` as an operation.
pub(crate) struct Cast<U>(std::marker::PhantomData<U>);

impl<T: Element + CastTo<U> + CastTo<f64>, U: Element + CastTo<f64>> UnaryOp<T> for Cast<U>
where
    f64: CastTo<U>,
{
    type Out = U;
    /// True for casts to float16, and from floats to integers, whose flags are derived from the
    /// values. For the other casts the CPU's flags are exact.
    const MAY_RAISE: bool = match U::DTYPE {
        DType::Bool => false,
        DType::Float16 => true,
        to => to.is_integral() && !T::DTYPE.is_integral(),
    };
    #[inline(always)]
    fn apply(a: T) -> U {
        a.cast()
    }
    /// Out-of-range values give the integer that NaN gives, unless they are truncated from a wider
    /// integer.
    #[inline(always)]
    fn is_flagless_result(out: U) -> bool {
        matches!(U::DTYPE, DType::Int64 | DType::Int32) && out != f64::NAN.cast()
    }
    #[inline(always)]
    fn flags(a: T, out: U) -> FpFlags {
        match U::DTYPE {
            DType::Float16 => float16_rounding_flags(a.cast(), out.cast()),
            to => FpFlags::INVALID.when(!fits(a.cast(), to)),
        }
    }
}

/// Conversion of an element to another dtype.
pub(crate) trait CastTo<U> {
    fn cast(self) -> U;
}

macro_rules! cast {
    ($From:ty => $($To:ty),+: |$a:ident| $value:expr) => {$(
        impl CastTo<$To> for $From {
            #[inline(always)]
            fn cast(self) -> $To {
                let $a = self;
                $value
            }
        }
    )+};
}

macro_rules! integers {
    ($($From:ty),*) => {$(
        cast!($From => i8, i16, i32, i64, u8, u16, u32, u64, f32, f64: |a| a as _);
        cast!($From => Bool: |a| (a != 0).into());
        // Via float32, rounding twice where the integer has more than 24 bits, as NumPy does.
        cast!($From => f16: |a| f16::from_f32(a as f32));
        cast!($From => Complex32, Complex64: |a| Complex::new(a as _, 0.0));
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($From:ty),*) => {$(
        cast!($From => f32, f64: |a| a as _);
        cast!($From => Bool: |a| (a != 0.0).into());
        cast!($From => Complex32, Complex64: |a| Complex::new(a as _, 0.0));
        cast!($From => i32: |a| to_int32(a as f64));
        cast!($From => i8, i16, u8, u16: |a| to_int32(a as f64) as _);
        cast!($From => i64: |a| to_int64(a as f64));
        cast!($From => u32: |a| to_int64(a as f64) as u32);
        cast!($From => u64: |a| to_uint64(a as f64));
    )*};
}
floats!(f32, f64);
cast!(f32 => f16: |a| f16::from_f32(a));
cast!(f64 => f16: |a| float16_from_float64(a));

macro_rules! through {
    ($($From:ty => $($To:ty),+: |$a:ident| $value:expr;)*) => {$(
        cast!($From => $($To),+: |$a| $value.cast());
    )*};
}
through! {
    f16 => Bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Complex32, Complex64: |a| a.to_f32();
    Bool => i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, Complex32, Complex64: |a| a.is_true() as u8;
    Complex32 => i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64: |a| a.re;
    Complex64 => i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64: |a| a.re;
}
cast!(f16 => f16: |a| a);
cast!(Bool => Bool: |a| a.is_true().into());
cast!(Complex32 => Bool: |a| ((a.re != 0.0) | (a.im != 0.0)).into());
cast!(Complex64 => Bool: |a| ((a.re != 0.0) | (a.im != 0.0)).into());
cast!(Complex32 => Complex32, Complex64: |a| Complex::new(a.re as _, a.im as _));
cast!(Complex64 => Complex32, Complex64: |a| Complex::new(a.re as _, a.im as _));

const TWO_31: f64 = 2147483648.0;
const TWO_63: f64 = 9223372036854775808.0;

/// The instruction `cvttsd2si`, which NumPy's C code compiles to: out-of-range values give the
/// minimum. Narrower integers are truncated from this one.
#[inline(always)]
fn to_int32(value: f64) -> i32 {
    // SAFETY: the value is in range.
    if fits_int32(value) { unsafe { value.to_int_unchecked() } } else { i32::MIN }
}

#[inline(always)]
fn fits_int32(value: f64) -> bool {
    (value > -TWO_31 - 1.0) & (value < TWO_31)
}

/// The instruction `cvttsd2si` with a 64-bit result; uint32 is truncated from it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn to_int64(value: f64) -> i64 {
    use std::arch::x86_64::{_mm_cvttsd_si64, _mm_set_sd};
    // SAFETY: every x86-64 has SSE2.
    unsafe { _mm_cvttsd_si64(_mm_set_sd(value)) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn to_int64(value: f64) -> i64 {
    if fits_int64(value) { value as i64 } else { i64::MIN }
}

#[inline(always)]
fn fits_int64(value: f64) -> bool {
    (-TWO_63..TWO_63).contains(&value)
}

/// From 2**63 on, C compilers subtract 2**63, convert, and set the highest bit.
#[inline(always)]
fn to_uint64(value: f64) -> u64 {
    if value >= TWO_63 { to_int64(value - TWO_63) as u64 ^ 1 << 63 } else { to_int64(value) as u64 }
}

#[inline(always)]
fn fits_uint64(value: f64) -> bool {
    (-TWO_63..2.0 * TWO_63).contains(&value)
}

/// True if the value is in the range that the conversion of this dtype checks. Narrow integers are
/// truncated silently.
#[inline(always)]
fn fits(value: f64, to: DType) -> bool {
    match to {
        DType::UInt64 => fits_uint64(value),
        DType::Int64 | DType::UInt32 => fits_int64(value),
        _ => fits_int32(value),
    }
}

/// The flags of rounding to float16: too large a value, or digits lost to underflow.
#[inline(always)]
fn float16_rounding_flags(value: f64, half: f64) -> FpFlags {
    let lost = (half != value) & (value.abs() < 6.103515625e-05);
    FpFlags::OVERFLOW.when(half.is_infinite() & value.is_finite()) | FpFlags::UNDERFLOW.when(lost)
}
