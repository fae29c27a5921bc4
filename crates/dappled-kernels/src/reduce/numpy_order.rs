//! The order in which NumPy's iterator feeds an array to a reduction loop, which decides the bits
//! of a sum.
//!
//! Axes are sorted by the magnitude of their strides and merged where one stride covers both. The
//! loop runs along the innermost axis. If that axis is kept, the loop takes rows: one value per
//! accumulator. If it is reduced, the loop takes runs: many values of one accumulator. Where a
//! buffer makes runs longer, or a cast requires one, the iterator copies values to it, and a run is
//! as long as the buffer. The source is `npyiter_find_best_axis_ordering` and
//! `npyiter_find_buffering_setup` in NumPy's `nditer_constr.c`, since NumPy 2.3.

use std::ops::Range;

use crate::config::{MIN_ROTATED_ROW_ELEMENTS, SHORT_REDUCE_ROW_ELEMENTS};
use crate::loops::reduce::InputSpacing;

/// The number of elements of NumPy's iterator buffer.
const NUMPY_BUFFER_ELEMENTS: usize = 8192;

/// One axis of the values, or several merged ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OrderAxis {
    size: usize,
    /// The part of `size` that is reduced here.
    local_size: usize,
    stride: isize,
    kept: bool,
    /// The number of merged axes.
    axes: usize,
}

/// Indices outside of runs or rows, outermost level first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OrderLevel {
    pub size: usize,
    /// True if each index has its own accumulator, false if all share one.
    pub kept: bool,
}

/// The traversal order of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReduceOrder {
    /// All axes of the values, outermost first.
    pub axes: Vec<usize>,
    /// The levels around a run or row; kept and shared levels alternate.
    pub levels: Vec<OrderLevel>,
    /// The number of values of a run or row, which are contiguous in this order.
    pub len: usize,
    /// The number of axes of length other than 1 that a run or row spans.
    inner_axes: usize,
    pub by_rows: bool,
    /// The number of values of a run that the loop takes at a time.
    pub piece: usize,
    /// The stride class of the values of a run or row.
    pub spacing: InputSpacing,
    /// True if the rows run along other axes than NumPy's.
    pub is_rotated: bool,
}

impl ReduceOrder {
    /// The order for nonempty values of this shape, strides and itemsize.
    ///
    /// `casts` is true if the reduction itself casts the values. `here` is the shape of the part
    /// that is reduced here, which differs along kept axes only.
    pub fn new(
        (shape, here): (&[usize], &[usize]),
        strides: &[isize],
        reduced: &[usize],
        itemsize: usize,
        casts: bool,
    ) -> Self {
        let axes = sort_axes(shape, strides);
        let inner_first = axes.iter().rev().filter(|&&axis| shape[axis] != 1);
        let merged = merge_axes(inner_first.map(|&axis| OrderAxis {
            size: shape[axis],
            local_size: here[axis],
            stride: strides[axis],
            kept: !reduced.contains(&axis),
            axes: 1,
        }));
        let by_rows = merged.first().is_some_and(|axis| axis.kept);
        let run = InnerLoop::new(&merged, casts);
        let (inside, around) = merged.split_at(run.axes);
        let stride = inside.first().map_or(0, |axis| axis.stride);
        Self {
            axes,
            levels: outer_levels(around),
            len: inside.iter().map(|axis| axis.local_size).product(),
            inner_axes: inside.iter().map(|axis| axis.axes).sum(),
            by_rows,
            piece: run.piece,
            spacing: match stride {
                _ if run.buffered || stride == itemsize as isize => InputSpacing::Contiguous,
                ..0 => InputSpacing::Backwards,
                _ => InputSpacing::Forwards,
            },
            is_rotated: false,
        }
    }

