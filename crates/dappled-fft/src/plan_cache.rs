//! Cache of transform plans by length.

use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use dappled_base::memory::expect_available;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftNum, FftPlanner};

use crate::Direction;
use crate::config::{MAX_CACHED_PLANS, PLAN_BYTES_PER_ELEMENT};

/// A real number type with transforms.
pub trait Float: FftNum + Pod + Default {
    /// Returns the plan cache of the type.
    fn plans() -> &'static PlanCache<Self>;
    /// Returns the nearest number of the type.
    fn nearest(value: f64) -> Self;
}

impl Float for f32 {
    fn plans() -> &'static PlanCache<Self> {
        static PLANS: PlanCache<f32> = PlanCache::new();
        &PLANS
    }

    fn nearest(value: f64) -> Self {
        value as f32
    }
}

impl Float for f64 {
    fn plans() -> &'static PlanCache<Self> {
        static PLANS: PlanCache<f64> = PlanCache::new();
        &PLANS
    }

    fn nearest(value: f64) -> Self {
        value
    }
}

/// Cached plans by kind and length.
pub struct PlanCache<T> {
    forward: RecentPlans<dyn Fft<T>>,
    inverse: RecentPlans<dyn Fft<T>>,
    from_real: RecentPlans<dyn RealToComplex<T>>,
    to_real: RecentPlans<dyn ComplexToReal<T>>,
}

impl<T: Float> PlanCache<T> {
    const fn new() -> Self {
        Self {
            forward: RecentPlans::new(),
            inverse: RecentPlans::new(),
            from_real: RecentPlans::new(),
            to_real: RecentPlans::new(),
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

    pub(crate) fn real_to_complex(&self, length: usize) -> Arc<dyn RealToComplex<T>> {
        self.from_real.plan(length, || RealFftPlanner::new().plan_fft_forward(length))
    }

    pub(crate) fn complex_to_real(&self, length: usize) -> Arc<dyn ComplexToReal<T>> {
        self.to_real.plan(length, || RealFftPlanner::new().plan_fft_inverse(length))
    }
}

/// Plans of one kind, most recently used last.
struct RecentPlans<P: ?Sized>(Mutex<Vec<(usize, Arc<P>)>>);

impl<P: ?Sized> RecentPlans<P> {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn plan(&self, length: usize, make: impl FnOnce() -> Arc<P>) -> Arc<P> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = plans.iter().position(|(key, _)| *key == length);
        let make_plan = || {
            expect_available(length.saturating_mul(PLAN_BYTES_PER_ELEMENT));
            make()
        };
        let plan = cached.map_or_else(make_plan, |at| plans.remove(at).1);
        if plans.len() == MAX_CACHED_PLANS {
            plans.remove(0);
        }
        plans.push((length, plan.clone()));
        plan
    }
}
