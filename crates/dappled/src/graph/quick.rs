//! The commonest case of all, with the fewest steps: small arrays of one dtype, of which the first has
//! the shape of the result, and numbers.

use dappled_kernels::element::word_bytes;
use dappled_kernels::{Buffer, DType, Flags, Kind, Op, Scalar, View, apply};

use super::memory::{keep_small, small_memory};
use super::notice::Request;
use super::small::collected;
use super::{Array, Given, GraphError};
use crate::run::RunError;
use crate::view::memory_order;

/// Bytes of a number repeated: few steps, and little to fill for a small array.
const ROOM: usize = 2048;

/// What an array meets in an operation.
#[derive(Clone, Copy)]
pub enum Beside<'a> {
    /// Nothing: the operation has one argument.
    Nothing,
    /// Another array.
    Array(&'a Array),
    /// A number after it, of the array's dtype.
    After(Scalar),
    /// A number before it, of the array's dtype.
    Before(Scalar),
}

/// The result of an operation in a loop of this dtype, if this is the commonest case.
pub(super) fn quick(
    request: &Request,
    dtype: DType,
    given: &[Given<'_>],
) -> Result<Option<Array>, GraphError> {
    let (array, beside) = match *given {
        [Given::Array(array)] => (array, Beside::Nothing),
        [Given::Array(array), Given::Array(other)] => (array, Beside::Array(other)),
        [Given::Array(array), Given::Strong(value) | Given::Weak(_, value)] => {
            (array, Beside::After(value.cast(dtype)))
        }
        [Given::Strong(value) | Given::Weak(_, value), Given::Array(array)] => {
            (array, Beside::Before(value.cast(dtype)))
        }
        _ => return Ok(None),
    };
    match array.dtype() == dtype {
        true => alike(request.op, request.name, array, beside),
        false => Ok(None),
    }
}

/// The same for who has found one array and what it meets: the loop's dtype is the array's.
pub fn quick_alike(op: Op, array: &Array, beside: Beside<'_>) -> Result<Option<Array>, GraphError> {
    match op.has_loop(array.dtype()) {
        true => alike(op, op.numpy_name(), array, beside),
        false => Ok(None),
    }
}

/// The same written over the array; false if this is not the commonest case.
pub fn quick_over(op: Op, target: &Array, beside: Beside<'_>) -> Result<bool, GraphError> {
    let view = target.view();
    // There are cheaper powers, and some that raise instead of writing; of complex numbers see
    // `unfused`.
    let other = op == Op::Power || view.dtype.kind() == Kind::Complex;
    if other
        || !view.is_contiguous()
        || !op.has_loop(view.dtype)
        || op.result(view.dtype) != view.dtype
    {
        return Ok(false);
    }
    let Some(out) = memory_of(op, op.numpy_name(), target, beside)? else { return Ok(false) };
    let (start, bytes) = (view.offset, view.len() * view.dtype.itemsize());
    let written = target.versions.with_writable(|memory| {
        memory.write().ok()?[start..start + bytes].copy_from_slice(&out.read().ok()?);
        Some(())
    });
    match written {
        Some(()) => keep_small(out),
        None => {
            let base = View::c_order(view.dtype, &view.shape);
            target.assign(&Array::whole(target.session(), base, out))?;
        }
    }
    Ok(true)
}

fn alike(
    op: Op,
    name: &'static str,
    array: &Array,
    beside: Beside<'_>,
) -> Result<Option<Array>, GraphError> {
    let Some(out) = memory_of(op, name, array, beside)? else { return Ok(None) };
    let base = View::c_order(op.result(array.dtype()), array.shape());
    Ok(Some(Array::whole(array.session(), base, out)))
}

/// The result's memory.
fn memory_of(
    op: Op,
    name: &'static str,
    array: &Array,
    beside: Beside<'_>,
) -> Result<Option<Buffer>, GraphError> {
    let (session, view) = (array.session(), array.view());
    let (dtype, len) = (view.dtype, view.len());
    if len == 0 || len > session.limits().at_once {
        return Ok(None);
    }
    let Some((memory, offset)) = plain_memory(array, view)? else { return Ok(None) };
    let out = small_memory(len * op.result(dtype).itemsize());
    let here = Here { op, dtype, memory: &memory, offset, out: &out };
    let flags = match beside {
        Beside::Nothing => here.alone(len)?,
        Beside::After(value) => here.number(len, value, false)?,
        Beside::Before(value) => here.number(len, value, true)?,
        Beside::Array(other) => match plain_memory(other, view)? {
            Some((second, offset)) => here.pair(len, &second, offset)?,
            None => return Ok(None),
        },
    };
    session.notices().add(name, flags, None);
    Ok(Some(out))
}

/// The elements of an array that is like a view, or is repeated to it, in C order, and where they
/// begin: its memory where it lies so, else a copy. None if it is not here, or if results would not
/// be in C order.
fn plain_memory(array: &Array, like: &View) -> Result<Option<(Buffer, usize)>, GraphError> {
    let view = array.view();
    if view.dtype != like.dtype {
        return Ok(None);
    }
    let memory = || array.versions.with_current(|node| node.whole_memory().cloned());
    if view.shape == like.shape && view.is_contiguous() {
        let Some(memory) = memory() else { return Ok(None) };
        let aligned = (memory.as_ptr().addr() + view.offset).is_multiple_of(view.dtype.itemsize());
        return Ok(aligned.then_some((memory, view.offset)));
    }
    let Some(seen) = view.broadcast(&like.shape) else { return Ok(None) };
    // Which loop NumPy runs for complex numbers depends on how they lie.
    if view.dtype.kind() == Kind::Complex || memory_order(&[&seen], seen.shape.len()).is_some() {
        return Ok(None);
    }
    let Some(memory) = memory() else { return Ok(None) };
    Ok(Some((collected(&memory, &seen)?, 0)))
}

/// An operation on memory that is here.
struct Here<'a> {
    op: Op,
    dtype: DType,
    memory: &'a Buffer,
    offset: usize,
    out: &'a Buffer,
}

