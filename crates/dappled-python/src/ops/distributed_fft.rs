//! Fourier transforms of a matrix of which each rank has a piece, for `dappled.fft._one_dimensional`.

use dappled_fft::Float;
use dappled_fft::parts::{
    ColumnBlock, MatrixPart, StackedParts, transform_columns, transform_rows,
};
use num_complex::Complex;
use numpy::{Element, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::dtype_dispatch::dispatch_dtype;
use super::fft::{direction, run_unit_on_pool};
use crate::errors::internal_error;
use crate::runtime::session::session;

/// Arrays stacked vertically, each with its first column to transform.
type ColumnPieces<'py> = Vec<(Bound<'py, PyAny>, usize)>;

/// Transforms columns of vertically stacked C-ordered arrays, as many as the target has.
///
/// The first is column `column` of the matrix of a transform of length `order`, and each element is
/// multiplied by its twiddle factor. Real input gives half of the spectrum if the target has no
/// room for all of it.
#[pyfunction(name = "fourier_columns")]
pub fn fft_columns<'py>(
    parts: ColumnPieces<'py>,
    target: &Bound<'py, PyAny>,
    column: usize,
    order: usize,
    forward: bool,
) -> PyResult<()> {
    session(target.py())?; // sets the number of threads
    let attempts = [fft_columns_of::<f64>, fft_columns_of::<f32>];
    dispatch_dtype(&attempts, |attempt| attempt(&parts, target, column, order, forward))
}

fn fft_columns_of<'py, T: Float + Element>(
    pieces: &ColumnPieces<'py>,
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
    let (real, complex) = (typed_pieces::<T>(pieces), typed_pieces::<Complex<T>>(pieces));
    let stack = match (&real, &complex) {
        (Some(real), _) => StackedParts::Real(column_parts(real, width)?),
        (_, Some(complex)) => StackedParts::Complex(column_parts(complex, width)?),
        _ => return Ok(None),
    };
    let height = pieces.iter().map(|(part, _)| part.len()).sum::<PyResult<usize>>()?;
    let which = ColumnBlock { width, height, first, line_length: order };
    let output = target.as_slice_mut()?;
    run_unit_on_pool(py, || transform_columns(&stack, output, which, direction(forward)))?;
    Ok(Some(()))
}

/// Pieces of one element type, each with its first column.
type TypedPieces<'py, V> = Vec<(PyReadonlyArray2<'py, V>, usize)>;

fn typed_pieces<'py, V: Element>(pieces: &ColumnPieces<'py>) -> Option<TypedPieces<'py, V>> {
    pieces.iter().map(|(piece, first)| Some((piece.extract().ok()?, *first))).collect()
}

fn column_parts<'a, V: Element>(
    pieces: &'a TypedPieces<'_, V>,
    width: usize,
) -> PyResult<Vec<MatrixPart<'a, V>>> {
    let part = |(part, first): &'a (PyReadonlyArray2<'_, V>, usize)| {
        let (values, stride, first) = (part.as_slice()?, part.shape()[1], *first);
        match first + width <= stride || values.is_empty() {
            true => Ok(MatrixPart { values, stride, first_column: first }),
            false => Err(internal_error("a piece has fewer columns than the target")),
        }
    };
    pieces.iter().map(part).collect()
}

/// Transforms rows of horizontally stacked C-ordered arrays; the result is transposed.
#[pyfunction(name = "fourier_rows")]
pub fn fft_rows<'py>(
    parts: Vec<Bound<'py, PyAny>>,
    target: &Bound<'py, PyAny>,
    forward: bool,
    scale: f64,
) -> PyResult<()> {
    session(target.py())?; // sets the number of threads
    let attempts = [fft_rows_of::<f64>, fft_rows_of::<f32>];
    dispatch_dtype(&attempts, |attempt| attempt(&parts, target, forward, scale))
}

fn fft_rows_of<'py, T: Float + Element>(
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
    let inputs = parts.iter().map(|part| Ok((part.as_slice()?, part.shape()[1])));
    let inputs = inputs.collect::<PyResult<Vec<(&[Complex<T>], usize)>>>()?;
    let output = target.as_slice_mut()?;
    run_unit_on_pool(py, || {
        transform_rows(&inputs, output, direction(forward), T::nearest(scale))
    })?;
    Ok(Some(()))
}
