//! Matrix products in this rank's memory, for every dtype.
//!
//! Floats are multiplied by the session's library, integers and booleans by rows. Products of
//! float16 are accumulated in float32, as NumPy does.

use std::ops::Range;

use dappled_kernels::element::{typed, typed_mut, typed_or_copied};
use dappled_kernels::{Bool, Buffer, DType, FpFlags, View, capture_fp_flags};
use dappled_linalg::{LinalgElement, MatrixMut, MatrixRef, Trans, multiply_rows};
use num_complex::{Complex32, Complex64};

use crate::array::Array;
use crate::error::{Result, RunError};
use crate::session::Session;

/// This rank's C-ordered part of an array.
pub(super) type Piece = (Buffer, View);

/// Multiplies matrices of one dtype, and collects their floating-point flags.
pub(super) struct LocalProducts<'a> {
    session: &'a Session,
    dtype: DType,
    flags: FpFlags,
}

/// Calls a generic function with the element type of an integer dtype.
macro_rules! multiply_integers {
    ($dtype:expr, $call:expr; $($Dtype:ident $T:ty)*) => {
        match $dtype {
            $(DType::$Dtype => {
                let multiply_add = |sum: $T, a: $T, b: $T| sum.wrapping_add(a.wrapping_mul(b));
                let (lengths, [left, right], out) = $call;
                multiply_rows::<$T, $T>(lengths, &typed_or_copied(left), &typed_or_copied(right), typed_mut(out), multiply_add);
            })*
            other => unreachable!("products of {other} are floats"),
        }
    };
}

impl<'a> LocalProducts<'a> {
    /// Products whose result has this dtype.
    pub fn new(session: &'a Session, result: DType) -> Self {
        let dtype = if result == DType::Float16 { DType::Float32 } else { result };
        Self { session, dtype, flags: FpFlags::NONE }
    }

    /// The session.
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// The dtype that is computed with.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The floating-point flags of all products.
    pub fn flags(&self) -> FpFlags {
        self.flags
    }

    /// Allocates a C-ordered result.
    pub fn allocate(&self, shape: &[usize]) -> Piece {
        let view = View::c_order(self.dtype, shape);
        (self.session.buffer_pool().allocate(view.len() * self.dtype.itemsize(), &view), view)
    }

    /// Multiplies stacks of matrices with equal leading axes.
    pub fn multiply_pieces(&mut self, left: &Piece, right: &Piece) -> Result<Piece> {
        let (one, other) = (&left.1.shape, &right.1.shape);
        let stack = one.len() - 2;
        let lengths = [one[stack], one[stack + 1], other[stack + 1]];
        let output = self.allocate(&[&one[..stack], &[lengths[0], lengths[2]]].concat());
        self.multiply_into(lengths, left, right, &output, false)?;
        Ok(output)
    }

    /// Writes or adds the products of stacks of matrices of these lengths.
    pub fn multiply_into(
        &mut self,
        [rows, inner, columns]: [usize; 3],
        left: &Piece,
        right: &Piece,
        out: &Piece,
        accumulate: bool,
    ) -> Result<()> {
        let (one, other) = (left.0.read(), right.0.read());
        let (one, other) = (one.map_err(RunError::from)?, other.map_err(RunError::from)?);
        let mut target = out.0.write().map_err(RunError::from)?;
        let (one, other) = (&one[byte_range(&left.1)], &other[byte_range(&right.1)]);
        let target = &mut target[byte_range(&out.1)];
        let item = self.dtype.itemsize();
        let [size, other_size, out_size] =
            [rows * inner, inner * columns, rows * columns].map(|elements| elements * item);
        if out_size == 0 {
            return Ok(());
        }
        for (at, out) in target.chunks_exact_mut(out_size).enumerate() {
            let factors = [&one[at * size..][..size], &other[at * other_size..][..other_size]];
            self.multiply([rows, inner, columns], factors, out, accumulate);
        }
        Ok(())
    }

    /// Writes or adds the product of two C-ordered matrices.
    fn multiply(
        &mut self,
        lengths: [usize; 3],
        factors: [&[u8]; 2],
        out: &mut [u8],
        accumulate: bool,
    ) {
        let session = self.session;
        let ((), flags) = match self.dtype {
            DType::Float32 => multiply_floats::<f32>(session, lengths, factors, out, accumulate),
            DType::Float64 => multiply_floats::<f64>(session, lengths, factors, out, accumulate),
            DType::Complex64 => {
                multiply_floats::<Complex32>(session, lengths, factors, out, accumulate)
            }
            DType::Complex128 => {
                multiply_floats::<Complex64>(session, lengths, factors, out, accumulate)
            }
            _ => {
                if !accumulate {
                    out.fill(0);
                }
                multiply_exactly(self.dtype, lengths, factors, out);
                ((), FpFlags::NONE)
            }
        };
        self.flags |= flags;
    }
}

/// Multiplies floats: C-ordered matrices are column-major transposes.
fn multiply_floats<T: LinalgElement + dappled_kernels::Element>(
    session: &Session,
    [rows, inner, columns]: [usize; 3],
    [left, right]: [&[u8]; 2],
    out: &mut [u8],
    accumulate: bool,
) -> ((), FpFlags) {
    let (left, right) = (typed_or_copied::<T>(left), typed_or_copied::<T>(right));
    let left = (Trans::None, MatrixRef::new(&left, inner, rows));
    let right = (Trans::None, MatrixRef::new(&right, columns, inner));
    let out = MatrixMut::new(typed_mut(out), columns, rows);
    let beta = T::from_f64(if accumulate { 1.0 } else { 0.0 });
    let routines = T::routines(session.linalg());
    capture_fp_flags(|| routines.gemm(T::from_f64(1.0), right, left, beta, out))
}

/// Adds the product of integers, which wraps, or of booleans.
fn multiply_exactly(dtype: DType, lengths: [usize; 3], factors: [&[u8]; 2], out: &mut [u8]) {
    if dtype == DType::Bool {
        let [left, right] = factors.map(typed::<Bool>);
        let multiply_add =
            |any: Bool, a: Bool, b: Bool| Bool::from(any.is_true() | (a.is_true() & b.is_true()));
        return multiply_rows(lengths, left, right, typed_mut::<Bool>(out), multiply_add);
    }
    multiply_integers!(dtype, (lengths, factors, out);
        Int8 i8 Int16 i16 Int32 i32 Int64 i64 UInt8 u8 UInt16 u16 UInt32 u32 UInt64 u64);
}

/// The C-ordered elements of a replicated array.
pub(super) fn replicated_piece(array: &Array) -> Result<Piece> {
    let array = match array.view().is_contiguous() {
        true => array.clone(),
        false => array.cast_copy(array.dtype())?,
    };
    Ok((array.local_buffer()?, array.view().clone()))
}

/// The bytes of a contiguous view.
fn byte_range(view: &View) -> Range<usize> {
    view.offset..view.offset + view.len() * view.dtype.itemsize()
}
