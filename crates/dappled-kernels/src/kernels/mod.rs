//! One precompiled loop for each operation and dtype, chosen for the CPU at hand.

mod arithmetic;
mod cast;
mod complex;
mod float;
mod float16;
mod integer;
mod loops;

use self::arithmetic::{ops, *};
use self::cast::Cast;
use self::loops::{SelectLoop, choose};
use crate::element::with_element;
use crate::{DType, Op};

pub(crate) use self::loops::Kernel;

/// The loop of an operation in a dtype for which [`Op::has_loop`] is true.
pub(crate) fn kernel(op: Op, dtype: DType) -> Kernel {
    match op {
        Op::Cast(to) => cast_kernel(dtype, to),
        _ => with_element!(dtype, T => plain_kernel::<T>(op)),
    }
}

fn cast_kernel(from: DType, to: DType) -> Kernel {
    with_element!(from, From => with_element!(to, To => choose::<Unary<Cast<To>, From>>()))
}

fn plain_kernel<T: Arithmetic>(op: Op) -> Kernel {
    match op {
        Op::Add => choose::<Binary<ops::Add, T>>(),
        Op::Subtract => choose::<Binary<ops::Subtract, T>>(),
        Op::Multiply => choose::<Binary<ops::Multiply, T>>(),
        Op::Divide => choose::<Binary<ops::Divide, T>>(),
        Op::FloorDivide => choose::<Binary<ops::FloorDivide, T>>(),
        Op::Remainder => choose::<Binary<ops::Remainder, T>>(),
        Op::Minimum => choose::<Binary<ops::Minimum, T>>(),
        Op::Maximum => choose::<Binary<ops::Maximum, T>>(),
        Op::And => choose::<Binary<ops::And, T>>(),
        Op::Or => choose::<Binary<ops::Or, T>>(),
        Op::Xor => choose::<Binary<ops::Xor, T>>(),
        Op::Equal => choose::<Binary<ops::Equal, T>>(),
        Op::NotEqual => choose::<Binary<ops::NotEqual, T>>(),
        Op::Less => choose::<Binary<ops::Less, T>>(),
        Op::LessEqual => choose::<Binary<ops::LessEqual, T>>(),
        Op::Greater => choose::<Binary<ops::Greater, T>>(),
        Op::GreaterEqual => choose::<Binary<ops::GreaterEqual, T>>(),
        Op::Negative => choose::<Unary<ops::Negative, T>>(),
        Op::Absolute => choose::<Unary<ops::Absolute, T>>(),
        Op::Sqrt => choose::<Unary<ops::Sqrt, T>>(),
        Op::Square => choose::<Unary<ops::Square, T>>(),
        Op::Not => choose::<Unary<ops::Not, T>>(),
        Op::Select => choose::<SelectLoop<T>>(),
        Op::Cast(_) => unreachable!("a cast has two dtypes"),
    }
}
