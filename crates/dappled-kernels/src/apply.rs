//! One operation over contiguous memory, at once: what small arrays and scalars need.

use std::ops::Range;

use dappled_base::memory;

use crate::crew::Crew;
use crate::dtype::Kind;
use crate::kernels::{Ready, status};
use crate::share::share;
use crate::{DType, Error, Flags, Op, Scalar};

/// Elements of an operation that takes longer than reading, worth another thread, if one is awake: some
/// 2 µs of work, as long as it takes to hand it over.
const WORTH: usize = 2500;

/// Runs one operation on contiguous elements, on this thread, without allocating anything, and
/// says what NumPy would warn of.
///
/// Arguments and result are the bytes of equally many elements; panics if they are not, or not
/// aligned to their itemsize.
///
/// ```
/// use dappled_kernels::{Buffer, DType, Flags, Op, apply, element::bytes_of};
/// let out = Buffer::zeroed(16);
/// let numbers = [4.0, -9.0];
/// let raised = apply(Op::Sqrt, DType::Float64, &[bytes_of(&numbers)], &mut out.write()?)?;
/// assert_eq!((raised, out.to_vec::<f64>()[0]), (Flags::INVALID, 2.0));
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn apply(op: Op, dtype: DType, args: &[&[u8]], out: &mut [u8]) -> Result<Flags, Error> {
    let ready = Ready::find(op, dtype)?;
    if args.len() != usize::from(ready.arity) {
        return Err(Error::Arity { op, found: args.len() });
    }
    let len = out.len() >> ready.result;
    let fits = args.iter().zip(ready.args).all(|(arg, size)| arg.len() == len << size);
    assert!(fits, "{op}: equally many elements");
    let [a, b, c] = [0, 1, 2].map(|at| args.get(at).copied().unwrap_or_default());
    // SAFETY: `Ready` has only what this CPU can run.
    Ok(watched(&ready, || unsafe { (ready.kernel)(a, b, c, out) }))
}

/// The same of an array and a number, which comes second or, `before` it, first: some repetitions of it
/// are given, for as many elements at a time.
pub fn apply_number(
    op: Op,
    dtype: DType,
    array: &[u8],
    (number, before): (&[u8], bool),
    out: &mut [u8],
) -> Result<Flags, Error> {
    let ready = Ready::find(op, dtype)?;
    if ready.arity != 2 {
        return Err(Error::Arity { op, found: 2 });
    }
    let item = ready.args[0];
    assert_eq!(array.len() >> item, out.len() >> ready.result, "{op}: equally many elements");
    let parts = array.chunks(number.len().max(1));
    let parts = parts.zip(out.chunks_mut((number.len() >> item << ready.result).max(1)));
    let one = |(part, out): (&[u8], &mut [u8])| {
        let number = &number[..part.len()];
        let (a, b) = if before { (number, part) } else { (part, number) };
        // SAFETY: as above.
        unsafe { (ready.kernel)(a, b, &[], out) }
    };
    Ok(watched(&ready, || parts.map(one).fold(Flags::NONE, |all, flags| all | flags)))
}

/// What a kernel finds, and what the CPU tells of its instructions.
#[inline]
fn watched(ready: &Ready, work: impl FnOnce() -> Flags) -> Flags {
    if ready.hardware.is_empty() {
        return work();
    }
    status::clear();
    let flags = work();
    flags | status::take() & ready.hardware
}

/// Work on the elements of a result, in parts on the threads that are awake, if that is worth while:
/// it is given which elements, and the bytes of their results.
#[inline]
pub fn in_parts(
    op: Op,
    dtype: DType,
    len: usize,
    out: &mut [u8],
    work: impl Fn(Range<usize>, &mut [u8]) -> Result<Flags, Error> + Sync,
) -> Result<Flags, Error> {
    if len < 2 * WORTH || !is_long(op, dtype) || !Crew::is_at_hand() {
        return work(0..len, out);
    }
    let count = rayon::current_num_threads().min(len / WORTH);
    let (part, item) = (len.div_ceil(count).next_multiple_of(64), out.len() / len);
    let parts = memory::collected((0..len).step_by(part).zip(out.chunks_mut(part * item)));
    let done =
        share(parts, |(start, out): (usize, &mut [u8])| work(start..start + out.len() / item, out));
    done.into_iter().try_fold(Flags::NONE, |all, flags| Ok(all | flags?))
}

/// Does it take longer than reading? A vector of floats is divided while the next one is read.
fn is_long(op: Op, dtype: DType) -> bool {
    weight(op) > if dtype.kind() == Kind::Complex { 1 } else { 3 }
}

/// How long it takes for an element that is in a cache, counted in additions.
pub(crate) fn weight(op: Op) -> usize {
    match op {
        Op::Sqrt | Op::Divide | Op::Reciprocal => 3,
        _ if op.is_quick() => 1,
        _ => 8,
    }
}

impl Scalar {
    /// The value in another dtype, as NumPy casts it.
    ///
    /// ```
    /// use dappled_kernels::{DType, Scalar};
    /// assert_eq!(Scalar::new(300.7).cast(DType::UInt8), Scalar::new(44u8));
    /// ```
    pub fn cast(&self, to: DType) -> Scalar {
        self.cast_flagged(to).0
    }

    /// The same, if NumPy has nothing to warn of.
    pub fn cast_quietly(&self, to: DType) -> Option<Scalar> {
        let (value, flags) = self.cast_flagged(to);
        flags.is_empty().then_some(value)
    }

    fn cast_flagged(&self, to: DType) -> (Scalar, Flags) {
        if self.dtype() == to {
            return (*self, Flags::NONE);
        }
        // Complex numbers are aligned to 8 bytes at most.
        let (mut from, mut out) = ([0u64; 2], [0u64; 2]);
        let [from, out] = [&mut from, &mut out].map(crate::element::scalar_bytes);
        from[..self.bytes().len()].copy_from_slice(self.bytes());
        let (from, out) = (&from[..self.bytes().len()], &mut out[..to.itemsize()]);
        let flags = apply(Op::Cast(to), self.dtype(), &[from], out);
        (Scalar::from_bytes(to, out), flags.expect("every cast has a loop"))
    }
}
