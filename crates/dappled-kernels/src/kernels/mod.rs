//! One precompiled loop for each operation and dtype, chosen for the CPU at hand.

#[allow(unsafe_code)]
mod ahead;
mod arithmetic;
#[allow(unsafe_code)]
mod cast;
#[allow(unsafe_code)]
mod compare;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod compare_wide;
mod complex;
#[allow(unsafe_code)]
mod compress;
mod divisor;
#[allow(unsafe_code)]
mod elementwise;
#[allow(unsafe_code)]
mod extreme;
mod float;
mod float16;
#[allow(unsafe_code)]
mod fold;
mod fold_loops;
mod function;
mod function_float;
mod function_ops;
mod integer;
#[allow(unsafe_code)]
mod library;
#[allow(unsafe_code)]
mod loops;
mod math;
pub(crate) mod ops;
#[allow(unsafe_code)]
mod pairwise;
mod parts;
mod product;
mod quotient;
mod ready;
mod runs;
mod signals;
#[allow(unsafe_code)]
pub(crate) mod status;
mod variant;
mod watch;
mod whole;

use self::arithmetic::Arithmetic;
use self::cast::Cast;
use self::elementwise::{AbsoluteLoop, Binary, FloorDivideLoop, SelectLoop, Unary, operation};
use crate::element::with_element;
use crate::{DType, Op};

pub(crate) use self::compare::{Bits, comparison};
pub(crate) use self::compress::{BEYOND, WORD, compress, pack};
pub(crate) use self::elementwise::Operation;
pub(crate) use self::extreme::{Finder, Record};
pub(crate) use self::fold::{Cuts, Folder, Spacing, State};
pub(crate) use self::fold_loops::TOGETHER;
pub(crate) use self::ready::Ready;
pub(crate) use self::signals::hardware;
pub use self::variant::Variant;

/// The loop of an operation in a dtype for which [`Op::has_loop`] is true, for this variant or
/// the best that the CPU has: what it returns can always be called here.
pub(crate) fn kernel(op: Op, dtype: DType, variant: Variant) -> Operation {
    let variant = variant.min(Variant::best());
    let special = || {
        whole::kernel(op, dtype, variant)
            .or_else(|| function_ops::kernel(op, dtype, variant))
            .or_else(|| parts::kernel(op, dtype, variant))
    };
    match op {
        Op::Cast(to) => cast_kernel(dtype, to, variant),
        _ => special().unwrap_or_else(|| with_element!(dtype, T => plain_kernel::<T>(op, variant))),
    }
}

/// Two hundred loops that wait for memory: the newest instructions are not worth compiling them.
fn cast_kernel(from: DType, to: DType, variant: Variant) -> Operation {
    let variant = variant.min(Variant::Avx2);
    with_element!(from, From => with_element!(to, To => operation::<Unary<Cast<To>, From>>(variant)))
}

/// The operations that most dtypes have.
fn plain_kernel<T: Arithmetic>(op: Op, variant: Variant) -> Operation {
    match op {
        Op::Add => operation::<Binary<ops::Add, T>>(variant),
        Op::Subtract => operation::<Binary<ops::Subtract, T>>(variant),
        Op::Multiply => operation::<Binary<ops::Multiply, T>>(variant),
        Op::Divide => operation::<Binary<ops::Divide, T>>(variant),
        Op::FloorDivide => operation::<FloorDivideLoop<T>>(variant),
        Op::Remainder => operation::<Binary<ops::Remainder, T>>(variant),
        Op::Fmod => operation::<Binary<ops::Fmod, T>>(variant),
        Op::Minimum => operation::<Binary<ops::Minimum, T>>(variant),
        Op::Maximum => operation::<Binary<ops::Maximum, T>>(variant),
        Op::Fmin => operation::<Binary<ops::Fmin, T>>(variant),
        Op::Fmax => operation::<Binary<ops::Fmax, T>>(variant),
        Op::And => operation::<Binary<ops::And, T>>(variant),
        Op::Or => operation::<Binary<ops::Or, T>>(variant),
        Op::Xor => operation::<Binary<ops::Xor, T>>(variant),
        Op::Equal => operation::<Binary<ops::Equal, T>>(variant),
        Op::NotEqual => operation::<Binary<ops::NotEqual, T>>(variant),
        Op::Less => operation::<Binary<ops::Less, T>>(variant),
        Op::LessEqual => operation::<Binary<ops::LessEqual, T>>(variant),
        Op::Greater => operation::<Binary<ops::Greater, T>>(variant),
        Op::GreaterEqual => operation::<Binary<ops::GreaterEqual, T>>(variant),
        Op::LogicalAnd => operation::<Binary<ops::LogicalAnd, T>>(variant),
        Op::LogicalOr => operation::<Binary<ops::LogicalOr, T>>(variant),
        Op::LogicalXor => operation::<Binary<ops::LogicalXor, T>>(variant),
        Op::LogicalNot => operation::<Unary<ops::LogicalNot, T>>(variant),
        Op::Negative => operation::<Unary<ops::Negative, T>>(variant),
        Op::Positive => operation::<Unary<ops::Positive, T>>(variant),
        Op::Absolute => operation::<AbsoluteLoop<T>>(variant),
        Op::Sign => operation::<Unary<ops::Sign, T>>(variant),
        Op::Square => operation::<Unary<ops::Square, T>>(variant),
        Op::Sqrt => operation::<Unary<ops::Sqrt, T>>(variant),
        Op::Reciprocal => operation::<Unary<ops::Reciprocal, T>>(variant),
        Op::Conjugate => operation::<Unary<ops::Conjugate, T>>(variant),
        Op::Not => operation::<Unary<ops::Not, T>>(variant),
        Op::Isnan => operation::<Unary<ops::Isnan, T>>(variant),
        Op::Isinf => operation::<Unary<ops::Isinf, T>>(variant),
        Op::Isfinite => operation::<Unary<ops::Isfinite, T>>(variant),
        Op::Floor => operation::<Unary<ops::Floor, T>>(variant),
        Op::Ceil => operation::<Unary<ops::Ceil, T>>(variant),
        Op::Trunc => operation::<Unary<ops::Trunc, T>>(variant),
        Op::Rint => operation::<Unary<ops::Rint, T>>(variant),
        Op::Select => operation::<SelectLoop<T>>(variant),
        _ => unreachable!("{op} has loops for some dtypes only"),
    }
}