impl Here<'_> {
    fn alone(&self, len: usize) -> Result<Flags, RunError> {
        let memory = self.memory.read()?;
        self.apply(&[self.elements(&memory, self.offset, len)])
    }

    fn pair(&self, len: usize, second: &Buffer, offset: usize) -> Result<Flags, RunError> {
        let (first, second) = (self.memory.read()?, second.read()?);
        let first = self.elements(&first, self.offset, len);
        self.apply(&[first, self.elements(&second, offset, len)])
    }

    /// With a number, repeated for a part of the array at a time.
    fn number(&self, len: usize, number: Scalar, before: bool) -> Result<Flags, RunError> {
        let (memory, mut out) = (self.memory.read()?, self.out.write()?);
        let (item, result) = (self.dtype.itemsize(), self.op.result(self.dtype).itemsize());
        let mut room = [0u64; ROOM / 8];
        let room = &mut word_bytes(&mut room)[..ROOM.min(len * item)];
        number.fill(room);
        let parts = self.elements(&memory, self.offset, len).chunks(ROOM);
        let mut flags = Flags::NONE;
        for (part, out) in parts.zip(out.chunks_mut(ROOM / item * result)) {
            let number = &room[..part.len()];
            let args = if before { [number, part] } else { [part, number] };
            flags |= apply(self.op, self.dtype, &args, out)?;
        }
        Ok(flags)
    }

    fn elements<'b>(&self, memory: &'b [u8], offset: usize, len: usize) -> &'b [u8] {
        &memory[offset..offset + len * self.dtype.itemsize()]
    }

    fn apply(&self, args: &[&[u8]]) -> Result<Flags, RunError> {
        Ok(apply(self.op, self.dtype, args, &mut self.out.write()?)?)
    }
}
