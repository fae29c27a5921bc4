//! Gaussian elimination of columns that lie one after the other, by the functions that NumPy's own
//! `linalg` calls, in the library that it has loaded.

use std::ffi::c_char;

use libloading::Library;
use num_complex::Complex64;
use numpy::{Element, PyArrayMethods, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::taking::first_of;

/// Fortran's `?getrf`: rows, columns, the matrix, from column to column, pivots, what went wrong.
type Factor<T> =
    unsafe extern "C" fn(*const i64, *const i64, *mut T, *const i64, *mut i64, *mut i64);
/// `?laswp`: columns, the matrix, from column to column, the first and last pivot, pivots, step.
type Swap<T> = unsafe extern "C" fn(
    *const i64,
    *mut T,
    *const i64,
    *const i64,
    *const i64,
    *const i64,
    *const i64,
);
/// `?trsm`: side, half, turned?, unit diagonal?, rows, columns, factor, the triangle, what is divided.
type Divide<T> = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    *const c_char,
    *const i64,
    *const i64,
    *const T,
    *const T,
    *const i64,
    *mut T,
    *const i64,
);
/// `?gemm`: turned?, turned?, rows, columns, inner length, factor, both, factor, what it is added to.
type Multiply<T> = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const i64,
    *const i64,
    *const i64,
    *const T,
    *const T,
    *const i64,
    *const T,
    *const i64,
    *const T,
    *mut T,
    *const i64,
);

/// `?potrf`: half, rows, the matrix, from column to column, what went wrong.
type Root<T> = unsafe extern "C" fn(*const c_char, *const i64, *mut T, *const i64, *mut i64);

/// The functions for one type of elements.
#[derive(Clone, Copy)]
pub(super) struct Lapack<T> {
    factor: Factor<T>,
    swap: Swap<T>,
    pub divide: Divide<T>,
    pub multiply: Multiply<T>,
    pub root: Root<T>,
}

pub(super) struct Found {
    double: Lapack<f64>,
    complex: Lapack<Complex64>,
    /// Loaded as long as they are called.
    _library: Library,
}

/// NumPy's library; None where it has another one, or calls it by other names.
pub(super) fn found(py: Python<'_>) -> Option<&'static Found> {
    static FOUND: PyOnceLock<Option<Found>> = PyOnceLock::new();
    FOUND.get_or_init(py, || find(py)).as_ref()
}

fn find(py: Python<'_>) -> Option<Found> {
    let module = py.import("numpy.linalg._umath_linalg").ok()?;
    let path: String = module.getattr("__file__").ok()?.extract().ok()?;
    // SAFETY: it is loaded already, so that nothing runs that has not run before.
    let library = unsafe { Library::new(path) }.ok()?;
    let (double, complex) = (functions(&library, 'd')?, functions(&library, 'z')?);
    Some(Found { double, complex, _library: library })
}

fn functions<T>(library: &Library, letter: char) -> Option<Lapack<T>> {
    let name = |name: &str| format!("scipy_{letter}{name}_64_\0").into_bytes();
    // SAFETY: names that OpenBLAS gives to these functions where its counts have 64 bits.
    unsafe {
        Some(Lapack {
            factor: *library.get(name("getrf").as_slice()).ok()?,
            swap: *library.get(name("laswp").as_slice()).ok()?,
            divide: *library.get(name("trsm").as_slice()).ok()?,
            multiply: *library.get(name("gemm").as_slice()).ok()?,
            root: *library.get(name("potrf").as_slice()).ok()?,
        })
    }
}

/// A letter as Fortran takes it.
pub(super) fn letter(letter: &u8) -> *const c_char {
    std::ptr::from_ref(letter).cast()
}

/// What can be eliminated.
pub(super) trait Number: Element + Copy {
    const ONE: Self;
    const LESS: Self;
    fn lapack(found: &Found) -> Lapack<Self>;
}

impl Number for f64 {
    const ONE: Self = 1.0;
    const LESS: Self = -1.0;
    fn lapack(found: &Found) -> Lapack<Self> {
        found.double
    }
}

impl Number for Complex64 {
    const ONE: Self = Complex64::new(1.0, 0.0);
    const LESS: Self = Complex64::new(-1.0, 0.0);
    fn lapack(found: &Found) -> Lapack<Self> {
        found.complex
    }
}

/// Columns in memory: how many rows and columns, and from one to the next.
#[derive(Clone, Copy)]
pub(super) struct Columns<T> {
    pub start: *mut T,
    pub rows: i64,
    pub columns: i64,
    pub stride: i64,
}

// SAFETY: the array that the columns are of is borrowed as long as they are used.
unsafe impl<T> Send for Columns<T> {}

impl<T> Columns<T> {
    pub fn new(start: *mut T, shape: &[usize], strides: &[isize]) -> PyResult<Self> {
        let size = size_of::<T>() as isize;
        let [rows, columns] = [shape[0] as i64, shape[1] as i64];
        let stride = if columns < 2 { rows.max(1) } else { (strides[1] / size) as i64 };
        let dense = rows < 2 || strides[0] == size;
        let apart = columns < 2 || strides[1] % size == 0 && stride >= rows.max(1);
        match dense && apart {
            true => Ok(Self { start, rows, columns, stride }),
            false => Err(PyValueError::new_err("columns that do not lie one after the other")),
        }
    }

    /// From a row on.
    pub fn below(self, rows: i64) -> Self {
        Self { start: self.start.wrapping_add(rows as usize), rows: self.rows - rows, ..self }
    }
}

/// Whether columns can be eliminated here.
#[pyfunction]
pub fn eliminates(py: Python<'_>) -> bool {
    found(py).is_some()
}

/// Makes a panel of columns L below U, with partial pivoting: with which row, counted from 1, each row
/// was swapped in its turn.
#[pyfunction]
pub fn factor_panel<'py>(panel: &Bound<'py, PyAny>) -> PyResult<Vec<i64>> {
    first_of(&[factored::<f64>, factored::<Complex64>], |attempt| attempt(panel))
}

