//! The loops of the functions that only floats have, with what they signal.

use half::f16;

use super::Variant;
use super::elementwise::{Binary, Operation, Unary, library, operation};
use super::function::Function;
use super::ops::{BinaryOp, UnaryOp, op};
use super::signals::*;
use crate::element::Bool;
use crate::{DType, Op};

op!(UnaryOp Exp: Function(a) -> T, a.exp(), decaying, unless is_normal);
op!(UnaryOp Exp2: Function(a) -> T, a.exp2(), decaying_by_two, unless is_normal);
op!(UnaryOp Expm1: Function(a) -> T, a.expm1(), growing, unless is_finite);
op!(UnaryOp Log: Function(a) -> T, a.log(), with_pole, unless is_finite, if T::is_rare_log, T::rare_log);
op!(UnaryOp Log2: Function(a) -> T, a.log2(), with_pole, unless is_finite, if T::is_rare_log, T::rare_log2);
op!(UnaryOp Log10: Function(a) -> T, a.log10(), with_pole, unless is_finite, if T::is_rare_log, T::rare_log10);
op!(UnaryOp Log1p: Function(a) -> T, a.log1p(), with_pole, unless is_finite);
op!(UnaryOp Sin: Function(a) -> T, a.sin(), bounded, unless is_finite, if T::is_far, T::far_sin);
op!(UnaryOp Cos: Function(a) -> T, a.cos(), bounded, unless is_finite, if T::is_far, T::far_cos);
op!(UnaryOp Tan: Function(a) -> T, a.tan(), bounded, unless is_finite, if T::is_far, T::far_tan);
op!(UnaryOp Arcsin: Function(a) -> T, a.arcsin(), bounded, unless is_finite);
op!(UnaryOp Arccos: Function(a) -> T, a.arccos(), bounded, unless is_finite);
op!(UnaryOp Arctan: Function(a) -> T, a.arctan());
op!(UnaryOp Sinh: Function(a) -> T, a.sinh(), growing, unless is_finite);
op!(UnaryOp Cosh: Function(a) -> T, a.cosh(), growing, unless is_finite);
op!(UnaryOp Tanh: Function(a) -> T, a.tanh());
op!(UnaryOp Arcsinh: Function(a) -> T, a.arcsinh());
op!(UnaryOp Arccosh: Function(a) -> T, a.arccosh(), bounded, unless is_finite);
op!(UnaryOp Arctanh: Function(a) -> T, a.arctanh(), with_pole, unless is_finite);
op!(UnaryOp Cbrt: Function(a) -> T, a.cbrt());
op!(UnaryOp Fabs: Function(a) -> T, a.fabs());
op!(UnaryOp Deg2Rad: Function(a) -> T, a.deg2rad());
op!(UnaryOp Rad2Deg: Function(a) -> T, a.rad2deg());
op!(UnaryOp Spacing: Function(a) -> T, a.spacing(), T::spacing_raises);
op!(UnaryOp Signbit: Function(a) -> Bool, a.signbit().into());
op!(BinaryOp Copysign: Function(a, b) -> T, a.copysign(b));
op!(BinaryOp Heaviside: Function(a, b) -> T, a.heaviside(b));
op!(BinaryOp Nextafter: Function(a, b) -> T, a.nextafter(b), next, unless is_normal);
op!(BinaryOp Power: Function(a, b) -> T, a.power(b), powers, unless is_normal, if T::is_rare_power, T::rare_power);
op!(BinaryOp Hypot: Function(a, b) -> T, a.hypot(b), lengths, unless is_finite);
op!(BinaryOp Arctan2: Function(a, b) -> T, a.arctan2(b), angles, unless is_normal);
op!(BinaryOp Logaddexp: Function(a, b) -> T, a.logaddexp(b), |a, b, out| log_sums(a, b, out, [87.33654, 708.3964185322641]));
op!(BinaryOp Logaddexp2: Function(a, b) -> T, a.logaddexp2(b), |a, b, out| log_sums(a, b, out, [126.0, 1022.0]));

/// The loop of such an operation, in a float dtype.
pub(crate) fn kernel(op: Op, dtype: DType, variant: Variant) -> Option<Operation> {
    match dtype {
        DType::Float16 => of::<f16>(op, variant),
        DType::Float32 => of::<f32>(op, variant),
        DType::Float64 => of::<f64>(op, variant),
        _ => None,
    }
}

fn of<T: Function>(op: Op, variant: Variant) -> Option<Operation> {
    Some(match op {
        Op::Exp => operation::<Unary<Exp, T>>(variant),
        Op::Exp2 => operation::<Unary<Exp2, T>>(variant),
        Op::Expm1 => operation::<Unary<Expm1, T>>(variant),
        Op::Log => operation::<Unary<Log, T>>(variant),
        Op::Log2 => operation::<Unary<Log2, T>>(variant),
        Op::Log10 => operation::<Unary<Log10, T>>(variant),
        Op::Log1p => library::<Unary<Log1p, T>>(variant),
        Op::Sin => operation::<Unary<Sin, T>>(variant),
        Op::Cos => operation::<Unary<Cos, T>>(variant),
        Op::Tan => operation::<Unary<Tan, T>>(variant),
        Op::Arcsin => library::<Unary<Arcsin, T>>(variant),
        Op::Arccos => library::<Unary<Arccos, T>>(variant),
        Op::Arctan => library::<Unary<Arctan, T>>(variant),
        Op::Sinh => library::<Unary<Sinh, T>>(variant),
        Op::Cosh => library::<Unary<Cosh, T>>(variant),
        Op::Tanh => operation::<Unary<Tanh, T>>(variant),
        Op::Arcsinh => library::<Unary<Arcsinh, T>>(variant),
        Op::Arccosh => library::<Unary<Arccosh, T>>(variant),
        Op::Arctanh => library::<Unary<Arctanh, T>>(variant),
        Op::Cbrt => library::<Unary<Cbrt, T>>(variant),
        Op::Fabs => operation::<Unary<Fabs, T>>(variant),
        Op::Deg2Rad => operation::<Unary<Deg2Rad, T>>(variant),
        Op::Rad2Deg => operation::<Unary<Rad2Deg, T>>(variant),
        Op::Spacing => library::<Unary<Spacing, T>>(variant),
        Op::Signbit => operation::<Unary<Signbit, T>>(variant),
        Op::Copysign => operation::<Binary<Copysign, T>>(variant),
        Op::Heaviside => operation::<Binary<Heaviside, T>>(variant),
        Op::Nextafter => library::<Binary<Nextafter, T>>(variant),
        Op::Power | Op::FloatPower => operation::<Binary<Power, T>>(variant),
        Op::Hypot => library::<Binary<Hypot, T>>(variant),
        Op::Arctan2 => library::<Binary<Arctan2, T>>(variant),
        Op::Logaddexp => library::<Binary<Logaddexp, T>>(variant),
        Op::Logaddexp2 => library::<Binary<Logaddexp2, T>>(variant),
        _ => return None,
    })
}
