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
/// if that is in pieces and of its shape; else in the middle of the parts of an array in pieces that
/// it is made of, if they are a good part of it; else as the session says.
pub(super) fn layout_like(
    session: &Session,
    args: &[Arg],
    dtype: DType,
    shape: &[usize],
) -> Layout {
    if session.fabric().size() == 1 {
        return session.layout(dtype, shape);
    }
    let parts = args.iter().filter_map(|arg| match arg {
        Arg::Part(node, view) if view.shape[..] == *shape => Some((node, view)),
        _ => None,
    });
    let parts: Vec<(&Arc<Node>, &View)> = parts.collect();
    let rank = session.fabric().rank();
    if let Some(split) = parts.iter().find_map(|(node, view)| all_of(node, view)) {
        let c_order = split.local.offset == 0 && split.local.is_contiguous();
        return match split.local.dtype == dtype && c_order {
            true => Layout::Split(split.clone()),
            false => Layout::split(split.distribution.clone(), dtype, rank),
        };
    }
    match between(&parts) {
        Some(distribution) => Layout::split(distribution, dtype, rank),
        None => session.layout(dtype, shape),
    }
}

/// Where the whole of an array is read that is in pieces.
fn all_of<'a>(node: &'a Node, view: &View) -> Option<&'a Arc<Split>> {
    match &node.layout {
        Layout::Split(split) if *view == node.base && is_plain(&split.distribution) => Some(split),
        _ => None,
    }
}

/// Where the middle of shifted parts lies, of the first array in pieces of which there are some.
fn between(parts: &[(&Arc<Node>, &View)]) -> Option<Distribution> {
    let mut found: Vec<(&Arc<Node>, Vec<u64>)> = Vec::new();
    for (node, view) in parts {
        if let Layout::Split(split) = &node.layout
            && is_plain(&split.distribution)
            && let Some(starts) = cut(view, &node.base)
        {
            found.push((node, starts));
        }
    }
    let (node, _) = found.first()?;
    let same = found.iter().filter(|(other, _)| Arc::ptr_eq(node, other)).map(|(_, starts)| starts);
    let count = same.clone().count() as u64;
    let middle = |axis: usize| same.clone().map(|starts| starts[axis]).sum::<u64>() / count;
    let shape = &parts.first()?.1.shape;
    let item = |(axis, &length): (usize, &usize)| {
        let start = middle(axis) as i64;
        Item::Slice(Some(start), Some(start + length as i64), None)
    };
    let items: Vec<Item> = shape.iter().enumerate().map(item).collect();
    let Layout::Split(split) = &node.layout else { return None };
    let key = Key::new(&items, &split.distribution.shape()).ok()?;
    split.distribution.slice(&key).ok()
}

/// Where a part begins that is at least half of its base, every axis cut and none turned.
fn cut(view: &View, base: &View) -> Option<Vec<u64>> {
    let through = through(view, base)?;
    let follows = |(axis, along): (usize, &Along)| match along.base {
        Some(followed) => followed == (axis, 1),
        None => along.length == 1,
    };
    let is_cut = view.shape.len() == base.shape.len()
        && 2 * view.len() >= base.len()
        && through.axes.iter().enumerate().all(follows);
    is_cut.then_some(through.starts)
}

/// Has each rank its own elements, and no others?
fn is_plain(distribution: &Distribution) -> bool {
    let is_padded = (0..distribution.axes().len()).any(|axis| distribution.is_padded(axis));
    distribution.held() == Held::Grid && !is_padded
}
