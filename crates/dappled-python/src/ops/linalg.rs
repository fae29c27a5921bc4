//! Linear algebra of distributed matrices, for `dappled.linalg._functions`.

use dappled::{Array, GraphError};
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat};

use crate::errors::internal_error;
use crate::ndarray::class::{NdArray, to_result};
use crate::runtime::lock::run_locked;

/// An array, or a scalar in place of an array without axes.
type AnyResult<'py> = Bound<'py, PyAny>;

/// The native array of an argument.
fn native<'a>(array: &'a Bound<'_, NdArray>) -> PyResult<&'a Array> {
    array.get().array().ok_or_else(|| internal_error("linear algebra expects native arrays"))
}

/// Runs an algorithm that returns one array.
fn run_to_array<'py>(
    py: Python<'py>,
    act: impl FnOnce() -> Result<Array, GraphError> + Send,
) -> PyResult<AnyResult<'py>> {
    to_result(py, run_locked(py, usize::MAX, act)?)
}

/// Solves `matrix @ x = sides` for a matrix of right-hand sides. Collective.
#[pyfunction]
pub fn solve<'py>(
    matrix: &Bound<'py, NdArray>,
    sides: &Bound<'py, NdArray>,
) -> PyResult<AnyResult<'py>> {
    let (array, sides) = (native(matrix)?, native(sides)?);
    run_to_array(matrix.py(), || array.solve(sides))
}

/// The inverse of a matrix. Collective.
#[pyfunction]
pub fn inv<'py>(matrix: &Bound<'py, NdArray>) -> PyResult<AnyResult<'py>> {
    let array = native(matrix)?;
    run_to_array(matrix.py(), || array.inv())
}

/// The lower triangle of the Cholesky factorisation. Collective.
#[pyfunction]
pub fn cholesky<'py>(matrix: &Bound<'py, NdArray>) -> PyResult<AnyResult<'py>> {
    let array = native(matrix)?;
    run_to_array(matrix.py(), || array.cholesky())
}

/// The sign of the determinant, and the logarithm of its absolute value. Collective.
#[pyfunction]
pub fn slogdet<'py>(matrix: &Bound<'py, NdArray>) -> PyResult<(AnyResult<'py>, f64)> {
    let (py, array) = (matrix.py(), native(matrix)?);
    let determinant = run_locked(py, usize::MAX, || array.slogdet())?;
    let sign = match determinant.is_complex() {
        true => PyComplex::from_doubles(py, determinant.sign.re, determinant.sign.im).into_any(),
        false => PyFloat::new(py, determinant.sign.re).into_any(),
    };
    Ok((sign, determinant.logarithm))
}

/// Q and R of a tall, narrow matrix. Collective.
#[pyfunction]
pub fn qr<'py>(matrix: &Bound<'py, NdArray>) -> PyResult<(AnyResult<'py>, AnyResult<'py>)> {
    let (py, array) = (matrix.py(), native(matrix)?);
    let [q, r] = run_locked(py, usize::MAX, || array.qr())?;
    Ok((to_result(py, q)?, to_result(py, r)?))
}

/// U, the singular values and V^H of a tall, narrow matrix. Collective.
#[pyfunction]
pub fn svd<'py>(matrix: &Bound<'py, NdArray>) -> PyResult<[AnyResult<'py>; 3]> {
    let (py, array) = (matrix.py(), native(matrix)?);
    let svd = run_locked(py, usize::MAX, || array.svd())?;
    Ok([to_result(py, svd.u)?, to_result(py, svd.values)?, to_result(py, svd.vh)?])
}

/// The singular values of a tall, narrow matrix. Collective.
#[pyfunction]
pub fn singular_values<'py>(matrix: &Bound<'py, NdArray>) -> PyResult<AnyResult<'py>> {
    let array = native(matrix)?;
    run_to_array(matrix.py(), || array.singular_values())
}

/// Solution, residuals, rank and singular values of a least-squares problem. Collective.
#[pyfunction]
pub fn lstsq<'py>(
    matrix: &Bound<'py, NdArray>,
    sides: &Bound<'py, NdArray>,
    limit: f64,
) -> PyResult<(AnyResult<'py>, AnyResult<'py>, usize, AnyResult<'py>)> {
    let (py, array, sides) = (matrix.py(), native(matrix)?, native(sides)?);
    let found = run_locked(py, usize::MAX, || array.lstsq(sides, limit))?;
    let solution = to_result(py, found.solution)?;
    let residuals = to_result(py, found.residuals)?;
    Ok((solution, residuals, found.rank, to_result(py, found.values)?))
}
