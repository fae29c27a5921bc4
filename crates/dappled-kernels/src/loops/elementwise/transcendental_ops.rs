//! The loops of functions that only real floats have, with their flags.

use half::f16;

use super::ops::{BinaryOp, UnaryOp, op};
use super::transcendental::Transcendental;
use super::{Binary, ElementwiseKernel, Unary, elementwise_kernel, libm_kernel};
use crate::loops::fp::exceptions::*;
use crate::loops::variant::CpuVariant;
use crate::types::dtype::DType;
use crate::types::element::Bool;
use crate::types::op::table::Op;

op!(UnaryOp Exp: Transcendental(a) -> T, a.exp(), exp_flags, unless is_normal);
op!(UnaryOp Exp2: Transcendental(a) -> T, a.exp2(), exp2_flags, unless is_normal);
op!(UnaryOp Expm1: Transcendental(a) -> T, a.expm1(), overflow_flags, unless is_finite);
op!(UnaryOp Log: Transcendental(a) -> T, a.log(), log_flags, unless is_finite, if T::is_special_log, T::special_log);
op!(UnaryOp Log2: Transcendental(a) -> T, a.log2(), log_flags, unless is_finite, if T::is_special_log, T::special_log2);
op!(UnaryOp Log10: Transcendental(a) -> T, a.log10(), log_flags, unless is_finite, if T::is_special_log, T::special_log10);
op!(UnaryOp Log1p: Transcendental(a) -> T, a.log1p(), log_flags, unless is_finite);
op!(UnaryOp Sin: Transcendental(a) -> T, a.sin(), domain_flags, unless is_finite, if T::is_large_angle, T::large_angle_sin);
op!(UnaryOp Cos: Transcendental(a) -> T, a.cos(), domain_flags, unless is_finite, if T::is_large_angle, T::large_angle_cos);
op!(UnaryOp Tan: Transcendental(a) -> T, a.tan(), domain_flags, unless is_finite, if T::is_large_angle, T::large_angle_tan);
op!(UnaryOp Arcsin: Transcendental(a) -> T, a.arcsin(), domain_flags, unless is_finite);
op!(UnaryOp Arccos: Transcendental(a) -> T, a.arccos(), domain_flags, unless is_finite);
op!(UnaryOp Arctan: Transcendental(a) -> T, a.arctan());
op!(UnaryOp Sinh: Transcendental(a) -> T, a.sinh(), overflow_flags, unless is_finite);
op!(UnaryOp Cosh: Transcendental(a) -> T, a.cosh(), overflow_flags, unless is_finite);
op!(UnaryOp Tanh: Transcendental(a) -> T, a.tanh());
op!(UnaryOp Arcsinh: Transcendental(a) -> T, a.arcsinh());
op!(UnaryOp Arccosh: Transcendental(a) -> T, a.arccosh(), domain_flags, unless is_finite);
op!(UnaryOp Arctanh: Transcendental(a) -> T, a.arctanh(), log_flags, unless is_finite);
op!(UnaryOp Cbrt: Transcendental(a) -> T, a.cbrt());
op!(UnaryOp Fabs: Transcendental(a) -> T, a.fabs());
op!(UnaryOp Deg2Rad: Transcendental(a) -> T, a.deg2rad());
op!(UnaryOp Rad2Deg: Transcendental(a) -> T, a.rad2deg());
op!(UnaryOp Spacing: Transcendental(a) -> T, a.spacing(), T::spacing_flags);
op!(UnaryOp Signbit: Transcendental(a) -> Bool, a.signbit().into());
op!(BinaryOp Copysign: Transcendental(a, b) -> T, a.copysign(b));
op!(BinaryOp Heaviside: Transcendental(a, b) -> T, a.heaviside(b));
op!(BinaryOp Nextafter: Transcendental(a, b) -> T, a.nextafter(b), nextafter_flags, unless is_normal);
op!(BinaryOp Power: Transcendental(a, b) -> T, a.power(b), power_flags, unless is_normal, if T::is_special_power, T::special_power);
op!(BinaryOp Hypot: Transcendental(a, b) -> T, a.hypot(b), hypot_flags, unless is_finite);
op!(BinaryOp Arctan2: Transcendental(a, b) -> T, a.arctan2(b), arctan2_flags, unless is_normal);
op!(BinaryOp Logaddexp: Transcendental(a, b) -> T, a.logaddexp(b), |a, b, out| logaddexp_flags(a, b, out, [87.33654, 708.3964185322641]));
op!(BinaryOp Logaddexp2: Transcendental(a, b) -> T, a.logaddexp2(b), |a, b, out| logaddexp_flags(a, b, out, [126.0, 1022.0]));

