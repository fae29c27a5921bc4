//! Matrix products in this rank's memory, for every dtype.
//!
//! Floats are multiplied by the session's library, integers and booleans by rows. Products of
//! float16 are accumulated in float32, as NumPy does.

use std::borrow::Cow;
use std::ops::Range;

use dappled_fabric::take_buffer;
use dappled_kernels::element::{typed, typed_mut, typed_or_copied};
use dappled_kernels::{Bool, Buffer, DType, Element, FpFlags, View, capture_fp_flags};
use dappled_linalg::{LinalgElement, MatrixMut, MatrixRef, Trans, multiply_rows};
use num_complex::{Complex32, Complex64};

use crate::array::Array;
use crate::error::{Result, RunError};
use crate::session::Session;
use crate::view::byte_range;

/// This rank's C-ordered part of an array.
pub(super) type Piece = (Buffer, View);

/// Multiplies matrices of one dtype, and collects their floating-point flags.
pub(super) struct LocalProducts<'a> {
    session: &'a Session,
    dtype: DType,
    flags: FpFlags,
}

/// Adds the product of matrices of an integer dtype.
macro_rules! multiply_integers {
    ($dtype:expr, $lengths:expr, $factors:expr, $out:expr; $($Dtype:ident $T:ty)*) => {
        match $dtype {
            $(DType::$Dtype => {
                let multiply_add = |sum: $T, a: $T, b: $T| sum.wrapping_add(a.wrapping_mul(b));
                let [left, right] = [0, 1].map(|at| typed_or_copied(&$factors[at]));
                multiply_rows::<$T, $T>($lengths, &left, &right, typed_mut($out), multiply_add);
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
        let [rows, inner, columns] = [one[stack], one[stack + 1], other[stack + 1]];
        let output = self.allocate(&[&one[..stack], &[rows, columns]].concat());
        let item = self.dtype.itemsize();
        let (first, second) = (left.0.read(), right.0.read());
        let (first, second) = (first.map_err(RunError::from)?, second.map_err(RunError::from)?);
        let (first, second) = (&first[byte_range(&left.1)], &second[byte_range(&right.1)]);
        let mut guard = output.0.write().map_err(RunError::from)?;
        let target = &mut guard[byte_range(&output.1)];
        for (at, out) in target.chunks_exact_mut((rows * columns * item).max(1)).enumerate() {
            let matrix = |bytes, [rows, columns]: [usize; 2]| {
                let stack = RowMajor { bytes, rows: usize::MAX, columns, stride: columns, item };
                stack.block(at * rows..(at + 1) * rows, 0..columns)
            };
            self.multiply(
                [matrix(first, [rows, inner]), matrix(second, [inner, columns])],
                out,
                false,
            );
        }
        drop(guard);
        Ok(output)
    }

    /// Writes or adds the product of two matrices.
    pub fn multiply(&mut self, factors: [RowMajor<'_>; 2], out: &mut [u8], accumulate: bool) {
        let session = self.session;
        self.flags |= match self.dtype {
            DType::Float32 => multiply_floats::<f32>(session, factors, out, accumulate),
            DType::Float64 => multiply_floats::<f64>(session, factors, out, accumulate),
            DType::Complex64 => multiply_floats::<Complex32>(session, factors, out, accumulate),
            DType::Complex128 => multiply_floats::<Complex64>(session, factors, out, accumulate),
            _ => {
                if !accumulate {
                    out.fill(0);
                }
                multiply_exactly(self.dtype, factors, out);
                FpFlags::NONE
            }
        };
    }
}

/// A matrix whose rows are contiguous.
#[derive(Clone, Copy)]
pub(super) struct RowMajor<'a> {
    /// The elements, from the first.
    pub bytes: &'a [u8],
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The distance of rows in elements.
    pub stride: usize,
    /// Bytes of an element.
    pub item: usize,
}

impl<'a> RowMajor<'a> {
    /// A piece of a matrix in its memory.
    pub fn of(piece: &Piece, memory: &'a [u8]) -> Self {
        let (shape, item) = (&piece.1.shape, piece.1.dtype.itemsize());
        let bytes = &memory[byte_range(&piece.1)];
        Self { bytes, rows: shape[0], columns: shape[1], stride: shape[1], item }
    }

    /// Some rows and columns.
    pub fn block(&self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let (stride, item) = (self.stride, self.item);
        let bytes = match rows.is_empty() || columns.is_empty() {
            true => &[],
            false => {
                let (first, last) = (rows.start * stride, (rows.end - 1) * stride);
                &self.bytes[(first + columns.start) * item..(last + columns.end) * item]
            }
        };
        Self { bytes, rows: rows.len(), columns: columns.len(), stride, item }
    }

    /// The elements in C order.
    pub fn contiguous(&self) -> Cow<'a, [u8]> {
        if self.stride == self.columns || self.rows <= 1 || self.columns == 0 {
            return Cow::Borrowed(self.bytes);
        }
        let size = self.columns * self.item;
        let mut packed = take_buffer(self.rows * size);
        let rows = self.bytes.chunks(self.stride * self.item);
        for (target, row) in packed.chunks_exact_mut(size).zip(rows) {
            target.copy_from_slice(&row[..size]);
        }
        Cow::Owned(packed)
    }
}

/// Multiplies floats: row-major matrices are column-major transposes.
fn multiply_floats<T: LinalgElement + Element>(
    session: &Session,
    [left, right]: [RowMajor<'_>; 2],
    out: &mut [u8],
    accumulate: bool,
) -> FpFlags {
    let elements = [left, right].map(|factor| typed_or_copied::<T>(factor.bytes));
    let transposed = |factor: RowMajor<'_>, elements| {
        let RowMajor { rows, columns, stride, .. } = factor;
        (Trans::None, MatrixRef::with_stride(elements, columns, rows, stride.max(1)))
    };
    let factors = [transposed(right, &elements[1][..]), transposed(left, &elements[0][..])];
    let out = MatrixMut::new(typed_mut(out), right.columns, left.rows);
    let beta = T::from_f64(if accumulate { 1.0 } else { 0.0 });
    let routines = T::routines(session.linalg());
    let [first, second] = factors;
    capture_fp_flags(|| routines.gemm(T::from_f64(1.0), first, second, beta, out)).1
}

/// Adds the product of integers, which wraps, or of booleans.
fn multiply_exactly(dtype: DType, [left, right]: [RowMajor<'_>; 2], out: &mut [u8]) {
    let lengths = [left.rows, left.columns, right.columns];
    let factors = [left.contiguous(), right.contiguous()];
    if dtype == DType::Bool {
        let [left, right] = [0, 1].map(|at| typed::<Bool>(&factors[at]));
        let multiply_add =
            |any: Bool, a: Bool, b: Bool| Bool::from(any.is_true() | (a.is_true() & b.is_true()));
        return multiply_rows(lengths, left, right, typed_mut::<Bool>(out), multiply_add);
    }
    multiply_integers!(dtype, lengths, factors, out;
        Int8 i8 Int16 i16 Int32 i32 Int64 i64 UInt8 u8 UInt16 u16 UInt32 u32 UInt64 u64);
}

/// The C-ordered elements of a replicated array.
pub(super) fn replicated_piece(array: &Array) -> Result<Piece> {
    let array = match array.view().is_contiguous() {
        true => array.clone(),
        // A copy may be distributed.
        false => array.gather()?,
    };
    Ok((array.local_buffer()?, array.view().clone()))
}
