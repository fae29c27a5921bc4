//! The next version of an array: copies the elements outside a written view.

use std::ops::Range;
use std::sync::Arc;

use dappled_kernels::{
    Buffer, BufferView as Memory, DType, Engine, Interpreter, Program, Scalar, View,
};

use super::distributed;
use super::evaluate::{local_bytes, materialize};
use crate::array::node::{Node, NodeState};
use crate::array::placement::Placement;
use crate::error::Result;
use crate::session::Session;
use crate::view::axis_mapping;
use crate::view::axis_mapping::AxisMapping;

/// Returns true if the view covers at least half of the base.
pub(crate) fn covers_most(view: &View, base: &View) -> bool {
    view.len() * 2 >= base.len()
}

/// Returns true if the view covers the base. A view of other bytes, as of imaginary parts, does
/// not.
pub(crate) fn covers_all(view: &View, base: &View) -> bool {
    view.len() == base.len() && view.dtype == base.dtype
}

/// Allocates the next version of an array, and copies the elements outside a view to it.
pub(crate) fn begin_next_version(
    session: &Session,
    old: &Arc<Node>,
    view: &View,
) -> Result<Buffer> {
    let before = match (old.state(), covers_all(view, &old.base)) {
        (_, true) if old.placement.is_replicated() => None,
        (NodeState::Full(value), _) => Some(PreviousValue::Full(value)),
        _ => Some(PreviousValue::Memory(materialize(session, old)?)),
    };
    let memory = session.buffer_pool().allocate(local_bytes(old), &old.base);
    match before {
        Some(PreviousValue::Full(value)) => fill_complement(session, old, view, value, &memory)?,
        Some(PreviousValue::Memory(before)) => {
            copy_complement(session, old, view, &before, &memory)?
        }
        None => {}
    }
    Ok(memory)
}

enum PreviousValue {
    Full(Scalar),
    Memory(Buffer),
}

/// Copies the elements outside a view from one buffer of a node to another.
fn copy_complement(
    session: &Session,
    node: &Node,
    view: &View,
    from: &Buffer,
    to: &Buffer,
) -> Result<()> {
    let engine = copy_program(session, node.base.dtype)?;
    for part in complement_views(session, node, view)? {
        let input = Memory::new(from, &part)?;
        let output = Memory::new(to, &part)?;
        engine.run(&[input], &[output])?;
    }
    Ok(())
}

/// Fills the elements outside a view in a buffer of a node.
fn fill_complement(
    session: &Session,
    node: &Node,
    view: &View,
    value: Scalar,
    to: &Buffer,
) -> Result<()> {
    let mut program = Program::new(Vec::new(), vec![value]);
    program.outputs.push(program.constant(0));
    let engine = session.interpreter(&program)?;
    for part in complement_views(session, node, view)? {
        let output = Memory::new(to, &part)?;
        engine.run(&[], &[output])?;
    }
    Ok(())
}

/// Views of the elements outside a view, in this rank's memory of a node.
fn complement_views(session: &Session, node: &Node, view: &View) -> Result<Vec<View>> {
    let local = node.placement.local_view(&node.base);
    let written = match &node.placement {
        Placement::Replicated => {
            axis_mapping(view, &node.base).and_then(|mapping| written_box(&mapping))
        }
        Placement::Distributed(_) => distributed::written_box(session, node, view)?,
    };
    // If the view is of other bytes, even an array without axes has a complement.
    let Some(written) = written else { return Ok(vec![local.clone()]) };
    Ok(complement_boxes(&local.shape, &written).iter().map(|slab| slice_box(local, slab)).collect())
}

/// The program that copies its input.
fn copy_program(session: &Session, dtype: DType) -> Result<Arc<Interpreter>> {
    let mut program = Program::new(vec![dtype], Vec::new());
    program.outputs.push(program.input(0));
    session.interpreter(&program)
}

/// Copies a view to a new buffer in C order.
pub(crate) fn copy_to_c_order(session: &Session, memory: &Buffer, view: &View) -> Result<Buffer> {
    let target = View::c_order(view.dtype, &view.shape);
    let copy = session.buffer_pool().allocate(target.len() * view.dtype.itemsize(), &target);
    let input = Memory::new(memory, view)?;
    let output = Memory::new(&copy, &target)?;
    copy_program(session, view.dtype)?.run(&[input], &[output])?;
    Ok(copy)
}

/// The box of the base that a view covers; None if it leaves gaps.
fn written_box(mapping: &AxisMapping) -> Option<Vec<Range<u64>>> {
    let mut filled: Vec<Range<u64>> = mapping.starts.iter().map(|&at| at..at + 1).collect();
    for along in &mapping.axes {
        let Some((axis, step)) = along.base_axis else { continue };
        let start = filled[axis].start;
        filled[axis] = match step {
            1 => start..start + along.length,
            -1 => start + 1 - along.length..start + 1,
            _ => return None,
        };
    }
    Some(filled)
}

fn slice_box(view: &View, slab: &[Range<u64>]) -> View {
    let cut = |view: View, (axis, cells): (usize, &Range<u64>)| {
        view.slice_axis(axis, cells.start as usize, 1, (cells.end - cells.start) as usize)
    };
    slab.iter().enumerate().fold(view.clone(), cut)
}

/// Decomposes the complement of a box into disjoint boxes.
///
/// There are up to two for each axis, before and after the box, restricted to the box along the
/// preceding axes.
fn complement_boxes(shape: &[usize], written: &[Range<u64>]) -> Vec<Vec<Range<u64>>> {
    let mut boxes = Vec::new();
    for axis in 0..shape.len() {
        for cells in [0..written[axis].start, written[axis].end..shape[axis] as u64] {
            let before = written[..axis].iter().cloned();
            let after = shape[axis + 1..].iter().map(|&length| 0..length as u64);
            boxes.push(before.chain([cells]).chain(after).collect());
        }
    }
    boxes.retain(|slab: &Vec<Range<u64>>| slab.iter().all(|cells| !cells.is_empty()));
    boxes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_and_what_lies_outside_are_everything() {
        for written in [[1..3, 2..4], [0..4, 0..5], [0..0, 0..0], [3..4, 0..5], [0..1, 4..5]] {
            let mut counts = vec![0; 20];
            let mut mark = |slab: &[Range<u64>]| {
                for row in slab[0].clone() {
                    slab[1].clone().for_each(|column| counts[(row * 5 + column) as usize] += 1);
                }
            };
            complement_boxes(&[4, 5], &written).iter().for_each(|slab| mark(slab));
            mark(&written);
            assert_eq!(counts, [1; 20], "{written:?}");
        }
    }
}
