//! NEP 50 dtype promotion and NumPy's casting rules.

use super::dtype::{DType, DTypeKind};

/// A Python scalar: it has a kind but no width, and adopts the width of the other operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WeakScalar {
    /// Python's `bool`, which promotes as NumPy's bool does.
    Bool,
    /// Python's `int`.
    Int,
    /// Python's `float`.
    Float,
    /// Python's `complex`.
    Complex,
}

/// NumPy's casting rules, from the strictest to the loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Casting {
    /// Between equal dtypes only.
    No,
    /// Between equal dtypes of any byte order; here every dtype has the native order.
    Equiv,
    /// To dtypes that hold every value.
    Safe,
    /// Safe casts, and casts within a kind or to a later kind.
    SameKind,
    /// Any cast.
    Unsafe,
}

/// The smallest dtype to which both dtypes cast safely: `numpy.result_type`.
///
/// ```
/// use dappled_kernels::{DType, promote};
/// assert_eq!(promote(DType::Int64, DType::UInt64), DType::Float64);
/// assert_eq!(promote(DType::Int16, DType::Float16), DType::Float32);
/// ```
pub fn promote(a: DType, b: DType) -> DType {
    let (low, high) = if a.kind() <= b.kind() { (a, b) } else { (b, a) };
    match (low.kind(), high.kind()) {
        (DTypeKind::Bool, _) => high,
        (low_kind, high_kind) if low_kind == high_kind => wider(low, high),
        (DTypeKind::Unsigned, DTypeKind::Signed) => wider(signed_above(low), high),
        (_, DTypeKind::Complex) => complex_of(promote(low.real(), high.real())),
        _ => wider(float_for(low), high),
    }
}

/// The result dtype of an array and a Python scalar.
pub fn promote_weak(dtype: DType, weak: WeakScalar) -> DType {
    match (weak, dtype.kind()) {
        (WeakScalar::Bool, _) => dtype,
        (WeakScalar::Int, DTypeKind::Bool) => DType::Int64,
        (WeakScalar::Int, _) => dtype,
        (WeakScalar::Float, DTypeKind::Float | DTypeKind::Complex) => dtype,
        (WeakScalar::Float, _) => DType::Float64,
        (WeakScalar::Complex, DTypeKind::Float | DTypeKind::Complex) => complex_of(dtype.real()),
        (WeakScalar::Complex, _) => DType::Complex128,
    }
}

/// True if the rule allows the cast: `numpy.can_cast`.
pub fn can_cast(from: DType, to: DType, casting: Casting) -> bool {
    match casting {
        Casting::No | Casting::Equiv => from == to,
        Casting::Safe => promote(from, to) == to,
        Casting::SameKind => from.kind() <= to.kind(),
        Casting::Unsafe => true,
    }
}

fn wider(a: DType, b: DType) -> DType {
    if a.itemsize() >= b.itemsize() { a } else { b }
}

/// The smallest signed integer that holds the values of an unsigned one; float64 for uint64.
fn signed_above(unsigned: DType) -> DType {
    match unsigned {
        DType::UInt8 => DType::Int16,
        DType::UInt16 => DType::Int32,
        DType::UInt32 => DType::Int64,
        _ => DType::Float64,
    }
}

/// The float dtype NumPy promotes an integer to; 64-bit integers may lose digits.
fn float_for(integer: DType) -> DType {
    match integer.itemsize() {
        1 => DType::Float16,
        2 => DType::Float32,
        _ => DType::Float64,
    }
}

fn complex_of(real: DType) -> DType {
    if wider_than_single(real) { DType::Complex128 } else { DType::Complex64 }
}

fn wider_than_single(real: DType) -> bool {
    match real.kind() {
        DTypeKind::Float => real == DType::Float64,
        _ => float_for(real) == DType::Float64,
    }
}
