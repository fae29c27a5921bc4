//! Cholesky factorisation of column-major panels, by NumPy's LAPACK.

use num_complex::Complex64;
use numpy::{PyArrayMethods, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::dtype_dispatch::dispatch_dtype;
use super::lapack::{ColumnMajor, LapackElement, fortran_char, lapack_library};
use crate::errors::internal_error;

/// Factors a panel in place, from the diagonal down; returns whether its corner is positive
/// definite.
///
/// Elements above the diagonal are unchanged.
#[pyfunction(name = "factor_positive")]
pub fn cholesky_panel<'py>(panel: &Bound<'py, PyAny>) -> PyResult<bool> {
    dispatch_dtype(&[factor_panel_of::<f64>, factor_panel_of::<Complex64>], |attempt| {
        attempt(panel)
    })
}

fn factor_panel_of<'py, T: LapackElement>(panel: &Bound<'py, PyAny>) -> PyResult<Option<bool>> {
    let py = panel.py();
    let Ok(panel) = panel.extract::<PyReadwriteArray2<'py, T>>() else { return Ok(None) };
    let Some(library) = lapack_library(py) else { return Ok(None) };
    let all = ColumnMajor::new(panel.data(), panel.shape(), panel.strides())?;
    if all.rows < all.columns {
        return Err(internal_error("the panel has more columns than rows"));
    }
    let (lapack, width, below) = (T::lapack(library), all.columns, all.rows_from(all.columns));
    let mut info = 0;
    // SAFETY: the dimensions are those of the panel, which is borrowed exclusively.
    unsafe {
        (lapack.potrf)(fortran_char(&b'L'), &width, all.start, &all.stride, &mut info);
        if info == 0 && below.rows > 0 {
            (lapack.trsm)(
                fortran_char(&b'R'),
                fortran_char(&b'L'),
                fortran_char(&b'C'),
                fortran_char(&b'N'),
                &below.rows,
                &width,
                &T::ONE,
                all.start,
                &all.stride,
                below.start,
                &below.stride,
            );
        }
    }
    Ok(Some(info == 0))
}

/// Subtracts `P Q^H` from columns: P is the panel, Q its first rows, one per column.
#[pyfunction(name = "take_product")]
pub fn subtract_product<'py>(
    columns: &Bound<'py, PyAny>,
    panel: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let instantiations = [subtract_product_of::<f64>, subtract_product_of::<Complex64>];
    dispatch_dtype(&instantiations, |attempt| attempt(columns, panel))
}

fn subtract_product_of<'py, T: LapackElement>(
    columns: &Bound<'py, PyAny>,
    panel: &Bound<'py, PyAny>,
) -> PyResult<Option<()>> {
    let py = columns.py();
    let Ok(columns) = columns.extract::<PyReadwriteArray2<'py, T>>() else { return Ok(None) };
    let panel = panel.extract::<PyReadonlyArray2<'py, T>>()?;
    let Some(library) = lapack_library(py) else { return Ok(None) };
    let all = ColumnMajor::new(columns.data(), columns.shape(), columns.strides())?;
    let left = ColumnMajor::new(panel.data(), panel.shape(), panel.strides())?;
    if left.rows != all.rows || all.columns > all.rows {
        return Err(internal_error("panel and columns differ in their number of rows"));
    }
    py.detach(move || {
        let (all, left) = (all, left);
        let multiply = T::lapack(library).gemm;
        if all.columns == 0 || left.columns == 0 {
            return;
        }
        // SAFETY: the dimensions are those of the two arrays, one borrowed exclusively and one
        // shared; the panel has at least as many rows as there are columns.
        unsafe {
            multiply(
                fortran_char(&b'N'),
                fortran_char(&b'C'),
                &all.rows,
                &all.columns,
                &left.columns,
                &T::MINUS_ONE,
                left.start,
                &left.stride,
                left.start,
                &left.stride,
                &T::ONE,
                all.start,
                &all.stride,
            );
        }
    });
    Ok(Some(()))
}
