//! Local linear algebra by the BLAS and LAPACK that NumPy has loaded, so with NumPy's bits.

use std::ffi::c_char;
use std::sync::atomic::{AtomicBool, Ordering};

use dappled::Session;
use dappled_base::memory;
use dappled_linalg::{
    LinalgElement, LocalLinalg, MatrixMut, MatrixRef, Routines, Svd, Trans, Triangle,
};
use libloading::Library;
use num_complex::{Complex32, Complex64};
use pyo3::prelude::*;

/// `?gemm`: transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc.
type Gemm<T> = unsafe extern "C" fn(
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
/// `?getrf`: m, n, A, lda, ipiv, info.
type Getrf<T> =
    unsafe extern "C" fn(*const i64, *const i64, *mut T, *const i64, *mut i64, *mut i64);
/// `?potrf`: uplo, n, A, lda, info.
type Potrf<T> = unsafe extern "C" fn(*const c_char, *const i64, *mut T, *const i64, *mut i64);
/// `?geqrf`: m, n, A, lda, tau, work, lwork, info.
type Geqrf<T> = unsafe extern "C" fn(
    *const i64,
    *const i64,
    *mut T,
    *const i64,
    *mut T,
    *mut T,
    *const i64,
    *mut i64,
);
/// `?orgqr` and `?ungqr`: m, n, k, A, lda, tau, work, lwork, info.
type Orgqr<T> = unsafe extern "C" fn(
    *const i64,
    *const i64,
    *const i64,
    *mut T,
    *const i64,
    *const T,
    *mut T,
    *const i64,
    *mut i64,
);
/// `?gesdd` of real matrices: jobz, m, n, A, lda, S, U, ldu, VT, ldvt, work, lwork, iwork, info.
type RealGesdd<T> = unsafe extern "C" fn(
    *const c_char,
    *const i64,
    *const i64,
    *mut T,
    *const i64,
    *mut T,
    *mut T,
    *const i64,
    *mut T,
    *const i64,
    *mut T,
    *const i64,
    *mut i64,
    *mut i64,
);
/// `?gesdd` of complex matrices, with `rwork` after `lwork`.
type ComplexGesdd<T, R> = unsafe extern "C" fn(
    *const c_char,
    *const i64,
    *const i64,
    *mut T,
    *const i64,
    *mut R,
    *mut T,
    *const i64,
    *mut T,
    *const i64,
    *mut T,
    *const i64,
    *mut R,
    *mut i64,
    *mut i64,
);

/// The routines for one element type; `G` is its `?gesdd`.
struct Lapack<T, G> {
    gemm: Gemm<T>,
    trsm: Trsm<T>,
    getrf: Getrf<T>,
    potrf: Potrf<T>,
    geqrf: Geqrf<T>,
    orgqr: Orgqr<T>,
    gesdd: G,
}

/// NumPy's OpenBLAS.
struct OpenBlas {
    single: Lapack<f32, RealGesdd<f32>>,
    double: Lapack<f64, RealGesdd<f64>>,
    complex_single: Lapack<Complex32, ComplexGesdd<Complex32, f32>>,
    complex_double: Lapack<Complex64, ComplexGesdd<Complex64, f64>>,
    /// Keeps the library loaded.
    _library: Library,
}

static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Returns whether the session computes with NumPy's OpenBLAS.
pub fn is_installed() -> bool {
    IS_INSTALLED.load(Ordering::Relaxed)
}

/// Makes the session compute with NumPy's library, if it is an OpenBLAS with known symbols.
pub fn install(py: Python<'_>, session: &Session) {
    if let Some(library) = load(py) {
        session.set_linalg(Box::new(library));
        IS_INSTALLED.store(true, Ordering::Relaxed);
    }
}

fn load(py: Python<'_>) -> Option<OpenBlas> {
    let module = py.import("numpy.linalg._umath_linalg").ok()?;
    let path: String = module.getattr("__file__").ok()?.extract().ok()?;
    // SAFETY: the library is loaded already, so its initialisers do not run again.
    let library = unsafe { Library::new(path) }.ok()?;
    Some(OpenBlas {
        single: load_routines(&library, "s", "orgqr")?,
        double: load_routines(&library, "d", "orgqr")?,
        complex_single: load_routines(&library, "c", "ungqr")?,
        complex_double: load_routines(&library, "z", "ungqr")?,
        _library: library,
    })
}

fn load_routines<T, G: Copy>(library: &Library, letter: &str, orgqr: &str) -> Option<Lapack<T, G>> {
    let name = |name: &str| format!("scipy_{letter}{name}_64_\0").into_bytes();
    // SAFETY: OpenBLAS exports these routines with these signatures under these names if its
    // integers have 64 bits; `letter` selects those of `T`.
    unsafe {
        Some(Lapack {
            gemm: *library.get(name("gemm").as_slice()).ok()?,
            trsm: *library.get(name("trsm").as_slice()).ok()?,
            getrf: *library.get(name("getrf").as_slice()).ok()?,
            potrf: *library.get(name("potrf").as_slice()).ok()?,
            geqrf: *library.get(name("geqrf").as_slice()).ok()?,
            orgqr: *library.get(name(orgqr).as_slice()).ok()?,
            gesdd: *library.get(name("gesdd").as_slice()).ok()?,
        })
    }
}

/// Returns a pointer to a character argument of a Fortran routine.
fn fortran_char(letter: &u8) -> *const c_char {
    std::ptr::from_ref(letter).cast()
}

/// An element type with routines.
trait LapackElement: LinalgElement {
    /// The type of `?gesdd`.
    type Gesdd;

    /// The routines of the type.
    fn lapack(library: &OpenBlas) -> &Lapack<Self, Self::Gesdd>;

    /// Calls `?gesdd` for the first columns of U and all rows of V^H.
    ///
    /// Returns the size of the workspace if there is none, and otherwise whether it converged.
    fn gesdd(routine: &Self::Gesdd, call: &mut GesddCall<'_, Self>) -> i64;
}

/// The arguments of `?gesdd`.
struct GesddCall<'a, T> {
    a: MatrixMut<'a, T>,
    values: &'a mut [f64],
    u: &'a mut [T],
    vh: &'a mut [T],
    work: &'a mut [T],
    /// The elements of the workspace, or -1 to ask for them.
    work_len: i64,
}

macro_rules! lapack_elements {
    ($($T:ty, $Real:ty, $Gesdd:ty, $field:ident $(, $rwork:ident)?;)*) => {$(
        impl LapackElement for $T {
            type Gesdd = $Gesdd;

            fn lapack(library: &OpenBlas) -> &Lapack<Self, Self::Gesdd> {
                &library.$field
            }

            fn gesdd(routine: &Self::Gesdd, call: &mut GesddCall<'_, Self>) -> i64 {
                let [m, n, stride] =
                    [call.a.rows(), call.a.columns(), call.a.stride()].map(|length| length as i64);
                let mut values: Vec<$Real> = memory::filled(0.0, n as usize);
                let mut integers = memory::filled(0i64, 8 * n as usize);
                $(
                    let size = (5 * n * n + 5 * n).max(2 * m * n + 2 * n * n + n) as usize;
                    let mut $rwork: Vec<$Real> = memory::filled(0.0, size);
                )?
                let (mut info, leading) = (0, n.max(1));
                // SAFETY: the dimensions are those of the matrix; the other slices have the sizes
                // that the routine requires for m >= n, as asserted by the caller.
                unsafe {
                    routine(
                        fortran_char(&b'S'),
                        &m,
                        &n,
                        call.a.elements_mut().as_mut_ptr(),
                        &stride,
                        values.as_mut_ptr(),
                        call.u.as_mut_ptr(),
                        &m.max(1),
                        call.vh.as_mut_ptr(),
                        &leading,
                        call.work.as_mut_ptr(),
                        &call.work_len,
                        $($rwork.as_mut_ptr(),)?
                        integers.as_mut_ptr(),
                        &mut info,
                    );
                }
                for (value, &found) in call.values.iter_mut().zip(&values) {
                    *value = found.into();
                }
                info
            }
        }
    )*};
}

lapack_elements! {
    f32, f32, RealGesdd<f32>, single;
    f64, f64, RealGesdd<f64>, double;
    Complex32, f32, ComplexGesdd<Complex32, f32>, complex_single, rwork;
    Complex64, f64, ComplexGesdd<Complex64, f64>, complex_double, rwork;
}

impl LocalLinalg for OpenBlas {}

impl<T: LapackElement> Routines<T> for OpenBlas {
    fn gemm(
        &self,
        alpha: T,
        (trans_a, a): (Trans, MatrixRef<'_, T>),
        (trans_b, b): (Trans, MatrixRef<'_, T>),
        beta: T,
        mut c: MatrixMut<'_, T>,
    ) {
        let dimensions = |trans, matrix: &MatrixRef<'_, T>| match trans {
            Trans::None => [matrix.rows(), matrix.columns()],
            Trans::Adjoint => [matrix.columns(), matrix.rows()],
        };
        let ([m, inner], [b_rows, n]) = (dimensions(trans_a, &a), dimensions(trans_b, &b));
        assert_eq!((c.rows(), c.columns(), b_rows), (m, n, inner), "matrices that fit together");
        let letter = |trans| if trans == Trans::None { b'N' } else { b'C' };
        let [m, n, inner] = [m, n, inner].map(|length| length as i64);
        let strides = [a.stride(), b.stride(), c.stride()].map(|stride| stride as i64);
        // SAFETY: the views hold matrices of these dimensions and strides, as checked when they were
        // created; `c` is borrowed exclusively.
        unsafe {
            (T::lapack(self).gemm)(
                fortran_char(&letter(trans_a)),
                fortran_char(&letter(trans_b)),
                &m,
                &n,
                &inner,
                &alpha,
                a.elements().as_ptr(),
                &strides[0],
                b.elements().as_ptr(),
                &strides[1],
                &beta,
                c.elements_mut().as_mut_ptr(),
                &strides[2],
            );
        }
    }

    fn trsm(&self, triangle: Triangle, a: MatrixRef<'_, T>, mut b: MatrixMut<'_, T>) {
        let (rows, columns) = (b.rows(), b.columns());
        let (order, [side, uplo, trans, diag]) = match triangle {
            Triangle::UnitLower => (rows, *b"LLNU"),
            Triangle::Upper => (rows, *b"LUNN"),
            Triangle::RightLowerAdjoint => (columns, *b"RLCN"),
        };
        assert_eq!((a.rows(), a.columns()), (order, order), "a triangle of the system's order");
        let [m, n] = [rows, columns].map(|length| length as i64);
        let [a_stride, b_stride] = [a.stride(), b.stride()].map(|stride| stride as i64);
        // SAFETY: the views hold matrices of these dimensions and strides, as checked when they were
        // created; `b` is borrowed exclusively.
        unsafe {
            (T::lapack(self).trsm)(
                fortran_char(&side),
                fortran_char(&uplo),
                fortran_char(&trans),
                fortran_char(&diag),
                &m,
                &n,
                &T::from_f64(1.0),
                a.elements().as_ptr(),
                &a_stride,
                b.elements_mut().as_mut_ptr(),
                &b_stride,
            );
        }
    }

    fn getrf(&self, mut a: MatrixMut<'_, T>, pivots: &mut [usize]) {
        assert_eq!(pivots.len(), a.rows().min(a.columns()), "a pivot for each eliminated column");
        let [m, n, stride] = [a.rows(), a.columns(), a.stride()].map(|length| length as i64);
        let (mut rows, mut info) = (memory::filled(0i64, pivots.len()), 0);
        // SAFETY: the dimensions are those of the matrix, which is borrowed exclusively, and there
        // is a pivot for each that the routine writes. (`info` reports a zero pivot, which the
        // caller finds in U.)
        unsafe {
            let matrix = a.elements_mut().as_mut_ptr();
            (T::lapack(self).getrf)(&m, &n, matrix, &stride, rows.as_mut_ptr(), &mut info);
        }
        pivots.iter_mut().zip(rows).for_each(|(pivot, row)| *pivot = row as usize - 1);
    }

    fn potrf(&self, mut a: MatrixMut<'_, T>) -> bool {
        assert_eq!(a.rows(), a.columns(), "a square matrix");
        let (n, stride, mut info) = (a.rows() as i64, a.stride() as i64, 0);
        // SAFETY: the dimensions are those of the matrix, which is borrowed exclusively.
        unsafe {
            let matrix = a.elements_mut().as_mut_ptr();
            (T::lapack(self).potrf)(fortran_char(&b'L'), &n, matrix, &stride, &mut info);
        }
        info == 0
    }

    fn qr(&self, mut a: MatrixMut<'_, T>) -> Vec<T> {
        let (columns, count) = (a.columns(), a.rows().min(a.columns()));
        let [m, n, k, stride] = [a.rows(), columns, count, a.stride()].map(|length| length as i64);
        let mut taus = memory::filled(T::default(), count.max(1));
        let Lapack { geqrf, orgqr, .. } = T::lapack(self);
        // SAFETY: the dimensions are those of the matrix, which is borrowed exclusively; there is a
        // factor for each reflector, and the workspace has the length that is passed.
        with_workspace(|work, length| unsafe {
            let (matrix, taus, mut info) = (a.elements_mut().as_mut_ptr(), taus.as_mut_ptr(), 0);
            geqrf(&m, &n, matrix, &stride, taus, work, &length, &mut info);
        });
        let mut r = memory::filled(T::default(), count * columns);
        for at in 0..columns {
            let length = count.min(at + 1);
            r[at * count..][..length].copy_from_slice(&a.as_ref().column(at)[..length]);
        }
        // SAFETY: as above; the reflectors are in the first `k` columns.
        with_workspace(|work, length| unsafe {
            let (matrix, taus, mut info) = (a.elements_mut().as_mut_ptr(), taus.as_ptr(), 0);
            orgqr(&m, &k, &k, matrix, &stride, taus, work, &length, &mut info);
        });
        r
    }

    fn svd(&self, a: MatrixMut<'_, T>) -> Option<Svd<T>> {
        let (m, n) = (a.rows(), a.columns());
        assert!(m >= n, "at least as many rows as columns");
        let routine = &T::lapack(self).gesdd;
        let mut values = memory::filled(0.0, n);
        let (mut u, mut vh) =
            (memory::filled(T::default(), m * n), memory::filled(T::default(), n * n));
        let mut one = [T::default()];
        let mut call = GesddCall {
            a,
            values: &mut values,
            u: &mut u,
            vh: &mut vh,
            work: &mut one,
            work_len: -1,
        };
        T::gesdd(routine, &mut call);
        let length = (call.work[0].real() as usize).max(1);
        let mut work = memory::filled(T::default(), length);
        let GesddCall { a, values: found, u: left, vh: right, .. } = call;
        let (work, work_len) = (&mut work[..], length as i64);
        let mut call = GesddCall { a, values: found, u: left, vh: right, work, work_len };
        if T::gesdd(routine, &mut call) != 0 {
            return None;
        }
        let v = memory::collect((0..n * n).map(|at| vh[at / n + at % n * n].conjugate()));
        Some(Svd { u, values, v })
    }
}

/// Asks a routine for the length of its workspace, and calls it with one.
fn with_workspace<T: LinalgElement>(mut call: impl FnMut(*mut T, i64)) {
    let mut one = T::default();
    call(&mut one, -1);
    let length = (one.real() as usize).max(1);
    let mut work = memory::filled(T::default(), length);
    call(work.as_mut_ptr(), length as i64);
}
