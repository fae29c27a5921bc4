//! Precompiled loops: one per operation and dtype, in a version for each CPU variant.
//!
//! ```text
//! elementwise    the element-wise operations of each dtype family
//! reduce         reductions, scans, argmin and argmax; NumPy's pairwise tree
//! mask           comparisons to bits, bit packing, compaction
//! math, libm     vectorised functions of this crate; those of the C library
//! fp             floating-point exceptions
//! variant, multiversion, kernel_info, prefetch   CPU variants; versions; lookup; prefetching
//! ```

pub(crate) mod elementwise;
pub(crate) mod fp;
pub(crate) mod kernel_info;
#[allow(unsafe_code)]
pub(crate) mod libm;
pub(crate) mod mask;
pub(crate) mod math;
#[allow(unsafe_code)]
pub(crate) mod multiversion;
#[allow(unsafe_code)]
pub(crate) mod prefetch;
pub(crate) mod reduce;
pub(crate) mod variant;

use self::elementwise::arithmetic::Arithmetic;
use self::elementwise::cast::Cast;
use self::elementwise::{
    AbsoluteLoop, Binary, ElementwiseKernel, FloorDivideLoop, SelectLoop, Unary, elementwise_kernel,
};
use self::elementwise::{complex_parts, integer_ops, ops, transcendental_ops};
use self::variant::CpuVariant;
use crate::types::dtype::DType;
use crate::types::element::with_element;
use crate::types::op::table::Op;

/// The kernel of an operation and dtype for which [`Op::has_loop`] is true.
///
/// The kernel is for this variant, or for the best one if this CPU lacks it, so it can always be
/// called.
pub(crate) fn kernel(op: Op, dtype: DType, variant: CpuVariant) -> ElementwiseKernel {
    let variant = variant.min(CpuVariant::best());
    let special = || {
        integer_ops::kernel(op, dtype, variant)
            .or_else(|| transcendental_ops::kernel(op, dtype, variant))
            .or_else(|| complex_parts::kernel(op, dtype, variant))
    };
    match op {
        Op::Cast(to) => cast_kernel(dtype, to, variant),
        _ => special().unwrap_or_else(|| with_element!(dtype, T => plain_kernel::<T>(op, variant))),
    }
}

/// The kernel of a cast. The 200 loops are memory-bound, so AVX-512 versions would gain nothing.
fn cast_kernel(from: DType, to: DType, variant: CpuVariant) -> ElementwiseKernel {
    let variant = variant.min(CpuVariant::Avx2);
    with_element!(from, From => with_element!(to, To => elementwise_kernel::<Unary<Cast<To>, From>>(variant)))
}

/// The kernel of an operation that most dtypes have.
fn plain_kernel<T: Arithmetic>(op: Op, variant: CpuVariant) -> ElementwiseKernel {
    match op {
        Op::Add => elementwise_kernel::<Binary<ops::Add, T>>(variant),
        Op::Subtract => elementwise_kernel::<Binary<ops::Subtract, T>>(variant),
        Op::Multiply => elementwise_kernel::<Binary<ops::Multiply, T>>(variant),
        Op::Divide => elementwise_kernel::<Binary<ops::Divide, T>>(variant),
        Op::FloorDivide => elementwise_kernel::<FloorDivideLoop<T>>(variant),
        Op::Remainder => elementwise_kernel::<Binary<ops::Remainder, T>>(variant),
        Op::Fmod => elementwise_kernel::<Binary<ops::Fmod, T>>(variant),
        Op::Minimum => elementwise_kernel::<Binary<ops::Minimum, T>>(variant),
        Op::Maximum => elementwise_kernel::<Binary<ops::Maximum, T>>(variant),
        Op::Fmin => elementwise_kernel::<Binary<ops::Fmin, T>>(variant),
        Op::Fmax => elementwise_kernel::<Binary<ops::Fmax, T>>(variant),
        Op::And => elementwise_kernel::<Binary<ops::And, T>>(variant),
        Op::Or => elementwise_kernel::<Binary<ops::Or, T>>(variant),
        Op::Xor => elementwise_kernel::<Binary<ops::Xor, T>>(variant),
        Op::Equal => elementwise_kernel::<Binary<ops::Equal, T>>(variant),
        Op::NotEqual => elementwise_kernel::<Binary<ops::NotEqual, T>>(variant),
        Op::Less => elementwise_kernel::<Binary<ops::Less, T>>(variant),
        Op::LessEqual => elementwise_kernel::<Binary<ops::LessEqual, T>>(variant),
        Op::Greater => elementwise_kernel::<Binary<ops::Greater, T>>(variant),
        Op::GreaterEqual => elementwise_kernel::<Binary<ops::GreaterEqual, T>>(variant),
        Op::LogicalAnd => elementwise_kernel::<Binary<ops::LogicalAnd, T>>(variant),
        Op::LogicalOr => elementwise_kernel::<Binary<ops::LogicalOr, T>>(variant),
        Op::LogicalXor => elementwise_kernel::<Binary<ops::LogicalXor, T>>(variant),
        Op::LogicalNot => elementwise_kernel::<Unary<ops::LogicalNot, T>>(variant),
        Op::Negative => elementwise_kernel::<Unary<ops::Negative, T>>(variant),
        Op::Positive => elementwise_kernel::<Unary<ops::Positive, T>>(variant),
        Op::Absolute => elementwise_kernel::<AbsoluteLoop<T>>(variant),
        Op::Sign => elementwise_kernel::<Unary<ops::Sign, T>>(variant),
        Op::Square => elementwise_kernel::<Unary<ops::Square, T>>(variant),
        Op::Sqrt => elementwise_kernel::<Unary<ops::Sqrt, T>>(variant),
        Op::Reciprocal => elementwise_kernel::<Unary<ops::Reciprocal, T>>(variant),
        Op::Conjugate => elementwise_kernel::<Unary<ops::Conjugate, T>>(variant),
        Op::Not => elementwise_kernel::<Unary<ops::Not, T>>(variant),
        Op::Isnan => elementwise_kernel::<Unary<ops::Isnan, T>>(variant),
        Op::Isinf => elementwise_kernel::<Unary<ops::Isinf, T>>(variant),
        Op::Isfinite => elementwise_kernel::<Unary<ops::Isfinite, T>>(variant),
        Op::Floor => elementwise_kernel::<Unary<ops::Floor, T>>(variant),
        Op::Ceil => elementwise_kernel::<Unary<ops::Ceil, T>>(variant),
        Op::Trunc => elementwise_kernel::<Unary<ops::Trunc, T>>(variant),
        Op::Rint => elementwise_kernel::<Unary<ops::Rint, T>>(variant),
        Op::Select => elementwise_kernel::<SelectLoop<T>>(variant),
        _ => unreachable!("{op} has loops for some dtypes only"),
    }
}
