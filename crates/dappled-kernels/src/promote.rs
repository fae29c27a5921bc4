//! Which dtype two operands meet in (NEP 50), and which casts are allowed.

use crate::dtype::{DType, Kind};

/// A Python scalar: it has a kind but no width, and takes the width of what it meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weak {
    /// Python's `bool`, which is as strong as NumPy's.
    Bool,
    /// Python's `int`.
    Int,
    /// Python's `float`.
    Float,
    /// Python's `complex`.
    Complex,
}

/// How much a cast may change, in NumPy's words; each allows what the one before allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Casting {
    /// The same dtype.
    No,
    /// The same dtype but for byte order: ours is always the machine's.
    Equiv,
    /// No value is lost.
    Safe,
    /// Safe, or within a kind, or to a later kind.
    SameKind,
    /// Anything.
    Unsafe,
}

/// The smallest dtype to which both cast safely: `numpy.result_type`.
///
/// ```
/// use dappled_kernels::{DType, promote};
/// assert_eq!(promote(DType::Int64, DType::UInt64), DType::Float64);
/// assert_eq!(promote(DType::Int16, DType::Float16), DType::Float32);
/// ```
pub fn promote(a: DType, b: DType) -> DType {
    let (low, high) = if a.kind() <= b.kind() { (a, b) } else { (b, a) };
    match (low.kind(), high.kind()) {
        (Kind::Bool, _) => high,
        (low_kind, high_kind) if low_kind == high_kind => wider(low, high),
        (Kind::Unsigned, Kind::Signed) => wider(signed_above(low), high),
        (_, Kind::Complex) => complex_of(promote(low.real(), high.real())),
        _ => wider(float_for(low), high),
    }
}

/// The dtype in which an array meets a Python scalar.
pub fn promote_weak(dtype: DType, weak: Weak) -> DType {
    match (weak, dtype.kind()) {
        (Weak::Bool, _) => dtype,
        (Weak::Int, Kind::Bool) => DType::Int64,
        (Weak::Int, _) => dtype,
        (Weak::Float, Kind::Float | Kind::Complex) => dtype,
        (Weak::Float, _) => DType::Float64,
        (Weak::Complex, Kind::Float | Kind::Complex) => complex_of(dtype.real()),
        (Weak::Complex, _) => DType::Complex128,
    }
}

/// May `from` be cast to `to` under this rule: `numpy.can_cast`.
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

/// The smallest signed integer that holds an unsigned one; no integer holds all of uint64.
fn signed_above(unsigned: DType) -> DType {
    match unsigned {
        DType::UInt8 => DType::Int16,
        DType::UInt16 => DType::Int32,
        DType::UInt32 => DType::Int64,
        _ => DType::Float64,
    }
}

/// The float that NumPy gives to an integer; 64-bit integers may lose digits even so.
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
        Kind::Float => real == DType::Float64,
        _ => float_for(real) == DType::Float64,
    }
}
