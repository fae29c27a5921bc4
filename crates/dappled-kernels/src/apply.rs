//! One operation over contiguous memory, at once: what small arrays and scalars need.

use crate::kernels::{Ready, status};
use crate::{DType, Error, Flags, Op, Scalar};

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
    if ready.hardware.is_empty() {
        // SAFETY: `Ready` has only what this CPU can run.
        return Ok(unsafe { (ready.kernel)(args, out) });
    }
    status::clear();
    // SAFETY: as above.
    let flags = unsafe { (ready.kernel)(args, out) };
    Ok(flags | status::take() & ready.hardware)
}

impl Scalar {
    /// The value in another dtype, as NumPy casts it.
    ///
    /// ```
    /// use dappled_kernels::{DType, Scalar};
    /// assert_eq!(Scalar::new(300.7).cast(DType::UInt8), Scalar::new(44u8));
    /// ```
    pub fn cast(&self, to: DType) -> Scalar {
        if self.dtype() == to {
            return *self;
        }
        // Complex numbers are aligned to 8 bytes at most.
        let (mut from, mut out) = ([0u64; 2], [0u64; 2]);
        let [from, out] = [&mut from, &mut out].map(crate::element::scalar_bytes);
        from[..self.bytes().len()].copy_from_slice(self.bytes());
        let (from, out) = (&from[..self.bytes().len()], &mut out[..to.itemsize()]);
        apply(Op::Cast(to), self.dtype(), &[from], out).expect("every cast has a loop");
        Scalar::from_bytes(to, out)
    }
}
