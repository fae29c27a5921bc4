//! Sums of parts of a flat index, that ranks join into the sum of the whole.

use std::ops::Range;

use super::parts::Parts;
use super::shape_of;
use crate::bind::{Bound, Operand};
use crate::element::{bytes_of, typed};
use crate::kernels::{Folder, Spacing, Variant};
use crate::machine::Machine;
use crate::tree::Summand;
use crate::{Error, Flags, Fold, Folded, Interpreter, Raised};

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
    let len = inputs.first().map_or(0, Operand::len);
    // NumPy adds the tree's sum to 0: the sum of minus zeros is zero.
    Ok(T::default() + sum_range(code, inputs, 0..len)?)
}

/// The sum of the tree node that these flat indices are, which [`crate::tree::join`] joins with
/// those of other ranks. Panics if they reach beyond the inputs.
pub fn sum_range<T: Summand>(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    indices: Range<usize>,
) -> Result<T, Error> {
    sum_range_flagged(code, inputs, indices).map(|(sum, _)| sum)
}

/// The same, and what NumPy would warn of.
pub fn sum_range_flagged<T: Summand>(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    indices: Range<usize>,
) -> Result<(T, Folded), Error> {
    check::<T>(code, inputs)?;
    let bound = Bound::new(&code.program, inputs, &[])?;
    let space = &Bound::c_space(inputs);
    assert!(indices.end <= space.len(), "indices {indices:?} of {}", space.len());
    if indices.is_empty() {
        return Ok((T::MINUS_ZERO, Folded::default()));
    }
    let folder = Folder::new(Fold::Add, T::DTYPE, Spacing::Contiguous, Variant::chosen());
    let (state, folded) = Parts { code, bound: &bound, space, folder }.shared(indices);
    Ok((typed::<T>(bytes_of(&state))[0], folded))
}

/// The values at some flat indices, at most [`crate::tree::LEAF`]: what a rank has of a leaf.
pub fn values_range<T: Summand>(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    indices: Range<usize>,
) -> Result<Vec<T>, Error> {
    values_range_flagged(code, inputs, indices).map(|(values, _)| values)
}

/// The same, and what NumPy would warn of.
pub fn values_range_flagged<T: Summand>(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    indices: Range<usize>,
) -> Result<(Vec<T>, Raised), Error> {
    check::<T>(code, inputs)?;
    let bound = Bound::new(&code.program, inputs, &[])?;
    let space = &Bound::c_space(inputs);
    assert!(indices.end <= space.len(), "indices {indices:?} of {}", space.len());
    let (values, folded) = Machine::with(code, &bound, space, Flags::NONE, |machine| {
        typed::<T>(machine.value(indices)).to_vec()
    });
    Ok((values, folded.steps))
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
