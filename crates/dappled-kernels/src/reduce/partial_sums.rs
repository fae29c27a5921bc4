//! Partial sums of a flat index, which ranks join into the total.

use dappled_base::memory;

use super::shape_of;
use super::tree_parts::TreeReducer;
use crate::config::MIN_REDUCE_TASK_ELEMENTS;
use crate::error::Error;
use crate::execute::Interpreter;
use crate::execute::machine::Machine;
use crate::iter::bound_operands::{BoundOperands, BufferView, IterationOrder};
use crate::loops::reduce::pairwise_tree::{Summand, TreePart};
use crate::loops::reduce::{InputSpacing, ReduceKernels, ReduceState};
use crate::loops::variant::CpuVariant;
use crate::mask::selection::ElementSelection;
use crate::program::reduce_op::ReduceOp;
use crate::types::element::{bytes_of, typed};
use crate::types::fp_flags::ReduceFlags;

/// Sums a program's first output over all indices.
///
/// The sum has the bits of `numpy.sum` of a C-ordered array.
///
/// ```
/// use dappled_kernels::{Buffer, BufferView, DType, Interpreter, Op, Program, View, sum};
/// let mut program = Program::new(vec![DType::Float64], vec![]);
/// let square = program.push(Op::Square, DType::Float64, &[program.input(0)]);
/// program.outputs.push(square);
/// let (a, view) = (Buffer::from_slice(&[1.0, 2.0, 3.0]), View::c_order(DType::Float64, &[3]));
/// let squares = sum::<f64>(&Interpreter::new(&program)?, &[BufferView::new(&a, &view)?])?;
/// assert_eq!(squares, 14.0);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn sum<T: Summand>(code: &Interpreter, inputs: &[BufferView<'_>]) -> Result<T, Error> {
    let all = TreePart::Node(0..inputs.first().map_or(0, BufferView::len) as u64);
    let (sums, _) = sum_parts::<T>(code, inputs, &[all])?;
    // NumPy adds the tree's sum to 0, so the sum of minus zeros is zero.
    Ok(T::default() + sums[0])
}

/// The contributions of ranges of the flat index to a pairwise sum, and the flags.
///
/// A contribution is the sum of a tree node, or the values of a part of a leaf;
/// [`crate::tree::join`] combines those of several ranks. Panics if a range exceeds the inputs.
pub fn sum_parts<T: Summand>(
    code: &Interpreter,
    inputs: &[BufferView<'_>],
    parts: &[TreePart],
) -> Result<(Vec<T>, ReduceFlags), Error> {
    sum_ranges(code, inputs, None, parts)
}

/// The contributions of ranges of the selected values to a pairwise sum; see [`sum_parts`].
///
/// The selected values count as one row. There must be as many values as the mask has elements.
/// Panics if a range exceeds the selected values.
pub fn sum_parts_selected<T: Summand>(
    code: &Interpreter,
    inputs: &[BufferView<'_>],
    selection: &ElementSelection,
    parts: &[TreePart],
) -> Result<(Vec<T>, ReduceFlags), Error> {
    sum_ranges(code, inputs, Some(selection), parts)
}

fn sum_ranges<T: Summand>(
    code: &Interpreter,
    inputs: &[BufferView<'_>],
    selection: Option<&ElementSelection>,
    parts: &[TreePart],
) -> Result<(Vec<T>, ReduceFlags), Error> {
    check::<T>(code, inputs)?;
    let bound = BoundOperands::new(&code.program, inputs, &[], IterationOrder::C)?
        .with_selection(selection)?;
    let end = parts.iter().map(|part| part.range().end).max().unwrap_or(0);
    let count = selection.map_or(bound.space().len(), ElementSelection::count);
    assert!(end <= count as u64, "index {end} is out of range for {count} values");
    let kernels =
        ReduceKernels::new(ReduceOp::Add, T::DTYPE, InputSpacing::Contiguous, CpuVariant::active());
    Ok(sum_parallel(&TreeReducer { code, bound: &bound, kernels }, parts))
}

/// Computes the contributions, in parallel if there are many values.
fn sum_parallel<T: Summand>(work: &TreeReducer<'_>, parts: &[TreePart]) -> (Vec<T>, ReduceFlags) {
    let elements: u64 = parts.iter().map(TreePart::len).sum();
    match parts {
        [TreePart::Node(node)] if elements > 0 => {
            let (state, flags) = work.reduce_parallel(node.start as usize..node.end as usize);
            (vec![sum_of(&state)], flags)
        }
        [_, _, ..] if elements > MIN_REDUCE_TASK_ELEMENTS as u64 => {
            let (left, right) = parts.split_at(parts.len() / 2);
            let (left, right) =
                rayon::join(|| sum_parallel::<T>(work, left), || sum_parallel(work, right));
            let mut sums = left.0;
            memory::append(&mut sums, &right.0);
            (sums, left.1.join(right.1))
        }
        _ => {
            let mut contributions = Vec::new();
            let each = |machine: &mut Machine<'_>| {
                parts
                    .iter()
                    .for_each(|part| push_contribution(work, machine, part, &mut contributions));
            };
            let ((), flags) = work.with_machine(each);
            (contributions, flags)
        }
    }
}

fn push_contribution<T: Summand>(
    work: &TreeReducer<'_>,
    machine: &mut Machine<'_>,
    part: &TreePart,
    contributions: &mut Vec<T>,
) {
    let range = part.range();
    let range = range.start as usize..range.end as usize;
    match part {
        TreePart::Node(_) if range.is_empty() => contributions.push(T::MINUS_ZERO),
        TreePart::Node(_) => contributions.push(sum_of(&work.reduce_serial(machine, range))),
        TreePart::Values(_) => memory::append(contributions, typed::<T>(machine.compute(range))),
    }
}

fn sum_of<T: Summand>(state: &ReduceState) -> T {
    typed::<T>(bytes_of(state))[0]
}

fn check<T: Summand>(code: &Interpreter, inputs: &[BufferView<'_>]) -> Result<(), Error> {
    shape_of(code, inputs)?;
    let found = code.program.dtype(code.program.outputs[0]).expect("checked");
    if found != T::DTYPE {
        let place = "the sum".into();
        return Err(Error::DTypeMismatch { place, expected: T::DTYPE, found });
    }
    Ok(())
}
