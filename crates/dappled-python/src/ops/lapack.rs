//! BLAS and LAPACK routines of the library that NumPy's `linalg` has loaded.

use std::ffi::c_char;

use libloading::Library;
use num_complex::Complex64;
use numpy::Element;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::internal_error;

/// `?getrf`: m, n, A, lda, ipiv, info.
type Getrf<T> =
    unsafe extern "C" fn(*const i64, *const i64, *mut T, *const i64, *mut i64, *mut i64);
/// `?laswp`: n, A, lda, k1, k2, ipiv, incx.
type Laswp<T> = unsafe extern "C" fn(
    *const i64,
    *mut T,
    *const i64,
    *const i64,
    *const i64,
    *const i64,
    *const i64,
);
/// `?trsm`: side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb.
type Trsm<T> = unsafe extern "C" fn(
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
/// `?gemm`: transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc.
type FortranGemm<T> = unsafe extern "C" fn(
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

/// `?potrf`: uplo, n, A, lda, info.
type Potrf<T> = unsafe extern "C" fn(*const c_char, *const i64, *mut T, *const i64, *mut i64);

/// The routines for one element type.
#[derive(Clone, Copy)]
pub struct Lapack<T> {
    pub getrf: Getrf<T>,
    pub laswp: Laswp<T>,
    pub trsm: Trsm<T>,
    pub gemm: FortranGemm<T>,
    pub potrf: Potrf<T>,
}

pub struct LapackLibrary {
    double: Lapack<f64>,
    complex: Lapack<Complex64>,
    /// Keeps the library loaded.
    _library: Library,
}

/// Returns NumPy's LAPACK; `None` if it is not an OpenBLAS with these symbols.
pub fn lapack_library(py: Python<'_>) -> Option<&'static LapackLibrary> {
    static FOUND: PyOnceLock<Option<LapackLibrary>> = PyOnceLock::new();
    FOUND.get_or_init(py, || load(py)).as_ref()
}

fn load(py: Python<'_>) -> Option<LapackLibrary> {
    let module = py.import("numpy.linalg._umath_linalg").ok()?;
    let path: String = module.getattr("__file__").ok()?.extract().ok()?;
    // SAFETY: the library is loaded already, so its initialisers do not run again.
    let library = unsafe { Library::new(path) }.ok()?;
    let (double, complex) = (load_functions(&library, 'd')?, load_functions(&library, 'z')?);
    Some(LapackLibrary { double, complex, _library: library })
}

fn load_functions<T>(library: &Library, letter: char) -> Option<Lapack<T>> {
    let name = |name: &str| format!("scipy_{letter}{name}_64_\0").into_bytes();
    // SAFETY: OpenBLAS exports these routines with these signatures under these names if its
    // integers have 64 bits; `letter` selects those of `T`.
    unsafe {
        Some(Lapack {
            getrf: *library.get(name("getrf").as_slice()).ok()?,
            laswp: *library.get(name("laswp").as_slice()).ok()?,
            trsm: *library.get(name("trsm").as_slice()).ok()?,
            gemm: *library.get(name("gemm").as_slice()).ok()?,
            potrf: *library.get(name("potrf").as_slice()).ok()?,
        })
    }
}

/// Returns a pointer to a character argument of a Fortran routine.
pub fn fortran_char(letter: &u8) -> *const c_char {
    std::ptr::from_ref(letter).cast()
}

/// An element type with LAPACK routines.
pub trait LapackElement: Element + Copy {
    const ONE: Self;
    const MINUS_ONE: Self;
    fn lapack(library: &LapackLibrary) -> Lapack<Self>;
}

impl LapackElement for f64 {
    const ONE: Self = 1.0;
    const MINUS_ONE: Self = -1.0;
    fn lapack(library: &LapackLibrary) -> Lapack<Self> {
        library.double
    }
}

impl LapackElement for Complex64 {
    const ONE: Self = Complex64::new(1.0, 0.0);
    const MINUS_ONE: Self = Complex64::new(-1.0, 0.0);
    fn lapack(library: &LapackLibrary) -> Lapack<Self> {
        library.complex
    }
}

/// A column-major matrix: its memory, dimensions and leading dimension.
#[derive(Clone, Copy)]
pub struct ColumnMajor<T> {
    pub start: *mut T,
    pub rows: i64,
    pub columns: i64,
    pub stride: i64,
}

// SAFETY: the array that owns the memory stays borrowed as long as the matrix is used.
unsafe impl<T> Send for ColumnMajor<T> {}

impl<T> ColumnMajor<T> {
    pub fn new(start: *mut T, shape: &[usize], strides: &[isize]) -> PyResult<Self> {
        let size = size_of::<T>() as isize;
        let [rows, columns] = [shape[0] as i64, shape[1] as i64];
        let stride = if columns < 2 { rows.max(1) } else { (strides[1] / size) as i64 };
        let dense = rows < 2 || strides[0] == size;
        let apart = columns < 2 || strides[1] % size == 0 && stride >= rows.max(1);
        match dense && apart {
            true => Ok(Self { start, rows, columns, stride }),
            false => Err(internal_error("the matrix is not in column-major order")),
        }
    }

    /// Returns the matrix without its first rows.
    pub fn rows_from(self, rows: i64) -> Self {
        Self { start: self.start.wrapping_add(rows as usize), rows: self.rows - rows, ..self }
    }
}
