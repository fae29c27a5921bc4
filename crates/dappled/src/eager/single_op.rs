//! Eager single operations on small arrays, with casts and broadcasting.

use std::ops::Range;

use dappled_kernels::{Buffer, DType, FpFlags, Op, View, apply, copy_elements};

use crate::array::node::{NodeInput, NodeState, OperandVec};
use crate::error::Result;
use crate::error::RunError;
use crate::session::Session;
use crate::session::buffer_pool::{recycle_small, small_buffer_filled, take_small_buffer};
use crate::session::fp_warnings::OpRequest;

/// Contiguous elements of an input in the loop's dtype: a buffer and a range of bytes.
type ContiguousInput = (Buffer, Range<usize>);

/// Runs an operation on small inputs of one shape; None if an input is not evaluated.
pub(crate) fn apply_small(
    session: &Session,
    request: &OpRequest,
    dtype: DType,
    inputs: &[NodeInput],
    len: usize,
) -> Result<Option<Buffer>> {
    let op = request.op;
    let arguments = inputs.iter().enumerate();
    let arguments =
        arguments.map(|(at, input)| contiguous_input(session, input, op.argument(dtype, at), len));
    let Some(ready) =
        arguments.collect::<Result<Option<OperandVec<ContiguousInput>>, RunError>>()?
    else {
        return Ok(None);
    };
    let out = take_small_buffer(len * op.result(dtype).itemsize());
    let flags = apply_to(op, dtype, &ready, &out)?;
    session.fp_warnings().add(request.name, flags, None);
    ready.into_iter().for_each(|(buffer, _)| recycle_small(buffer));
    Ok(Some(out))
}

/// Writes a small input to a view; false if it is not evaluated.
pub(crate) fn write_small(
    session: &Session,
    memory: &Buffer,
    view: &View,
    input: &NodeInput,
) -> Result<bool> {
    let Some((buffer, bytes)) = contiguous_input(session, input, view.dtype, view.len())? else {
        return Ok(false);
    };
    if buffer.is_same(memory) {
        return Ok(false);
    }
    scatter_from_c_order(&buffer.read()?[bytes], memory, view)?;
    recycle_small(buffer);
    Ok(true)
}

/// Copies an evaluated input to a view of its dtype; false if not evaluated, or in the same memory.
pub(crate) fn copy_stored(memory: &Buffer, view: &View, input: &NodeInput) -> Result<bool> {
    let NodeInput::Array(node, from) = input else { return Ok(false) };
    let Some(buffer) = node.replicated_buffer() else { return Ok(false) };
    if from.dtype != view.dtype || buffer.is_same(memory) {
        return Ok(false);
    }
    copy_view(buffer, from, memory, view)?;
    Ok(true)
}

fn copy_view(from: &Buffer, read: &View, to: &Buffer, written: &View) -> Result<(), RunError> {
    Ok(copy_elements((&from.read()?, read), (&mut to.write()?, written))?)
}

fn scatter_from_c_order(elements: &[u8], memory: &Buffer, view: &View) -> Result<(), RunError> {
    let read = View::c_order(view.dtype, &view.shape);
    Ok(copy_elements((elements, &read), (&mut memory.write()?, view))?)
}

fn apply_to(
    op: Op,
    dtype: DType,
    inputs: &[ContiguousInput],
    out: &Buffer,
) -> Result<FpFlags, RunError> {
    let claims =
        inputs.iter().map(|(buffer, _)| buffer.read()).collect::<Result<OperandVec<_>, _>>()?;
    let slices = claims.iter().zip(inputs).map(|(claim, (_, bytes))| &claim[bytes.clone()]);
    let slices: OperandVec<&[u8]> = slices.collect();
    Ok(apply(op, dtype, &slices, &mut out.write()?)?)
}

fn contiguous_input(
    session: &Session,
    input: &NodeInput,
    dtype: DType,
    len: usize,
) -> Result<Option<ContiguousInput>, RunError> {
    let (node, view) = match input {
        NodeInput::Scalar(value) => {
            return Ok(Some(whole_buffer(small_buffer_filled(value.cast(dtype), len))));
        }
        NodeInput::Array(node, view) => (node, view),
    };
    let buffer = match node.state() {
        NodeState::Stored(buffer) if node.placement.is_replicated() => buffer,
        NodeState::Full(value) if view.dtype == node.base.dtype => {
            return Ok(Some(whole_buffer(small_buffer_filled(value.cast(dtype), len))));
        }
        _ => return Ok(None),
    };
    let item = view.dtype.itemsize();
    let in_place = view.is_contiguous() && (buffer.as_ptr().addr() + view.offset) % item == 0;
    let (buffer, bytes) = match in_place {
        _ if len == 0 => (buffer, 0..0),
        true => (buffer, view.offset..view.offset + len * item),
        false => whole_buffer(pack_view(&buffer, view)?),
    };
    Ok(Some(if view.dtype == dtype {
        (buffer, bytes)
    } else {
        cast_contiguous(session, &buffer, bytes, (view.dtype, dtype))?
    }))
}

fn whole_buffer(buffer: Buffer) -> ContiguousInput {
    let len = buffer.len();
    (buffer, 0..len)
}

fn cast_contiguous(
    session: &Session,
    buffer: &Buffer,
    bytes: Range<usize>,
    (from, to): (DType, DType),
) -> Result<ContiguousInput, RunError> {
    let out = take_small_buffer(bytes.len() / from.itemsize() * to.itemsize());
    let flags = apply(Op::Cast(to), from, &[&buffer.read()?[bytes]], &mut out.write()?)?;
    session.fp_warnings().add("cast", flags, None);
    Ok(whole_buffer(out))
}

/// Packs the elements of a view in C order.
pub(crate) fn pack_view(buffer: &Buffer, view: &View) -> Result<Buffer, RunError> {
    let out = take_small_buffer(view.len() * view.dtype.itemsize());
    copy_view(buffer, view, &out, &View::c_order(view.dtype, &view.shape))?;
    Ok(out)
}
