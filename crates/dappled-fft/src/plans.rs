//! Plans of transforms, made once and kept while they are used.

use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use dappled_base::memory::expect_room;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftNum, FftPlanner};

use crate::Direction;

/// Plans that are kept: those of a transform over several axes both ways, and of a few others. Each
/// has tables as long as its lines.
const KEPT: usize = 24;

/// Bytes for each element of a line that a plan needs at most: tables for twice the length, rounded up
/// to a power of two, where the length is prime. Its maker does not ask whether it gets them.
const NEEDED: usize = 128;

/// The real numbers that have transforms.
pub trait Float: FftNum + Pod + Default {
    /// The plans in use.
    fn plans() -> &'static Plans<Self>;
    /// The nearest number.
    fn of(value: f64) -> Self;
}

impl Float for f32 {
    fn plans() -> &'static Plans<Self> {
        static PLANS: Plans<f32> = Plans::new();
        &PLANS
    }

    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Float for f64 {
    fn plans() -> &'static Plans<Self> {
        static PLANS: Plans<f64> = Plans::new();
        &PLANS
    }

    fn of(value: f64) -> Self {
        value
    }
}

/// Plans by length, those used last at the end.
pub struct Plans<T> {
    forward: Kept<dyn Fft<T>>,
    inverse: Kept<dyn Fft<T>>,
    from_real: Kept<dyn RealToComplex<T>>,
    to_real: Kept<dyn ComplexToReal<T>>,
}

impl<T: Float> Plans<T> {
    const fn new() -> Self {
        Self {
            forward: Kept::new(),
            inverse: Kept::new(),
            from_real: Kept::new(),
            to_real: Kept::new(),
        }
    }

    pub(crate) fn complex(&self, length: usize, direction: Direction) -> Arc<dyn Fft<T>> {
        match direction {
            Direction::Forward => {
                self.forward.plan(length, || FftPlanner::new().plan_fft_forward(length))
            }
            Direction::Inverse => {
                self.inverse.plan(length, || FftPlanner::new().plan_fft_inverse(length))
            }
        }
    }

    pub(crate) fn halving(&self, length: usize) -> Arc<dyn RealToComplex<T>> {
        self.from_real.plan(length, || RealFftPlanner::new().plan_fft_forward(length))
    }

    pub(crate) fn doubling(&self, length: usize) -> Arc<dyn ComplexToReal<T>> {
        self.to_real.plan(length, || RealFftPlanner::new().plan_fft_inverse(length))
    }
}

/// Plans of one kind.
struct Kept<P: ?Sized>(Mutex<Vec<(usize, Arc<P>)>>);

impl<P: ?Sized> Kept<P> {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn plan(&self, length: usize, make: impl FnOnce() -> Arc<P>) -> Arc<P> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|(key, _)| *key == length);
        let made = || {
            expect_room(length.saturating_mul(NEEDED));
            make()
        };
        let plan = found.map_or_else(made, |at| kept.remove(at).1);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((length, plan.clone()));
        plan
    }
}
