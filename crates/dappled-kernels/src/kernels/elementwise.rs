//! The loops of operations, element by element, written once and compiled for each CPU variant.

use std::marker::PhantomData;

use super::Variant;
use super::arithmetic::Arithmetic;
use super::ops::{self, BinaryOp, UnaryOp};
use crate::Flags;
use crate::element::{Bool, Element, some, some_mut};

/// An operation's compiled loop: three arguments, of which those that it does not have are empty,
/// and its result, all of the same number of elements. It returns what it found by comparing
/// values; what instructions raise stays in [`super::status`].
///
/// Each argument is a parameter: only so does the compiler know that the result is none of them,
/// without which it makes no vectors of complex numbers.
///
/// # Safety
/// Call it on a CPU that has its variant's instructions: any that [`super::kernel`] returns.
pub(crate) type Operation = unsafe fn(&[u8], &[u8], &[u8], &mut [u8]) -> Flags;

/// A loop over elements, of which there are some, that can be compiled for any CPU. Implementations are `inline(always)`:
/// they are compiled into each variant with that variant's instructions.
pub(crate) trait Elementwise {
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> Flags;
}

/// An operation's loop compiled for a variant.
pub(crate) fn operation<L: Elementwise>(variant: Variant) -> Operation {
    match variant {
        #[cfg(target_arch = "x86_64")]
        Variant::Avx512 => avx512::<L>,
        #[cfg(target_arch = "x86_64")]
        Variant::Avx2 => avx2::<L>,
        _ => plain::<L>,
    }
}

/// One that calls a library for each element: newer instructions are no use to it.
pub(crate) fn library<L: Elementwise>(_: Variant) -> Operation {
    plain::<L>
}

fn plain<L: Elementwise>(a: &[u8], b: &[u8], c: &[u8], out: &mut [u8]) -> Flags {
    if out.is_empty() { Flags::NONE } else { L::run([a, b, c], out) }
}

// FMA serves `mul_add` alone: the compiler does not contract a product and a sum by itself.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<L: Elementwise>(a: &[u8], b: &[u8], c: &[u8], out: &mut [u8]) -> Flags {
    if out.is_empty() { Flags::NONE } else { L::run([a, b, c], out) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
fn avx512<L: Elementwise>(a: &[u8], b: &[u8], c: &[u8], out: &mut [u8]) -> Flags {
    if out.is_empty() { Flags::NONE } else { L::run([a, b, c], out) }
}

/// One argument.
pub(crate) struct Unary<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: UnaryOp<T>> Elementwise for Unary<O, T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> Flags {
        let out = some_mut::<O::Out>(out);
        let a = &some::<T>(args[0])[..out.len()];
        for (out, &a) in out.iter_mut().zip(a) {
            *out = O::apply(a);
        }
        if O::HAS_RARE && a.iter().fold(false, |any, &a| any | O::is_rare(a)) {
            let rare = out.iter_mut().zip(a).filter(|&(_, &a)| O::is_rare(a));
            rare.for_each(|(out, &a)| *out = O::rare(a));
        }
        let mut flags = Flags::NONE;
        if O::RAISES
            && !out.iter().fold(true, |all, &out| all & O::is_plain(out))
            && !a.iter().fold(true, |all, &a| all & O::is_quiet(a))
        {
            for (&out, &a) in out.iter().zip(a) {
                flags |= O::raises(a, out);
            }
        }
        flags
    }
}

/// Two arguments of the same dtype.
pub(crate) struct Binary<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: BinaryOp<T>> Elementwise for Binary<O, T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> Flags {
        let out = some_mut::<O::Out>(out);
        let (a, b) = (&some::<T>(args[0])[..out.len()], &some::<T>(args[1])[..out.len()]);
        for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *out = O::apply(a, b);
        }
        let both = || a.iter().zip(b);
        if O::HAS_RARE && both().fold(false, |any, (&a, &b)| any | O::is_rare(a, b)) {
            let rare = out.iter_mut().zip(both()).filter(|&(_, (&a, &b))| O::is_rare(a, b));
            rare.for_each(|(out, (&a, &b))| *out = O::rare(a, b));
        }
        let mut flags = Flags::NONE;
        if O::RAISES
            && !out.iter().fold(true, |all, &out| all & O::is_plain(out))
            && !both().fold(true, |all, (&a, &b)| all & O::is_quiet(a, b))
        {
            for ((&out, &a), &b) in out.iter().zip(a).zip(b) {
                flags |= O::raises(a, b, out);
            }
        }
        flags
    }
}

/// Absolute values.
pub(crate) struct AbsoluteLoop<T>(PhantomData<T>);

impl<T: Arithmetic> Elementwise for AbsoluteLoop<T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> Flags {
        T::absolutes(some(args[0]), some_mut(out));
        Flags::NONE
    }
}

/// Quotients, rounded down: of integers by one divisor without dividing.
pub(crate) struct FloorDivideLoop<T>(PhantomData<T>);

impl<T: Arithmetic> Elementwise for FloorDivideLoop<T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> Flags {
        if T::DTYPE.is_integral()
            && let [by, others @ ..] = some::<T>(args[1])
            && others.iter().fold(true, |all, &other| all & by.equal(other))
            && T::floor_divided(some(args[0]), *by, some_mut(out))
        {
            return Flags::NONE;
        }
        Binary::<ops::FloorDivide, T>::run(args, out)
    }
}

/// The second argument where the first is true, else the third.
pub(crate) struct SelectLoop<T>(PhantomData<T>);

impl<T: Element> Elementwise for SelectLoop<T> {
    #[inline(always)]
    fn run(args: [&[u8]; 3], out: &mut [u8]) -> Flags {
        let out = some_mut::<T>(out);
        let condition = &some::<Bool>(args[0])[..out.len()];
        let (a, b) = (&some::<T>(args[1])[..out.len()], &some::<T>(args[2])[..out.len()]);
        for (((out, condition), &a), &b) in out.iter_mut().zip(condition).zip(a).zip(b) {
            *out = if condition.is_true() { a } else { b };
        }
        Flags::NONE
    }
}
