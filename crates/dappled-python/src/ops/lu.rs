//! LU factorisation of column-major panels with partial pivoting, by NumPy's LAPACK.

use num_complex::Complex64;
use numpy::{PyArrayMethods, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::dtype_dispatch::dispatch_dtype;
use super::lapack::{ColumnMajor, Lapack, LapackElement, fortran_char, lapack_library};
use crate::errors::internal_error;

/// Returns whether NumPy's LAPACK is available.
#[pyfunction(name = "eliminates")]
pub fn has_lapack(py: Python<'_>) -> bool {
    lapack_library(py).is_some()
}

/// Factors a panel into L and U in place; returns the pivot rows, counted from 1, in order.
#[pyfunction(name = "factor_panel")]
pub fn lu_panel<'py>(panel: &Bound<'py, PyAny>) -> PyResult<Vec<i64>> {
    dispatch_dtype(&[factor_panel_of::<f64>, factor_panel_of::<Complex64>], |attempt| {
        attempt(panel)
    })
}

fn factor_panel_of<'py, T: LapackElement>(panel: &Bound<'py, PyAny>) -> PyResult<Option<Vec<i64>>> {
    let py = panel.py();
    let Ok(panel) = panel.extract::<PyReadwriteArray2<'py, T>>() else { return Ok(None) };
    let Some(library) = lapack_library(py) else { return Ok(None) };
    let columns = ColumnMajor::new(panel.data(), panel.shape(), panel.strides())?;
    let ColumnMajor { start, rows, columns, stride } = columns;
    let mut pivots = vec![0; rows.min(columns) as usize];
    let mut info = 0;
    // SAFETY: the dimensions are those of the panel, which is borrowed exclusively, and there is a
    // pivot for each that the routine writes. (`info` reports a zero pivot, which the caller finds
    // later.)
    unsafe {
        let pivots_pointer = pivots.as_mut_ptr();
        (T::lapack(library).getrf)(&rows, &columns, start, &stride, pivots_pointer, &mut info);
    }
    Ok(Some(pivots))
}

/// Updates the columns to the right of a factored panel: swap rows, solve with L, subtract L U.
#[pyfunction(name = "eliminate")]
pub fn apply_panel<'py>(
    columns: &Bound<'py, PyAny>,
    panel: &Bound<'py, PyAny>,
    pivots: Vec<i64>,
) -> PyResult<()> {
    let instantiations = [apply_panel_of::<f64>, apply_panel_of::<Complex64>];
    dispatch_dtype(&instantiations, |attempt| attempt(columns, panel, &pivots))
}

fn apply_panel_of<'py, T: LapackElement>(
    columns: &Bound<'py, PyAny>,
    panel: &Bound<'py, PyAny>,
    pivots: &[i64],
) -> PyResult<Option<()>> {
    let py = columns.py();
    let Ok(columns) = columns.extract::<PyReadwriteArray2<'py, T>>() else { return Ok(None) };
    let panel = panel.extract::<PyReadonlyArray2<'py, T>>()?;
    let Some(library) = lapack_library(py) else { return Ok(None) };
    let all = ColumnMajor::new(columns.data(), columns.shape(), columns.strides())?;
    let left = ColumnMajor::new(panel.data(), panel.shape(), panel.strides())?;
    let fits = left.rows == all.rows && pivots.len() as i64 == left.columns.min(left.rows);
    if !fits || pivots.iter().any(|&pivot| !(1..=all.rows).contains(&pivot)) {
        return Err(internal_error("panel, pivots and columns do not fit together"));
    }
    py.detach(move || update_trailing(&T::lapack(library), all, left, pivots));
    Ok(Some(()))
}

fn update_trailing<T: LapackElement>(
    lapack: &Lapack<T>,
    all: ColumnMajor<T>,
    left: ColumnMajor<T>,
    pivots: &[i64],
) {
    let (width, step) = (pivots.len() as i64, 1);
    if all.columns == 0 || width == 0 {
        return;
    }
    let (below, rest) = (left.rows_from(width), all.rows_from(width));
    let (left_side, lower, plain, unit) =
        (fortran_char(&b'L'), fortran_char(&b'L'), fortran_char(&b'N'), fortran_char(&b'U'));
    // SAFETY: the dimensions are those of the two arrays, one borrowed exclusively and one shared;
    // the pivots are rows of the first, as checked by the caller.
    unsafe {
        let ColumnMajor { start, columns, stride, .. } = all;
        (lapack.laswp)(&columns, start, &stride, &1, &width, pivots.as_ptr(), &step);
        (lapack.trsm)(
            left_side,
            lower,
            plain,
            unit,
            &width,
            &columns,
            &T::ONE,
            left.start,
            &left.stride,
            start,
            &stride,
        );
        if rest.rows > 0 {
            (lapack.gemm)(
                plain,
                plain,
                &rest.rows,
                &columns,
                &width,
                &T::MINUS_ONE,
                below.start,
                &left.stride,
                start,
                &stride,
                &T::ONE,
                rest.start,
                &stride,
            );
        }
    }
}
