//! Eager element-wise operations on small arrays of one dtype, and scalars.
//!
//! The first array has the shape of the result. This is the most frequent case, and takes the
//! fewest steps.

use std::ops::Range;

use dappled_kernels::element::word_bytes;
use dappled_kernels::{
    Buffer, DType, DTypeKind, Error as KernelError, FpFlags, Op, Scalar, View, apply, apply_scalar,
    parallel_chunks,
};

use super::single_op::pack_view;
use super::temporary::EagerSource;
use crate::array::Array;
use crate::array::node::Node;
use crate::config::SCALAR_FILL_BYTES;
use crate::error::Result;
use crate::error::RunError;
use crate::session::buffer_pool::{recycle_small, take_small_buffer};
use crate::view::memory_order::memory_order;

/// The other operand of an operation on an array.
#[derive(Clone, Copy)]
pub enum OtherOperand<'a> {
    /// None: the operation is unary.
    None,
    /// An array.
    Source(EagerSource<'a>),
    /// A scalar on the right, of the array's dtype.
    ScalarRight(Scalar),
    /// A scalar on the left, of the array's dtype.
    ScalarLeft(Scalar),
}

/// Runs an operation in the loop of the source's dtype, and returns the memory of the result.
///
/// None if an operand is not evaluated, not replicated, or of another dtype. There are elements, and
/// the route is eager.
pub fn uniform_buffer(
    op: Op,
    source: EagerSource<'_>,
    other: OtherOperand<'_>,
) -> Result<Option<Buffer>> {
    let (dtype, len) = (source.dtype(), source.len());
    let out = take_small_buffer(len * op.result(dtype).itemsize());
    let operation = SingleOp { op, dtype, len, out: &out };
    let like = (dtype, source.shape());
    let flags = match other {
        OtherOperand::None => {
            source.with_contiguous(like, |memory| Ok(Some(operation.unary(memory)?)))
        }
        OtherOperand::ScalarRight(value) => source
            .with_contiguous(like, |memory| Ok(Some(operation.with_scalar(memory, value, false)?))),
        OtherOperand::ScalarLeft(value) => source
            .with_contiguous(like, |memory| Ok(Some(operation.with_scalar(memory, value, true)?))),
        OtherOperand::Source(other) => source.with_contiguous_pair(other, like, |first, second| {
            Ok(Some(operation.binary(first, second)?))
        }),
    };
    let Some(flags) = flags? else { return Ok(None) };
    source.session().fp_warnings().add(op.numpy_name(), flags, None);
    Ok(Some(out))
}

/// Contiguous elements: a buffer and the byte offset of the first.
pub(crate) type Contiguous<'a> = (&'a Buffer, usize);

/// The dtype and shape that elements are broadcast to.
type TypeAndShape<'a> = (DType, &'a [usize]);

