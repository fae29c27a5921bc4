//! Copies between strided views of equal shape.
//!
//! Axes are merged, rows follow the order of the destination, and sources that are contiguous
//! across the rows are transposed by whole cache lines.

use smallvec::SmallVec;

use super::strided_copy::copy_strided_readonly;
use super::transpose::Transpose;
use super::view::View;
use crate::config::{
    CACHE_LINE_BYTES, MIN_LONG_AXIS_ELEMENTS, SHORT_ROW_ELEMENTS, TRANSPOSE_BLOCK_ROWS,
};
use crate::error::Error;

/// One axis of a copy: its length, and its strides in the source and in the destination.
#[derive(Clone, Copy)]
struct CopyAxis {
    len: usize,
    from: isize,
    to: isize,
}

/// Pointers to the first element of a row, in the source and in the destination.
type RowPointers = (*const u8, *mut u8);

/// Copies the elements of a view to another view of the same shape and itemsize.
///
/// Panics if shapes or itemsizes differ.
///
/// ```
/// use dappled_kernels::{DType, View, copy_elements, element::bytes_of};
/// let (matrix, mut columns) = ([1u8, 2, 3, 4, 5, 6], [0u8; 6]);
/// let transposed = View::c_order(DType::UInt8, &[2, 3]).transposed();
/// copy_elements((&matrix, &transposed), (&mut columns, &View::c_order(DType::UInt8, &[3, 2])))?;
/// assert_eq!(columns, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn copy_elements(from: (&[u8], &View), to: (&mut [u8], &View)) -> Result<(), Error> {
    let (read, written, item) = (from.1, to.1, to.1.dtype.itemsize());
    let is_compatible = read.shape == written.shape && read.dtype.itemsize() == item;
    assert!(is_compatible, "shapes and itemsizes must be equal");
    read.check_bounds(from.0.len())?;
    written.check_bounds(to.0.len())?;
    if written.is_empty() {
        return Ok(());
    }
    let rows =
        (from.0.as_ptr().wrapping_add(read.offset), to.0.as_mut_ptr().wrapping_add(written.offset));
    let (rows, axes) = merge_axes(rows, read, written);
    // SAFETY: every element of both views is inside its memory, the source borrowed shared, the
    // destination exclusively.
    unsafe { copy_axes(rows, &axes, item) };
    Ok(())
}

/// The merged axes of both views, by decreasing destination stride, all of them positive.
fn merge_axes(
    mut rows: RowPointers,
    read: &View,
    written: &View,
) -> (RowPointers, SmallVec<[CopyAxis; 4]>) {
    let mut axes: SmallVec<[CopyAxis; 4]> = SmallVec::new();
    for ((&len, &from), &to) in written.shape.iter().zip(&read.strides).zip(&written.strides) {
        let axis = CopyAxis { len, from, to };
        if len > 1 {
            axes.push(if to < 0 { axis.reversed(&mut rows) } else { axis });
        }
    }
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.to));
    axes.dedup_by(|inner, outer| {
        let merges = inner.merges_into(*outer);
        if merges {
            *outer = CopyAxis { len: inner.len * outer.len, ..*inner };
        }
        merges
    });
    let last = axes.last().map_or(0, |axis| axis.len);
    if last < SHORT_ROW_ELEMENTS
        && let Some(longest) = (0..axes.len()).max_by_key(|&at| axes[at].len)
        && axes[longest].len >= MIN_LONG_AXIS_ELEMENTS
    {
        axes[longest..].rotate_left(1);
    }
    (rows, axes)
}

impl CopyAxis {
    /// The axis traversed from the last element to the first; moves `rows` to the new start.
    fn reversed(self, rows: &mut RowPointers) -> Self {
        let last = self.len as isize - 1;
        rows.0 = rows.0.wrapping_offset(last * self.from);
        rows.1 = rows.1.wrapping_offset(last * self.to);
        Self { from: -self.from, to: -self.to, ..self }
    }

    /// True if one step along `outer` passes over all of this axis, in both views.
    fn merges_into(self, outer: CopyAxis) -> bool {
        let len = self.len as isize;
        outer.from == len * self.from && outer.to == len * self.to
    }

    fn advance(self, rows: RowPointers, at: usize) -> RowPointers {
        let at = at as isize;
        (rows.0.wrapping_offset(at * self.from), rows.1.wrapping_offset(at * self.to))
    }
}

/// Copies all elements along these axes, the last of which is the axis of the rows.
///
/// # Safety
/// All elements must be valid for reads and writes, and no source element may be a destination
/// element.
unsafe fn copy_axes(rows: RowPointers, axes: &[CopyAxis], item: usize) {
    let (outer, row) = match axes {
        [] => (axes, CopyAxis { len: 1, from: item as isize, to: item as isize }),
        [outer @ .., row] => (outer, *row),
    };
    let across = outer.iter().position(|axis| axis.from.unsigned_abs() == item);
    let crosses_lines = row.from.unsigned_abs() >= CACHE_LINE_BYTES && row.to == item as isize;
    if let Some(across) = across.filter(|_| crosses_lines) {
        let mut rest: SmallVec<[CopyAxis; 4]> = outer.into();
        let across = rest.remove(across);
        // SAFETY: guaranteed by the caller.
        for_each_row(rows, &rest, &mut |rows| unsafe {
            transpose_rectangle(rows, across, row, item)
        });
        return;
    }
    for_each_row(rows, outer, &mut |rows| {
        // SAFETY: guaranteed by the caller.
        unsafe { copy_strided_readonly((rows.0, row.from), (rows.1, row.to), row.len, item) }
    });
}

/// Visits the row pointers of each index along these axes.
fn for_each_row(rows: RowPointers, axes: &[CopyAxis], visit: &mut impl FnMut(RowPointers)) {
    match axes {
        [] => visit(rows),
        [axis] => (0..axis.len).for_each(|at| visit(axis.advance(rows, at))),
        [axis, inner @ ..] => {
            (0..axis.len).for_each(|at| for_each_row(axis.advance(rows, at), inner, visit));
        }
    }
}

/// Copies a rectangle that is contiguous along one axis in the source and along the other in the
/// destination.
///
/// # Safety
/// As for [`copy_axes`].
unsafe fn transpose_rectangle(mut rows: RowPointers, across: CopyAxis, row: CopyAxis, item: usize) {
    let across = if across.from < 0 { across.reversed(&mut rows) } else { across };
    for start in (0..across.len).step_by(TRANSPOSE_BLOCK_ROWS) {
        let (from, to) = across.advance(rows, start);
        let row_count = TRANSPOSE_BLOCK_ROWS.min(across.len - start);
        let transpose = Transpose {
            from,
            stride: row.from,
            to,
            pitch: across.to,
            rows: row_count,
            columns: row.len,
        };
        // SAFETY: guaranteed by the caller.
        unsafe { transpose.run(item) };
    }
}
