//! The commonest case of all, with the fewest steps: small arrays of one shape and dtype that lie in
//! C order in memory, and numbers.

use dappled_kernels::element::word_bytes;
use dappled_kernels::{Buffer, DType, Flags, Op, Scalar, View, apply_flagged as apply};

use super::memory::small_memory;
use super::node::Few;
use super::notice::Request;
use super::{Array, Given, GraphError, Session};
use crate::run::RunError;

/// Bytes of a number repeated that need no memory of their own.
const ROOM: usize = 1024;

/// An argument, as the kernel reads it.
enum Source {
    Memory(Buffer, usize),
    Number(Scalar),
}

/// The result of an operation in a loop of this dtype, if this is the commonest case.
pub(super) fn quick(
    session: &Session,
    request: &Request,
    dtype: DType,
    given: &[Given<'_>],
) -> Result<Option<Array>, GraphError> {
    let op = request.op;
    let first = given.iter().find_map(|given| match given {
        Given::Array(array) => Some(array),
        _ => None,
    });
    let Some(view) = first.map(|array| array.view()) else { return Ok(None) };
    let len = view.len();
    if len == 0 || len > session.limits().at_once || op.arity() > 2 {
        return Ok(None);
    }
    let mut sources: Few<Source> = Few::new();
    for given in given {
        match source(given, view, dtype) {
            Some(source) => sources.push(source),
            None => return Ok(None),
        }
    }
    let out = small_memory(len * op.result(dtype).itemsize());
    let flags = run(op, dtype, &sources, len, &out)?;
    session.notices().add(request.name, flags, None);
    Ok(Some(Array::whole(session, View::c_order(op.result(dtype), &view.shape), out)))
}

/// Two arrays that are alike: as [`quick`], without a list of arguments.
pub fn quick_pair(op: Op, a: &Array, b: &Array) -> Result<Option<Array>, GraphError> {
    let (session, view, other) = (a.session(), a.view(), b.view());
    let (dtype, len) = (view.dtype, view.len());
    let alike = other.dtype == dtype && other.shape == view.shape && op.has_loop(dtype);
    if !alike || len == 0 || len > session.limits().at_once {
        return Ok(None);
    }
    let (Some(first), Some(second)) = (plain_memory(a, view), plain_memory(b, view)) else {
        return Ok(None);
    };
    let bytes = len * dtype.itemsize();
    let out = small_memory(len * op.result(dtype).itemsize());
    let flags = {
        let (left, right) = (first.read(), second.read());
        let (left, right) = (left.map_err(RunError::from)?, right.map_err(RunError::from)?);
        let left = &left[view.offset..view.offset + bytes];
        let right = &right[other.offset..other.offset + bytes];
        let mut out = out.write().map_err(RunError::from)?;
        apply(op, dtype, &[left, right], &mut out).map_err(RunError::from)?
    };
    session.notices().add(op.numpy_name(), flags, None);
    Ok(Some(Array::whole(session, View::c_order(op.result(dtype), &view.shape), out)))
}

/// The memory of an array that lies in C order in it, all of it here, like another.
fn plain_memory(array: &Array, like: &View) -> Option<Buffer> {
    let view = array.view();
    let plain = view.dtype == like.dtype && view.shape == like.shape && view.is_contiguous();
    let memory =
        plain.then(|| array.versions.with_current(|node| node.whole_memory())).flatten()?;
    let aligned = (memory.as_ptr().addr() + view.offset).is_multiple_of(view.dtype.itemsize());
    aligned.then_some(memory)
}

fn source(given: &Given<'_>, like: &View, dtype: DType) -> Option<Source> {
    let array = match given {
        Given::Strong(value) | Given::Weak(_, value) => {
            return Some(Source::Number(value.cast(dtype)));
        }
        Given::Array(array) => array,
    };
    let view = array.view();
    let plain = view.dtype == dtype && view.shape == like.shape && view.is_contiguous();
    let memory =
        plain.then(|| array.versions.with_current(|node| node.whole_memory())).flatten()?;
    let aligned = (memory.as_ptr().addr() + view.offset) % dtype.itemsize() == 0;
    aligned.then_some(Source::Memory(memory, view.offset))
}

fn run(
    op: Op,
    dtype: DType,
    sources: &[Source],
    len: usize,
    out: &Buffer,
) -> Result<Flags, RunError> {
    let bytes = len * dtype.itemsize();
    let mut out = out.write()?;
    let flags = match sources {
        [Source::Memory(a, at)] => apply(op, dtype, &[&a.read()?[*at..*at + bytes]], &mut out),
        [Source::Memory(a, at), Source::Memory(b, from)] => {
            let (a, b) = (a.read()?, b.read()?);
            apply(op, dtype, &[&a[*at..*at + bytes], &b[*from..*from + bytes]], &mut out)
        }
        [Source::Memory(a, at), Source::Number(number)] => {
            let a = &a.read()?[*at..*at + bytes];
            repeated(*number, bytes, |b| apply(op, dtype, &[a, b], &mut out))
        }
        [Source::Number(number), Source::Memory(b, from)] => {
            let b = &b.read()?[*from..*from + bytes];
            repeated(*number, bytes, |a| apply(op, dtype, &[a, b], &mut out))
        }
        _ => unreachable!("one array at least, and at most two arguments"),
    };
    Ok(flags?)
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