/// Calls a function with the elements of an array in C order, packed if necessary.
///
/// None if the array is not local, or the result would not be in C order.
pub(crate) fn with_contiguous<T>(
    array: &Array,
    read: impl FnOnce(Contiguous<'_>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    EagerSource::Array(array).with_contiguous((array.dtype(), array.shape()), read)
}

/// Calls a function with the elements of two arrays, the second broadcast to `like`.
///
/// Does not block on the second while the first is locked.
pub(crate) fn with_contiguous_pair<T>(
    array: &Array,
    other: &Array,
    like: TypeAndShape<'_>,
    read: impl FnOnce(Contiguous<'_>, Contiguous<'_>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    array.storage.with_current(|node| {
        with_node_contiguous(node, array.view(), (array.dtype(), array.shape()), |first| {
            let read = |second: Contiguous<'_>| read(first, second);
            if array.shares_storage(other) {
                return with_node_contiguous(node, other.view(), like, read);
            }
            let result = other
                .storage
                .try_with_current(|node| with_node_contiguous(node, other.view(), like, read));
            result.unwrap_or(Ok(None))
        })
    })
}

impl EagerSource<'_> {
    /// Calls a function with the elements, broadcast to `like`.
    fn with_contiguous<T>(
        self,
        like: TypeAndShape<'_>,
        read: impl FnOnce(Contiguous<'_>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        match self {
            EagerSource::Array(array) => array
                .storage
                .with_current(|node| with_node_contiguous(node, array.view(), like, read)),
            EagerSource::Temporary(temporary) if (self.dtype(), self.shape()) == like => {
                read((temporary.memory(), 0))
            }
            EagerSource::Temporary(temporary) => {
                let view = View::c_order(self.dtype(), self.shape());
                with_memory_contiguous(temporary.memory(), &view, like, read)
            }
        }
    }

    /// Calls a function with the elements of two sources, broadcast to `like`.
    fn with_contiguous_pair<T>(
        self,
        other: EagerSource<'_>,
        like: TypeAndShape<'_>,
        read: impl FnOnce(Contiguous<'_>, Contiguous<'_>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        match (self, other) {
            (EagerSource::Array(array), EagerSource::Array(other)) => {
                with_contiguous_pair(array, other, like, read)
            }
            (EagerSource::Temporary(temporary), other) => {
                other.with_contiguous(like, |second| read((temporary.memory(), 0), second))
            }
            (first, temporary) => first.with_contiguous(like, |first| {
                temporary.with_contiguous(like, |second| read(first, second))
            }),
        }
    }
}

fn with_node_contiguous<T>(
    node: &Node,
    view: &View,
    like: TypeAndShape<'_>,
    read: impl FnOnce(Contiguous<'_>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    match node.replicated_buffer() {
        Some(memory) => with_memory_contiguous(memory, view, like, read),
        None => Ok(None),
    }
}

#[inline]
fn with_memory_contiguous<T>(
    memory: &Buffer,
    view: &View,
    (dtype, shape): TypeAndShape<'_>,
    read: impl FnOnce(Contiguous<'_>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    if view.dtype != dtype {
        return Ok(None);
    }
    if *view.shape == *shape && view.is_contiguous() {
        let aligned = (memory.as_ptr().addr() + view.offset).is_multiple_of(view.dtype.itemsize());
        return if aligned { read((memory, view.offset)) } else { Ok(None) };
    }
    let Some(broadcast) = view.broadcast(shape) else { return Ok(None) };
    // NumPy's loop for complex numbers depends on the strides.
    if view.dtype.kind() == DTypeKind::Complex
        || memory_order(&[&broadcast], broadcast.shape.len()).is_some()
    {
        return Ok(None);
    }
    let copy = pack_view(memory, &broadcast)?;
    let result = read((&copy, 0));
    recycle_small(copy);
    result
}

/// An operation on contiguous local memory.
struct SingleOp<'a> {
    op: Op,
    dtype: DType,
    len: usize,
    out: &'a Buffer,
}

impl SingleOp<'_> {
    fn unary(&self, (memory, offset): Contiguous<'_>) -> Result<FpFlags, RunError> {
        let memory = memory.read()?;
        self.run(|range, out| {
            apply(self.op, self.dtype, &[self.element_bytes(&memory, offset, range)], out)
        })
    }

    fn binary(&self, first: Contiguous<'_>, second: Contiguous<'_>) -> Result<FpFlags, RunError> {
        let (memory, other) = (first.0.read()?, second.0.read()?);
        self.run(|range, out| {
            let args = [(&memory, first.1), (&other, second.1)];
            let args =
                args.map(|(memory, offset)| self.element_bytes(memory, offset, range.clone()));
            apply(self.op, self.dtype, &args, out)
        })
    }

    /// Runs the operation with a scalar, repeated in a buffer that is applied piece by piece.
    fn with_scalar(
        &self,
        (memory, offset): Contiguous<'_>,
        scalar: Scalar,
        is_left: bool,
    ) -> Result<FpFlags, RunError> {
        let memory = memory.read()?;
        let mut fill = [0u64; SCALAR_FILL_BYTES / 8];
        let fill =
            &mut word_bytes(&mut fill)[..SCALAR_FILL_BYTES.min(self.len * self.dtype.itemsize())];
        scalar.fill(fill);
        let fill = &*fill;
        self.run(|range, out| {
            let array = self.element_bytes(&memory, offset, range);
            apply_scalar(self.op, self.dtype, array, (fill, is_left), out)
        })
    }

    /// The bytes of a range of elements.
    #[inline(always)]
    fn element_bytes<'b>(&self, memory: &'b [u8], offset: usize, range: Range<usize>) -> &'b [u8] {
        let item = self.dtype.itemsize();
        &memory[offset + range.start * item..offset + range.end * item]
    }

    fn run(
        &self,
        work: impl Fn(Range<usize>, &mut [u8]) -> Result<FpFlags, KernelError> + Sync,
    ) -> Result<FpFlags, RunError> {
        Ok(parallel_chunks(self.op, self.dtype, self.len, &mut self.out.write()?, work)?)
    }
}
