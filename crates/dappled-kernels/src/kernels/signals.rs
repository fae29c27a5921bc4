//! What operations signal: which of them by their instructions, and how it is seen of the others.
//!
//! Underflow is seen where the result of ordinary numbers is tiny. NumPy's functions signal some
//! more of it, for numbers that are tiny themselves.

use super::function::Function;
use crate::dtype::Kind;
use crate::{DType, Flags, Op};

/// Those flags of the CPU that are this operation's: all or none.
pub(crate) fn hardware(op: Op, dtype: DType) -> Flags {
    use Op::*;
    let all = Flags::DIVIDE | Flags::OVERFLOW | Flags::UNDERFLOW | Flags::INVALID;
    let inexact = matches!(dtype.kind(), Kind::Float | Kind::Complex);
    let arithmetic = match op {
        Add | Subtract | Multiply | Square | Sqrt | Deg2Rad | Rad2Deg => true,
        UnfusedMultiply | UnfusedSquare => true,
        // The loops of complex numbers watch themselves.
        Divide | Reciprocal => dtype.kind() == Kind::Float,
        // To float16 and to integers it is seen from the values.
        Cast(to) => !to.is_integral() && to != DType::Float16,
        _ => false,
    };
    all.when(inexact && arithmetic)
}

/// A result of functions that signal only by what is no number.
#[inline(always)]
pub(crate) fn is_finite<T: Function>(out: T) -> bool {
    out.wide().abs() <= f64::MAX
}

/// A result of functions that signal small ones too.
#[inline(always)]
pub(crate) fn is_normal<T: Function>(out: T) -> bool {
    (out.wide().abs() <= f64::MAX) & (out.wide().abs() >= T::TINY)
}

/// `sin`, `arcsin`: no value for some numbers.
#[inline(always)]
pub(crate) fn bounded<T: Function>(a: T, out: T) -> Flags {
    Flags::INVALID.when(out.wide().is_nan() & !a.wide().is_nan())
}

/// `sinh`: too large a value for some numbers.
#[inline(always)]
pub(crate) fn growing<T: Function>(a: T, out: T) -> Flags {
    bounded(a, out) | Flags::OVERFLOW.when(out.wide().is_infinite() & a.wide().is_finite())
}

/// `exp`: too small ones as well.
#[inline(always)]
pub(crate) fn decaying<T: Function>(a: T, out: T) -> Flags {
    growing(a, out) | Flags::UNDERFLOW.when((out.wide() < T::TINY) & a.wide().is_finite())
}

/// `exp2`, whose tiny values may be exact; for float64 NumPy signals those as well.
#[inline(always)]
pub(crate) fn decaying_by_two<T: Function>(a: T, out: T) -> Flags {
    let exact = (a.wide().trunc() == a.wide()) & (out.wide() != 0.0);
    let tiny = (out.wide() < T::TINY) & a.wide().is_finite();
    growing(a, out) | Flags::UNDERFLOW.when(tiny & !(exact & (T::TINY != f64::MIN_POSITIVE)))
}

/// `log`: an infinite value for one number.
#[inline(always)]
pub(crate) fn with_pole<T: Function>(a: T, out: T) -> Flags {
    let (a, out) = (a.wide(), out.wide());
    Flags::INVALID.when(out.is_nan() & !a.is_nan())
        | Flags::DIVIDE.when(out.is_infinite() & a.is_finite())
}

/// `arctan2`: too small a value for some pairs.
#[inline(always)]
pub(crate) fn angles<T: Function>(a: T, b: T, out: T) -> Flags {
    let finite = a.wide().is_finite() & b.wide().is_finite();
    Flags::UNDERFLOW.when((out.wide().abs() < T::TINY) & finite & (a.wide() != 0.0))
}

/// `logaddexp` and `logaddexp2`: what their formula does on the way, with the exponent below
/// which the power of the difference is tiny. float16 computes it as float32 does.
#[inline(always)]
pub(crate) fn log_sums<T: Function>(a: T, b: T, out: T, lowest: [f64; 2]) -> Flags {
    let (a, b, out) = (a.wide(), b.wide(), out.wide());
    let (single, finite) = (T::TINY != f64::MIN_POSITIVE, a.is_finite() & b.is_finite());
    let too_far = (a - b).abs()
        > if T::TINY == f64::from(f32::MIN_POSITIVE) { f32::MAX as f64 } else { f64::MAX };
    let tiny = ((a - b).abs() > lowest[!single as usize]) | (out.abs() < T::TINY) & (out != 0.0);
    Flags::INVALID.when(a.is_nan() | b.is_nan())
        | Flags::OVERFLOW.when((too_far | out.is_infinite()) & finite)
        | Flags::UNDERFLOW.when(tiny & finite & !too_far)
}

/// `hypot`: too large a value for some pairs.
#[inline(always)]
pub(crate) fn lengths<T: Function>(a: T, b: T, out: T) -> Flags {
    let finite = a.wide().is_finite() & b.wide().is_finite();
    Flags::OVERFLOW.when(out.wide().is_infinite() & finite)
}

/// `nextafter`: beyond the largest, or among those that have lost digits.
#[inline(always)]
pub(crate) fn next<T: Function>(a: T, _: T, out: T) -> Flags {
    let tiny = (out.wide() != a.wide()) & (out.wide().abs() < T::TINY) & T::IS_WIDE;
    lengths(a, a, out) | Flags::UNDERFLOW.when(tiny)
}

/// `power`: all of these.
#[inline(always)]
pub(crate) fn powers<T: Function>(a: T, b: T, out: T) -> Flags {
    let (a, b, out) = (a.wide(), b.wide(), out.wide());
    let finite = a.is_finite() & b.is_finite();
    let infinite = out.is_infinite() & finite;
    // Powers of two, as far as float16 has them.
    let exact = !T::IS_WIDE & (a.abs() == 2.0) & (b.trunc() == b) & (out != 0.0);
    Flags::INVALID.when(out.is_nan() & !a.is_nan() & !b.is_nan())
        | Flags::DIVIDE.when(infinite & (a == 0.0))
        | Flags::OVERFLOW.when(infinite & (a != 0.0))
        | Flags::UNDERFLOW.when((out.abs() < T::TINY) & finite & (a != 0.0) & !exact)
}

/// Floor division of floats.
#[inline(always)]
pub(crate) fn floor_divide(a: f64, b: f64, out: f64) -> Flags {
    let infinite = out.is_infinite() & a.is_finite();
    Flags::INVALID.when(out.is_nan() & !a.is_nan() & !b.is_nan())
        | Flags::DIVIDE.when((b == 0.0) & infinite)
        | Flags::OVERFLOW.when((b != 0.0) & infinite)
}
