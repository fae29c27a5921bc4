//! One precompiled loop for each operation and dtype, chosen for the CPU at hand.

mod arithmetic;
mod cast;
mod complex;
mod float;
mod float16;
mod fold;
mod integer;
mod loops;
mod runs;
mod variant;

use self::arithmetic::{ops, *};
use self::cast::Cast;
use self::loops::{SelectLoop, choose};
use crate::element::with_element;
use crate::{DType, Op};

pub(crate) use self::fold::{Cuts, Folder, Spacing, State};
pub(crate) use self::loops::Kernel;
pub use self::variant::Variant;

/// The loop of an operation in a dtype for which [`Op::has_loop`] is true, for this variant or
/// the best that the CPU has: what it returns can always be called here.
pub(crate) fn kernel(op: Op, dtype: DType, variant: Variant) -> Kernel {
    let variant = variant.min(Variant::best());
    match op {
        Op::Cast(to) => cast_kernel(dtype, to, variant),
        _ => with_element!(dtype, T => plain_kernel::<T>(op, variant)),
    }
}

fn cast_kernel(from: DType, to: DType, variant: Variant) -> Kernel {
    with_element!(from, From => with_element!(to, To => choose::<Unary<Cast<To>, From>>(variant)))
}

fn plain_kernel<T: Arithmetic>(op: Op, variant: Variant) -> Kernel {
    match op {
        Op::Add => choose::<Binary<ops::Add, T>>(variant),
        Op::Subtract => choose::<Binary<ops::Subtract, T>>(variant),
        Op::Multiply => choose::<Binary<ops::Multiply, T>>(variant),
        Op::Divide => choose::<Binary<ops::Divide, T>>(variant),
        Op::FloorDivide => choose::<Binary<ops::FloorDivide, T>>(variant),
        Op::Remainder => choose::<Binary<ops::Remainder, T>>(variant),
        Op::Minimum => choose::<Binary<ops::Minimum, T>>(variant),
        Op::Maximum => choose::<Binary<ops::Maximum, T>>(variant),
        Op::And => choose::<Binary<ops::And, T>>(variant),
        Op::Or => choose::<Binary<ops::Or, T>>(variant),
        Op::Xor => choose::<Binary<ops::Xor, T>>(variant),
        Op::Equal => choose::<Binary<ops::Equal, T>>(variant),
        Op::NotEqual => choose::<Binary<ops::NotEqual, T>>(variant),
        Op::Less => choose::<Binary<ops::Less, T>>(variant),
        Op::LessEqual => choose::<Binary<ops::LessEqual, T>>(variant),
        Op::Greater => choose::<Binary<ops::Greater, T>>(variant),
        Op::GreaterEqual => choose::<Binary<ops::GreaterEqual, T>>(variant),
        Op::Negative => choose::<Unary<ops::Negative, T>>(variant),
        Op::Absolute => choose::<Unary<ops::Absolute, T>>(variant),
        Op::Sqrt => choose::<Unary<ops::Sqrt, T>>(variant),
        Op::Square => choose::<Unary<ops::Square, T>>(variant),
        Op::Not => choose::<Unary<ops::Not, T>>(variant),
        Op::Select => choose::<SelectLoop<T>>(variant),
        Op::Cast(_) => unreachable!("a cast has two dtypes"),
    }
}
