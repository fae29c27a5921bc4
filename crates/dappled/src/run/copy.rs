//! Cells copied from one piece of memory to another: packed, unpacked, moved, scattered.

use std::ops::Range;
use std::sync::Arc;

use dappled_fabric::{Payload, memory};
use dappled_kernels::{View, copy_elements};
use dappled_protocol::Runs;

use super::Piece;
use crate::plan::CellCopy;

/// `count` cells that are evenly spaced on both sides; places and steps in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    from: isize,
    to: isize,
    count: usize,
    from_step: isize,
    to_step: isize,
}

/// From so many bytes on it is worth the while to send them from where they are.
const WORTH: usize = 32 << 10;

/// Boxes of so many cells are worth looking at as a whole.
const LARGE: usize = 64;

/// Cells of a piece that stays as it is until they are sent.
pub(super) fn kept(piece: &Piece, cells: &[Runs]) -> Payload {
    match stretch(piece, cells).filter(|bytes| bytes.len() >= WORTH) {
        Some(bytes) => Payload::Kept(Arc::new(piece.buffer.keep(bytes).expect(UNWRITTEN))),
        None => packed(piece, cells).into(),
    }
}

/// The bytes of these cells, where they lie one behind the other already.
fn stretch(piece: &Piece, cells: &[Runs]) -> Option<Range<usize>> {
    let (view, copy) = order(piece, cells);
    let (mut start, axes) = starts(&piece.view, &view, &copy);
    for stretches in &axes {
        let [Stretch { from, count, from_step, to_step, .. }] = stretches[..] else { return None };
        if count != 1 && from_step != to_step {
            return None;
        }
        start.0 += from;
    }
    let start = usize::try_from(start.0).ok()?;
    Some(start..start + view.len() * view.dtype.itemsize())
}

/// Cells of a piece, one behind the other in row-major order, as they are sent.
pub(super) fn packed(piece: &Piece, cells: &[Runs]) -> Vec<u8> {
    let (view, copy) = order(piece, cells);
    let mut bytes = memory(view.len() * view.dtype.itemsize());
    let memory = piece.buffer.read().expect(UNWRITTEN);
    copy_cells((&memory, &piece.view), (&mut bytes, &view), &copy);
    bytes
}

const UNWRITTEN: &str = "an operand is not written while it is read";

/// How these cells are packed, and what that is copied from.
fn order(piece: &Piece, cells: &[Runs]) -> (View, CellCopy) {
    let shape: Vec<usize> = cells.iter().map(|runs| runs.cells() as usize).collect();
    let view = View::c_order(piece.view.dtype, &shape);
    let copy = CellCopy {
        from: cells.to_vec(),
        to: cells.iter().map(|runs| Runs::one(0, runs.cells())).collect(),
        axes: (0..cells.len()).map(Some).collect(),
    };
    (view, copy)
}

/// Copies cells. Both views have the same dtype.
pub(super) fn copy_cells(from: (&[u8], &View), to: (&mut [u8], &View), copy: &CellCopy) {
    let (mut start, mut axes) = starts(from.1, to.1, copy);
    axes.retain(|stretches| match stretches[..] {
        [Stretch { from, to, count: 1, .. }] => {
            start = (start.0 + from, start.1 + to);
            false
        }
        _ => true,
    });
    let boxes: usize = axes.iter().map(Vec::len).product();
    let cells: usize =
        axes.iter().map(|axis| axis.iter().map(|one| one.count).sum::<usize>()).product();
    if cells / boxes.max(1) >= LARGE {
        return copy_boxes(from, to, start, &axes, &mut Vec::new());
    }
    match from.1.dtype.itemsize() {
        1 => walk::<1>(from.0, to.0, start, &axes),
        2 => walk::<2>(from.0, to.0, start, &axes),
        4 => walk::<4>(from.0, to.0, start, &axes),
        8 => walk::<8>(from.0, to.0, start, &axes),
        _ => walk::<16>(from.0, to.0, start, &axes),
    }
}

/// Each stretch of an axis with each of the others, all cells of which are copied at once.
fn copy_boxes(
    from: (&[u8], &View),
    to: (&mut [u8], &View),
    start: (isize, isize),
    axes: &[Vec<Stretch>],
    chosen: &mut Vec<Stretch>,
) {
    let [first, rest @ ..] = axes else {
        let seen = |offset: isize, step: fn(&Stretch) -> isize| View {
            dtype: from.1.dtype,
            offset: offset as usize,
            shape: chosen.iter().map(|one| one.count).collect(),
            strides: chosen.iter().map(step).collect(),
        };
        let (read, written) =
            (seen(start.0, |one| one.from_step), seen(start.1, |one| one.to_step));
        return copy_elements((from.0, &read), (to.0, &written))
            .expect("cells are in their memory");
    };
    for stretch in first {
        chosen.push(*stretch);
        let start = (start.0 + stretch.from, start.1 + stretch.to);
        copy_boxes(from, (&mut *to.0, to.1), start, rest, chosen);
        chosen.pop();
    }
}

