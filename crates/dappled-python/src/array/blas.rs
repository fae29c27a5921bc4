//! The product of matrices that NumPy itself calls: found in the library that it has loaded, so that
//! the bits are NumPy's.

use std::ffi::c_int;

use dappled_kernels::element::{typed, typed_mut};
use dappled_kernels::{DType, Element};
use libloading::Library;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// C's `cblas_?gemm`, with counts of 64 bits: order, the first turned?, the second turned?, rows,
/// columns, inner length, and then what is multiplied and added.
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
const AS_IT_IS: c_int = 111;

/// The products that were found.
pub struct Blas {
    double: Gemm<f64>,
    single: Gemm<f32>,
    /// Loaded as long as they are called.
    _library: Library,
}

/// NumPy's library; None where it has another one, or calls it by other names.
pub fn blas(py: Python<'_>) -> Option<&'static Blas> {
    static FOUND: PyOnceLock<Option<Blas>> = PyOnceLock::new();
    FOUND.get_or_init(py, || find(py)).as_ref()
}

fn find(py: Python<'_>) -> Option<Blas> {
    let module = py.import("numpy._core._multiarray_umath").ok()?;
    let path: String = module.getattr("__file__").ok()?.extract().ok()?;
    // SAFETY: it is loaded already, so that nothing runs that has not run before.
    let library = unsafe { Library::new(path) }.ok()?;
    // SAFETY: names that OpenBLAS gives to these functions where its counts have 64 bits.
    let (double, single) = unsafe {
        let double = *library.get::<Gemm<f64>>(b"scipy_cblas_dgemm64_\0").ok()?;
        (double, *library.get::<Gemm<f32>>(b"scipy_cblas_sgemm64_\0").ok()?)
    };
    Some(Blas { double, single, _library: library })
}

impl Blas {
    /// The product of matrices in C order, of floats of 64 or 32 bits: see [`dappled::graph::Multiply`].
    pub fn multiply(
        &self,
        dtype: DType,
        lengths: [usize; 3],
        matrices: [&[u8]; 2],
        out: &mut [u8],
    ) {
        match dtype {
            DType::Float64 => call(self.double, 1.0, lengths, matrices, out),
            _ => call(self.single, 1.0, lengths, matrices, out),
        }
    }
}

fn call<T: Element>(
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
    // SAFETY: the lengths of the three are those of the matrices, as just checked, and rows follow
    // each other without gaps; nobody else writes them meanwhile.
    unsafe {
        gemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, one, a, k, b, n, T::default(), c, n);
    }
}
