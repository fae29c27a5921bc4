//! Copies of cells between buffers: packing, assembling and scattering.

use std::ops::Range;
use std::sync::Arc;

use dappled_fabric::{Payload, take_buffer};
use dappled_kernels::{View, copy_elements};
use dappled_protocol::CellRuns;

use super::piece::LocalPiece;
use crate::config::{MIN_BLOCK_COPY_CELLS, MIN_ZERO_COPY_BYTES};
use crate::plan::step::CellCopy;

/// `count` cells that are evenly spaced on both sides; offsets and steps in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StridedRun {
    from: isize,
    to: isize,
    count: usize,
    from_step: isize,
    to_step: isize,
}

/// The payload for cells of a piece that is not written until they are sent.
pub(crate) fn share_or_pack(piece: &LocalPiece, cells: &[CellRuns]) -> Payload {
    match contiguous_bytes(piece, cells).filter(|bytes| bytes.len() >= MIN_ZERO_COPY_BYTES) {
        Some(bytes) => {
            Payload::Shared(Arc::new(piece.buffer.read_owned(bytes).expect(OPERAND_NOT_WRITTEN)))
        }
        None => pack_cells(piece, cells).into(),
    }
}

/// The bytes of these cells, if they are contiguous in memory.
fn contiguous_bytes(piece: &LocalPiece, cells: &[CellRuns]) -> Option<Range<usize>> {
    let (view, copy) = packing(piece, cells);
    let (mut start, axes) = axis_runs(&piece.view, &view, &copy);
    for stretches in &axes {
        let [StridedRun { from, count, from_step, to_step, .. }] = stretches[..] else {
            return None;
        };
        if count != 1 && from_step != to_step {
            return None;
        }
        start.0 += from;
    }
    let start = usize::try_from(start.0).ok()?;
    Some(start..start + view.len() * view.dtype.itemsize())
}

/// Packs cells of a piece in row-major order.
pub(crate) fn pack_cells(piece: &LocalPiece, cells: &[CellRuns]) -> Vec<u8> {
    let (view, copy) = packing(piece, cells);
    let mut bytes = take_buffer(view.len() * view.dtype.itemsize());
    let memory = piece.buffer.read().expect(OPERAND_NOT_WRITTEN);
    copy_cells((&memory, &piece.view), (&mut bytes, &view), &copy);
    bytes
}

const OPERAND_NOT_WRITTEN: &str = "an operand is not written while it is read";

/// The view of the packed cells, and the copy that packs them.
fn packing(piece: &LocalPiece, cells: &[CellRuns]) -> (View, CellCopy) {
    let shape: Vec<usize> = cells.iter().map(|runs| runs.cells() as usize).collect();
    let view = View::c_order(piece.view.dtype, &shape);
    let copy = CellCopy {
        from: cells.to_vec(),
        to: cells.iter().map(|runs| CellRuns::contiguous(0, runs.cells())).collect(),
        axes: (0..cells.len()).map(Some).collect(),
    };
    (view, copy)
}

/// Copies cells between two views of the same dtype.
pub(crate) fn copy_cells(from: (&[u8], &View), to: (&mut [u8], &View), copy: &CellCopy) {
    let (mut start, mut axes) = axis_runs(from.1, to.1, copy);
    axes.retain(|runs| match runs[..] {
        [StridedRun { from, to, count: 1, .. }] => {
            start = (start.0 + from, start.1 + to);
            false
        }
        _ => true,
    });
    let boxes: usize = axes.iter().map(Vec::len).product();
    let cells: usize =
        axes.iter().map(|axis| axis.iter().map(|run| run.count).sum::<usize>()).product();
    if cells / boxes.max(1) >= MIN_BLOCK_COPY_CELLS {
        return copy_boxes(from, to, start, &axes, &mut Vec::new());
    }
    match from.1.dtype.itemsize() {
        1 => copy_runs::<1>(from.0, to.0, start, &axes),
        2 => copy_runs::<2>(from.0, to.0, start, &axes),
        4 => copy_runs::<4>(from.0, to.0, start, &axes),
        8 => copy_runs::<8>(from.0, to.0, start, &axes),
        _ => copy_runs::<16>(from.0, to.0, start, &axes),
    }
}

/// Copies each box of the product of the axes' runs as a pair of strided views.
fn copy_boxes(
    from: (&[u8], &View),
    to: (&mut [u8], &View),
    start: (isize, isize),
    axes: &[Vec<StridedRun>],
    box_runs: &mut Vec<StridedRun>,
) {
    let [first, rest @ ..] = axes else {
        let strided_view = |offset: isize, step: fn(&StridedRun) -> isize| View {
            dtype: from.1.dtype,
            offset: offset as usize,
            shape: box_runs.iter().map(|run| run.count).collect(),
            strides: box_runs.iter().map(step).collect(),
        };
        let (read, written) =
            (strided_view(start.0, |run| run.from_step), strided_view(start.1, |run| run.to_step));
        return copy_elements((from.0, &read), (to.0, &written))
            .expect("the cells are inside the buffers");
    };
    for run in first {
        box_runs.push(*run);
        let start = (start.0 + run.from, start.1 + run.to);
        copy_boxes(from, (&mut *to.0, to.1), start, rest, box_runs);
        box_runs.pop();
    }
}

