//! Runs one operation on contiguous memory, for small arrays and scalars.

use std::ops::Range;

use dappled_base::memory;

use crate::config::MIN_SINGLE_OP_CHUNK_ELEMENTS;
use crate::error::Error;
use crate::loops::fp::status;
use crate::loops::kernel_info::KernelInfo;
use crate::threads::parallel_map::parallel_map;
use crate::threads::spin_pool::SpinPool;
use crate::types::dtype::DType;
use crate::types::dtype::DTypeKind;
use crate::types::fp_flags::FpFlags;
use crate::types::op::table::Op;
use crate::types::scalar::Scalar;

/// Applies one operation to contiguous elements, on this thread and without allocating. Returns its
/// flags.
///
/// Arguments and result are the bytes of equally many elements. Panics if they are not, or if they
/// are not aligned to their itemsize.
///
/// ```
/// use dappled_kernels::{Buffer, DType, FpFlags, Op, apply, element::bytes_of};
/// let out = Buffer::zeroed(16);
/// let numbers = [4.0, -9.0];
/// let raised = apply(Op::Sqrt, DType::Float64, &[bytes_of(&numbers)], &mut out.write()?)?;
/// assert_eq!((raised, out.to_vec::<f64>()[0]), (FpFlags::INVALID, 2.0));
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn apply(op: Op, dtype: DType, args: &[&[u8]], out: &mut [u8]) -> Result<FpFlags, Error> {
    let info = KernelInfo::find(op, dtype)?;
    if args.len() != usize::from(info.arity) {
        return Err(Error::Arity { op, found: args.len() });
    }
    let len = out.len() >> info.result;
    let fits = args.iter().zip(info.args).all(|(arg, size)| arg.len() == len << size);
    assert!(fits, "{op}: arguments and result must have equally many elements");
    let [a, b, c] = [0, 1, 2].map(|at| args.get(at).copied().unwrap_or_default());
    // SAFETY: `KernelInfo` has only loops that this CPU can run.
    Ok(with_cpu_flags(&info, || unsafe { (info.kernel)(a, b, c, out) }))
}

/// Applies a binary operation to an array and a scalar.
///
/// The scalar is given repeated, for as many elements as are computed at a time. It is the second
/// argument, or the first if `before` is true.
pub fn apply_scalar(
    op: Op,
    dtype: DType,
    array: &[u8],
    (number, before): (&[u8], bool),
    out: &mut [u8],
) -> Result<FpFlags, Error> {
    let info = KernelInfo::find(op, dtype)?;
    if info.arity != 2 {
        return Err(Error::Arity { op, found: 2 });
    }
    let item = info.args[0];
    assert_eq!(
        array.len() >> item,
        out.len() >> info.result,
        "{op}: arguments and result must have equally many elements"
    );
    let parts = array.chunks(number.len().max(1));
    let parts = parts.zip(out.chunks_mut((number.len() >> item << info.result).max(1)));
    let one = |(part, out): (&[u8], &mut [u8])| {
        let number = &number[..part.len()];
        let (a, b) = if before { (number, part) } else { (part, number) };
        // SAFETY: as above.
        unsafe { (info.kernel)(a, b, &[], out) }
    };
    Ok(with_cpu_flags(&info, || parts.map(one).fold(FpFlags::NONE, |all, flags| all | flags)))
}

/// Runs a kernel and adds the CPU's flags to those it returns.
#[inline]
fn with_cpu_flags(info: &KernelInfo, work: impl FnOnce() -> FpFlags) -> FpFlags {
    if info.cpu_flags.is_empty() {
        return work();
    }
    status::clear();
    let flags = work();
    flags | status::take() & info.cpu_flags
}

/// Computes the elements of a result in chunks, in parallel if that pays and workers are awake.
///
/// The closure receives a range of elements and the bytes of their results.
#[inline]
pub fn parallel_chunks(
    op: Op,
    dtype: DType,
    len: usize,
    out: &mut [u8],
    work: impl Fn(Range<usize>, &mut [u8]) -> Result<FpFlags, Error> + Sync,
) -> Result<FpFlags, Error> {
    if len < 2 * MIN_SINGLE_OP_CHUNK_ELEMENTS
        || !is_compute_bound(op, dtype)
        || !SpinPool::is_awake()
    {
        return work(0..len, out);
    }
    let count = rayon::current_num_threads().min(len / MIN_SINGLE_OP_CHUNK_ELEMENTS);
    let (part, item) = (len.div_ceil(count).next_multiple_of(64), out.len() / len);
    let parts = memory::collect((0..len).step_by(part).zip(out.chunks_mut(part * item)));
    let done = parallel_map(parts, |(start, out): (usize, &mut [u8])| {
        work(start..start + out.len() / item, out)
    });
    done.into_iter().try_fold(FpFlags::NONE, |all, flags| Ok(all | flags?))
}

/// True if the operation takes longer than reading its operands. Division overlaps with the reads.
fn is_compute_bound(op: Op, dtype: DType) -> bool {
    cost(op) > if dtype.kind() == DTypeKind::Complex { 1 } else { 3 }
}

/// The cost of an operation on one cached element, in additions.
pub(crate) fn cost(op: Op) -> usize {
    match op {
        Op::Sqrt | Op::Divide | Op::Reciprocal => 3,
        _ if op.is_cheap() => 1,
        _ => 8,
    }
}

impl Scalar {
    /// The value cast to another dtype, as NumPy casts it.
    ///
    /// ```
    /// use dappled_kernels::{DType, Scalar};
    /// assert_eq!(Scalar::new(300.7).cast(DType::UInt8), Scalar::new(44u8));
    /// ```
    pub fn cast(&self, to: DType) -> Scalar {
        self.cast_with_flags(to).0
    }

    /// The value cast to another dtype; `None` if NumPy would warn.
    pub fn checked_cast(&self, to: DType) -> Option<Scalar> {
        let (value, flags) = self.cast_with_flags(to);
        flags.is_empty().then_some(value)
    }

    fn cast_with_flags(&self, to: DType) -> (Scalar, FpFlags) {
        if self.dtype() == to {
            return (*self, FpFlags::NONE);
        }
        // Two words suffice: complex128 is aligned to 8 bytes.
        let (mut from, mut out) = ([0u64; 2], [0u64; 2]);
        let [from, out] = [&mut from, &mut out].map(crate::types::element::scalar_bytes);
        from[..self.bytes().len()].copy_from_slice(self.bytes());
        let (from, out) = (&from[..self.bytes().len()], &mut out[..to.itemsize()]);
        let flags = apply(Op::Cast(to), self.dtype(), &[from], out);
        (Scalar::from_bytes(to, out), flags.expect("every cast has a loop"))
    }
}
