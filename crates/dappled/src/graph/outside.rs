//! What a write leaves as it was: copied from the old version to the next.

use std::ops::Range;
use std::sync::Arc;

use dappled_kernels::{
    Buffer, DType, Engine, Interpreter, Operand as Memory, Program, Scalar, View,
};

use super::layout::Layout;
use super::node::Node;
use super::{GraphError, Session, spread};
use crate::plan::Through;
use crate::run::RunError;
use crate::view::through;

/// Copies what lies outside a view from one memory of a node to another.
pub(super) fn copy_outside(
    session: &Session,
    node: &Node,
    view: &View,
    from: &Buffer,
    to: &Buffer,
) -> Result<(), GraphError> {
    let engine = copying(session, node.base.dtype)?;
    for part in parts_outside(session, node, view)? {
        let input = Memory::new(from, &part).map_err(RunError::from)?;
        let output = Memory::new(to, &part).map_err(RunError::from)?;
        engine.run(&[input], &[output]).map_err(RunError::from)?;
    }
    Ok(())
}

/// Writes one value over what lies outside a view, in this memory of a node.
pub(super) fn fill_outside(
    session: &Session,
    node: &Node,
    view: &View,
    value: Scalar,
    to: &Buffer,
) -> Result<(), GraphError> {
    let mut program = Program::new(Vec::new(), vec![value]);
    program.outputs.push(program.constant(0));
    let engine = session.engine(&program)?;
    for part in parts_outside(session, node, view)? {
        let output = Memory::new(to, &part).map_err(RunError::from)?;
        engine.run(&[], &[output]).map_err(RunError::from)?;
    }
    Ok(())
}

/// What lies outside a view in this rank's memory of a node, as boxes.
fn parts_outside(session: &Session, node: &Node, view: &View) -> Result<Vec<View>, GraphError> {
    let local = node.layout.local(&node.base);
    let written = match &node.layout {
        Layout::Whole => through(view, &node.base).and_then(|through| filled(&through)),
        Layout::Split(_) => spread::written(session, node, view)?,
    };
    // Also an array without axes lies outside, where the view is of other bytes.
    let Some(written) = written else { return Ok(vec![local.clone()]) };
    Ok(outside(&local.shape, &written).iter().map(|slab| parted(local, slab)).collect())
}

/// A program that copies.
fn copying(session: &Session, dtype: DType) -> Result<Arc<Interpreter>, GraphError> {
    let mut program = Program::new(vec![dtype], Vec::new());
    program.outputs.push(program.input(0));
    session.engine(&program)
}

/// What a view shows of some memory, in C order in memory of its own.
pub(super) fn copied_in_c_order(
    session: &Session,
    memory: &Buffer,
    view: &View,
) -> Result<Buffer, GraphError> {
    let target = View::c_order(view.dtype, &view.shape);
    let copy = session.freed().array(target.len() * view.dtype.itemsize(), &target);
    let input = Memory::new(memory, view).map_err(RunError::from)?;
    let output = Memory::new(&copy, &target).map_err(RunError::from)?;
    copying(session, view.dtype)?.run(&[input], &[output]).map_err(RunError::from)?;
    Ok(copy)
}

/// The box of the base that a view fills; None where it leaves gaps.
fn filled(through: &Through) -> Option<Vec<Range<u64>>> {
    let mut filled: Vec<Range<u64>> = through.starts.iter().map(|&at| at..at + 1).collect();
    for along in &through.axes {
        let Some((axis, step)) = along.base else { continue };
        let start = filled[axis].start;
        filled[axis] = match step {
            1 => start..start + along.length,
            -1 => start + 1 - along.length..start + 1,
            _ => return None,
        };
    }
    Some(filled)
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
