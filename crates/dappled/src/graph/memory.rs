//! Memory for the next version of an array: fresh or used before, with what is not overwritten.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use dappled_kernels::{Buffer, Engine, Interpreter, Operand as Memory, Program, View};

use super::GraphError;
use crate::run::{Piece, RunError};

/// Freed memory, by its length. Filling fresh pages costs as much as arithmetic.
#[derive(Default)]
pub(super) struct Freed(Mutex<HashMap<usize, Vec<Buffer>>>);

/// More pieces of one length than this are given back.
const KEPT: usize = 2;

impl Freed {
    /// A piece like another; what is in it is of no meaning.
    pub fn like(&self, piece: &Piece) -> Piece {
        let mut freed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = freed.get_mut(&piece.buffer.len()).and_then(Vec::pop);
        let buffer = used.unwrap_or_else(|| Buffer::zeroed(piece.buffer.len()));
        Piece { buffer, view: piece.view.clone() }
    }

    /// Keeps memory that its last holder gives back; what somebody else still holds is not kept.
    pub fn keep(&self, buffer: &Buffer) {
        if !buffer.is_unique() {
            return;
        }
        let mut freed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = freed.entry(buffer.len()).or_default();
        if kept.len() < KEPT {
            kept.push(buffer.clone());
        }
    }
}

/// Copies what lies outside a box of cells from one piece to another of the same layout.
pub(super) fn copy_outside(
    from: &Piece,
    to: &Piece,
    written: &[Range<u64>],
) -> Result<(), GraphError> {
    let mut program = Program::new(vec![from.view.dtype], Vec::new());
    program.outputs.push(program.input(0));
    let engine = Interpreter::new(&program).map_err(RunError::from)?;
    for slab in outside(&from.view.shape, written) {
        let part = parted(&from.view, &slab);
        let (input, output) = (Memory::new(&from.buffer, &part), Memory::new(&to.buffer, &part));
        let (input, output) = (input.map_err(RunError::from)?, output.map_err(RunError::from)?);
        engine.run(&[input], &[output]).map_err(RunError::from)?;
    }
    Ok(())
}

fn parted(view: &View, slab: &[Range<u64>]) -> View {
    let cut = |view: View, (axis, cells): (usize, &Range<u64>)| {
        view.region(axis, cells.start as usize, 1, (cells.end - cells.start) as usize)
    };
    slab.iter().enumerate().fold(view.clone(), cut)
}

/// What is left of a shape without a box, as boxes: along each axis what lies before and after it,
/// inside it along the axes before.
fn outside(shape: &[usize], written: &[Range<u64>]) -> Vec<Vec<Range<u64>>> {
    let mut found = Vec::new();
    for axis in 0..shape.len() {
        for cells in [0..written[axis].start, written[axis].end..shape[axis] as u64] {
            let before = written[..axis].iter().cloned();
            let after = shape[axis + 1..].iter().map(|&length| 0..length as u64);
            found.push(before.chain([cells]).chain(after).collect());
        }
    }
    found.retain(|slab: &Vec<Range<u64>>| slab.iter().all(|cells| !cells.is_empty()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_and_what_lies_outside_are_everything() {
        for written in [[1..3, 2..4], [0..4, 0..5], [0..0, 0..0], [3..4, 0..5], [0..1, 4..5]] {
            let mut seen = vec![0; 20];
            let mut mark = |slab: &[Range<u64>]| {
                for row in slab[0].clone() {
                    slab[1].clone().for_each(|column| seen[(row * 5 + column) as usize] += 1);
                }
            };
            outside(&[4, 5], &written).iter().for_each(|slab| mark(slab));
            mark(&written);
            assert_eq!(seen, [1; 20], "{written:?}");
        }
    }
}
