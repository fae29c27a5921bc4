//! Matrix products by the BLAS that NumPy has loaded, so that results have NumPy's bits.

use std::ffi::c_int;

use dappled_kernels::element::{typed, typed_mut};
use dappled_kernels::{DType, Element};
use libloading::Library;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// `cblas_?gemm` with 64-bit integers: order, transA, transB, m, n, k, alpha, A, lda, B, ldb, beta,
/// C, ldc.
type Gemm<T> = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    i64,
    i64,
    i64,
    T,
    *const T,
    i64,
    *const T,
    i64,
    T,
    *mut T,
    i64,
);

const ROW_MAJOR: c_int = 101;
const NO_TRANSPOSE: c_int = 111;

/// The `gemm` routines.
pub struct Blas {
    double: Gemm<f64>,
    single: Gemm<f32>,
    /// Keeps the library loaded.
    _library: Library,
}

/// Returns NumPy's BLAS; `None` if it is not an OpenBLAS with these symbols.
pub fn blas(py: Python<'_>) -> Option<&'static Blas> {
    static FOUND: PyOnceLock<Option<Blas>> = PyOnceLock::new();
    FOUND.get_or_init(py, || load(py)).as_ref()
}

fn load(py: Python<'_>) -> Option<Blas> {
    let module = py.import("numpy._core._multiarray_umath").ok()?;
    let path: String = module.getattr("__file__").ok()?.extract().ok()?;
    // SAFETY: the library is loaded already, so its initialisers do not run again.
    let library = unsafe { Library::new(path) }.ok()?;
    // SAFETY: OpenBLAS exports `cblas_?gemm` with this signature under these names if its integers
    // have 64 bits.
    let (double, single) = unsafe {
        let double = *library.get::<Gemm<f64>>(b"scipy_cblas_dgemm64_\0").ok()?;
        (double, *library.get::<Gemm<f32>>(b"scipy_cblas_sgemm64_\0").ok()?)
    };
    Some(Blas { double, single, _library: library })
}

impl Blas {
    /// Multiplies C-ordered matrices of float64 or float32: see `MatmulKernel`.
    pub fn multiply(
        &self,
        dtype: DType,
        lengths: [usize; 3],
        matrices: [&[u8]; 2],
        out: &mut [u8],
    ) {
        match dtype {
            DType::Float64 => call_gemm(self.double, 1.0, lengths, matrices, out),
            _ => call_gemm(self.single, 1.0, lengths, matrices, out),
        }
    }
}

fn call_gemm<T: Element>(
    gemm: Gemm<T>,
    one: T,
    [rows, inner, columns]: [usize; 3],
    [first, second]: [&[u8]; 2],
    out: &mut [u8],
) {
    let (first, second, out) = (typed::<T>(first), typed::<T>(second), typed_mut::<T>(out));
    let fits = first.len() == rows * inner && second.len() == inner * columns;
    assert!(fits && out.len() == rows * columns, "matrices of these lengths");
    let [m, k, n] = [rows, inner, columns].map(|length| length as i64);
    let (a, b, c) = (first.as_ptr(), second.as_ptr(), out.as_mut_ptr());
    // SAFETY: the slices have the lengths of the matrices, as asserted, with contiguous rows; `out`
    // is borrowed exclusively.
    unsafe {
        gemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, one, a, k, b, n, T::default(), c, n);
    }
}
