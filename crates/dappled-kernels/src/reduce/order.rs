//! In which order NumPy's iterator brings an array's values to the loop of a reduction, and how
//! many at a time: that decides the bits of a sum.
//!
//! Axes are sorted by the size of their strides and merged where one steps over both as over one.
//! The innermost one is then walked by the loop. If it is kept, the loop takes rows: one value for
//! each accumulator. If it is reduced, the loop takes runs: many values for one accumulator. Where
//! a buffer makes runs longer, or a cast needs one, the iterator copies values into it, and a run
//! is as much as it holds. The source is `npyiter_find_best_axis_ordering` and
//! `npyiter_find_buffering_setup` in NumPy's `nditer_constr.c`, since NumPy 2.3.

use std::ops::Range;

use crate::kernels::Spacing;

/// Elements of NumPy's buffer.
const BUFFER: usize = 8192;

/// An axis of the values, or several merged ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    size: usize,
    /// How many of them are folded here.
    here: usize,
    stride: isize,
    kept: bool,
    /// How many axes it is.
    axes: usize,
}

/// Some indices outside of runs or rows, the first outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub size: usize,
    /// Has each its own accumulator, or do they share one?
    pub kept: bool,
}

/// The order of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// All axes of the values, outermost first.
    pub axes: Vec<usize>,
    /// What lies around a run or row; kept and shared levels take turns.
    pub levels: Vec<Level>,
    /// Values of a run or row, one after the other in this order.
    pub len: usize,
    /// How many of the axes, those of one element left out, a run or row goes over.
    inside: usize,
    pub by_rows: bool,
    /// A run is given to the loop in pieces of this many.
    pub piece: usize,
    /// How the loop finds the values of a run or row.
    pub spacing: Spacing,
    /// Are its rows along other axes than NumPy's?
    pub turned: bool,
}

/// Rows shorter than this are slow to go over, and those longer than that are not.
const SHORT_ROW: usize = 64;
const LONG_ROW: usize = 256;

impl Order {
    /// The order for values of this shape and dtype size, not empty, that lie in memory with these
    /// strides; `casts` if the reduction itself casts them. `here` is the shape of those that are
    /// folded here, a part along axes that are kept.
    pub fn new(
        (shape, here): (&[usize], &[usize]),
        strides: &[isize],
        reduced: &[usize],
        itemsize: usize,
        casts: bool,
    ) -> Self {
        let axes = sorted(shape, strides);
        let inner_first = axes.iter().rev().filter(|&&axis| shape[axis] != 1);
        let merged = merged(inner_first.map(|&axis| Axis {
            size: shape[axis],
            here: here[axis],
            stride: strides[axis],
            kept: !reduced.contains(&axis),
            axes: 1,
        }));
        let by_rows = merged.first().is_some_and(|axis| axis.kept);
        let run = Run::new(&merged, casts);
        let (inside, around) = merged.split_at(run.axes);
        let stride = inside.first().map_or(0, |axis| axis.stride);
        Self {
            axes,
            levels: levels(around),
            len: inside.iter().map(|axis| axis.here).product(),
            inside: inside.iter().map(|axis| axis.axes).sum(),
            by_rows,
            piece: run.piece,
            spacing: match stride {
                _ if run.buffered || stride == itemsize as isize => Spacing::Contiguous,
                ..0 => Spacing::Backwards,
                _ => Spacing::Forwards,
            },
            turned: false,
        }
    }

    /// The same with rows along the outermost axes, where NumPy's are short and those are long. An
    /// accumulator of rows takes one value after the other, so that it makes no difference to it
    /// which others are gone over between.
    pub fn with_long_rows(self, shape: &[usize], reduced: &[usize]) -> Self {
        let &[Level { size: long, kept: true }, Level { kept: false, .. }] = &self.levels[..]
        else {
            return self;
        };
        if !self.by_rows || self.len >= SHORT_ROW || long < LONG_ROW {
            return self;
        }
        let is_shared = |axis: &usize| reduced.contains(axis) && shape[*axis] != 1;
        let first = self.axes.iter().position(is_shared).expect("a level that is shared");
        let (outer, others) = self.axes.split_at(first);
        let (shared, inner): (Vec<usize>, Vec<usize>) =
            others.iter().partition(|axis| reduced.contains(axis));
        let axes = [&inner[..], &shared[..], outer].concat();
        let levels = vec![Level { size: self.len, kept: true }, self.levels[1]];
        Self { axes, levels, len: long, turned: true, ..self }
    }
}

/// The axes from the largest stride to the smallest. A stride of 0, or of an axis of one element,
/// says nothing: such an axis stays where it is, as far as others let it.
fn sorted(shape: &[usize], strides: &[isize]) -> Vec<usize> {
    let step = |axis: usize| if shape[axis] == 1 { 0 } else { strides[axis].unsigned_abs() };
    let mut inner_first: Vec<usize> = (0..shape.len()).rev().collect();
    for at in 1..inner_first.len() {
        let axis = inner_first[at];
        let mut place = at;
        for before in (0..at).rev() {
            match (step(axis), step(inner_first[before])) {
                (0, _) | (_, 0) => continue,
                (own, other) if own < other => place = before,
                _ => break,
            }
        }
        inner_first[place..=at].rotate_right(1);
    }
    inner_first.reverse();
    inner_first
}

