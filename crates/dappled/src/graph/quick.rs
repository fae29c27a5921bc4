//! The commonest case of all, with the fewest steps: small arrays of one shape and dtype that lie in
//! C order in memory, and numbers.

use dappled_kernels::element::word_bytes;
use dappled_kernels::{Buffer, DType, Flags, Op, Scalar, View, apply};

use super::memory::small_memory;
use super::notice::Request;
use super::{Array, Given, GraphError};
use crate::run::RunError;

/// Bytes of a number repeated that need no memory of their own.
const ROOM: usize = 1024;

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

fn alike(
    op: Op,
    name: &'static str,
    array: &Array,
    beside: Beside<'_>,
) -> Result<Option<Array>, GraphError> {
    let (session, view) = (array.session(), array.view());
    let (dtype, len) = (view.dtype, view.len());
    if len == 0 || len > session.limits().at_once {
        return Ok(None);
    }
    let Some(memory) = plain_memory(array, view) else { return Ok(None) };
    let out = small_memory(len * op.result(dtype).itemsize());
    let here = Here { op, dtype, memory: &memory, offset: view.offset, out: &out };
    let flags = match beside {
        Beside::Nothing => here.alone(len)?,
        Beside::After(value) => here.number(len, value, false)?,
        Beside::Before(value) => here.number(len, value, true)?,
        Beside::Array(other) => match plain_memory(other, view) {
            Some(second) => here.pair(len, &second, other.view().offset)?,
            None => return Ok(None),
        },
    };
    session.notices().add(name, flags, None);
    Ok(Some(Array::whole(session, View::c_order(op.result(dtype), &view.shape), out)))
}

/// The memory of an array that is like a view, lies in C order, and is all here.
fn plain_memory(array: &Array, like: &View) -> Option<Buffer> {
    let view = array.view();
    let plain = view.dtype == like.dtype && view.shape == like.shape && view.is_contiguous();
    let memory =
        plain.then(|| array.versions.with_current(|node| node.whole_memory())).flatten()?;
    let aligned = (memory.as_ptr().addr() + view.offset).is_multiple_of(view.dtype.itemsize());
    aligned.then_some(memory)
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

    fn number(&self, len: usize, number: Scalar, before: bool) -> Result<Flags, RunError> {
        let memory = self.memory.read()?;
        let array = self.elements(&memory, self.offset, len);
        repeated(number, array.len(), |number| match before {
            true => self.apply(&[number, array]),
            false => self.apply(&[array, number]),
        })
    }

    fn elements<'b>(&self, memory: &'b [u8], offset: usize, len: usize) -> &'b [u8] {
        &memory[offset..offset + len * self.dtype.itemsize()]
    }

    fn apply(&self, args: &[&[u8]]) -> Result<Flags, RunError> {
        Ok(apply(self.op, self.dtype, args, &mut self.out.write()?)?)
    }
}

/// A number as often as there are elements.
fn repeated<T>(number: Scalar, bytes: usize, act: impl FnOnce(&[u8]) -> T) -> T {
    if bytes > ROOM {
        let memory = Buffer::full(number, bytes / number.dtype().itemsize());
        return act(&memory.read().expect("nobody else has it"));
    }
    let mut room = [0u64; ROOM / 8];
    let room = &mut word_bytes(&mut room)[..bytes];
    number.fill(room);
    act(room)
}
