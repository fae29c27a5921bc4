//! Arrays in pieces in another shape: nothing is gathered.
//!
//! Where every rank has whole rows of an array in C order, the pieces are parts of one long row, in
//! order. So an array is moved until its pieces are rows, these are called parts of the long row,
//! which are moved to where rows of the other shape begin, and called rows of that. What need not
//! move stays where it is. Where there are fewer rows than ranks, each row is taken by itself.

use std::sync::Arc;

use dappled_kernels::View;
use dappled_protocol::{AxisMap, AxisSpec, Distribution, Held, Spec};

use super::evaluate::{laid_out, value, write};
use super::layout::{Layout, Split};
use super::node::{Arg, Node, State};
use super::outside::copied_in_c_order;
use super::{Array, GraphError, Session};
use crate::view::reshaped;

/// The same elements, in C order, in another shape of the same size; laid out as is asked, or as
/// needs the fewest moves. Collective.
pub(super) fn in_shape(
    session: &Session,
    node: &Arc<Node>,
    shape: &[usize],
    layout: Option<Layout>,
) -> Result<Arc<Node>, GraphError> {
    let flat = flat(session, node)?;
    let found = rows_of(session, &flat, shape)?;
    match layout {
        Some(layout) if !is_laid_out(&found, &layout) => moved(session, &found, layout),
        _ => Ok(found),
    }
}

impl Array {
    /// A copy in C order in another shape of the same size. In pieces, it is moved to where an
    /// array of that shape lies. Collective, unless it is whole.
    pub fn copied_in_shape(&self, shape: &[usize]) -> Result<Array, GraphError> {
        let copy = self.copied()?;
        let (session, node) = (self.session(), copy.versions.current());
        if node.layout.is_whole() || shape.is_empty() || copy.view().is_empty() {
            let view = reshaped(copy.view(), shape).expect("in C order any shape is a view");
            return Ok(copy.with_view(view));
        }
        let layout = session.layout(self.dtype(), shape);
        let found = in_shape(session, &node, shape, Some(layout))?;
        // Without a move it is the same memory, which somebody else may write.
        let is_shared = value(session, &found)?.is_same(&value(session, &node)?);
        Ok(Array::over(session, if is_shared { own_memory(session, &found)? } else { found }))
    }
}

/// The same in memory that nobody else has, in C order. Local.
pub(super) fn own_memory(session: &Session, node: &Arc<Node>) -> Result<Arc<Node>, GraphError> {
    let local = node.layout.local(&node.base);
    let memory = copied_in_c_order(session, &value(session, node)?, local)?;
    let own = Node::new(session, node.base.clone(), plain(session, node), State::Stored(memory));
    Ok(own.as_version_of(node))
}

/// The layout of a node with its pieces in C order.
pub(super) fn plain(session: &Session, node: &Node) -> Layout {
    match &node.layout {
        Layout::Whole => Layout::Whole,
        Layout::Split(split) => {
            let rank = session.fabric().rank();
            Layout::split(split.distribution.clone(), node.base.dtype, rank)
        }
    }
}

/// Does it lie so?
pub(super) fn is_laid_out(node: &Node, layout: &Layout) -> bool {
    match (&node.layout, layout) {
        (Layout::Split(own), Layout::Split(other)) => {
            own.distribution == other.distribution && own.local == other.local
        }
        (own, other) => own.is_whole() && other.is_whole(),
    }
}

/// The elements in another distribution, in memory of their own.
pub(super) fn moved(
    session: &Session,
    node: &Arc<Node>,
    layout: Layout,
) -> Result<Arc<Node>, GraphError> {
    let all = Arg::Part(node.clone(), node.base.clone());
    laid_out(session, &all, node.base.clone(), layout)
}

/// All elements along one axis.
fn flat(session: &Session, node: &Arc<Node>) -> Result<Arc<Node>, GraphError> {
    let shape = &node.base.shape;
    if shape.len() == 1 && is_in_rows(node) {
        return Ok(node.clone());
    }
    if !is_worth_rows(session, shape) {
        return flat_by_rows(session, node);
    }
    let rows = match is_in_rows(node) {
        true => node.clone(),
        false => moved(session, node, in_rows(session, node, None))?,
    };
    let Layout::Split(split) = &rows.layout else { return flat_by_rows(session, &rows) };
    let row = shape[1..].iter().product::<usize>() as u64;
    let bounds = bounds(&split.distribution.axes()[0]).iter().map(|bound| bound * row).collect();
    called(session, &rows, &[node.base.len()], &blocks(&[node.base.len()], bounds))
}

/// The same of few long rows: one after the other.
fn flat_by_rows(session: &Session, node: &Arc<Node>) -> Result<Arc<Node>, GraphError> {
    let made = room(session, node, &[node.base.len()]);
    for (row, view) in rows_in(&node.base).enumerate() {
        let length = view.len();
        let part = Arg::Part(node.clone(), view.clone());
        let base = View::c_order(view.dtype, &view.shape);
        let layout = session.split_layout(base.dtype, &base.shape);
        let part = flat(session, &laid_out(session, &part, base, layout)?)?;
        let view = made.base.region(0, row * length, 1, length);
        let memory = value(session, &made)?;
        write(session, &made, &view, &memory, &Arg::Part(part.clone(), part.base.clone()))?;
    }
    Ok(made)
}

