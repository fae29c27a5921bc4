//! The indices that a run goes over: as few axes as possible.

use std::ops::Range;

use smallvec::smallvec;

use crate::{Axes, View};

/// Bytes of a cache line.
const LINE: usize = 64;

/// Bytes beside each other that are worth a jump.
const WORTH: usize = 4 * LINE;

/// Where the elements of one operand lie in the indices of a [`Space`].
#[derive(Clone, Debug)]
pub(crate) struct Track {
    pub offset: isize,
    pub strides: Axes<isize>,
    pub itemsize: usize,
}

impl Track {
    /// From one element of a row to the next.
    pub fn row_stride(&self) -> isize {
        self.strides[self.strides.len() - 1]
    }

    /// The axis along which it is contiguous, if a row jumps from one cache line to another.
    fn turned_axis(&self) -> Option<usize> {
        let far = self.row_stride().unsigned_abs() >= LINE;
        let contiguous = |&stride: &isize| stride == self.itemsize as isize;
        far.then(|| self.strides.iter().position(contiguous)).flatten()
    }

    /// Is it contiguous from row to row, and not along a row?
    pub fn is_turned(&self) -> bool {
        self.turned_axis().is_some_and(|axis| axis + 2 == self.strides.len())
    }

    /// Is it one element, repeated everywhere?
    pub fn is_single(&self) -> bool {
        self.strides.iter().all(|&stride| stride == 0)
    }
}

/// A row of fewer elements takes longer to find than to go over, where so many others are beside it.
const FEW: usize = 16;
const MANY: usize = 64;

/// The common indices of all operands of a run. The last axis is that of the rows.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub shape: Axes<usize>,
    pub tracks: Vec<Track>,
    /// How many rows, beside each other along the last axis but one, are gone over together.
    pub deep: usize,
    /// Is no more than a part of one row gone over at once?
    pub in_rows: bool,
    /// Are its rows along another axis than those of the array that it is in the order of?
    pub across: bool,
}

impl Space {
    /// The indices of these views, in C order; all have the same shape, and there is one.
    pub fn in_c_order(views: &[&View]) -> Self {
        let tracks = views.iter().map(|view| Track {
            offset: view.offset as isize,
            strides: view.strides.clone(),
            itemsize: view.dtype.itemsize(),
        });
        let mut space = Self {
            shape: views[0].shape.clone(),
            tracks: tracks.collect(),
            deep: 1,
            in_rows: false,
            across: false,
        };
        space.merge_axes();
        space
    }

    /// The same with the axes in this order.
    pub fn along_axes(views: &[&View], axes: &[usize]) -> Self {
        let tracks = views.iter().map(|view| Track {
            offset: view.offset as isize,
            strides: axes.iter().map(|&axis| view.strides[axis]).collect(),
            itemsize: view.dtype.itemsize(),
        });
        let shape = axes.iter().map(|&axis| views[0].shape[axis]).collect();
        let mut space =
            Self { shape, tracks: tracks.collect(), deep: 1, in_rows: false, across: false };
        space.merge_axes();
        space
    }

