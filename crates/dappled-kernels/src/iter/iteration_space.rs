//! The index space of a run, with as few axes as possible.

use std::ops::Range;

use smallvec::smallvec;

use crate::config::{
    CACHE_LINE_BYTES, MIN_BLOCK_ROW_BYTES, MIN_LONG_AXIS_ELEMENTS, SHORT_ROW_ELEMENTS,
};
use crate::memory::view::{Axes, View};

/// The offset, strides and itemsize of one operand in an [`IterationSpace`].
#[derive(Clone, Debug)]
pub(crate) struct OperandLayout {
    pub offset: isize,
    pub strides: Axes<isize>,
    pub itemsize: usize,
}

impl OperandLayout {
    /// The stride along the rows.
    pub fn row_stride(&self) -> isize {
        self.strides[self.strides.len() - 1]
    }

    /// The axis along which the operand is contiguous, if consecutive row elements are on different
    /// cache lines.
    fn contiguous_outer_axis(&self) -> Option<usize> {
        let far = self.row_stride().unsigned_abs() >= CACHE_LINE_BYTES;
        let contiguous = |&stride: &isize| stride == self.itemsize as isize;
        far.then(|| self.strides.iter().position(contiguous)).flatten()
    }

    /// True if the operand is contiguous across the rows instead of along them.
    pub fn is_transposed(&self) -> bool {
        self.contiguous_outer_axis().is_some_and(|axis| axis + 2 == self.strides.len())
    }

    /// True if the operand is one broadcast element.
    pub fn is_scalar(&self) -> bool {
        self.strides.iter().all(|&stride| stride == 0)
    }
}

/// The common indices of all operands of a run. The last axis is the axis of the rows.
#[derive(Clone, Debug)]
pub(crate) struct IterationSpace {
    pub shape: Axes<usize>,
    pub layouts: Vec<OperandLayout>,
    /// The number of adjacent rows, along the last axis but one, that are traversed together.
    pub rows_per_block: usize,
    /// True if a tile never extends beyond one row.
    pub within_rows: bool,
    /// True if the rows run along another axis than in the memory order of the leading view.
    pub is_rotated: bool,
}

impl IterationSpace {
    /// The indices of views of one shape, in C order. There must be at least one view.
    pub fn in_c_order(views: &[&View]) -> Self {
        let layouts = views.iter().map(|view| OperandLayout {
            offset: view.offset as isize,
            strides: view.strides.clone(),
            itemsize: view.dtype.itemsize(),
        });
        let mut space = Self {
            shape: views[0].shape.clone(),
            layouts: layouts.collect(),
            rows_per_block: 1,
            within_rows: false,
            is_rotated: false,
        };
        space.merge_axes();
        space
    }

    /// The indices of views in C order after permuting the axes.
    pub fn with_axis_order(views: &[&View], axes: &[usize]) -> Self {
        let layouts = views.iter().map(|view| OperandLayout {
            offset: view.offset as isize,
            strides: axes.iter().map(|&axis| view.strides[axis]).collect(),
            itemsize: view.dtype.itemsize(),
        });
        let shape = axes.iter().map(|&axis| views[0].shape[axis]).collect();
        let mut space = Self {
            shape,
            layouts: layouts.collect(),
            rows_per_block: 1,
            within_rows: false,
            is_rotated: false,
        };
        space.merge_axes();
        space
    }

