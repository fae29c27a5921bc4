//! Element-wise loops, written once and compiled for each CPU variant.
//!
//! `arithmetic` has the operations on one element, implemented in `integer`, `float`, `float16` and
//! `complex`; `ops` wraps them as types for generic loops. `cast`, `integer_ops`, `complex_parts`
//! and `transcendental*` have the operations of some dtypes only. Input: up to three argument
//! slices. Output: the result slice and the floating-point flags.

pub(crate) mod arithmetic;
#[allow(unsafe_code)]
pub(crate) mod cast;
pub(crate) mod complex;
pub(crate) mod complex_parts;
pub(crate) mod constant_divisor;
pub(crate) mod float;
pub(crate) mod float16;
pub(crate) mod integer;
pub(crate) mod integer_division;
pub(crate) mod integer_ops;
pub(crate) mod ops;
pub(crate) mod transcendental;
pub(crate) mod transcendental_float;
pub(crate) mod transcendental_ops;

use std::marker::PhantomData;

use self::arithmetic::Arithmetic;
use self::ops::{BinaryOp, UnaryOp};
use super::variant::CpuVariant;
use crate::types::element::{Bool, Element, typed_nonempty, typed_nonempty_mut};
use crate::types::fp_flags::FpFlags;

/// The compiled loop of an operation: three arguments, of which unused ones are empty, and the
/// result.
///
/// All have the same number of elements. Returns flags derived from values; flags that instructions
/// raise stay in [`super::fp::status`]. Each argument is a separate parameter, because only then
/// the compiler knows that the result aliases none of them and vectorises loops of complex numbers.
///
/// # Safety
/// The CPU must support the instructions of the kernel's variant, as it does for any kernel that
/// [`super::kernel`] returns.
#[allow(unsafe_code)]
pub(crate) type ElementwiseKernel = unsafe fn(&[u8], &[u8], &[u8], &mut [u8]) -> FpFlags;

/// A loop over at least one element that can be compiled for any CPU variant.
///
/// Implementations are `inline(always)`, so that each variant compiles them with its own
/// instructions.
pub(crate) trait ElementwiseLoop {
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> FpFlags;
}

/// The loop compiled for a variant.
pub(crate) fn elementwise_kernel<L: ElementwiseLoop>(variant: CpuVariant) -> ElementwiseKernel {
    match variant {
        #[cfg(target_arch = "x86_64")]
        CpuVariant::Avx512 => avx512::<L>,
        #[cfg(target_arch = "x86_64")]
        CpuVariant::Avx2 => avx2::<L>,
        _ => plain::<L>,
    }
}

/// The loop of an operation that calls a library function per element, which gains nothing from
/// newer instructions.
pub(crate) fn libm_kernel<L: ElementwiseLoop>(_: CpuVariant) -> ElementwiseKernel {
    plain::<L>
}

fn plain<L: ElementwiseLoop>(a: &[u8], b: &[u8], c: &[u8], out: &mut [u8]) -> FpFlags {
    if out.is_empty() { FpFlags::NONE } else { L::run([a, b, c], out) }
}

// FMA affects `mul_add` only: the compiler does not contract a product and a sum by itself.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<L: ElementwiseLoop>(a: &[u8], b: &[u8], c: &[u8], out: &mut [u8]) -> FpFlags {
    if out.is_empty() { FpFlags::NONE } else { L::run([a, b, c], out) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
fn avx512<L: ElementwiseLoop>(a: &[u8], b: &[u8], c: &[u8], out: &mut [u8]) -> FpFlags {
    if out.is_empty() { FpFlags::NONE } else { L::run([a, b, c], out) }
}

/// The loop of an operation with one argument.
pub(crate) struct Unary<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: UnaryOp<T>> ElementwiseLoop for Unary<O, T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> FpFlags {
        let out = typed_nonempty_mut::<O::Out>(out);
        let a = &typed_nonempty::<T>(args[0])[..out.len()];
        for (out, &a) in out.iter_mut().zip(a) {
            *out = O::apply(a);
        }
        if O::HAS_SPECIAL_CASES && a.iter().fold(false, |any, &a| any | O::is_special(a)) {
            let special = out.iter_mut().zip(a).filter(|&(_, &a)| O::is_special(a));
            special.for_each(|(out, &a)| *out = O::special(a));
        }
        let mut flags = FpFlags::NONE;
        if O::MAY_RAISE
            && !out.iter().fold(true, |all, &out| all & O::is_flagless_result(out))
            && !a.iter().fold(true, |all, &a| all & O::is_flagless_argument(a))
        {
            for (&out, &a) in out.iter().zip(a) {
                flags |= O::flags(a, out);
            }
        }
        flags
    }
}

/// The loop of an operation with two arguments of one dtype.
pub(crate) struct Binary<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: BinaryOp<T>> ElementwiseLoop for Binary<O, T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> FpFlags {
        let out = typed_nonempty_mut::<O::Out>(out);
        let (a, b) = (
            &typed_nonempty::<T>(args[0])[..out.len()],
            &typed_nonempty::<T>(args[1])[..out.len()],
        );
        for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *out = O::apply(a, b);
        }
        let both = || a.iter().zip(b);
        if O::HAS_SPECIAL_CASES && both().fold(false, |any, (&a, &b)| any | O::is_special(a, b)) {
            let special = out.iter_mut().zip(both()).filter(|&(_, (&a, &b))| O::is_special(a, b));
            special.for_each(|(out, (&a, &b))| *out = O::special(a, b));
        }
        let mut flags = FpFlags::NONE;
        if O::MAY_RAISE
            && !out.iter().fold(true, |all, &out| all & O::is_flagless_result(out))
            && !both().fold(true, |all, (&a, &b)| all & O::is_flagless_argument(a, b))
        {
            for ((&out, &a), &b) in out.iter().zip(a).zip(b) {
                flags |= O::flags(a, b, out);
            }
        }
        flags
    }
}

/// The loop of absolute values.
pub(crate) struct AbsoluteLoop<T>(PhantomData<T>);

impl<T: Arithmetic> ElementwiseLoop for AbsoluteLoop<T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> FpFlags {
        T::absolute_all(typed_nonempty(args[0]), typed_nonempty_mut(out));
        FpFlags::NONE
    }
}

/// The loop of floor division, which multiplies by a reciprocal if all divisors are equal.
pub(crate) struct FloorDivideLoop<T>(PhantomData<T>);

impl<T: Arithmetic> ElementwiseLoop for FloorDivideLoop<T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> FpFlags {
        if T::DTYPE.is_integral()
            && let [by, others @ ..] = typed_nonempty::<T>(args[1])
            && others.iter().fold(true, |all, &other| all & by.equal(other))
            && T::floor_divide_all(typed_nonempty(args[0]), *by, typed_nonempty_mut(out))
        {
            return FpFlags::NONE;
        }
        Binary::<ops::FloorDivide, T>::run(args, out)
    }
}

/// The loop of select: the second argument where the first is true, else the third.
pub(crate) struct SelectLoop<T>(PhantomData<T>);

impl<T: Element> ElementwiseLoop for SelectLoop<T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> FpFlags {
        let out = typed_nonempty_mut::<T>(out);
        let condition = &typed_nonempty::<Bool>(args[0])[..out.len()];
        let (a, b) = (
            &typed_nonempty::<T>(args[1])[..out.len()],
            &typed_nonempty::<T>(args[2])[..out.len()],
        );
        for (((out, condition), &a), &b) in out.iter_mut().zip(condition).zip(a).zip(b) {
            *out = if condition.is_true() { a } else { b };
        }
        FpFlags::NONE
    }
}
