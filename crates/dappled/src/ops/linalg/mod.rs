//! Linear algebra of replicated and distributed matrices.
//!
//! Input: matrices of any dtype but float16. Output: new arrays, in the default distribution.
//! Matrices are computed in float64 or complex128, as by NumPy, and results equal NumPy's to
//! rounding. An error that depends on values is the same on every rank.
//!
//! ```text
//! block_cyclic   a matrix in block-cyclic columns, and the broadcast of its panels
//! lu             LU factorisation with partial pivoting
//! solve          solve, inv, det: by the LU factorisation
//! cholesky       Cholesky factorisation
//! tall_skinny    QR factorisation of tall, narrow matrices (TSQR)
//! least_squares  singular values and least squares of tall, narrow matrices
//! ```

mod block_cyclic;
mod cholesky;
mod least_squares;
mod lu;
mod solve;
mod tall_skinny;

use dappled_kernels::element::typed_mut;
use dappled_kernels::{Buffer, DType, DTypeKind, Element, View};
use dappled_linalg::{LinalgElement, Routines};
use dappled_protocol::Distribution;
use num_complex::Complex64;

use crate::array::Array;
use crate::error::{LinalgError, Result, RunError};
use crate::session::Session;

pub use least_squares::{LeastSquares, SingularValues};
pub use solve::LogDeterminant;

/// Name of the messages of linear algebra.
const OPERATION: &str = "linear algebra";

/// An element type that matrices are computed in.
pub(crate) trait LapackField: LinalgElement + Element {}

impl LapackField for f64 {}
impl LapackField for Complex64 {}

/// Calls a generic function for the element type that a dtype is computed in.
macro_rules! with_field {
    ($dtype:expr, $T:ident => $body:expr) => {
        if $dtype.kind() == dappled_kernels::DTypeKind::Complex {
            type $T = num_complex::Complex64;
            $body
        } else {
            type $T = f64;
            $body
        }
    };
}
use with_field;

/// The dtype of a result: double precision, unless all matrices have single precision.
fn result_dtype(arrays: &[&Array]) -> DType {
    let is_narrow =
        arrays.iter().all(|array| matches!(array.dtype(), DType::Float32 | DType::Complex64));
    let is_complex = arrays.iter().any(|array| array.dtype().kind() == DTypeKind::Complex);
    match (is_narrow, is_complex) {
        (true, true) => DType::Complex64,
        (true, false) => DType::Float32,
        (false, true) => DType::Complex128,
        (false, false) => DType::Float64,
    }
}

/// The local routines for an element type.
fn routines<T: LapackField>(session: &Session) -> &dyn Routines<T> {
    T::routines(session.linalg())
}

/// The order of a square matrix.
fn check_square(matrix: &Array) -> Result<usize> {
    match *matrix.shape() {
        [rows, columns] if rows == columns => Ok(rows),
        [_, _] => Err(LinalgError::NotSquare.into()),
        _ => Err(LinalgError::NoMatrix { ndim: matrix.shape().len() }.into()),
    }
}

/// Rows and columns of a matrix.
fn dimensions(matrix: &Array) -> [usize; 2] {
    [matrix.shape()[0], matrix.shape()[1]]
}

/// This rank's columns of a matrix in blocks of whole columns, one after another.
struct LocalColumns<T> {
    /// The distribution of the transpose.
    distribution: Distribution,
    buffer: Buffer,
    view: View,
    element: std::marker::PhantomData<T>,
}

impl<T: LapackField> LocalColumns<T> {
    /// Copies this rank's columns in a distribution of the transpose. Collective.
    fn copy(matrix: &Array, distribution: Distribution) -> Result<Self> {
        let transposed = matrix.transposed(&[1, 0]).with_dtype(T::DTYPE)?;
        let (buffer, view) = transposed.copy_local_part(&distribution)?;
        Ok(Self { distribution, buffer, view, element: std::marker::PhantomData })
    }

    /// Columns of zeros.
    fn zeros(session: &Session, distribution: Distribution) -> Result<Self> {
        let local = distribution.local_shape(session.fabric().rank());
        let view = View::c_order(T::DTYPE, &[local[0] as usize, local[1] as usize]);
        let bytes = view.len() * size_of::<T>();
        let buffer = session.buffer_pool().allocate(bytes, &view);
        buffer.write().map_err(RunError::from)?[..bytes].fill(0);
        Ok(Self { distribution, buffer, view, element: std::marker::PhantomData })
    }

    /// The number of this rank's columns.
    fn columns(&self) -> usize {
        self.view.shape[0]
    }

    /// Calls a function with the elements of the columns.
    fn with_elements<R>(&self, act: impl FnOnce(&mut [T]) -> Result<R>) -> Result<R> {
        let mut bytes = self.buffer.write().map_err(RunError::from)?;
        let end = self.view.offset + self.view.len() * size_of::<T>();
        act(typed_mut(&mut bytes[self.view.offset..end]))
    }

    /// The matrix, cast to a dtype, in the default distribution. Collective.
    fn into_array(self, session: &Session, dtype: DType) -> Result<Array> {
        let Self { distribution, buffer, view, .. } = self;
        let matrix = Array::from_owned_piece(session, distribution, buffer, view);
        matrix.transposed(&[1, 0]).with_dtype(dtype)?.in_default_distribution()
    }
}

/// The distribution of a transpose in blocks of whole rows, which are columns of the matrix.
fn column_blocks(session: &Session, [rows, columns]: [usize; 2]) -> Distribution {
    let spec = Distribution::spec(&[columns as u64, rows as u64]).dist("bn");
    spec.nprocs(session.fabric().size()).build().expect("every shape can be distributed in rows")
}
