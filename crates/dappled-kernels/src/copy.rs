//! Elements from one view to another, at once: axes joined, rows in the order of what is written, and what
//! lies across them by whole cache lines.

use smallvec::SmallVec;

use crate::strided::copy_from_still;
use crate::turn::Turn;
use crate::{Error, View};

/// Bytes of a cache line: rows whose elements are so far apart are worth turning.
const LINE: usize = 64;

/// Rows that are turned at once: what is written of them stays in the first cache.
const DEEP: usize = 64;

/// A row of fewer elements takes longer to find than to go over, where so many others are beside it.
const FEW: usize = 16;
const MANY: usize = 64;

/// An axis of a copy: its elements, and how far apart they are where they are read and where they are written.
#[derive(Clone, Copy)]
struct Axis {
    len: usize,
    from: isize,
    to: isize,
}

/// Where a row begins, to be read and to be written.
type Place = (*const u8, *mut u8);

/// Copies the elements of a view of some memory to those of another, of the same shape and itemsize; panics if
/// they are not.
///
/// ```
/// use dappled_kernels::{DType, View, copy_elements, element::bytes_of};
/// let (matrix, mut columns) = ([1u8, 2, 3, 4, 5, 6], [0u8; 6]);
/// let turned = View::c_order(DType::UInt8, &[2, 3]).transposed();
/// copy_elements((&matrix, &turned), (&mut columns, &View::c_order(DType::UInt8, &[3, 2])))?;
/// assert_eq!(columns, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn copy_elements(from: (&[u8], &View), to: (&mut [u8], &View)) -> Result<(), Error> {
    let (read, written, item) = (from.1, to.1, to.1.dtype.itemsize());
    let alike = read.shape == written.shape && read.dtype.itemsize() == item;
    assert!(alike, "as many elements of the same size");
    read.check(from.0.len())?;
    written.check(to.0.len())?;
    if written.is_empty() {
        return Ok(());
    }
    let place =
        (from.0.as_ptr().wrapping_add(read.offset), to.0.as_mut_ptr().wrapping_add(written.offset));
    let (place, axes) = joined(place, read, written);
    // SAFETY: all elements of both views are inside their memory, which is borrowed to be read, and alone.
    unsafe { copy_axes(place, &axes, item) };
    Ok(())
}

/// The axes of both views: as few as possible, those first along which what is written is far apart, and all of
/// them forwards there.
fn joined(mut place: Place, read: &View, written: &View) -> (Place, SmallVec<[Axis; 4]>) {
    let mut axes: SmallVec<[Axis; 4]> = SmallVec::new();
    for ((&len, &from), &to) in written.shape.iter().zip(&read.strides).zip(&written.strides) {
        let axis = Axis { len, from, to };
        if len > 1 {
            axes.push(if to < 0 { axis.turned(&mut place) } else { axis });
        }
    }
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.to));
    axes.dedup_by(|inner, outer| {
        let joins = inner.spans(*outer);
        if joins {
            *outer = Axis { len: inner.len * outer.len, ..*inner };
        }
        joins
    });
    let last = axes.last().map_or(0, |axis| axis.len);
    if last < FEW
        && let Some(longest) = (0..axes.len()).max_by_key(|&at| axes[at].len)
        && axes[longest].len >= MANY
    {
        axes[longest..].rotate_left(1);
    }
    (place, axes)
}

impl Axis {
    /// The same elements from the last to the first.
    fn turned(self, place: &mut Place) -> Self {
        let last = self.len as isize - 1;
        place.0 = place.0.wrapping_offset(last * self.from);
        place.1 = place.1.wrapping_offset(last * self.to);
        Self { from: -self.from, to: -self.to, ..self }
    }

    /// Does a step along another axis go over all of this one?
    fn spans(self, outer: Axis) -> bool {
        let len = self.len as isize;
        outer.from == len * self.from && outer.to == len * self.to
    }

    fn moved(self, place: Place, at: usize) -> Place {
        let at = at as isize;
        (place.0.wrapping_offset(at * self.from), place.1.wrapping_offset(at * self.to))
    }
}

/// Copies all elements along these axes, the last of them being that of the rows.
///
/// # Safety
/// They may be read, and written, and none is read that is written.
unsafe fn copy_axes(place: Place, axes: &[Axis], item: usize) {
    let (outer, row) = match axes {
        [] => (axes, Axis { len: 1, from: item as isize, to: item as isize }),
        [outer @ .., row] => (outer, *row),
    };
    let across = outer.iter().position(|axis| axis.from.unsigned_abs() == item);
    let jumps = row.from.unsigned_abs() >= LINE && row.to == item as isize;
    if let Some(across) = across.filter(|_| jumps) {
        let mut rest: SmallVec<[Axis; 4]> = outer.into();
        let across = rest.remove(across);
        // SAFETY: the caller's promise.
        for_each(place, &rest, &mut |place| unsafe { turn(place, across, row, item) });
        return;
    }
    for_each(place, outer, &mut |place| {
        // SAFETY: the caller's promise.
        unsafe { copy_from_still((place.0, row.from), (place.1, row.to), row.len, item) }
    });
}

/// Visits the place of each index along these axes.
fn for_each(place: Place, axes: &[Axis], visit: &mut impl FnMut(Place)) {
    match axes {
        [] => visit(place),
        [axis] => (0..axis.len).for_each(|at| visit(axis.moved(place, at))),
        [axis, inner @ ..] => {
            (0..axis.len).for_each(|at| for_each(axis.moved(place, at), inner, visit));
        }
    }
}

/// Copies a rectangle that is contiguous along one axis where it is read, and along the other where it is written.
///
/// # Safety
/// As for [`copy_axes`].
unsafe fn turn(mut place: Place, across: Axis, row: Axis, item: usize) {
    let across = if across.from < 0 { across.turned(&mut place) } else { across };
    for start in (0..across.len).step_by(DEEP) {
        let (from, to) = across.moved(place, start);
        let rows = DEEP.min(across.len - start);
        let turn = Turn { from, stride: row.from, to, pitch: across.to, rows, columns: row.len };
        // SAFETY: the caller's promise.
        unsafe { turn.run(item) };
    }
}
