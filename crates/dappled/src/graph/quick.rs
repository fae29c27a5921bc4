//! The commonest case of all, with the fewest steps: small arrays of one dtype, of which the first has
//! the shape of the result, and numbers.

use std::ops::Range;

use dappled_kernels::element::word_bytes;
use dappled_kernels::{
    Buffer, DType, Error, Flags, Kind, Op, Scalar, View, apply, apply_number, in_parts,
};

use super::fresh::Own;
use super::memory::{keep_small, small_memory};
use super::node::Node;
use super::notice::Request;
use super::small::collected;
use super::{Array, Given, GraphError};
use crate::run::RunError;
use crate::view::memory_order;

/// Bytes of a number repeated: few steps, and little to fill for a small array.
const ROOM: usize = 1024;

/// What an array meets in an operation.
#[derive(Clone, Copy)]
pub enum Beside<'a> {
    /// Nothing: the operation has one argument.
    Nothing,
    /// Another array.
    Own(Own<'a>),
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
        [Given::Array(array), Given::Array(other)] => (array, Beside::Own(Own::Array(other))),
        [Given::Array(array), Given::Strong(value) | Given::Weak(_, value)] => {
            (array, Beside::After(value.cast(dtype)))
        }
        [Given::Strong(value) | Given::Weak(_, value), Given::Array(array)] => {
            (array, Beside::Before(value.cast(dtype)))
        }
        _ => return Ok(None),
    };
    if array.dtype() != dtype {
        return Ok(None);
    }
    let made = memory_of(request.op, request.name, Own::Array(array), beside)?;
    let base = || View::c_order(request.op.result(dtype), array.shape());
    Ok(made.map(|memory| Array::whole(array.session(), base(), memory)))
}

/// The same for who has found one array and what it meets: the loop's dtype is the array's. Its
/// memory alone, which is soon handed from one to the next; see [`super::Fresh`].
pub fn quick_alike(op: Op, own: Own<'_>, beside: Beside<'_>) -> Result<Option<Buffer>, GraphError> {
    match op.has_loop(own.dtype()) {
        true => memory_of(op, op.numpy_name(), own, beside),
        false => Ok(None),
    }
}

/// The same written over the array; false if this is not the commonest case.
pub fn quick_over(op: Op, target: &Array, beside: Beside<'_>) -> Result<bool, GraphError> {
    quick_into(op, target, Own::Array(target), beside)
}

/// The same written into an array of its shape; false if this is not the commonest case.
pub fn quick_into(
    op: Op,
    target: &Array,
    own: Own<'_>,
    beside: Beside<'_>,
) -> Result<bool, GraphError> {
    let (view, dtype) = (target.view(), own.dtype());
    // There are cheaper powers, and some that raise instead of writing; of complex numbers see
    // `unfused`.
    let other = op == Op::Power || dtype.kind() == Kind::Complex;
    if other
        || *view.shape != *own.shape()
        || !view.is_contiguous()
        || !op.has_loop(dtype)
        || op.result(dtype) != view.dtype
    {
        return Ok(false);
    }
    let Some(out) = memory_of(op, op.numpy_name(), own, beside)? else { return Ok(false) };
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

/// The result's memory.
fn memory_of(
    op: Op,
    name: &'static str,
    own: Own<'_>,
    beside: Beside<'_>,
) -> Result<Option<Buffer>, GraphError> {
    let (session, dtype, len) = (own.session(), own.dtype(), own.len());
    let widest = dtype.itemsize().max(op.result(dtype).itemsize());
    if len == 0 || len > session.limits().at_once_of(widest) {
        return Ok(None);
    }
    let out = small_memory(len * op.result(dtype).itemsize());
    let here = Here { op, dtype, len, out: &out };
    let like = (dtype, own.shape());
    let flags = match beside {
        Beside::Nothing => own.with_plain(like, |memory| Ok(Some(here.alone(memory)?))),
        Beside::After(value) => {
            own.with_plain(like, |memory| Ok(Some(here.number(memory, value, false)?)))
        }
        Beside::Before(value) => {
            own.with_plain(like, |memory| Ok(Some(here.number(memory, value, true)?)))
        }
        Beside::Own(other) => {
            own.with_other(other, like, |first, second| Ok(Some(here.pair(first, second)?)))
        }
    };
    let Some(flags) = flags? else { return Ok(None) };
    session.notices().add(name, flags, None);
    Ok(Some(out))
}

/// Elements in C order: the memory that they are in, and where they begin.
pub(super) type Plain<'a> = (&'a Buffer, usize);

/// What elements are looked at like: a dtype and a shape.
type Like<'a> = (DType, &'a [usize]);

