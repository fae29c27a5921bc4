//! Operations that only integers have: shifts, gcd and lcm, bit counts, wrapping powers.

use super::arithmetic::Arithmetic;
use super::ops::{BinaryOp, UnaryOp, op};
use super::{Binary, ElementwiseKernel, Unary, elementwise_kernel};
use crate::loops::variant::CpuVariant;
use crate::types::dtype::DType;
use crate::types::fp_flags::FpFlags;
use crate::types::op::table::Op;

/// The operations that only integers have.
pub(crate) trait IntegerOps: Arithmetic {
    fn left_shift(self, by: Self) -> Self;
    fn right_shift(self, by: Self) -> Self;
    fn gcd(self, other: Self) -> Self;
    fn lcm(self, other: Self) -> Self;
    fn count(self) -> u8;
    fn power(self, exponent: Self) -> Self;
    /// The flag of a negative exponent.
    fn power_flags(self, exponent: Self, _: Self) -> FpFlags;
}

macro_rules! integers {
    ($($T:ty as $Size:ty: $size:expr;)*) => {$(
        impl IntegerOps for $T {
            // Shifts by the width or more, or by a negative number, shift out every bit.
            #[inline(always)]
            fn left_shift(self, by: Self) -> Self {
                if (by as $Size) < <$T>::BITS as $Size { self.wrapping_shl(by as u32) } else { 0 }
            }
            #[inline(always)]
            fn right_shift(self, by: Self) -> Self {
                let inside = (by as $Size) < <$T>::BITS as $Size;
                self >> if inside { by as u32 } else { <$T>::BITS - 1 } >> (!inside as u32)
            }
            #[inline(always)]
            fn gcd(self, other: Self) -> Self {
                let (mut a, mut b) = ($size(self), $size(other));
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                a as $T
            }
            #[inline(always)]
            fn lcm(self, other: Self) -> Self {
                match self.gcd(other) as $Size {
                    0 => 0,
                    divisor => ($size(self) / divisor).wrapping_mul($size(other)) as $T,
                }
            }
            #[inline(always)]
            fn count(self) -> u8 {
                $size(self).count_ones() as u8
            }
            #[inline(always)]
            fn power(self, exponent: Self) -> Self {
                let (mut power, mut base, mut left) = (1 as $T, self, exponent);
                while left > 0 {
                    if left & 1 == 1 {
                        power = power.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    left >>= 1;
                }
                power
            }
            #[inline(always)]
            #[allow(unused_comparisons)] // Half of them cannot be below zero.
            fn power_flags(self, exponent: Self, _: Self) -> FpFlags {
                FpFlags::NEGATIVE_POWER.when(exponent < 0)
            }
        }
    )*};
}
integers! {
    i8 as u8: i8::unsigned_abs;
    i16 as u16: i16::unsigned_abs;
    i32 as u32: i32::unsigned_abs;
    i64 as u64: i64::unsigned_abs;
    u8 as u8: std::convert::identity;
    u16 as u16: std::convert::identity;
    u32 as u32: std::convert::identity;
    u64 as u64: std::convert::identity;
}

op!(BinaryOp LeftShift: IntegerOps(a, b) -> T, a.left_shift(b));
op!(BinaryOp RightShift: IntegerOps(a, b) -> T, a.right_shift(b));
op!(BinaryOp Gcd: IntegerOps(a, b) -> T, a.gcd(b));
op!(BinaryOp Lcm: IntegerOps(a, b) -> T, a.lcm(b));
op!(BinaryOp Power: IntegerOps(a, b) -> T, a.power(b), T::power_flags);
op!(UnaryOp BitwiseCount: IntegerOps(a) -> u8, a.count());

/// The kernel of an operation that only integer dtypes have.
pub(crate) fn kernel(op: Op, dtype: DType, variant: CpuVariant) -> Option<ElementwiseKernel> {
    match dtype {
        DType::Int8 => of::<i8>(op, variant),
        DType::Int16 => of::<i16>(op, variant),
        DType::Int32 => of::<i32>(op, variant),
        DType::Int64 => of::<i64>(op, variant),
        DType::UInt8 => of::<u8>(op, variant),
        DType::UInt16 => of::<u16>(op, variant),
        DType::UInt32 => of::<u32>(op, variant),
        DType::UInt64 => of::<u64>(op, variant),
        _ => None,
    }
}

fn of<T: IntegerOps>(op: Op, variant: CpuVariant) -> Option<ElementwiseKernel> {
    Some(match op {
        Op::LeftShift => elementwise_kernel::<Binary<LeftShift, T>>(variant),
        Op::RightShift => elementwise_kernel::<Binary<RightShift, T>>(variant),
        Op::Gcd => elementwise_kernel::<Binary<Gcd, T>>(variant),
        Op::Lcm => elementwise_kernel::<Binary<Lcm, T>>(variant),
        Op::Power => elementwise_kernel::<Binary<Power, T>>(variant),
        Op::BitwiseCount => elementwise_kernel::<Unary<BitwiseCount, T>>(variant),
        _ => return None,
    })
}
