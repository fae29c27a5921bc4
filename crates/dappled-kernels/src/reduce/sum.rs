//! Sums of parts of a flat index, that ranks join into the sum of the whole.

use dappled_base::memory;

use super::parts::{PART, Parts};
use super::shape_of;
use crate::bind::{Bound, Operand, Order};
use crate::element::{bytes_of, typed};
use crate::kernels::{Folder, Spacing, State, Variant};
use crate::machine::Machine;
use crate::tree::{Part, Summand};
use crate::{Chosen, Error, Fold, Folded, Interpreter};

/// The sum of a program's first output over all its indices in C order: `numpy.sum`'s bits for a
/// C-ordered array of the values.
///
/// ```
/// use dappled_kernels::{Buffer, DType, Interpreter, Op, Operand, Program, View, sum};
/// let mut program = Program::new(vec![DType::Float64], vec![]);
/// let square = program.push(Op::Square, DType::Float64, &[program.input(0)]);
/// program.outputs.push(square);
/// let (a, view) = (Buffer::from_slice(&[1.0, 2.0, 3.0]), View::c_order(DType::Float64, &[3]));
/// let squares = sum::<f64>(&Interpreter::new(&program)?, &[Operand::new(&a, &view)?])?;
/// assert_eq!(squares, 14.0);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn sum<T: Summand>(code: &Interpreter, inputs: &[Operand<'_>]) -> Result<T, Error> {
    let all = Part::Node(0..inputs.first().map_or(0, Operand::len) as u64);
    let (sums, _) = sum_parts::<T>(code, inputs, &[all])?;
    // NumPy adds the tree's sum to 0: the sum of minus zeros is zero.
    Ok(T::default() + sums[0])
}

/// What ranges of the flat index contribute to sums that [`crate::tree::join`] joins from those of
/// several ranks: the sum of a tree node, or the values of a part of a leaf, one after the other. And
/// what NumPy would warn of. Panics if they reach beyond the inputs.
pub fn sum_parts<T: Summand>(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    parts: &[Part],
) -> Result<(Vec<T>, Folded), Error> {
    parts_of(code, inputs, None, parts)
}

/// Sums the parts of the values that a mask chooses, which are one row; see [`sum_parts`]. There must
/// be as many values as the mask has elements. Panics if parts reach beyond those that are chosen.
pub fn sum_parts_chosen<T: Summand>(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    chosen: &Chosen,
    parts: &[Part],
) -> Result<(Vec<T>, Folded), Error> {
    parts_of(code, inputs, Some(chosen), parts)
}

fn parts_of<T: Summand>(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    chosen: Option<&Chosen>,
    parts: &[Part],
) -> Result<(Vec<T>, Folded), Error> {
    check::<T>(code, inputs)?;
    let bound = Bound::new(&code.program, inputs, &[], Order::C)?.choosing(chosen)?;
    let end = parts.iter().map(|part| part.range().end).max().unwrap_or(0);
    let count = chosen.map_or(bound.space().len(), Chosen::count);
    assert!(end <= count as u64, "an index {end} of {count}");
    let folder = Folder::new(Fold::Add, T::DTYPE, Spacing::Contiguous, Variant::chosen());
    Ok(shared(&Parts { code, bound: &bound, folder }, parts))
}

/// On all threads where it is worth while.
fn shared<T: Summand>(work: &Parts<'_>, parts: &[Part]) -> (Vec<T>, Folded) {
    let elements: u64 = parts.iter().map(Part::len).sum();
    match parts {
        [Part::Node(node)] if elements > 0 => {
            let (state, folded) = work.shared(node.start as usize..node.end as usize);
            (vec![sum_of(&state)], folded)
        }
        [_, _, ..] if elements > PART as u64 => {
            let (left, right) = parts.split_at(parts.len() / 2);
            let (left, right) = rayon::join(|| shared::<T>(work, left), || shared(work, right));
            let mut sums = left.0;
            memory::append(&mut sums, &right.0);
            (sums, left.1.join(right.1))
        }
        _ => {
            let mut found = Vec::new();
            let each = |machine: &mut Machine<'_>| {
                parts.iter().for_each(|part| contribute(work, machine, part, &mut found));
            };
            let ((), folded) = work.with_machine(each);
            (found, folded)
        }
    }
}

fn contribute<T: Summand>(
    work: &Parts<'_>,
    machine: &mut Machine<'_>,
    part: &Part,
    found: &mut Vec<T>,
) {
    let range = part.range();
    let range = range.start as usize..range.end as usize;
    match part {
        Part::Node(_) if range.is_empty() => found.push(T::MINUS_ZERO),
        Part::Node(_) => found.push(sum_of(&work.alone(machine, range))),
        Part::Values(_) => memory::append(found, typed::<T>(machine.value(range))),
    }
}

fn sum_of<T: Summand>(state: &State) -> T {
    typed::<T>(bytes_of(state))[0]
}

fn check<T: Summand>(code: &Interpreter, inputs: &[Operand<'_>]) -> Result<(), Error> {
    shape_of(code, inputs)?;
    let found = code.program.dtype(code.program.outputs[0]).expect("checked");
    if found != T::DTYPE {
        let place = "the sum".into();
        return Err(Error::DTypeMismatch { place, expected: T::DTYPE, found });
    }
    Ok(())
}