    /// Exchanges NumPy's short rows for rows along the outermost axes, if those are long.
    ///
    /// An accumulator of rows takes its values in the same order either way.
    pub fn with_long_rows(self, shape: &[usize], reduced: &[usize]) -> Self {
        let &[OrderLevel { size: long, kept: true }, OrderLevel { kept: false, .. }] =
            &self.levels[..]
        else {
            return self;
        };
        if !self.by_rows || self.len >= SHORT_REDUCE_ROW_ELEMENTS || long < MIN_ROTATED_ROW_ELEMENTS
        {
            return self;
        }
        let is_shared = |axis: &usize| reduced.contains(axis) && shape[*axis] != 1;
        let first = self.axes.iter().position(is_shared).expect("a reduced axis");
        let (outer, others) = self.axes.split_at(first);
        let (shared, inner): (Vec<usize>, Vec<usize>) =
            others.iter().partition(|axis| reduced.contains(axis));
        let axes = [&inner[..], &shared[..], outer].concat();
        let levels = vec![OrderLevel { size: self.len, kept: true }, self.levels[1]];
        Self { axes, levels, len: long, is_rotated: true, ..self }
    }
}

/// The axes by decreasing stride.
///
/// A stride of 0, or of an axis of one element, gives no order: such an axis keeps its position as
/// far as the others permit.
fn sort_axes(shape: &[usize], strides: &[isize]) -> Vec<usize> {
    let step = |axis: usize| if shape[axis] == 1 { 0 } else { strides[axis].unsigned_abs() };
    let mut inner_first: Vec<usize> = (0..shape.len()).rev().collect();
    for at in 1..inner_first.len() {
        let axis = inner_first[at];
        let mut position = at;
        for before in (0..at).rev() {
            match (step(axis), step(inner_first[before])) {
                (0, _) | (_, 0) => continue,
                (current, other) if current < other => position = before,
                _ => break,
            }
        }
        inner_first[position..=at].rotate_right(1);
    }
    inner_first.reverse();
    inner_first
}

/// Merges an axis with the next outer one where one stride covers both.
fn merge_axes(inner_first: impl Iterator<Item = OrderAxis>) -> Vec<OrderAxis> {
    let mut merged: Vec<OrderAxis> = Vec::new();
    for axis in inner_first {
        match merged.last_mut() {
            Some(inner) if inner.kept == axis.kept && inner.continues_into(&axis) => {
                inner.size *= axis.size;
                inner.local_size *= axis.local_size;
                inner.axes += axis.axes;
            }
            _ => merged.push(axis),
        }
    }
    merged
}

impl OrderAxis {
    /// True if the outer axis continues where this one ends.
    fn continues_into(&self, outer: &OrderAxis) -> bool {
        self.stride * self.size as isize == outer.stride
    }
}

/// The levels around runs or rows; adjacent axes of one kind form one level.
fn outer_levels(inner_first: &[OrderAxis]) -> Vec<OrderLevel> {
    let mut levels: Vec<OrderLevel> = Vec::new();
    for &OrderAxis { local_size: size, kept, .. } in inner_first.iter().rev() {
        match levels.last_mut() {
            Some(level) if level.kept == kept => level.size *= size,
            _ => levels.push(OrderLevel { size, kept }),
        }
    }
    levels
}

/// The extent of NumPy's inner loop.
struct InnerLoop {
    /// The number of innermost axes that the loop spans.
    axes: usize,
    piece: usize,
    buffered: bool,
}

/// A candidate of the iterator: the loop spans the axes inside of `outer`, and `outer` itself
/// unless it is the first axis of the other kind.
struct BufferingChoice {
    outer: usize,
    cost: usize,
    size: usize,
    core: usize,
}

impl InnerLoop {
    /// Makes the choice of NumPy's iterator: loops over more axes are better, copies are worse.
    fn new(inner_first: &[OrderAxis], casts: bool) -> Self {
        let by_rows = inner_first.first().is_some_and(|axis| axis.kept);
        let kind_change = inner_first.iter().position(|axis| axis.kept != by_rows);
        let single =
            1 + inner_first.windows(2).take_while(|pair| pair[0].continues_into(&pair[1])).count();
        let best = choose_buffering(inner_first, kind_change, single, casts);
        let same_kind_axes = kind_change.unwrap_or(inner_first.len());
        if Some(best.outer) == kind_change {
            // The axis of the other kind needs no single stride.
            let buffered = casts || single < best.outer;
            return Self { axes: same_kind_axes, piece: usize::MAX, buffered };
        }
        let buffered = casts || single <= best.outer;
        let full = buffered && best.size > NUMPY_BUFFER_ELEMENTS;
        let piece = if full { best.core * (NUMPY_BUFFER_ELEMENTS / best.core) } else { best.size };
        // Splitting rows does not affect the result.
        let axes = if by_rows { same_kind_axes } else { same_kind_axes.min(best.outer + 1) };
        Self { axes, piece, buffered }
    }
}