/// The first bytes on both sides, and along each axis that is written what is copied.
fn starts(from: &View, to: &View, copy: &CellCopy) -> ((isize, isize), Vec<Vec<Stretch>>) {
    let named = |axis: &usize| copy.axes.contains(&Some(*axis));
    let first = |runs: &Runs| runs.iter().next().unwrap_or(0) as isize;
    let fixed = (0..copy.from.len()).filter(|axis| !named(axis));
    let fixed: isize = fixed.map(|axis| first(&copy.from[axis]) * from.strides[axis]).sum();
    let along = |(axis, source): (usize, &Option<usize>)| {
        let written = (&copy.to[axis], to.strides[axis]);
        match *source {
            Some(source) => stretches((&copy.from[source], from.strides[source]), written),
            None => stretches((&Runs::one(0, 1), 0), written),
        }
    };
    let axes = copy.axes.iter().enumerate().map(along).collect();
    ((from.offset as isize + fixed, to.offset as isize), axes)
}

/// Pairs of cells along an axis, as few stretches as will do.
fn stretches(from: (&Runs, isize), to: (&Runs, isize)) -> Vec<Stretch> {
    let place = |cell: u64, stride: isize| cell as isize * stride;
    if let (Some(read), Some(written)) = (from.0.span(), to.0.span()) {
        return vec![Stretch {
            from: place(read.start, from.1),
            to: place(written.start, to.1),
            count: from.0.cells() as usize,
            from_step: place(read.step, from.1),
            to_step: place(written.step, to.1),
        }];
    }
    let mut found: Vec<Stretch> = Vec::new();
    for (read, written) in from.0.iter().zip(to.0.iter()) {
        let (from, to) = (place(read, from.1), place(written, to.1));
        if !found.last_mut().is_some_and(|last| last.takes(from, to)) {
            found.push(Stretch { from, to, count: 1, from_step: 0, to_step: 0 });
        }
    }
    found
}

impl Stretch {
    /// Takes a cell in that goes on where it ended; the second cell sets the steps.
    fn takes(&mut self, from: isize, to: isize) -> bool {
        if self.count == 1 {
            (self.from_step, self.to_step) = (from - self.from, to - self.to);
        }
        let (count, next) = (self.count as isize, (from, to));
        let fits = next == (self.from + count * self.from_step, self.to + count * self.to_step);
        self.count += usize::from(fits);
        fits
    }

    /// The places of its cells.
    fn cells(self) -> impl Iterator<Item = (isize, isize)> {
        (0..self.count as isize)
            .map(move |cell| (self.from + cell * self.from_step, self.to + cell * self.to_step))
    }
}

/// The product over the axes, the last one innermost.
fn walk<const SIZE: usize>(
    from: &[u8],
    to: &mut [u8],
    start: (isize, isize),
    axes: &[Vec<Stretch>],
) {
    match axes {
        [] => copy_stretch::<SIZE>(from, to, start, &ONE),
        [last] => last.iter().for_each(|one| copy_stretch::<SIZE>(from, to, start, one)),
        [first, rest @ ..] => {
            for (read, written) in first.iter().flat_map(|stretch| stretch.cells()) {
                walk::<SIZE>(from, to, (start.0 + read, start.1 + written), rest);
            }
        }
    }
}

const ONE: Stretch = Stretch { from: 0, to: 0, count: 1, from_step: 0, to_step: 0 };

fn copy_stretch<const SIZE: usize>(
    from: &[u8],
    to: &mut [u8],
    start: (isize, isize),
    stretch: &Stretch,
) {
    let (read, written) = (start.0 + stretch.from, start.1 + stretch.to);
    let size = SIZE as isize;
    if stretch.count == 1 || (stretch.from_step, stretch.to_step) == (size, size) {
        let bytes = stretch.count * SIZE;
        let (read, written) = (read as usize, written as usize);
        return to[written..written + bytes].copy_from_slice(&from[read..read + bytes]);
    }
    for (cell, place) in stretch.cells() {
        let (cell, place) = ((start.0 + cell) as usize, (start.1 + place) as usize);
        let element: [u8; SIZE] = from[cell..cell + SIZE].try_into().expect("as many bytes");
        to[place..place + SIZE].copy_from_slice(&element);
    }
}
