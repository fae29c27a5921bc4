//! Fourier transforms.

use dappled_fft::Direction;

use super::Array;
use super::element::{ArrayElement, ComplexElement, RealElement};
use crate::error::Result;
use crate::ops::fft::{FftKind, FftStep};
use crate::view::normalize_axis;

impl<T: ArrayElement> Array<T> {
    /// The discrete Fourier transform along an axis, as NumPy's `fft`. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<f64>::from_slice(&cx, [4], &[1.0, 2.0, 3.0, 4.0])?;
    /// let spectrum = a.fft(0)?;
    /// assert_eq!(spectrum.get([0])?, Complex64::new(10.0, 0.0));
    /// let difference = spectrum.ifft(0)?.real() - &a;
    /// assert!(difference.absolute().max()? < 1e-15);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn fft(&self, axis: isize) -> Result<Array<T::Spectrum>> {
        self.fftn([axis as i64])
    }

    /// The inverse of [`fft`](Array::fft). Collective.
    pub fn ifft(&self, axis: isize) -> Result<Array<T::Spectrum>> {
        self.ifftn([axis as i64])
    }

    /// The discrete Fourier transform along several axes, as NumPy's `fftn`. Collective.
    pub fn fftn(&self, axes: impl AsRef<[i64]>) -> Result<Array<T::Spectrum>> {
        self.complex_transform(axes.as_ref(), Direction::Forward)
    }

    /// The inverse of [`fftn`](Array::fftn). Collective.
    pub fn ifftn(&self, axes: impl AsRef<[i64]>) -> Result<Array<T::Spectrum>> {
        self.complex_transform(axes.as_ref(), Direction::Inverse)
    }

    fn complex_transform(&self, axes: &[i64], direction: Direction) -> Result<Array<T::Spectrum>> {
        let mut steps = Vec::with_capacity(axes.len());
        for &axis in axes {
            let axis = normalize_axis(axis, self.ndim())?;
            let length = self.shape()[axis];
            steps.push(FftStep {
                axis,
                length,
                kind: FftKind::Complex,
                direction,
                scale: scale(direction, length),
            });
        }
        Ok(Array::from_dynamic(self.dynamic.fft(&steps, None, false)?))
    }
}

impl<T: RealElement> Array<T> {
    /// The first half of the spectrum of real values, as NumPy's `rfft`. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<f64>::from_slice(&cx, [6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(a.rfft(0)?.shape(), [4]);
    /// assert!((a.rfft(0)?.irfft(0, 6)? - &a).absolute().max()? < 1e-14);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn rfft(&self, axis: isize) -> Result<Array<T::Spectrum>> {
        let axis = normalize_axis(axis as i64, self.ndim())?;
        let (length, direction) = (self.shape()[axis], Direction::Forward);
        let step = FftStep { axis, length, kind: FftKind::RealToHalf, direction, scale: 1.0 };
        Ok(Array::from_dynamic(self.dynamic.fft(&[step], None, false)?))
    }
}

impl<T: ComplexElement> Array<T> {
    /// The `length` real values whose half spectrum this is, as NumPy's `irfft`. Collective.
    pub fn irfft(&self, axis: isize, length: usize) -> Result<Array<T::Real>> {
        let axis = normalize_axis(axis as i64, self.ndim())?;
        let (kind, direction) = (FftKind::HalfToReal, Direction::Inverse);
        let step = FftStep { axis, length, kind, direction, scale: scale(direction, length) };
        Ok(Array::from_dynamic(self.dynamic.fft(&[step], None, false)?))
    }
}

/// The factor of a transform: inverse transforms divide by the length.
fn scale(direction: Direction, length: usize) -> f64 {
    match direction {
        Direction::Forward => 1.0,
        Direction::Inverse => 1.0 / length.max(1) as f64,
    }
}