fn factored<'py, T: Number>(panel: &Bound<'py, PyAny>) -> PyResult<Option<Vec<i64>>> {
    let py = panel.py();
    let Ok(panel) = panel.extract::<PyReadwriteArray2<'py, T>>() else { return Ok(None) };
    let Some(found) = found(py) else { return Ok(None) };
    let columns = Columns::new(panel.data(), panel.shape(), panel.strides())?;
    let Columns { start, rows, columns, stride } = columns;
    let mut pivots = vec![0; rows.min(columns) as usize];
    let mut wrong = 0;
    // SAFETY: the lengths are those of the panel, which is borrowed to be written; there are as many
    // pivots as the function writes. (A pivot that is zero is told in `wrong`, and seen later.)
    unsafe {
        let place = pivots.as_mut_ptr();
        (T::lapack(found).factor)(&rows, &columns, start, &stride, place, &mut wrong);
    }
    Ok(Some(pivots))
}

/// Does to columns what was done to the right of a panel that was factored: rows swapped, divided by
/// the corner, and the products taken away.
#[pyfunction]
pub fn eliminate<'py>(
    columns: &Bound<'py, PyAny>,
    panel: &Bound<'py, PyAny>,
    pivots: Vec<i64>,
) -> PyResult<()> {
    let attempts = [eliminated::<f64>, eliminated::<Complex64>];
    first_of(&attempts, |attempt| attempt(columns, panel, &pivots))
}

fn eliminated<'py, T: Number>(
    columns: &Bound<'py, PyAny>,
    panel: &Bound<'py, PyAny>,
    pivots: &[i64],
) -> PyResult<Option<()>> {
    let py = columns.py();
    let Ok(columns) = columns.extract::<PyReadwriteArray2<'py, T>>() else { return Ok(None) };
    let panel = panel.extract::<PyReadonlyArray2<'py, T>>()?;
    let Some(found) = found(py) else { return Ok(None) };
    let all = Columns::new(columns.data(), columns.shape(), columns.strides())?;
    let left = Columns::new(panel.data(), panel.shape(), panel.strides())?;
    let fits = left.rows == all.rows && pivots.len() as i64 == left.columns.min(left.rows);
    if !fits || pivots.iter().any(|&pivot| !(1..=all.rows).contains(&pivot)) {
        return Err(PyValueError::new_err("a panel of other rows"));
    }
    py.detach(move || taken_away(&T::lapack(found), all, left, pivots));
    Ok(Some(()))
}

fn taken_away<T: Number>(lapack: &Lapack<T>, all: Columns<T>, left: Columns<T>, pivots: &[i64]) {
    let (width, step) = (pivots.len() as i64, 1);
    if all.columns == 0 || width == 0 {
        return;
    }
    let (below, rest) = (left.below(width), all.below(width));
    let (left_side, lower, plain, unit) =
        (letter(&b'L'), letter(&b'L'), letter(&b'N'), letter(&b'U'));
    // SAFETY: rows, columns and strides are those of the two arrays, of which one is borrowed to be
    // written and the other to be read; pivots are rows of the first, as was checked.
    unsafe {
        let Columns { start, columns, stride, .. } = all;
        (lapack.swap)(&columns, start, &stride, &1, &width, pivots.as_ptr(), &step);
        (lapack.divide)(
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
            (lapack.multiply)(
                plain,
                plain,
                &rest.rows,
                &columns,
                &width,
                &T::LESS,
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