/// Looks at the elements of an array in C order: where they lie so in its memory, else in a copy. None
/// if it is not here, or if results would not be in C order.
pub(super) fn with_plain<T>(
    array: &Array,
    look: impl FnOnce(Plain<'_>) -> Result<Option<T>, GraphError>,
) -> Result<Option<T>, GraphError> {
    Own::Array(array).with_plain((array.dtype(), array.shape()), look)
}

/// The same with those of a second array, which is like a view, or is repeated to it. Nobody is
/// waited for with one of them in hand.
pub(super) fn with_both<T>(
    array: &Array,
    other: &Array,
    like: Like<'_>,
    look: impl FnOnce(Plain<'_>, Plain<'_>) -> Result<Option<T>, GraphError>,
) -> Result<Option<T>, GraphError> {
    array.versions.with_current(|node| {
        in_node(node, array.view(), (array.dtype(), array.shape()), |first| {
            let look = |second: Plain<'_>| look(first, second);
            if array.shares(other) {
                return in_node(node, other.view(), like, look);
            }
            let found =
                other.versions.try_with_current(|node| in_node(node, other.view(), like, look));
            found.unwrap_or(Ok(None))
        })
    })
}

impl Own<'_> {
    /// Looks at its elements, which are repeated to what they are like.
    fn with_plain<T>(
        self,
        like: Like<'_>,
        look: impl FnOnce(Plain<'_>) -> Result<Option<T>, GraphError>,
    ) -> Result<Option<T>, GraphError> {
        match self {
            Own::Array(array) => {
                array.versions.with_current(|node| in_node(node, array.view(), like, look))
            }
            Own::Fresh(fresh) if (self.dtype(), self.shape()) == like => look((fresh.memory(), 0)),
            Own::Fresh(fresh) => {
                let view = View::c_order(self.dtype(), self.shape());
                in_memory(fresh.memory(), &view, like, look)
            }
        }
    }

    /// The same with those of another.
    fn with_other<T>(
        self,
        other: Own<'_>,
        like: Like<'_>,
        look: impl FnOnce(Plain<'_>, Plain<'_>) -> Result<Option<T>, GraphError>,
    ) -> Result<Option<T>, GraphError> {
        match (self, other) {
            (Own::Array(array), Own::Array(other)) => with_both(array, other, like, look),
            (Own::Fresh(fresh), other) => {
                other.with_plain(like, |second| look((fresh.memory(), 0), second))
            }
            (first, fresh) => {
                first.with_plain(like, |first| fresh.with_plain(like, |second| look(first, second)))
            }
        }
    }
}

fn in_node<T>(
    node: &Node,
    view: &View,
    like: Like<'_>,
    look: impl FnOnce(Plain<'_>) -> Result<Option<T>, GraphError>,
) -> Result<Option<T>, GraphError> {
    match node.whole_memory() {
        Some(memory) => in_memory(memory, view, like, look),
        None => Ok(None),
    }
}

#[inline]
fn in_memory<T>(
    memory: &Buffer,
    view: &View,
    (dtype, shape): Like<'_>,
    look: impl FnOnce(Plain<'_>) -> Result<Option<T>, GraphError>,
) -> Result<Option<T>, GraphError> {
    if view.dtype != dtype {
        return Ok(None);
    }
    if *view.shape == *shape && view.is_contiguous() {
        let aligned = (memory.as_ptr().addr() + view.offset).is_multiple_of(view.dtype.itemsize());
        return if aligned { look((memory, view.offset)) } else { Ok(None) };
    }
    let Some(seen) = view.broadcast(shape) else { return Ok(None) };
    // Which loop NumPy runs for complex numbers depends on how they lie.
    if view.dtype.kind() == Kind::Complex || memory_order(&[&seen], seen.shape.len()).is_some() {
        return Ok(None);
    }
    let copy = collected(memory, &seen)?;
    let found = look((&copy, 0));
    keep_small(copy);
    found
}

/// An operation on memory that is here.
struct Here<'a> {
    op: Op,
    dtype: DType,
    len: usize,
    out: &'a Buffer,
}

impl Here<'_> {
    fn alone(&self, (memory, offset): Plain<'_>) -> Result<Flags, RunError> {
        let memory = memory.read()?;
        self.run(|part, out| apply(self.op, self.dtype, &[self.part(&memory, offset, part)], out))
    }

    fn pair(&self, first: Plain<'_>, second: Plain<'_>) -> Result<Flags, RunError> {
        let (memory, other) = (first.0.read()?, second.0.read()?);
        self.run(|part, out| {
            let args = [(&memory, first.1), (&other, second.1)];
            let args = args.map(|(memory, offset)| self.part(memory, offset, part.clone()));
            apply(self.op, self.dtype, &args, out)
        })
    }

    /// With a number, repeated for a part of the array at a time.
    fn number(
        &self,
        (memory, offset): Plain<'_>,
        number: Scalar,
        before: bool,
    ) -> Result<Flags, RunError> {
        let memory = memory.read()?;
        let mut room = [0u64; ROOM / 8];
        let room = &mut word_bytes(&mut room)[..ROOM.min(self.len * self.dtype.itemsize())];
        number.fill(room);
        let room = &*room;
        self.run(|part, out| {
            let array = self.part(&memory, offset, part);
            apply_number(self.op, self.dtype, array, (room, before), out)
        })
    }

    /// The bytes of some elements.
    #[inline(always)]
    fn part<'b>(&self, memory: &'b [u8], offset: usize, part: Range<usize>) -> &'b [u8] {
        let item = self.dtype.itemsize();
        &memory[offset + part.start * item..offset + part.end * item]
    }

    fn run(
        &self,
        work: impl Fn(Range<usize>, &mut [u8]) -> Result<Flags, Error> + Sync,
    ) -> Result<Flags, RunError> {
        Ok(in_parts(self.op, self.dtype, self.len, &mut self.out.write()?, work)?)
    }
}
