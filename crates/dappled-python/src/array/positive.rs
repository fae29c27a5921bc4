//! The Cholesky factor of columns that lie one after the other, by the functions that NumPy's own
//! `linalg` calls.

use num_complex::Complex64;
use numpy::{PyArrayMethods, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::elimination::{Columns, Number, found, letter};
use super::taking::first_of;

/// Makes a panel of columns, from the diagonal down, those of the factor: whether its corner is
/// positive definite. What is above the diagonal stays as it is.
#[pyfunction]
pub fn factor_positive<'py>(panel: &Bound<'py, PyAny>) -> PyResult<bool> {
    first_of(&[factored::<f64>, factored::<Complex64>], |attempt| attempt(panel))
}

fn factored<'py, T: Number>(panel: &Bound<'py, PyAny>) -> PyResult<Option<bool>> {
    let py = panel.py();
    let Ok(panel) = panel.extract::<PyReadwriteArray2<'py, T>>() else { return Ok(None) };
    let Some(found) = found(py) else { return Ok(None) };
    let all = Columns::new(panel.data(), panel.shape(), panel.strides())?;
    if all.rows < all.columns {
        return Err(PyValueError::new_err("a panel of more columns than rows"));
    }
    let (lapack, width, below) = (T::lapack(found), all.columns, all.below(all.columns));
    let mut wrong = 0;
    // SAFETY: the lengths are those of the panel, which is borrowed to be written.
    unsafe {
        (lapack.root)(letter(&b'L'), &width, all.start, &all.stride, &mut wrong);
        if wrong == 0 && below.rows > 0 {
            (lapack.divide)(
                letter(&b'R'),
                letter(&b'L'),
                letter(&b'C'),
                letter(&b'N'),
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
    Ok(Some(wrong == 0))
}

/// Takes from columns the product of the rows of a panel that they begin with, and of its rows for them,
/// conjugated and turned.
#[pyfunction]
pub fn take_product<'py>(columns: &Bound<'py, PyAny>, panel: &Bound<'py, PyAny>) -> PyResult<()> {
    let attempts = [product_taken::<f64>, product_taken::<Complex64>];
    first_of(&attempts, |attempt| attempt(columns, panel))
}

fn product_taken<'py, T: Number>(
    columns: &Bound<'py, PyAny>,
    panel: &Bound<'py, PyAny>,
) -> PyResult<Option<()>> {
    let py = columns.py();
    let Ok(columns) = columns.extract::<PyReadwriteArray2<'py, T>>() else { return Ok(None) };
    let panel = panel.extract::<PyReadonlyArray2<'py, T>>()?;
    let Some(found) = found(py) else { return Ok(None) };
    let all = Columns::new(columns.data(), columns.shape(), columns.strides())?;
    let left = Columns::new(panel.data(), panel.shape(), panel.strides())?;
    if left.rows != all.rows || all.columns > all.rows {
        return Err(PyValueError::new_err("a panel of other rows"));
    }
    py.detach(move || {
        let (all, left) = (all, left);
        let multiply = T::lapack(found).multiply;
        if all.columns == 0 || left.columns == 0 {
            return;
        }
        // SAFETY: rows, columns and strides are those of the two arrays, of which one is borrowed to be
        // written and the other to be read; it has at least as many rows as there are columns.
        unsafe {
            multiply(
                letter(&b'N'),
                letter(&b'C'),
                &all.rows,
                &all.columns,
                &left.columns,
                &T::LESS,
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
