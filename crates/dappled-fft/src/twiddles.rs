//! Twiddle factors, accurate to the last bit or two, from two short tables.

use std::f64::consts::FRAC_PI_2;

use dappled_base::memory::collect;
use num_complex::Complex;

use crate::Direction;
use crate::plan_cache::Float;

/// exp(∓2πi m/n) for all m, as the product of a coarse and a fine root.
pub struct Twiddles<T> {
    bits: u32,
    fine: Vec<Complex<T>>,
    coarse: Vec<Complex<T>>,
}

impl<T: Float> Twiddles<T> {
    pub fn new(n: usize, direction: Direction) -> Self {
        let bits = n.ilog2().div_ceil(2);
        let root = |m| root(m, n, direction);
        let fine = collect((0..1 << bits).map(root));
        Self { bits, fine, coarse: collect((0..=n >> bits).map(|m| root(m << bits))) }
    }

    /// Returns the root for an m below n.
    pub fn at(&self, m: usize) -> Complex<T> {
        self.coarse[m >> self.bits] * self.fine[m & ((1 << self.bits) - 1)]
    }
}

/// Computes one root. Within an eighth of the circle sine and cosine have full precision.
fn root<T: Float>(m: usize, n: usize, direction: Direction) -> Complex<T> {
    let (m, n) = ((m % n) as i128, n as i128);
    let quarter = (8 * m + n) / (2 * n);
    let angle = FRAC_PI_2 * ((4 * m - quarter * n) as f64 / n as f64);
    let (sine, cosine) = angle.sin_cos();
    let (re, im) = match quarter % 4 {
        0 => (cosine, sine),
        1 => (-sine, cosine),
        2 => (-cosine, -sine),
        _ => (sine, -cosine),
    };
    let im = if direction == Direction::Forward { -im } else { im };
    Complex::new(T::nearest(re), T::nearest(im))
}

/// Multiplies the elements of line `line`, from element `first` on, by their twiddle factors:
/// element k by the root to the power `line * k`.
pub fn apply_twiddles<T: Float>(
    values: &mut [Complex<T>],
    line: usize,
    first: usize,
    n: usize,
    twiddles: &Twiddles<T>,
) {
    let step = line % n;
    let mut m = (step as u128 * first as u128 % n as u128) as usize;
    for value in values {
        *value = *value * twiddles.at(m);
        m += step;
        m -= if m >= n { n } else { 0 };
    }
}
