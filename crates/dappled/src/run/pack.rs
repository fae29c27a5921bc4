//! Cells of a piece, one behind the other, as they are sent.

use dappled_kernels::Buffer;
use dappled_protocol::Runs;

use super::Piece;

/// The product of these cells along the axes, in row-major order.
pub(super) fn packed(piece: &Piece, cells: &[Runs]) -> Vec<u8> {
    let lists: Vec<Vec<isize>> = cells
        .iter()
        .zip(&piece.view.strides)
        .map(|(runs, &stride)| offsets(runs, stride))
        .collect();
    let count: usize = lists.iter().map(Vec::len).product();
    let mut bytes = Vec::with_capacity(count * piece.view.dtype.itemsize());
    copy(
        &piece.buffer,
        piece.view.offset as isize,
        &lists,
        piece.view.dtype.itemsize(),
        &mut bytes,
    );
    bytes
}

fn offsets(runs: &Runs, stride: isize) -> Vec<isize> {
    runs.iter().map(|cell| cell as isize * stride).collect()
}

/// Along the last axis, neighbours in memory are copied at once.
fn copy(buffer: &Buffer, start: isize, lists: &[Vec<isize>], itemsize: usize, out: &mut Vec<u8>) {
    let memory = buffer.read().expect("an operand is not written while it is read");
    let mut starts = vec![start];
    let Some((last, outer)) = lists.split_last() else {
        return out.extend(&memory[start as usize..start as usize + itemsize]);
    };
    for list in outer {
        starts =
            starts.iter().flat_map(|start| list.iter().map(move |offset| start + offset)).collect();
    }
    let stretches = stretches(last, itemsize);
    for start in starts {
        for &(offset, len) in &stretches {
            let from = (start + offset) as usize;
            out.extend(&memory[from..from + len]);
        }
    }
}

/// Offsets that follow each other without a gap, joined: where they begin, and how many bytes.
fn stretches(offsets: &[isize], itemsize: usize) -> Vec<(isize, usize)> {
    let mut found: Vec<(isize, usize)> = Vec::new();
    for &offset in offsets {
        match found.last_mut() {
            Some((start, len)) if *start + *len as isize == offset => *len += itemsize,
            _ => found.push((offset, itemsize)),
        }
    }
    found
}
