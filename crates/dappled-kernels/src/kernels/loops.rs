//! The shapes of a loop, written once, and compiled for each CPU variant.
//!
//! Loops go over slices, not pointers: that is what the compiler turns into vector code.

use std::marker::PhantomData;

use super::Variant;
use super::arithmetic::Arithmetic;
use super::ops;
use crate::Flags;
use crate::element::{Bool, Element, typed, typed_mut};

/// An operation of one argument, as a type.
pub(crate) trait UnaryOp<T: Element> {
    type Out: Element;
    /// Does `raises` ever find something?
    const RAISES: bool = false;
    /// Are there arguments that `apply` cannot do?
    const HAS_RARE: bool = false;
    fn apply(a: T) -> Self::Out;
    #[inline(always)]
    fn is_rare(_: T) -> bool {
        false
    }
    /// The result for such an argument: one at a time, after the others.
    fn rare(a: T) -> Self::Out {
        Self::apply(a)
    }
    /// Does this result signal nothing, whatever the argument was? A quick look at all of them
    /// saves a longer one.
    #[inline(always)]
    fn is_plain(_: Self::Out) -> bool {
        false
    }
    /// What NumPy would signal, for operations whose instructions do not.
    #[inline(always)]
    fn raises(_: T, _: Self::Out) -> Flags {
        Flags::NONE
    }
}

/// An operation of two arguments, as a type.
pub(crate) trait BinaryOp<T: Element> {
    type Out: Element;
    /// As for one argument.
    const RAISES: bool = false;
    /// As for one argument.
    const HAS_RARE: bool = false;
    fn apply(a: T, b: T) -> Self::Out;
    #[inline(always)]
    fn is_rare(_: T, _: T) -> bool {
        false
    }
    /// As for one argument.
    fn rare(a: T, b: T) -> Self::Out {
        Self::apply(a, b)
    }
    /// As for one argument.
    #[inline(always)]
    fn is_plain(_: Self::Out) -> bool {
        false
    }
    /// Do these arguments signal nothing, as a quick look at them tells?
    #[inline(always)]
    fn is_quiet(_: T, _: T) -> bool {
        false
    }
    /// As for one argument.
    #[inline(always)]
    fn raises(_: T, _: T, _: Self::Out) -> Flags {
        Flags::NONE
    }
}

/// A compiled loop: arguments, result. Those of operations, where all have the same number of
/// elements, return what they found by comparing values; what instructions raise stays in
/// [`super::status`].
///
/// # Safety
/// Call it on a CPU that has its variant's instructions: any that [`super::kernel`] returns.
pub(crate) type Kernel<S = ()> = unsafe fn(&[&[u8]], &mut [u8]) -> S;

/// A loop that can be compiled for any CPU. Implementations are `inline(always)`: they are
/// compiled into each variant with that variant's instructions.
pub(crate) trait Loop<S = ()> {
    fn run(args: &[&[u8]], out: &mut [u8]) -> S;
}

/// A loop compiled for a variant.
pub(crate) fn choose<L: Loop>(variant: Variant) -> Kernel {
    compiled::<L, ()>(variant)
}

/// An operation's loop compiled for a variant.
pub(crate) fn operation<L: Loop<Flags>>(variant: Variant) -> Kernel<Flags> {
    compiled::<L, Flags>(variant)
}

/// One that calls a library for each element: newer instructions are no use to it.
pub(crate) fn library<L: Loop<Flags>>(_: Variant) -> Kernel<Flags> {
    compiled::<L, Flags>(Variant::Plain)
}

fn compiled<L: Loop<S>, S>(variant: Variant) -> Kernel<S> {
    match variant {
        #[cfg(target_arch = "x86_64")]
        Variant::Avx512 => avx512::<L, S>,
        #[cfg(target_arch = "x86_64")]
        Variant::Avx2 => avx2::<L, S>,
        _ => plain::<L, S>,
    }
}

fn plain<L: Loop<S>, S>(args: &[&[u8]], out: &mut [u8]) -> S {
    L::run(args, out)
}

// FMA serves `mul_add` alone: the compiler does not contract a product and a sum by itself.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<L: Loop<S>, S>(args: &[&[u8]], out: &mut [u8]) -> S {
    L::run(args, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
fn avx512<L: Loop<S>, S>(args: &[&[u8]], out: &mut [u8]) -> S {
    L::run(args, out)
}

/// One argument.
pub(crate) struct Unary<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: UnaryOp<T>> Loop<Flags> for Unary<O, T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) -> Flags {
        let out = typed_mut::<O::Out>(out);
        let a = &typed::<T>(args[0])[..out.len()];
        for (out, &a) in out.iter_mut().zip(a) {
            *out = O::apply(a);
        }
        if O::HAS_RARE && a.iter().fold(false, |any, &a| any | O::is_rare(a)) {
            let rare = out.iter_mut().zip(a).filter(|&(_, &a)| O::is_rare(a));
            rare.for_each(|(out, &a)| *out = O::rare(a));
        }
        let mut flags = Flags::NONE;
        if O::RAISES && !out.iter().fold(true, |all, &out| all & O::is_plain(out)) {
            for (&out, &a) in out.iter().zip(a) {
                flags |= O::raises(a, out);
            }
        }
        flags
    }
}

/// Two arguments of the same dtype.
pub(crate) struct Binary<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: BinaryOp<T>> Loop<Flags> for Binary<O, T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) -> Flags {
        let out = typed_mut::<O::Out>(out);
        let (a, b) = (&typed::<T>(args[0])[..out.len()], &typed::<T>(args[1])[..out.len()]);
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

impl<T: Arithmetic> Loop<Flags> for AbsoluteLoop<T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) -> Flags {
        T::absolutes(typed(args[0]), typed_mut(out));
        Flags::NONE
    }
}

/// Quotients, rounded down: of integers by one divisor without dividing.
pub(crate) struct FloorDivideLoop<T>(PhantomData<T>);

impl<T: Arithmetic> Loop<Flags> for FloorDivideLoop<T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) -> Flags {
        if T::DTYPE.is_integral()
            && let [by, others @ ..] = typed::<T>(args[1])
            && others.iter().fold(true, |all, &other| all & by.equal(other))
            && T::floor_divided(typed(args[0]), *by, typed_mut(out))
        {
            return Flags::NONE;
        }
        Binary::<ops::FloorDivide, T>::run(args, out)
    }
}

/// The second argument where the first is true, else the third.
pub(crate) struct SelectLoop<T>(PhantomData<T>);

impl<T: Element> Loop<Flags> for SelectLoop<T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) -> Flags {
        let out = typed_mut::<T>(out);
        let condition = &typed::<Bool>(args[0])[..out.len()];
        let (a, b) = (&typed::<T>(args[1])[..out.len()], &typed::<T>(args[2])[..out.len()]);
        for (((out, condition), &a), &b) in out.iter_mut().zip(condition).zip(a).zip(b) {
            *out = if condition.is_true() { a } else { b };
        }
        Flags::NONE
    }
}
