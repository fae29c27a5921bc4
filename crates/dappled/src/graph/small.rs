//! Small arrays whose operands are ready: one operation, computed at once. No node, no plan.

use std::ops::Range;

use dappled_kernels::{Buffer, DType, Flags, Op, View, apply};

use super::memory::small_memory;
use super::node::{Arg, Few, State};
use super::notice::Request;
use super::{GraphError, Session};
use crate::run::RunError;

/// The elements of an argument, one after the other in the loop's dtype.
type Ready = (Buffer, Range<usize>);

/// The result of an operation on small arguments of the same shape; None if one is not ready.
pub(super) fn computed(
    session: &Session,
    request: &Request,
    dtype: DType,
    args: &[Arg],
    len: usize,
) -> Result<Option<Buffer>, GraphError> {
    let op = request.op;
    let arguments = args.iter().enumerate();
    let arguments = arguments.map(|(at, arg)| ready(session, arg, op.argument(dtype, at), len));
    let Some(ready) = arguments.collect::<Result<Option<Few<Ready>>, RunError>>()? else {
        return Ok(None);
    };
    let out = small_memory(len * op.result(dtype).itemsize());
    let flags = apply_to(op, dtype, &ready, &out)?;
    session.notices().add(request.name, flags, None);
    Ok(Some(out))
}

/// Writes a small argument over a view; false if it is not ready.
pub(super) fn written(
    session: &Session,
    memory: &Buffer,
    view: &View,
    arg: &Arg,
) -> Result<bool, GraphError> {
    let item = view.dtype.itemsize();
    let Some((buffer, bytes)) = ready(session, arg, view.dtype, view.len())? else {
        return Ok(false);
    };
    if buffer.is_same(memory) {
        return Ok(false);
    }
    view.check(memory.len()).map_err(RunError::from)?;
    let elements = &buffer.read().map_err(RunError::from)?[bytes];
    let mut memory = memory.write().map_err(RunError::from)?;
    if view.is_contiguous() {
        memory[view.offset..view.offset + elements.len()].copy_from_slice(elements);
        return Ok(true);
    }
    let mut done = 0;
    for_each_offset(view, |offset| {
        memory[offset..offset + item].copy_from_slice(&elements[done..done + item]);
        done += item;
    });
    Ok(true)
}

fn apply_to(op: Op, dtype: DType, args: &[Ready], out: &Buffer) -> Result<Flags, RunError> {
    let claims = args.iter().map(|(buffer, _)| buffer.read()).collect::<Result<Few<_>, _>>()?;
    let slices = claims.iter().zip(args).map(|(claim, (_, bytes))| &claim[bytes.clone()]);
    let slices: Few<&[u8]> = slices.collect();
    Ok(apply(op, dtype, &slices, &mut out.write()?)?)
}

fn ready(
    session: &Session,
    arg: &Arg,
    dtype: DType,
    len: usize,
) -> Result<Option<Ready>, RunError> {
    let (node, view) = match arg {
        Arg::Scalar(value) => return Ok(Some(all(Buffer::full(value.cast(dtype), len)))),
        Arg::Part(node, view) => (node, view),
    };
    let buffer = match node.state() {
        State::Stored(buffer) if node.layout.is_whole() => buffer,
        State::Full(value) if view.dtype == node.base.dtype => {
            return Ok(Some(all(Buffer::full(value.cast(dtype), len))));
        }
        _ => return Ok(None),
    };
    let item = view.dtype.itemsize();
    let in_place = view.is_contiguous() && (buffer.as_ptr().addr() + view.offset) % item == 0;
    let (buffer, bytes) = match in_place {
        _ if len == 0 => (buffer, 0..0),
        true => (buffer, view.offset..view.offset + len * item),
        false => all(collected(&buffer, view)?),
    };
    Ok(Some(if view.dtype == dtype {
        (buffer, bytes)
    } else {
        cast(session, &buffer, bytes, (view.dtype, dtype))?
    }))
}

fn all(buffer: Buffer) -> Ready {
    let len = buffer.len();
    (buffer, 0..len)
}

fn cast(
    session: &Session,
    buffer: &Buffer,
    bytes: Range<usize>,
    (from, to): (DType, DType),
) -> Result<Ready, RunError> {
    let out = Buffer::zeroed(bytes.len() / from.itemsize() * to.itemsize());
    let flags = apply(Op::Cast(to), from, &[&buffer.read()?[bytes]], &mut out.write()?)?;
    session.notices().add("cast", flags, None);
    Ok(all(out))
}

/// The elements of a view, in C order.
fn collected(buffer: &Buffer, view: &View) -> Result<Buffer, RunError> {
    let (item, out) = (view.dtype.itemsize(), Buffer::zeroed(view.len() * view.dtype.itemsize()));
    view.check(buffer.len())?;
    let (memory, mut elements) = (buffer.read()?, out.write()?);
    let mut done = 0;
    for_each_offset(view, |offset| {
        elements[done..done + item].copy_from_slice(&memory[offset..offset + item]);
        done += item;
    });
    drop(elements);
    Ok(out)
}

/// Where each element of a view begins, in C order.
fn for_each_offset(view: &View, mut visit: impl FnMut(usize)) {
    let mut index = vec![0; view.shape.len()];
    let mut offset = view.offset as isize;
    for _ in 0..view.len() {
        visit(offset as usize);
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            offset += view.strides[axis];
            if index[axis] < view.shape[axis] {
                break;
            }
            offset -= view.strides[axis] * view.shape[axis] as isize;
            index[axis] = 0;
        }
    }
}