/// The kernel of a function that only float dtypes have.
pub(crate) fn kernel(op: Op, dtype: DType, variant: CpuVariant) -> Option<ElementwiseKernel> {
    match dtype {
        DType::Float16 => of::<f16>(op, variant),
        DType::Float32 => of::<f32>(op, variant),
        DType::Float64 => of::<f64>(op, variant),
        _ => None,
    }
}

fn of<T: Transcendental>(op: Op, variant: CpuVariant) -> Option<ElementwiseKernel> {
    Some(match op {
        Op::Exp => elementwise_kernel::<Unary<Exp, T>>(variant),
        Op::Exp2 => elementwise_kernel::<Unary<Exp2, T>>(variant),
        Op::Expm1 => elementwise_kernel::<Unary<Expm1, T>>(variant),
        Op::Log => elementwise_kernel::<Unary<Log, T>>(variant),
        Op::Log2 => elementwise_kernel::<Unary<Log2, T>>(variant),
        Op::Log10 => elementwise_kernel::<Unary<Log10, T>>(variant),
        Op::Log1p => libm_kernel::<Unary<Log1p, T>>(variant),
        Op::Sin => elementwise_kernel::<Unary<Sin, T>>(variant),
        Op::Cos => elementwise_kernel::<Unary<Cos, T>>(variant),
        Op::Tan => elementwise_kernel::<Unary<Tan, T>>(variant),
        Op::Arcsin => libm_kernel::<Unary<Arcsin, T>>(variant),
        Op::Arccos => libm_kernel::<Unary<Arccos, T>>(variant),
        Op::Arctan => libm_kernel::<Unary<Arctan, T>>(variant),
        Op::Sinh => libm_kernel::<Unary<Sinh, T>>(variant),
        Op::Cosh => libm_kernel::<Unary<Cosh, T>>(variant),
        Op::Tanh => elementwise_kernel::<Unary<Tanh, T>>(variant),
        Op::Arcsinh => libm_kernel::<Unary<Arcsinh, T>>(variant),
        Op::Arccosh => libm_kernel::<Unary<Arccosh, T>>(variant),
        Op::Arctanh => libm_kernel::<Unary<Arctanh, T>>(variant),
        Op::Cbrt => libm_kernel::<Unary<Cbrt, T>>(variant),
        Op::Fabs => elementwise_kernel::<Unary<Fabs, T>>(variant),
        Op::Deg2Rad => elementwise_kernel::<Unary<Deg2Rad, T>>(variant),
        Op::Rad2Deg => elementwise_kernel::<Unary<Rad2Deg, T>>(variant),
        Op::Spacing => libm_kernel::<Unary<Spacing, T>>(variant),
        Op::Signbit => elementwise_kernel::<Unary<Signbit, T>>(variant),
        Op::Copysign => elementwise_kernel::<Binary<Copysign, T>>(variant),
        Op::Heaviside => elementwise_kernel::<Binary<Heaviside, T>>(variant),
        Op::Nextafter => libm_kernel::<Binary<Nextafter, T>>(variant),
        Op::Power | Op::FloatPower => elementwise_kernel::<Binary<Power, T>>(variant),
        Op::Hypot => libm_kernel::<Binary<Hypot, T>>(variant),
        Op::Arctan2 => libm_kernel::<Binary<Arctan2, T>>(variant),
        Op::Logaddexp => libm_kernel::<Binary<Logaddexp, T>>(variant),
        Op::Logaddexp2 => libm_kernel::<Binary<Logaddexp2, T>>(variant),
        _ => return None,
    })
}