/// Joins an axis with the next outer one where one stride serves both.
fn merged(inner_first: impl Iterator<Item = Axis>) -> Vec<Axis> {
    let mut merged: Vec<Axis> = Vec::new();
    for axis in inner_first {
        match merged.last_mut() {
            Some(inner) if inner.kept == axis.kept && inner.reaches(&axis) => {
                inner.size *= axis.size;
                inner.here *= axis.here;
                inner.axes += axis.axes;
            }
            _ => merged.push(axis),
        }
    }
    merged
}

impl Axis {
    /// Does the outer axis continue where this one ends?
    fn reaches(&self, outer: &Axis) -> bool {
        self.stride * self.size as isize == outer.stride
    }
}

/// What lies around runs or rows; neighbours of one kind are one level.
fn levels(inner_first: &[Axis]) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for &Axis { here: size, kept, .. } in inner_first.iter().rev() {
        match levels.last_mut() {
            Some(level) if level.kept == kept => level.size *= size,
            _ => levels.push(Level { size, kept }),
        }
    }
    levels
}

/// How much the loop takes at once.
struct Run {
    /// How many of the innermost axes it goes over.
    axes: usize,
    piece: usize,
    buffered: bool,
}

/// What the iterator could do: go over the axes inside of `outer` at once, and over that one too
/// unless it is the first of another kind.
struct Choice {
    outer: usize,
    cost: usize,
    size: usize,
    core: usize,
}

impl Run {
    /// The choice of NumPy's iterator: one loop over more axes is better, a copy is worse.
    fn new(inner_first: &[Axis], casts: bool) -> Self {
        let by_rows = inner_first.first().is_some_and(|axis| axis.kept);
        let turn = inner_first.iter().position(|axis| axis.kept != by_rows);
        let single =
            1 + inner_first.windows(2).take_while(|pair| pair[0].reaches(&pair[1])).count();
        let best = choose(inner_first, turn, single, casts);
        let alike = turn.unwrap_or(inner_first.len());
        if Some(best.outer) == turn {
            // The axis of the other kind needs no single stride.
            let buffered = casts || single < best.outer;
            return Self { axes: alike, piece: usize::MAX, buffered };
        }
        let buffered = casts || single <= best.outer;
        let full = buffered && best.size > BUFFER;
        let piece = if full { best.core * (BUFFER / best.core) } else { best.size };
        // How rows are cut does not matter.
        let axes = if by_rows { alike } else { alike.min(best.outer + 1) };
        Self { axes, piece, buffered }
    }
}

/// `turn` is the first axis of another kind than the innermost; the first `single` axes have one stride.
fn choose(inner_first: &[Axis], turn: Option<usize>, single: usize, casts: bool) -> Choice {
    let mut size = inner_first.first().map_or(1, |axis| axis.size);
    let start = 1 + usize::from(casts);
    let mut best = Choice { outer: 0, cost: start, size, core: 1 };
    let mut cost = start;
    for (outer, axis) in inner_first.iter().enumerate().skip(1) {
        if size >= BUFFER && cost > 1 {
            break;
        }
        cost = start + usize::from(Some(outer) == turn) + usize::from(outer >= single && !casts);
        let core = size;
        size *= axis.size;
        let at_once = if cost > 1 { size.min(BUFFER) } else { size };
        if cost as f64 * best.size as f64 <= best.cost as f64 * at_once as f64 {
            best = Choice { outer, cost, size, core };
        }
        if Some(outer) == turn {
            break;
        }
    }
    best
}

/// How NumPy folds the values of an accumulator: in runs, which its loop takes in pieces; or one
/// value of each row after the other.
///
/// ```
/// use dappled_kernels::Runs;
/// // a[:, :6] of an array of shape (3, 8): its rows fit in NumPy's buffer together
/// let runs = Runs::new(&[3, 6], &[64, 8], &[0, 1], 8, false);
/// assert_eq!(runs.pieces(18).collect::<Vec<_>>(), [0..18]);
/// // a[:, :6000] of one of shape (3, 8000): a row at a time
/// let runs = Runs::new(&[3, 6000], &[64000, 8], &[0, 1], 8, false);
/// assert_eq!(runs.pieces(18000).collect::<Vec<_>>(), [0..6000, 6000..12000, 12000..18000]);
/// assert!(runs.goes_over(1) && !runs.goes_over(0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// The axes that a run goes over.
    inside: Vec<usize>,
    /// Is it rows, of which an accumulator takes a value each?
    pub by_rows: bool,
    len: usize,
    piece: usize,
}

impl Runs {
    /// Those of values of this shape and itemsize, not empty, that lie in memory with these strides
    /// and are folded along some axes; `casts` if the reduction itself casts them.
    pub fn new(
        shape: &[usize],
        strides: &[isize],
        folded: &[usize],
        itemsize: usize,
        casts: bool,
    ) -> Self {
        let order = Order::new((shape, shape), strides, folded, itemsize, casts);
        let long = order.axes.iter().rev().filter(|&&axis| shape[axis] != 1);
        let inside = long.take(order.inside).copied().collect();
        Self { inside, by_rows: order.by_rows, len: order.len, piece: order.piece }
    }

    /// Is more than one value along this axis in a run?
    pub fn goes_over(&self, axis: usize) -> bool {
        !self.by_rows && self.inside.contains(&axis)
    }

    /// The pieces, as ranges of the index of an accumulator's values in order.
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
