//! Operations, element by element: shape, dtype and errors now, values when they are needed.

use dappled_kernels::{Axes, DType, Op, Scalar, View};

use super::evaluate::value;
use super::layout::{Layout, layout_like};
use super::node::{Arg, Few, Map, Node, State};
use super::notice::Request;
use super::session::HEAVIEST;
use super::small::computed;
use super::unfused::as_numpy;
use super::{Array, GraphError, Session};
use crate::view::{self, moved, permuted};

/// What an operation reads.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// An array.
    Array(&'a Array),
    /// One value for all elements.
    Scalar(Scalar),
}

impl<'a> From<&'a Array> for Operand<'a> {
    fn from(array: &'a Array) -> Self {
        Operand::Array(array)
    }
}

impl From<Scalar> for Operand<'_> {
    fn from(value: Scalar) -> Self {
        Operand::Scalar(value)
    }
}

impl Operand<'_> {
    fn arg(&self, shape: &[usize]) -> Arg {
        match self {
            Operand::Scalar(value) => Arg::Scalar(*value),
            Operand::Array(array) => {
                let view = array.view().broadcast(shape).expect("the shape they broadcast to");
                Arg::Part(array.versions.current(), view)
            }
        }
    }

    fn dtype(&self) -> DType {
        match self {
            Operand::Scalar(value) => value.dtype(),
            Operand::Array(array) => array.dtype(),
        }
    }

    fn is_lent(&self) -> bool {
        matches!(self, Operand::Array(array) if array.versions.is_lent())
    }
}

/// An operation in a loop of this dtype on operands that broadcast; at least one is an array.
pub fn map(
    session: &Session,
    request: Request,
    dtype: DType,
    operands: &[Operand<'_>],
) -> Result<Array, GraphError> {
    let shape = common_shape(operands)?;
    let args: Few<Arg> = operands.iter().map(|operand| operand.arg(&shape)).collect();
    let at_once = operands.iter().any(Operand::is_lent);
    // Where nothing is cast or repeated, NumPy looks no further than to see that all is in F order.
    let is_plain = request.op != Op::Select
        && operands.iter().enumerate().all(|(at, operand)| {
            shape_of(operand).is_none_or(|own| *own == *shape)
                && operand.dtype() == request.op.argument(dtype, at)
        });
    in_memory_order(args, &shape, is_plain, |args, shape| {
        element_wise(session, Asked { request, dtype, args }, shape, at_once)
    })
}

fn common_shape(operands: &[Operand<'_>]) -> Result<Axes<usize>, GraphError> {
    let shapes: Few<&[usize]> = operands.iter().filter_map(shape_of).collect();
    match shapes.windows(2).all(|pair| pair[0] == pair[1]) {
        true => Ok(shapes[0].into()),
        false => Ok(view::broadcast(&shapes)?.into()),
    }
}

fn shape_of<'a>(operand: &Operand<'a>) -> Option<&'a [usize]> {
    match operand {
        Operand::Array(array) => Some(array.shape()),
        Operand::Scalar(_) => None,
    }
}

/// `target op= …`: an operation whose result is written over an array of its shape.
pub fn update(
    target: &Array,
    request: Request,
    dtype: DType,
    operands: &[Operand<'_>],
) -> Result<(), GraphError> {
    let session = target.session();
    let args: Few<Arg> = operands.iter().map(|operand| operand.arg(target.shape())).collect();
    let request =
        Request { op: as_numpy(request.op, dtype, &args, Some(target.view())), ..request };
    let base = View::c_order(request.op.result(dtype), target.shape());
    let small = base.len() <= session.limits().at_once;
    let state = match small
        .then(|| computed(session, &request, dtype, &args, base.len()))
        .transpose()?
        .flatten()
    {
        Some(memory) => State::Stored(memory),
        None => State::Map(Map::new(request, dtype, args).into()),
    };
    // Where everything is on every rank, each writes all of it without a message.
    let here = target.is_whole() && matches!(&state, State::Map(map) if !map.is_spread);
    let layout = match here || matches!(state, State::Stored(_)) {
        true => Layout::Whole,
        false => session.layout(base.dtype, target.shape()),
    };
    target.update(Node::new(session, base, layout, state))
}

/// Lays the result out as NumPy does: its axes in the order in which those of the operands run.
fn in_memory_order(
    args: Few<Arg>,
    shape: &[usize],
    is_plain: bool,
    ask: impl FnOnce(Few<Arg>, &[usize]) -> Result<Array, GraphError>,
) -> Result<Array, GraphError> {
    let order = order_of(&args, shape.len(), is_plain);
    let Some(order) = order else { return ask(args, shape) };
    let turned = args.into_iter().map(|arg| match arg {
        Arg::Part(node, view) => Arg::Part(node, permuted(&view, &order)),
        scalar => scalar,
    });
    let turned_shape: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    Ok(ask(turned.collect(), &turned_shape)?.transposed(&moved(&order)))
}

/// The order of the axes; None for C order.
fn order_of(args: &[Arg], ndim: usize, is_plain: bool) -> Option<Vec<usize>> {
    let views = args.iter().filter_map(|arg| match arg {
        Arg::Part(_, view) => Some(view),
        Arg::Scalar(_) => None,
    });
    let views = views.collect::<Few<&View>>();
    match is_plain && views.iter().all(|view| view::is_reversed(view)) {
        true => Some((0..ndim).rev().collect()),
        false => view::memory_order(&views, ndim),
    }
}

/// A cast, laid out in C order whatever its operand is.
pub fn cast_in_c_order(array: &Array, request: Request) -> Result<Array, GraphError> {
    let asked = Asked { request, dtype: array.dtype(), args: [array.arg()].into_iter().collect() };
    element_wise(array.session(), asked, array.shape(), array.versions.is_lent())
}

/// An operation on arguments of one shape.
struct Asked {
    request: Request,
    dtype: DType,
    args: Few<Arg>,
}

fn element_wise(
    session: &Session,
    asked: Asked,
    shape: &[usize],
    at_once: bool,
) -> Result<Array, GraphError> {
    let Asked { mut request, dtype, args } = asked;
    request.op = as_numpy(request.op, dtype, &args, None);
    let base = View::c_order(request.op.result(dtype), shape);
    let small = base.len() <= session.limits().at_once;
    if small && let Some(memory) = computed(session, &request, dtype, &args, base.len())? {
        return Ok(Array::whole(session, base, memory));
    }
    let layout = layout_like(session, &args, base.dtype, shape);
    let mut map = Map::new(request, dtype, args);
    if small || at_once || map.is_heavier(HEAVIEST) || map.holds_much(&base) {
        let node = Node::new(session, base, layout, State::Map(map.into()));
        value(session, &node)?;
        return Ok(Array::over(session, node));
    }
    if map.is_spread || !layout.is_whole() {
        // All ranks number what they defer, so only the thread that communicates may.
        session.ways().check(map.request.op, session.fabric().size())?;
    }
    session.limit_held(map.held_beyond(&base))?;
    Ok(pending(session, base, layout, map))
}

/// The result of an operation that waits until it is needed.
pub(super) fn pending(session: &Session, base: View, layout: Layout, map: Map) -> Array {
    let (together, held) = (map.is_spread || !layout.is_whole(), map.held_beyond(&base));
    let array = Array::over(session, Node::new(session, base, layout, State::Map(map.into())));
    session.pending().add(&array.versions, together, held);
    array
}
