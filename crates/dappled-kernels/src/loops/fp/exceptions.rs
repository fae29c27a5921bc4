//! The floating-point flags of each operation: from the CPU, or derived from arguments and results.
//!
//! Underflow is derived where normal arguments give a subnormal result. NumPy's functions raise it
//! in some more cases, for arguments that are subnormal themselves.

use crate::loops::elementwise::transcendental::Transcendental;
use crate::types::dtype::DType;
use crate::types::dtype::DTypeKind;
use crate::types::fp_flags::FpFlags;
use crate::types::op::table::Op;

/// The flags of the CPU that are valid for an operation: all or none.
pub(crate) fn cpu_flags(op: Op, dtype: DType) -> FpFlags {
    use Op::*;
    let all = FpFlags::DIVIDE | FpFlags::OVERFLOW | FpFlags::UNDERFLOW | FpFlags::INVALID;
    let inexact = matches!(dtype.kind(), DTypeKind::Float | DTypeKind::Complex);
    let arithmetic = match op {
        Add | Subtract | Multiply | Square | Sqrt | Deg2Rad | Rad2Deg => true,
        UnfusedMultiply | UnfusedSquare => true,
        // Complex division derives its flags.
        Divide | Reciprocal => dtype.kind() == DTypeKind::Float,
        // Casts to float16 and to integers derive their flags from the values.
        Cast(to) => !to.is_integral() && to != DType::Float16,
        _ => false,
    };
    all.when(inexact && arithmetic)
}

/// True for results that raise no flag, for functions that flag non-finite results only.
#[inline(always)]
pub(crate) fn is_finite<T: Transcendental>(out: T) -> bool {
    out.wide().abs() <= f64::MAX
}

/// True for results that raise no flag, for functions that also flag subnormal results.
#[inline(always)]
pub(crate) fn is_normal<T: Transcendental>(out: T) -> bool {
    (out.wide().abs() <= f64::MAX) & (out.wide().abs() >= T::TINY)
}

/// Invalid: `sin`, `arcsin` and other functions that are undefined for some arguments.
#[inline(always)]
pub(crate) fn domain_flags<T: Transcendental>(a: T, out: T) -> FpFlags {
    FpFlags::INVALID.when(out.wide().is_nan() & !a.wide().is_nan())
}

/// Invalid and overflow: `sinh` and other growing functions.
#[inline(always)]
pub(crate) fn overflow_flags<T: Transcendental>(a: T, out: T) -> FpFlags {
    domain_flags(a, out) | FpFlags::OVERFLOW.when(out.wide().is_infinite() & a.wide().is_finite())
}

/// Invalid, overflow and underflow: `exp`.
#[inline(always)]
pub(crate) fn exp_flags<T: Transcendental>(a: T, out: T) -> FpFlags {
    overflow_flags(a, out) | FpFlags::UNDERFLOW.when((out.wide() < T::TINY) & a.wide().is_finite())
}

/// The flags of `exp2`, whose subnormal results may be exact; NumPy flags those of float64 too.
#[inline(always)]
pub(crate) fn exp2_flags<T: Transcendental>(a: T, out: T) -> FpFlags {
    let exact = (a.wide().trunc() == a.wide()) & (out.wide() != 0.0);
    let tiny = (out.wide() < T::TINY) & a.wide().is_finite();
    overflow_flags(a, out)
        | FpFlags::UNDERFLOW.when(tiny & !(exact & (T::TINY != f64::MIN_POSITIVE)))
}

/// Invalid and divide: `log` and other functions with a pole.
#[inline(always)]
pub(crate) fn log_flags<T: Transcendental>(a: T, out: T) -> FpFlags {
    let (a, out) = (a.wide(), out.wide());
    FpFlags::INVALID.when(out.is_nan() & !a.is_nan())
        | FpFlags::DIVIDE.when(out.is_infinite() & a.is_finite())
}

/// Underflow: `arctan2`.
#[inline(always)]
pub(crate) fn arctan2_flags<T: Transcendental>(a: T, b: T, out: T) -> FpFlags {
    let finite = a.wide().is_finite() & b.wide().is_finite();
    FpFlags::UNDERFLOW.when((out.wide().abs() < T::TINY) & finite & (a.wide() != 0.0))
}

/// The flags of `logaddexp` and `logaddexp2`, from the intermediate results of their formula.
///
/// `lowest` is the exponent below which the power of the difference underflows. float16 computes as
/// float32 does.
#[inline(always)]
pub(crate) fn logaddexp_flags<T: Transcendental>(a: T, b: T, out: T, lowest: [f64; 2]) -> FpFlags {
    let (a, b, out) = (a.wide(), b.wide(), out.wide());
    let (single, finite) = (T::TINY != f64::MIN_POSITIVE, a.is_finite() & b.is_finite());
    let too_far = (a - b).abs()
        > if T::TINY == f64::from(f32::MIN_POSITIVE) { f32::MAX as f64 } else { f64::MAX };
    let tiny = ((a - b).abs() > lowest[!single as usize]) | (out.abs() < T::TINY) & (out != 0.0);
    FpFlags::INVALID.when(a.is_nan() | b.is_nan())
        | FpFlags::OVERFLOW.when((too_far | out.is_infinite()) & finite)
        | FpFlags::UNDERFLOW.when(tiny & finite & !too_far)
}

/// Overflow: `hypot`.
#[inline(always)]
pub(crate) fn hypot_flags<T: Transcendental>(a: T, b: T, out: T) -> FpFlags {
    let finite = a.wide().is_finite() & b.wide().is_finite();
    FpFlags::OVERFLOW.when(out.wide().is_infinite() & finite)
}

/// Overflow and underflow: `nextafter`.
#[inline(always)]
pub(crate) fn nextafter_flags<T: Transcendental>(a: T, _: T, out: T) -> FpFlags {
    let tiny = (out.wide() != a.wide()) & (out.wide().abs() < T::TINY) & T::IS_WIDE;
    hypot_flags(a, a, out) | FpFlags::UNDERFLOW.when(tiny)
}

/// All flags: `power`.
#[inline(always)]
pub(crate) fn power_flags<T: Transcendental>(a: T, b: T, out: T) -> FpFlags {
    let (a, b, out) = (a.wide(), b.wide(), out.wide());
    let finite = a.is_finite() & b.is_finite();
    let infinite = out.is_infinite() & finite;
    // Powers of two are exact in float16.
    let exact = !T::IS_WIDE & (a.abs() == 2.0) & (b.trunc() == b) & (out != 0.0);
    FpFlags::INVALID.when(out.is_nan() & !a.is_nan() & !b.is_nan())
        | FpFlags::DIVIDE.when(infinite & (a == 0.0))
        | FpFlags::OVERFLOW.when(infinite & (a != 0.0))
        | FpFlags::UNDERFLOW.when((out.abs() < T::TINY) & finite & (a != 0.0) & !exact)
}

/// The flags of floor division of floats.
#[inline(always)]
pub(crate) fn floor_divide_flags(a: f64, b: f64, out: f64) -> FpFlags {
    let infinite = out.is_infinite() & a.is_finite();
    FpFlags::INVALID.when(out.is_nan() & !a.is_nan() & !b.is_nan())
        | FpFlags::DIVIDE.when((b == 0.0) & infinite)
        | FpFlags::OVERFLOW.when((b != 0.0) & infinite)
}