/// The byte offsets of both sides, and the runs along each axis of the destination.
fn axis_runs(from: &View, to: &View, copy: &CellCopy) -> ((isize, isize), Vec<Vec<StridedRun>>) {
    let is_mapped = |axis: &usize| copy.axes.contains(&Some(*axis));
    let first = |runs: &CellRuns| runs.iter().next().unwrap_or(0) as isize;
    let fixed = (0..copy.from.len()).filter(|axis| !is_mapped(axis));
    let fixed: isize = fixed.map(|axis| first(&copy.from[axis]) * from.strides[axis]).sum();
    let along = |(axis, source): (usize, &Option<usize>)| {
        let written = (&copy.to[axis], to.strides[axis]);
        match *source {
            Some(source) => strided_runs((&copy.from[source], from.strides[source]), written),
            None => strided_runs((&CellRuns::contiguous(0, 1), 0), written),
        }
    };
    let axes = copy.axes.iter().enumerate().map(along).collect();
    ((from.offset as isize + fixed, to.offset as isize), axes)
}

/// Pairs the cells of an axis, in as few runs as possible.
fn strided_runs(from: (&CellRuns, isize), to: (&CellRuns, isize)) -> Vec<StridedRun> {
    let offset = |cell: u64, stride: isize| cell as isize * stride;
    if let (Some(read), Some(written)) = (from.0.span(), to.0.span()) {
        return vec![StridedRun {
            from: offset(read.start, from.1),
            to: offset(written.start, to.1),
            count: from.0.cells() as usize,
            from_step: offset(read.step, from.1),
            to_step: offset(written.step, to.1),
        }];
    }
    let mut runs: Vec<StridedRun> = Vec::new();
    for (read, written) in from.0.iter().zip(to.0.iter()) {
        let (from, to) = (offset(read, from.1), offset(written, to.1));
        if !runs.last_mut().is_some_and(|last| last.try_extend(from, to)) {
            runs.push(StridedRun { from, to, count: 1, from_step: 0, to_step: 0 });
        }
    }
    runs
}

impl StridedRun {
    /// Extends the run by the next cell if it fits; the second cell determines the steps.
    fn try_extend(&mut self, from: isize, to: isize) -> bool {
        if self.count == 1 {
            (self.from_step, self.to_step) = (from - self.from, to - self.to);
        }
        let (count, next) = (self.count as isize, (from, to));
        let fits = next == (self.from + count * self.from_step, self.to + count * self.to_step);
        self.count += usize::from(fits);
        fits
    }

    /// The byte offsets of the cells.
    fn offsets(self) -> impl Iterator<Item = (isize, isize)> {
        (0..self.count as isize)
            .map(move |cell| (self.from + cell * self.from_step, self.to + cell * self.to_step))
    }
}

/// Copies the product of the axes' runs; the last axis is innermost.
fn copy_runs<const SIZE: usize>(
    from: &[u8],
    to: &mut [u8],
    start: (isize, isize),
    axes: &[Vec<StridedRun>],
) {
    match axes {
        [] => copy_run::<SIZE>(from, to, start, &SINGLE_CELL),
        [last] => last.iter().for_each(|run| copy_run::<SIZE>(from, to, start, run)),
        [first, rest @ ..] => {
            for (read, written) in first.iter().flat_map(|run| run.offsets()) {
                copy_runs::<SIZE>(from, to, (start.0 + read, start.1 + written), rest);
            }
        }
    }
}

const SINGLE_CELL: StridedRun = StridedRun { from: 0, to: 0, count: 1, from_step: 0, to_step: 0 };

/// Copies the cells of one run.
fn copy_run<const SIZE: usize>(
    from: &[u8],
    to: &mut [u8],
    start: (isize, isize),
    run: &StridedRun,
) {
    let (read, written) = (start.0 + run.from, start.1 + run.to);
    let size = SIZE as isize;
    if run.count == 1 || (run.from_step, run.to_step) == (size, size) {
        let bytes = run.count * SIZE;
        let (read, written) = (read as usize, written as usize);
        return to[written..written + bytes].copy_from_slice(&from[read..read + bytes]);
    }
    for (cell, target) in run.offsets() {
        let (cell, target) = ((start.0 + cell) as usize, (start.1 + target) as usize);
        let element: [u8; SIZE] =
            from[cell..cell + SIZE].try_into().expect("the slice has SIZE bytes");
        to[target..target + SIZE].copy_from_slice(&element);
    }
}
