//! The shapes of a loop, written once, and compiled for each CPU variant.
//!
//! Loops go over slices, not pointers: that is what the compiler turns into vector code.

use std::marker::PhantomData;

use super::Variant;
use super::arithmetic::{BinaryOp, UnaryOp};
use crate::element::{Bool, Element, typed, typed_mut};

/// A compiled loop: arguments, result, all of the same number of elements.
///
/// # Safety
/// Call it on a CPU that has its variant's instructions: any that [`super::kernel`] returns.
pub(crate) type Kernel = unsafe fn(&[&[u8]], &mut [u8]);

/// A loop that can be compiled for any CPU. Implementations are `inline(always)`: they are
/// compiled into each variant with that variant's instructions.
pub(crate) trait Loop {
    fn run(args: &[&[u8]], out: &mut [u8]);
}

/// A loop compiled for a variant.
pub(crate) fn choose<L: Loop>(variant: Variant) -> Kernel {
    match variant {
        #[cfg(target_arch = "x86_64")]
        Variant::Avx2 => avx2::<L>,
        _ => plain::<L>,
    }
}

fn plain<L: Loop>(args: &[&[u8]], out: &mut [u8]) {
    L::run(args, out);
}

// FMA serves `mul_add` alone: the compiler does not contract a product and a sum by itself.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<L: Loop>(args: &[&[u8]], out: &mut [u8]) {
    L::run(args, out);
}

/// One argument.
pub(crate) struct Unary<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: UnaryOp<T>> Loop for Unary<O, T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let out = typed_mut::<O::Out>(out);
        let a = &typed::<T>(args[0])[..out.len()];
        for (out, &a) in out.iter_mut().zip(a) {
            *out = O::apply(a);
        }
    }
}

/// Two arguments of the same dtype.
pub(crate) struct Binary<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: BinaryOp<T>> Loop for Binary<O, T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let out = typed_mut::<O::Out>(out);
        let (a, b) = (&typed::<T>(args[0])[..out.len()], &typed::<T>(args[1])[..out.len()]);
        for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *out = O::apply(a, b);
        }
    }
}

/// The second argument where the first is true, else the third.
pub(crate) struct SelectLoop<T>(PhantomData<T>);

impl<T: Element> Loop for SelectLoop<T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let out = typed_mut::<T>(out);
        let condition = &typed::<Bool>(args[0])[..out.len()];
        let (a, b) = (&typed::<T>(args[1])[..out.len()], &typed::<T>(args[2])[..out.len()]);
        for (((out, condition), &a), &b) in out.iter_mut().zip(condition).zip(a).zip(b) {
            *out = if condition.is_true() { a } else { b };
        }
    }
}
