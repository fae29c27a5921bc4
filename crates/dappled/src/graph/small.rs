//! Small arrays whose operands are ready: one operation, computed at once. No node, no plan.

use std::ops::Range;

use dappled_kernels::{Buffer, DType, Flags, Op, View, apply, copy_elements};

use super::memory::{keep_small, small_full, small_memory};
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
    ready.into_iter().for_each(|(buffer, _)| keep_small(buffer));
    Ok(Some(out))
}

/// Writes a small argument over a view; false if it is not ready.
pub(super) fn written(
    session: &Session,
    memory: &Buffer,
    view: &View,
    arg: &Arg,
) -> Result<bool, GraphError> {
    let Some((buffer, bytes)) = ready(session, arg, view.dtype, view.len())? else {
        return Ok(false);
    };
    if buffer.is_same(memory) {
        return Ok(false);
    }
    copy_in_c_order(&buffer.read().map_err(RunError::from)?[bytes], memory, view)?;
    keep_small(buffer);
    Ok(true)
}

/// Copies an argument that is stored over a view of its dtype; false if it is not, or lies in the same memory.
pub(super) fn copied(memory: &Buffer, view: &View, arg: &Arg) -> Result<bool, GraphError> {
    let Arg::Part(node, from) = arg else { return Ok(false) };
    let Some(buffer) = node.whole_memory() else { return Ok(false) };
    if from.dtype != view.dtype || buffer.is_same(memory) {
        return Ok(false);
    }
    copy(buffer, from, memory, view)?;
    Ok(true)
}

fn copy(from: &Buffer, read: &View, to: &Buffer, written: &View) -> Result<(), RunError> {
    Ok(copy_elements((&from.read()?, read), (&mut to.write()?, written))?)
}

fn copy_in_c_order(elements: &[u8], memory: &Buffer, view: &View) -> Result<(), RunError> {
    let read = View::c_order(view.dtype, &view.shape);
    Ok(copy_elements((elements, &read), (&mut memory.write()?, view))?)
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
        Arg::Scalar(value) => return Ok(Some(all(small_full(value.cast(dtype), len)))),
        Arg::Part(node, view) => (node, view),
    };
    let buffer = match node.state() {
        State::Stored(buffer) if node.layout.is_whole() => buffer,
        State::Full(value) if view.dtype == node.base.dtype => {
            return Ok(Some(all(small_full(value.cast(dtype), len))));
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
    let out = small_memory(bytes.len() / from.itemsize() * to.itemsize());
    let flags = apply(Op::Cast(to), from, &[&buffer.read()?[bytes]], &mut out.write()?)?;
    session.notices().add("cast", flags, None);
    Ok(all(out))
}

/// The elements of a view, in C order.
pub(super) fn collected(buffer: &Buffer, view: &View) -> Result<Buffer, RunError> {
    let out = small_memory(view.len() * view.dtype.itemsize());
    copy(buffer, view, &out, &View::c_order(view.dtype, &view.shape))?;
    Ok(out)
}