    /// The same in the order in which the memory of the view number `leader` lies, forwards.
    pub fn in_order_of(views: &[&View], leader: usize) -> Self {
        if views.iter().all(|view| view.is_contiguous()) {
            return Self::of_one_row(views);
        }
        let mut axes: Vec<usize> = (0..views[leader].shape.len()).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(views[leader].strides[axis].unsigned_abs()));
        let tracks = views.iter().map(|view| along(view, views[leader], &axes)).collect();
        let shape = axes.iter().map(|&axis| views[leader].shape[axis]).collect();
        let mut space = Self { shape, tracks, deep: 1, in_rows: false, across: false };
        space.merge_axes();
        match space.has_short_rows() {
            true => space.go_across(),
            false => space.go_by_blocks(),
        }
        space
    }

    /// The indices of views that are all contiguous: the common case, without the search.
    fn of_one_row(views: &[&View]) -> Self {
        let track = |view: &&View| {
            let itemsize = view.dtype.itemsize();
            Track { offset: view.offset as isize, strides: smallvec![itemsize as isize], itemsize }
        };
        let tracks = views.iter().map(track).collect();
        Self { shape: smallvec![views[0].len()], tracks, deep: 1, in_rows: false, across: false }
    }

    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Elements of a row.
    pub fn row(&self) -> usize {
        self.shape[self.shape.len() - 1]
    }

    /// Drops axes of one element, and joins an axis with the next where every operand steps over
    /// both as over one. At least one axis is left.
    fn merge_axes(&mut self) {
        let mut kept: Vec<usize> = Vec::new();
        let mut sizes: Axes<usize> = Axes::new();
        for axis in (0..self.shape.len()).filter(|&axis| self.shape[axis] != 1) {
            let size = self.shape[axis];
            let joins = kept.last().is_some_and(|&outer| self.steps_as_one(outer, axis));
            if joins {
                // The inner axis' strides, the product of both sizes.
                *kept.last_mut().expect("just seen") = axis;
                *sizes.last_mut().expect("just seen") *= size;
            } else {
                kept.push(axis);
                sizes.push(size);
            }
        }
        for track in &mut self.tracks {
            track.strides = kept.iter().map(|&axis| track.strides[axis]).collect();
        }
        self.shape = sizes;
        if self.shape.is_empty() {
            self.shape.push(1);
            self.tracks.iter_mut().for_each(|track| track.strides.push(0));
        }
    }

    /// Are its rows a few elements, with many of them beside each other?
    fn has_short_rows(&self) -> bool {
        self.row() < FEW && self.shape.iter().any(|&length| length >= MANY)
    }

    /// Makes the longest axis that of the rows.
    fn go_across(&mut self) {
        let (longest, last) = (self.longest_axis(), self.shape.len());
        self.shape[longest..last].rotate_left(1);
        self.tracks.iter_mut().for_each(|track| track.strides[longest..last].rotate_left(1));
        self.across = true;
    }

    fn longest_axis(&self) -> usize {
        let axes = 0..self.shape.len();
        axes.max_by_key(|&axis| self.shape[axis]).expect("at least one axis")
    }

    /// Where an operand is contiguous along another axis than the rows, as one that is transposed
    /// is, that axis comes next to the rows: so many rows are then read by whole cache lines.
    fn go_by_blocks(&mut self) {
        let turned = |track: &Track| track.turned_axis().map(|axis| (axis, track.itemsize));
        let Some((axis, itemsize)) = self.tracks.iter().find_map(turned) else { return };
        let outer = self.shape.len() - 1;
        self.shape[axis..outer].rotate_left(1);
        self.tracks.iter_mut().for_each(|track| track.strides[axis..outer].rotate_left(1));
        self.deep = (WORTH / itemsize).min(self.shape[outer - 1]).max(1);
    }

    /// The rows of block number `at`.
    pub fn block(&self, at: usize) -> Range<usize> {
        if self.deep == 1 {
            return at..at + 1;
        }
        let size = self.shape[self.shape.len() - 2];
        let (outer, inner) = (at / self.blocks_in(size), at % self.blocks_in(size) * self.deep);
        outer * size + inner..outer * size + size.min(inner + self.deep)
    }

    /// How many blocks so many rows make.
    pub fn blocks(&self, rows: usize) -> usize {
        let size = if self.deep == 1 { 1 } else { self.shape[self.shape.len() - 2] };
        rows / size.max(1) * self.blocks_in(size)
    }

    fn blocks_in(&self, size: usize) -> usize {
        size.div_ceil(self.deep)
    }

    fn steps_as_one(&self, outer: usize, inner: usize) -> bool {
        let size = self.shape[inner] as isize;
        self.tracks.iter().all(|track| track.strides[outer] == track.strides[inner] * size)
    }

    /// The byte at which an operand's row begins.
    #[inline]
    pub fn row_offset(&self, track: &Track, row: usize) -> isize {
        let outer = self.shape.len() - 1;
        let mut left = row;
        let mut offset = track.offset;
        for axis in (1..outer).rev() {
            offset += (left % self.shape[axis]) as isize * track.strides[axis];
            left /= self.shape[axis];
        }
        if outer > 0 { offset + left as isize * track.strides[0] } else { offset }
    }

    /// A range of indices, with its first part looked up. Panics if they reach beyond the space:
    /// who has an extent may touch the memory of its indices.
    pub fn extent(&self, indices: Range<usize>) -> Extent {
        let len = self.len();
        assert!(indices.start <= indices.end && indices.end <= len, "{indices:?} of {len}");
        let first = self.run_at(indices.start, indices.end);
        Extent { indices, first, block: first.row..first.row + 1 }
    }

    /// From this index to the end of its row, or to `end`.
    fn run_at(&self, index: usize, end: usize) -> Run {
        let (row, column) = (index / self.row().max(1), index % self.row().max(1));
        Run { row, column, len: (self.row() - column).min(end - index) }
    }

    /// The parts of single rows that make up an extent.
    pub fn runs(&self, extent: &Extent) -> impl Iterator<Item = Run> {
        let (Range { start, end }, first) = (extent.indices.clone(), extent.first);
        let mut next = start;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let run = if next == start { first } else { self.run_at(next, end) };
                next += run.len;
                run
            })
        })
    }
}

/// A view's place along the leader's axes, in their order, and turned where the leader is.
fn along(view: &View, leader: &View, axes: &[usize]) -> Track {
    let mut offset = view.offset as isize;
    let mut strides = Axes::new();
    for &axis in axes {
        let stride = view.strides[axis];
        let turned = leader.strides[axis] < 0 && leader.shape[axis] > 0;
        offset += if turned { stride * (leader.shape[axis] as isize - 1) } else { 0 };
        strides.push(if turned { -stride } else { stride });
    }
    Track { offset, strides, itemsize: view.dtype.itemsize() }
}

/// Part of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub row: usize,
    pub column: usize,
    pub len: usize,
}

/// A range of indices, and the part of it that lies in the first of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub indices: Range<usize>,
    pub first: Run,
    /// The rows whose same part is gone over together with this one: they are one holder's.
    pub block: Range<usize>,
}

impl Extent {
    pub fn len(&self) -> usize {
        self.indices.len()
    }
}
