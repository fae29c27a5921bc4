//! Products of floats, which cannot be split.

use std::marker::PhantomData;

use half::f16;
use num_complex::Complex;

use super::{ReduceRule, Splitting};
use crate::loops::elementwise::arithmetic::Arithmetic;
use crate::types::element::Element;

/// The product of floats, one by one.
///
/// In a run NumPy does not fuse the multiply-adds of complex numbers; in rows it does, except for
/// complex64 with a negative stride.
pub(crate) struct SequentialProduct<T, const FUSED: bool = true>(PhantomData<T>);

/// A factor, and the type that holds the product.
pub(crate) trait Factor: Arithmetic {
    type Wide: Element;
    fn widen(self) -> Self::Wide;
    fn times(wide: Self::Wide, by: Self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
}

impl<T: Factor, const FUSED: bool> ReduceRule for SequentialProduct<T, FUSED> {
    type Item = T;
    type State = T::Wide;
    const SPLITTING: Splitting = Splitting::Nowhere;
    const RAISES_CPU_FLAGS: bool = true;

    #[inline(always)]
    fn apply(acc: T, value: T) -> T {
        if FUSED { acc.multiply(value) } else { T::narrow(T::times(acc.widen(), value)) }
    }
    #[inline(always)]
    fn part(values: &[T], state: &mut [T::Wide]) {
        state[0] = values.iter().fold(state[0], |wide, &value| T::times(wide, value));
    }
    fn join(_: &mut [T::Wide], _: &[T::Wide]) {
        unreachable!("products are never split")
    }
    #[inline(always)]
    fn finish(_: T, state: &[T::Wide]) -> T {
        T::narrow(state[0])
    }
    #[inline(always)]
    fn run(acc: T, values: &[T]) -> T {
        T::narrow(values.iter().fold(acc.widen(), |wide, &value| T::times(wide, value)))
    }
    #[inline(always)]
    fn begin(acc: T, state: &mut [T::Wide]) {
        state[0] = acc.widen();
    }
}

impl Factor for f16 {
    type Wide = f32;
    #[inline(always)]
    fn widen(self) -> f32 {
        self.to_f32()
    }
    #[inline(always)]
    fn times(wide: f32, by: Self) -> f32 {
        wide * by.to_f32()
    }
    #[inline(always)]
    fn narrow(wide: f32) -> Self {
        f16::from_f32(wide)
    }
}

macro_rules! factors {
    ($($T:ty: $times:expr;)*) => {$(
        impl Factor for $T {
            type Wide = $T;
            #[inline(always)]
            fn widen(self) -> $T {
                self
            }
            #[inline(always)]
            fn times(wide: $T, by: $T) -> $T {
                $times(wide, by)
            }
            #[inline(always)]
            fn narrow(wide: $T) -> $T {
                wide
            }
        }
    )*};
}

factors! {
    f32: |a: f32, b: f32| a * b;
    f64: |a: f64, b: f64| a * b;
    Complex<f32>: |a: Complex<f32>, b: Complex<f32>| Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    Complex<f64>: |a: Complex<f64>, b: Complex<f64>| Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
