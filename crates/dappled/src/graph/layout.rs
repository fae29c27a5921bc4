//! Which rank has which elements of an array.

use std::sync::Arc;

use dappled_kernels::{DType, View};
use dappled_protocol::slice::{Item, Key};
use dappled_protocol::{Distribution, Held};

use super::Session;
use super::node::{Arg, Node};
use crate::plan::Along;
use crate::view::through;

/// Where the elements of an array are.
#[derive(Clone)]
pub(crate) enum Layout {
    /// All of them on every rank.
    Whole,
    /// In pieces.
    Split(Arc<Split>),
}

/// An array in pieces.
pub(crate) struct Split {
    pub distribution: Distribution,
    /// How this rank's piece lies in its memory, padding included.
    pub local: View,
}

impl Layout {
    /// Pieces of a distribution, in C order.
    pub fn split(distribution: Distribution, dtype: DType, rank: u64) -> Self {
        let shape = match distribution.holds(rank) {
            true => distribution.local_shape(rank),
            false => vec![0; distribution.axes().len()],
        };
        let shape: Vec<usize> = shape.iter().map(|&length| length as usize).collect();
        Layout::Split(Arc::new(Split { distribution, local: View::c_order(dtype, &shape) }))
    }

    pub fn is_whole(&self) -> bool {
        matches!(self, Layout::Whole)
    }

    /// How this rank's memory is laid out; `base` where it has everything.
    pub fn local<'a>(&'a self, base: &'a View) -> &'a View {
        match self {
            Layout::Whole => base,
            Layout::Split(split) => &split.local,
        }
    }
}

/// Where the result of an operation on elements lies: where the first array lies that it is made of,
/// if that is in pieces and of its shape, or a good part of one; else as the session says.
pub(super) fn layout_like(
    session: &Session,
    args: &[Arg],
    dtype: DType,
    shape: &[usize],
) -> Layout {
    if session.fabric().size() == 1 {
        return session.layout(dtype, shape);
    }
    let split = |arg: &Arg| match arg {
        Arg::Part(node, view) if view.shape[..] == *shape => lies(node, view, dtype),
        _ => None,
    };
    match args.iter().find_map(split) {
        Some(Lies::So(split)) => Layout::Split(split),
        Some(Lies::In(distribution)) => Layout::split(distribution, dtype, session.fabric().rank()),
        None => session.layout(dtype, shape),
    }
}

/// Where an argument lies.
enum Lies {
    So(Arc<Split>),
    In(Distribution),
}

fn lies(node: &Node, view: &View, dtype: DType) -> Option<Lies> {
    let Layout::Split(split) = &node.layout else { return None };
    if !is_plain(&split.distribution) {
        return None;
    }
    if *view != node.base {
        return part_of(&split.distribution, view, &node.base).map(Lies::In);
    }
    let c_order = split.local.offset == 0 && split.local.is_contiguous();
    Some(match split.local.dtype == dtype && c_order {
        true => Lies::So(split.clone()),
        false => Lies::In(split.distribution.clone()),
    })
}

/// Where a part lies that is at least half of its base, every axis cut and none turned.
fn part_of(distribution: &Distribution, view: &View, base: &View) -> Option<Distribution> {
    let through = through(view, base)?;
    if 2 * view.len() < base.len() || view.shape.len() != base.shape.len() {
        return None;
    }
    let item = |(axis, along): (usize, &Along)| {
        let start = through.starts[axis] as i64;
        let follows = match along.base {
            Some(followed) => followed == (axis, 1),
            None => along.length == 1,
        };
        follows.then(|| Item::Slice(Some(start), Some(start + along.length as i64), None))
    };
    let items: Vec<Item> = through.axes.iter().enumerate().map(item).collect::<Option<_>>()?;
    let key = Key::new(&items, &distribution.shape()).ok()?;
    distribution.slice(&key).ok()
}

/// Has each rank its own elements, and no others?
fn is_plain(distribution: &Distribution) -> bool {
    let is_padded = (0..distribution.axes().len()).any(|axis| distribution.is_padded(axis));
    distribution.held() == Held::Grid && !is_padded
}
