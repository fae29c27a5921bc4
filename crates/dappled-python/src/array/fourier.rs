//! Fourier transforms of NumPy's arrays in C order, for `dappled._fft`.

use dappled_fft::{Direction, Float, Given, Lines, complex, complex_to_real, real_to_complex};
use num_complex::Complex;
use numpy::{
    Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::exclusive::on_pool;
use super::session::session;

/// Transforms along an axis: what is in `source`, cut or filled up to `length`, into `target`. They
/// may be the same array. Between real and complex arrays the spectrum is one half of it, or all of
/// it if that is what the target has room for.
#[pyfunction]
pub fn fourier(
    py: Python<'_>,
    source: &Bound<'_, PyUntypedArray>,
    target: &Bound<'_, PyUntypedArray>,
    axis: usize,
    length: usize,
    forward: bool,
    scale: f64,
) -> PyResult<()> {
    session(py)?; // which says on how many threads
    let call = Call { source, target, axis, length, forward, scale };
    match call.run::<f64>(py)? || call.run::<f32>(py)? {
        true => Ok(()),
        false => Err(PyTypeError::new_err("expected float32, float64, or their complex dtypes")),
    }
}

/// Does something with arrays while no other thread does; other Python threads may run meanwhile.
pub fn alone(py: Python<'_>, act: impl FnOnce() + Send) -> PyResult<()> {
    on_pool(py, usize::MAX, || {
        act();
        Ok(())
    })
}

pub fn direction(forward: bool) -> Direction {
    if forward { Direction::Forward } else { Direction::Inverse }
}

/// One call.
struct Call<'a, 'py> {
    source: &'a Bound<'py, PyUntypedArray>,
    target: &'a Bound<'py, PyUntypedArray>,
    axis: usize,
    length: usize,
    forward: bool,
    scale: f64,
}

impl Call<'_, '_> {
    /// Runs it if its arrays have this precision.
    fn run<T: Float + Element>(&self, py: Python<'_>) -> PyResult<bool>
    where
        Complex<T>: Element,
    {
        if let Ok(target) = self.target.cast::<PyArrayDyn<T>>() {
            let Some(source) = read::<Complex<T>>(self.source)? else { return Ok(false) };
            let mut between = self.between::<T>(py, self.lines().between_real())?;
            self.joined(py, source.as_slice()?, target.try_readwrite()?, &mut between)?;
            return Ok(true);
        }
        let Ok(target) = self.target.cast::<PyArrayDyn<Complex<T>>>() else { return Ok(false) };
        let target = target.try_readwrite()?;
        let mut between = self.between::<T>(py, self.lines().between())?;
        if self.source.is(self.target) {
            self.complex(py, Given::Target, target, &mut between)?;
        } else if let Some(source) = read::<Complex<T>>(self.source)? {
            self.complex(py, Given::Complex(source.as_slice()?), target, &mut between)?;
        } else if let Some(source) = read::<T>(self.source)? {
            self.halved(py, source.as_slice()?, target, &mut between)?;
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
            given: shape[self.axis],
            length: self.length,
            inner: after.iter().product(),
        }
    }

    /// Memory that NumPy has asked huge pages for.
    fn between<'py, T>(
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
        given: Given<'_, T>,
        mut target: PyReadwriteArrayDyn<'_, Complex<T>>,
        between: &mut PyReadwriteArrayDyn<'_, Complex<T>>,
    ) -> PyResult<()>
    where
        Complex<T>: Element,
    {
        let (target, between) = (target.as_slice_mut()?, between.as_slice_mut()?);
        let (lines, scale) = (self.lines(), T::of(self.scale));
        let direction = direction(self.forward);
        alone(py, || complex(given, target, lines, direction, scale, between))
    }

    fn halved<T: Float + Element>(
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
            return self.complex(py, Given::Real(source), target, between);
        }
        let (target, between) = (target.as_slice_mut()?, between.as_slice_mut()?);
        let (lines, scale) = (self.lines(), T::of(self.scale));
        alone(py, || real_to_complex(source, target, lines, scale, between))
    }

    fn joined<T: Float + Element>(
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
        let (lines, scale) = (self.lines(), T::of(self.scale));
        alone(py, || complex_to_real(source, target, lines, scale, between))
    }
}

fn read<'py, V: Element>(
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<Option<PyReadonlyArrayDyn<'py, V>>> {
    let typed = array.cast::<PyArrayDyn<V>>().ok();
    Ok(typed.map(|array| array.try_readonly()).transpose()?)
}