    /// The indices of views in the memory order of the view `leader`, with positive strides.
    pub fn in_memory_order_of(views: &[&View], leader: usize) -> Self {
        if views.iter().all(|view| view.is_contiguous()) {
            return Self::contiguous(views);
        }
        let mut axes: Vec<usize> = (0..views[leader].shape.len()).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(views[leader].strides[axis].unsigned_abs()));
        let layouts = views.iter().map(|view| operand_layout(view, views[leader], &axes)).collect();
        let shape = axes.iter().map(|&axis| views[leader].shape[axis]).collect();
        let mut space =
            Self { shape, layouts, rows_per_block: 1, within_rows: false, is_rotated: false };
        space.merge_axes();
        match space.has_short_rows() {
            true => space.rotate_longest_axis_inward(),
            false => space.block_transposed_operand(),
        }
        space
    }

    /// The indices of views that are all contiguous: the common case, without a search.
    fn contiguous(views: &[&View]) -> Self {
        let layout = |view: &&View| {
            let itemsize = view.dtype.itemsize();
            OperandLayout {
                offset: view.offset as isize,
                strides: smallvec![itemsize as isize],
                itemsize,
            }
        };
        let layouts = views.iter().map(layout).collect();
        Self {
            shape: smallvec![views[0].len()],
            layouts,
            rows_per_block: 1,
            within_rows: false,
            is_rotated: false,
        }
    }

    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The number of elements of a row.
    pub fn row_len(&self) -> usize {
        self.shape[self.shape.len() - 1]
    }

    /// Drops axes of length 1 and merges adjacent axes where one stride per operand covers both.
    ///
    /// At least one axis remains.
    fn merge_axes(&mut self) {
        let mut kept: Vec<usize> = Vec::new();
        let mut sizes: Axes<usize> = Axes::new();
        for axis in (0..self.shape.len()).filter(|&axis| self.shape[axis] != 1) {
            let size = self.shape[axis];
            let joins = kept.last().is_some_and(|&outer| self.can_merge(outer, axis));
            if joins {
                // The merged axis has the strides of the inner axis and the product of both
                // lengths.
                *kept.last_mut().expect("nonempty") = axis;
                *sizes.last_mut().expect("nonempty") *= size;
            } else {
                kept.push(axis);
                sizes.push(size);
            }
        }
        for layout in &mut self.layouts {
            layout.strides = kept.iter().map(|&axis| layout.strides[axis]).collect();
        }
        self.shape = sizes;
        if self.shape.is_empty() {
            self.shape.push(1);
            self.layouts.iter_mut().for_each(|layout| layout.strides.push(0));
        }
    }

    /// True if rows are short and another axis is long.
    fn has_short_rows(&self) -> bool {
        self.row_len() < SHORT_ROW_ELEMENTS
            && self.shape.iter().any(|&length| length >= MIN_LONG_AXIS_ELEMENTS)
    }

    /// Makes the longest axis the axis of the rows.
    fn rotate_longest_axis_inward(&mut self) {
        let (longest, last) = (self.longest_axis(), self.shape.len());
        self.shape[longest..last].rotate_left(1);
        self.layouts.iter_mut().for_each(|layout| layout.strides[longest..last].rotate_left(1));
        self.is_rotated = true;
    }

    fn longest_axis(&self) -> usize {
        let axes = 0..self.shape.len();
        axes.max_by_key(|&axis| self.shape[axis]).expect("at least one axis")
    }

    /// Moves the axis along which an operand is contiguous, as in a transposed array, next to the
    /// rows.
    ///
    /// Blocks of adjacent rows then read whole cache lines of that operand.
    fn block_transposed_operand(&mut self) {
        let transposed = |layout: &OperandLayout| {
            layout.contiguous_outer_axis().map(|axis| (axis, layout.itemsize))
        };
        let Some((axis, itemsize)) = self.layouts.iter().find_map(transposed) else { return };
        let outer = self.shape.len() - 1;
        self.shape[axis..outer].rotate_left(1);
        self.layouts.iter_mut().for_each(|layout| layout.strides[axis..outer].rotate_left(1));
        self.rows_per_block = (MIN_BLOCK_ROW_BYTES / itemsize).min(self.shape[outer - 1]).max(1);
    }

    /// The rows of the block at index `at`.
    pub fn block_rows(&self, at: usize) -> Range<usize> {
        if self.rows_per_block == 1 {
            return at..at + 1;
        }
        let size = self.shape[self.shape.len() - 2];
        let (outer, inner) =
            (at / self.blocks_along(size), at % self.blocks_along(size) * self.rows_per_block);
        outer * size + inner..outer * size + size.min(inner + self.rows_per_block)
    }

    /// The number of blocks in `rows` rows.
    pub fn block_count(&self, rows: usize) -> usize {
        let size = if self.rows_per_block == 1 { 1 } else { self.shape[self.shape.len() - 2] };
        rows / size.max(1) * self.blocks_along(size)
    }

    fn blocks_along(&self, size: usize) -> usize {
        size.div_ceil(self.rows_per_block)
    }

    fn can_merge(&self, outer: usize, inner: usize) -> bool {
        let size = self.shape[inner] as isize;
        self.layouts.iter().all(|layout| layout.strides[outer] == layout.strides[inner] * size)
    }

    /// The byte offset of an operand's row.
    #[inline]
    pub fn row_offset(&self, layout: &OperandLayout, row: usize) -> isize {
        let outer = self.shape.len() - 1;
        let mut left = row;
        let mut offset = layout.offset;
        for axis in (1..outer).rev() {
            offset += (left % self.shape[axis]) as isize * layout.strides[axis];
            left /= self.shape[axis];
        }
        if outer > 0 { offset + left as isize * layout.strides[0] } else { offset }
    }

    /// A range of indices with its first row span.
    ///
    /// Panics if the range exceeds the space: an extent entitles its holder to access the memory of
    /// its indices.
    pub fn extent(&self, indices: Range<usize>) -> IndexExtent {
        let len = self.len();
        assert!(
            indices.start <= indices.end && indices.end <= len,
            "indices {indices:?} are out of range for {len} elements"
        );
        let first = self.span_at(indices.start, indices.end);
        IndexExtent { indices, first, block: first.row..first.row + 1 }
    }

    /// The span from this index to the end of its row, or to `end`.
    fn span_at(&self, index: usize, end: usize) -> RowSpan {
        let (row, column) = (index / self.row_len().max(1), index % self.row_len().max(1));
        RowSpan { row, column, len: (self.row_len() - column).min(end - index) }
    }

    /// The row spans of an extent.
    pub fn spans(&self, extent: &IndexExtent) -> impl Iterator<Item = RowSpan> {
        let (Range { start, end }, first) = (extent.indices.clone(), extent.first);
        let mut next = start;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let run = if next == start { first } else { self.span_at(next, end) };
                next += run.len;
                run
            })
        })
    }
}

/// The layout of a view along the leader's axes, reversed where the leader's stride is negative.
fn operand_layout(view: &View, leader: &View, axes: &[usize]) -> OperandLayout {
    let mut offset = view.offset as isize;
    let mut strides = Axes::new();
    for &axis in axes {
        let stride = view.strides[axis];
        let is_reversed = leader.strides[axis] < 0 && leader.shape[axis] > 0;
        offset += if is_reversed { stride * (leader.shape[axis] as isize - 1) } else { 0 };
        strides.push(if is_reversed { -stride } else { stride });
    }
    OperandLayout { offset, strides, itemsize: view.dtype.itemsize() }
}

/// A range of columns of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowSpan {
    pub row: usize,
    pub column: usize,
    pub len: usize,
}

/// A range of indices, and the part of it in its first row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexExtent {
    pub indices: Range<usize>,
    pub first: RowSpan,
    /// The rows of the block that the extent belongs to; one thread owns all of them.
    pub block: Range<usize>,
}

impl IndexExtent {
    pub fn len(&self) -> usize {
        self.indices.len()
    }
}