/// Minimises NumPy's cost per element.
///
/// `kind_change` is the first axis of the other kind than the innermost; the first `single` axes have one
/// stride.
fn choose_buffering(
    inner_first: &[OrderAxis],
    kind_change: Option<usize>,
    single: usize,
    casts: bool,
) -> BufferingChoice {
    let mut size = inner_first.first().map_or(1, |axis| axis.size);
    let start = 1 + usize::from(casts);
    let mut best = BufferingChoice { outer: 0, cost: start, size, core: 1 };
    let mut cost = start;
    for (outer, axis) in inner_first.iter().enumerate().skip(1) {
        if size >= NUMPY_BUFFER_ELEMENTS && cost > 1 {
            break;
        }
        cost = start
            + usize::from(Some(outer) == kind_change)
            + usize::from(outer >= single && !casts);
        let core = size;
        size *= axis.size;
        let at_once = if cost > 1 { size.min(NUMPY_BUFFER_ELEMENTS) } else { size };
        if cost as f64 * best.size as f64 <= best.cost as f64 * at_once as f64 {
            best = BufferingChoice { outer, cost, size, core };
        }
        if Some(outer) == kind_change {
            break;
        }
    }
    best
}

/// NumPy reduces the values of an accumulator in runs.
///
/// A run is fed to the loop in pieces. If NumPy reduces by rows, an accumulator takes one value of
/// each row.
///
/// ```
/// use dappled_kernels::ReduceRuns;
/// // a[:, :6] of an array of shape (3, 8): its rows fit in NumPy's buffer together
/// let runs = ReduceRuns::new(&[3, 6], &[64, 8], &[0, 1], 8, false);
/// assert_eq!(runs.pieces(18).collect::<Vec<_>>(), [0..18]);
/// // a[:, :6000] of one of shape (3, 8000): a row at a time
/// let runs = ReduceRuns::new(&[3, 6000], &[64000, 8], &[0, 1], 8, false);
/// assert_eq!(runs.pieces(18000).collect::<Vec<_>>(), [0..6000, 6000..12000, 12000..18000]);
/// assert!(runs.spans_axis(1) && !runs.spans_axis(0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReduceRuns {
    /// The axes that a run spans.
    inner_axes: Vec<usize>,
    /// True if NumPy reduces by rows.
    pub by_rows: bool,
    len: usize,
    piece: usize,
}

impl ReduceRuns {
    /// The runs of nonempty values of this shape, strides and itemsize, reduced along some axes.
    ///
    /// `casts` is true if the reduction itself casts the values.
    pub fn new(
        shape: &[usize],
        strides: &[isize],
        folded: &[usize],
        itemsize: usize,
        casts: bool,
    ) -> Self {
        let order = ReduceOrder::new((shape, shape), strides, folded, itemsize, casts);
        let long = order.axes.iter().rev().filter(|&&axis| shape[axis] != 1);
        let inside = long.take(order.inner_axes).copied().collect();
        Self { inner_axes: inside, by_rows: order.by_rows, len: order.len, piece: order.piece }
    }

    /// True if a run contains more than one index of this axis.
    pub fn spans_axis(&self, axis: usize) -> bool {
        !self.by_rows && self.inner_axes.contains(&axis)
    }

    /// The pieces, as index ranges of an accumulator's values in order.
    pub fn pieces(&self, total: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        let (len, piece) = (self.len.max(1) as u64, (self.piece as u64).max(1));
        let run = move |start: u64| {
            let end = start + len;
            let starts = (start..end).step_by(piece.min(len) as usize);
            starts.map(move |from| from..end.min(from.saturating_add(piece)))
        };
        (0..total / len).flat_map(move |number| run(number * len))
    }
}
