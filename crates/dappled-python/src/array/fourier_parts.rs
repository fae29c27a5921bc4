//! Fourier transforms of a matrix of which ranks have parts, for `dappled._fourier_line`.

use dappled_fft::Float;
use dappled_fft::parts::{Columns, Part, Stack, columns, rows};
use num_complex::Complex;
use numpy::{Element, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::fourier::{alone, direction};
use super::session::session;
use super::taking::first_of;

/// Arrays one over the other, and the first column of each that is meant.
type Given<'py> = Vec<(Bound<'py, PyAny>, usize)>;

/// Transforms the columns of arrays that lie one over the other, in C order, as many as the target has;
/// the first one is that of number `column` in the matrix of a line of length `order`. Each element is
/// multiplied by its root of unity. Of real ones half of the spectrum is made, if there is no room for
/// more.
#[pyfunction]
pub fn fourier_columns<'py>(
    parts: Given<'py>,
    target: &Bound<'py, PyAny>,
    column: usize,
    order: usize,
    forward: bool,
) -> PyResult<()> {
    session(target.py())?; // which says on how many threads
    let attempts = [in_columns::<f64>, in_columns::<f32>];
    first_of(&attempts, |attempt| attempt(&parts, target, column, order, forward))
}

fn in_columns<'py, T: Float + Element>(
    parts: &Given<'py>,
    target: &Bound<'py, PyAny>,
    first: usize,
    order: usize,
    forward: bool,
) -> PyResult<Option<()>>
where
    Complex<T>: Element,
{
    let py = target.py();
    let Ok(mut target) = target.extract::<PyReadwriteArray2<'py, Complex<T>>>() else {
        return Ok(None);
    };
    let width = target.shape()[1];
    let (real, complex) = (all::<T>(parts), all::<Complex<T>>(parts));
    let stack = match (&real, &complex) {
        (Some(real), _) => Stack::Real(taken(real, width)?),
        (_, Some(complex)) => Stack::Complex(taken(complex, width)?),
        _ => return Ok(None),
    };
    let height = parts.iter().map(|(part, _)| part.len()).sum::<PyResult<usize>>()?;
    let which = Columns { width, height, first, order };
    let made = target.as_slice_mut()?;
    alone(py, || columns(&stack, made, which, direction(forward)))?;
    Ok(Some(()))
}

/// Parts of one type of elements, with their first columns.
type Parts<'py, V> = Vec<(PyReadonlyArray2<'py, V>, usize)>;

fn all<'py, V: Element>(parts: &Given<'py>) -> Option<Parts<'py, V>> {
    parts.iter().map(|(part, first)| Some((part.extract().ok()?, *first))).collect()
}

fn taken<'a, V: Element>(parts: &'a Parts<'_, V>, width: usize) -> PyResult<Vec<Part<'a, V>>> {
    let part = |(part, first): &'a (PyReadonlyArray2<'_, V>, usize)| {
        let (values, stride, first) = (part.as_slice()?, part.shape()[1], *first);
        match first + width <= stride || values.is_empty() {
            true => Ok(Part { values, stride, first }),
            false => Err(PyValueError::new_err("a part of fewer columns")),
        }
    };
    parts.iter().map(part).collect()
}

/// Transforms the rows of arrays that lie beside each other, in C order; what comes out is turned, row
/// by row as column by column.
#[pyfunction]
pub fn fourier_rows<'py>(
    parts: Vec<Bound<'py, PyAny>>,
    target: &Bound<'py, PyAny>,
    forward: bool,
    scale: f64,
) -> PyResult<()> {
    session(target.py())?; // which says on how many threads
    let attempts = [in_rows::<f64>, in_rows::<f32>];
    first_of(&attempts, |attempt| attempt(&parts, target, forward, scale))
}

fn in_rows<'py, T: Float + Element>(
    parts: &[Bound<'py, PyAny>],
    target: &Bound<'py, PyAny>,
    forward: bool,
    scale: f64,
) -> PyResult<Option<()>>
where
    Complex<T>: Element,
{
    let py = target.py();
    let Ok(mut target) = target.extract::<PyReadwriteArray2<'py, Complex<T>>>() else {
        return Ok(None);
    };
    let parts = parts.iter().map(|part| part.extract::<PyReadonlyArray2<'py, _>>());
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let given = parts.iter().map(|part| Ok((part.as_slice()?, part.shape()[1])));
    let given = given.collect::<PyResult<Vec<(&[Complex<T>], usize)>>>()?;
    let made = target.as_slice_mut()?;
    alone(py, || rows(&given, made, direction(forward), T::of(scale)))?;
    Ok(Some(()))
}
