//! Fourier transforms of C-ordered NumPy arrays, for `dappled.fft._functions`.

use dappled_fft::{
    Direction, Float, Lines, TransformInput, complex, complex_to_real, real_to_complex,
};
use num_complex::Complex;
use numpy::{
    Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::errors::internal_error;
use crate::runtime::lock::run_on_pool;
use crate::runtime::session::session;

/// Transforms `source`, cropped or zero-padded to `length` along an axis, into `target`.
///
/// Both may be the same array. Between real and complex arrays the spectrum is one half, or all of
/// it if the target has room.
#[pyfunction]
pub fn fft(
    py: Python<'_>,
    source: &Bound<'_, PyUntypedArray>,
    target: &Bound<'_, PyUntypedArray>,
    axis: usize,
    length: usize,
    forward: bool,
    scale: f64,
) -> PyResult<()> {
    session(py)?; // sets the number of threads
    let call = FftCall { source, target, axis, length, forward, scale };
    match call.run::<f64>(py)? || call.run::<f32>(py)? {
        true => Ok(()),
        false => Err(internal_error("fft expects float32, float64, complex64 or complex128")),
    }
}

/// Runs `act` as a job of the thread pool; see [`run_on_pool`].
pub fn run_unit_on_pool(py: Python<'_>, act: impl FnOnce() + Send) -> PyResult<()> {
    run_on_pool(py, usize::MAX, || {
        act();
        Ok(())
    })
}

pub fn direction(forward: bool) -> Direction {
    if forward { Direction::Forward } else { Direction::Inverse }
}

/// The arguments of a transform.
struct FftCall<'a, 'py> {
    source: &'a Bound<'py, PyUntypedArray>,
    target: &'a Bound<'py, PyUntypedArray>,
    axis: usize,
    length: usize,
    forward: bool,
    scale: f64,
}

impl FftCall<'_, '_> {
    /// Runs the transform if its arrays have this precision.
    fn run<T: Float + Element>(&self, py: Python<'_>) -> PyResult<bool>
    where
        Complex<T>: Element,
    {
        if let Ok(target) = self.target.cast::<PyArrayDyn<T>>() {
            let Some(source) = read_as::<Complex<T>>(self.source)? else { return Ok(false) };
            let mut between = self.scratch::<T>(py, self.lines().real_workspace_len())?;
            self.complex_to_real(py, source.as_slice()?, target.try_readwrite()?, &mut between)?;
            return Ok(true);
        }
        let Ok(target) = self.target.cast::<PyArrayDyn<Complex<T>>>() else { return Ok(false) };
        let target = target.try_readwrite()?;
        let mut between = self.scratch::<T>(py, self.lines().workspace_len())?;
        if self.source.is(self.target) {
            self.complex(py, TransformInput::InPlace, target, &mut between)?;
        } else if let Some(source) = read_as::<Complex<T>>(self.source)? {
            self.complex(py, TransformInput::Complex(source.as_slice()?), target, &mut between)?;
        } else if let Some(source) = read_as::<T>(self.source)? {
            self.real_to_complex(py, source.as_slice()?, target, &mut between)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn lines(&self) -> Lines {
        let shape = self.source.shape();
        let (before, after) = (&shape[..self.axis], &shape[self.axis + 1..]);
        Lines {
            groups: before.iter().product(),
            input_length: shape[self.axis],
            length: self.length,
            inner: after.iter().product(),
        }
    }

    /// Allocates scratch memory by NumPy, which requests huge pages.
    fn scratch<'py, T>(
        &self,
        py: Python<'py>,
        length: usize,
    ) -> PyResult<PyReadwriteArrayDyn<'py, Complex<T>>>
    where
        Complex<T>: Element,
    {
        let dtype = numpy::dtype::<Complex<T>>(py);
        let zeros = py.import("numpy")?.call_method1("zeros", (length, dtype))?;
        Ok(zeros.cast_into::<PyArrayDyn<Complex<T>>>()?.try_readwrite()?)
    }

    fn complex<T: Float + Element>(
        &self,
        py: Python<'_>,
        given: TransformInput<'_, T>,
        mut target: PyReadwriteArrayDyn<'_, Complex<T>>,
        between: &mut PyReadwriteArrayDyn<'_, Complex<T>>,
    ) -> PyResult<()>
    where
        Complex<T>: Element,
    {
        let (target, between) = (target.as_slice_mut()?, between.as_slice_mut()?);
        let (lines, scale) = (self.lines(), T::nearest(self.scale));
        let direction = direction(self.forward);
        run_unit_on_pool(py, || complex(given, target, lines, direction, scale, between))
    }

    fn real_to_complex<T: Float + Element>(
        &self,
        py: Python<'_>,
        source: &[T],
        mut target: PyReadwriteArrayDyn<'_, Complex<T>>,
        between: &mut PyReadwriteArrayDyn<'_, Complex<T>>,
    ) -> PyResult<()>
    where
        Complex<T>: Element,
    {
        if target.shape()[self.axis] == self.length {
            return self.complex(py, TransformInput::Real(source), target, between);
        }
        let (target, between) = (target.as_slice_mut()?, between.as_slice_mut()?);
        let (lines, scale) = (self.lines(), T::nearest(self.scale));
        run_unit_on_pool(py, || real_to_complex(source, target, lines, scale, between))
    }

    fn complex_to_real<T: Float + Element>(
        &self,
        py: Python<'_>,
        source: &[Complex<T>],
        mut target: PyReadwriteArrayDyn<'_, T>,
        between: &mut PyReadwriteArrayDyn<'_, Complex<T>>,
    ) -> PyResult<()>
    where
        Complex<T>: Element,
    {
        let (target, between) = (target.as_slice_mut()?, between.as_slice_mut()?);
        let (lines, scale) = (self.lines(), T::nearest(self.scale));
        run_unit_on_pool(py, || complex_to_real(source, target, lines, scale, between))
    }
}

fn read_as<'py, V: Element>(
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<Option<PyReadonlyArrayDyn<'py, V>>> {
    let typed = array.cast::<PyArrayDyn<V>>().ok();
    Ok(typed.map(|array| array.try_readonly()).transpose()?)
}