/// What lies along one axis, in another shape.
fn rows_of(session: &Session, flat: &Arc<Node>, shape: &[usize]) -> Result<Arc<Node>, GraphError> {
    if !is_worth_rows(session, shape) {
        return rows_by_rows(session, flat, shape);
    }
    let wanted = blocks_of_rows(session, shape);
    let row = shape[1..].iter().product::<usize>() as u64;
    let bounds: Vec<u64> = bounds(&wanted.axes()[0]).iter().map(|bound| bound * row).collect();
    let layout = in_rows(session, flat, Some(bounds));
    let there = match is_laid_out(flat, &layout) {
        true => flat.clone(),
        false => moved(session, flat, layout)?,
    };
    called(session, &there, shape, &wanted)
}

fn rows_by_rows(
    session: &Session,
    flat: &Arc<Node>,
    shape: &[usize],
) -> Result<Arc<Node>, GraphError> {
    let made = room(session, flat, shape);
    for (row, view) in rows_in(&made.base).enumerate() {
        let length = view.len();
        let part = Arg::Part(flat.clone(), flat.base.region(0, row * length, 1, length));
        let base = View::c_order(view.dtype, &[length]);
        let layout = session.split_layout(base.dtype, &base.shape);
        let part = laid_out(session, &part, base, layout)?;
        let part = rows_of(session, &part, &view.shape)?;
        let memory = value(session, &made)?;
        write(session, &made, &view, &memory, &Arg::Part(part.clone(), part.base.clone()))?;
    }
    Ok(made)
}

/// Memory for a node of the dtype of another, in blocks.
fn room(session: &Session, like: &Node, shape: &[usize]) -> Arc<Node> {
    let base = View::c_order(like.base.dtype, shape);
    let layout = session.split_layout(base.dtype, shape);
    Node::fresh(session, base, layout).0
}

/// The rows of a view of two axes or more.
fn rows_in(view: &View) -> impl Iterator<Item = View> {
    let row = |at: usize| {
        let mut row = view.region(0, at, 1, 1);
        row.shape.remove(0);
        row.strides.remove(0);
        row
    };
    (0..view.shape[0]).map(row)
}

/// Are there enough rows to give each rank about as many?
fn is_worth_rows(session: &Session, shape: &[usize]) -> bool {
    shape.len() <= 1 || shape[0] as u64 >= session.fabric().size()
}

/// Is each piece a range of whole rows, in order and without padding?
fn is_in_rows(node: &Node) -> bool {
    let Layout::Split(split) = &node.layout else { return false };
    let distribution = &split.distribution;
    let [first, others @ ..] = distribution.axes() else { return false };
    let is_padded = (0..node.base.shape.len()).any(|axis| distribution.is_padded(axis));
    let whole = |map: &AxisMap| map.grid() == 1 && map.dist_type() != 'u';
    let ranks = first.grid() == distribution.nprocs();
    distribution.held() == Held::Grid && !is_padded && ranks && {
        others.iter().all(whole) && is_ascending(first)
    }
}

/// Do the ranks have ranges of an axis, one behind the other?
fn is_ascending(map: &AxisMap) -> bool {
    let mut next = 0;
    let mut follows = |rank: u64| {
        let owned = map.owned(rank);
        let first = map.owned_ranges(rank).next().map(|range| *range.start());
        let fits = owned == 0 || first == Some(next);
        next += owned as i64;
        fits
    };
    matches!(map.dist_type(), 'b' | 'n') && (0..map.grid()).all(&mut follows)
}

/// Where the ranks' ranges of an axis begin, and its length.
fn bounds(map: &AxisMap) -> Vec<u64> {
    let ends = (0..map.grid()).scan(0, |end, rank| {
        *end += map.owned(rank);
        Some(*end)
    });
    [0].into_iter().chain(ends).collect()
}

/// Whole rows on each rank: with these bounds, or about as many everywhere.
fn in_rows(session: &Session, node: &Node, bounds: Option<Vec<u64>>) -> Layout {
    let shape = &node.base.shape;
    let distribution = match bounds {
        Some(bounds) => blocks(shape, bounds),
        None => blocks_of_rows(session, shape),
    };
    Layout::split(distribution, node.base.dtype, session.fabric().rank())
}

fn blocks_of_rows(session: &Session, shape: &[usize]) -> Distribution {
    let (ranks, rows) = (session.fabric().size(), shape[0] as u64);
    let map = AxisMap::block(rows, ranks);
    blocks(shape, bounds(&map))
}

/// Blocks along the first axis with these bounds.
fn blocks(shape: &[usize], bounds: Vec<u64>) -> Distribution {
    let axis = |(axis, &size): (usize, &usize)| AxisSpec {
        size: size as u64,
        kind: Some(if axis == 0 { 'b' } else { 'n' }),
        bounds: (axis == 0).then(|| bounds.clone()),
        ..AxisSpec::default()
    };
    let axes = shape.iter().enumerate().map(axis).collect();
    Spec { axes, nprocs: None }.build().expect("bounds in order")
}

/// Pieces by another name: the same memory, as pieces of another shape and distribution. Local.
fn called(
    session: &Session,
    node: &Arc<Node>,
    shape: &[usize],
    distribution: &Distribution,
) -> Result<Arc<Node>, GraphError> {
    let base = View::c_order(node.base.dtype, shape);
    let local = distribution.local_shape(session.fabric().rank());
    let local: Vec<usize> = local.iter().map(|&length| length as usize).collect();
    let memory = value(session, node)?;
    let own = node.layout.local(&node.base);
    let (memory, local) = match reshaped(own, &local) {
        Some(view) => (memory, view),
        None => {
            let view = View::c_order(own.dtype, &local);
            (copied_in_c_order(session, &memory, own)?, view)
        }
    };
    let layout = Layout::Split(Arc::new(Split { distribution: distribution.clone(), local }));
    Ok(Node::new(session, base, layout, State::Stored(memory)).as_version_of(node))
}
