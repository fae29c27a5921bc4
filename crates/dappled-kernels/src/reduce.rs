//! The sum of a fused program, without storing its values: memory is read once.

use std::ops::Range;

use crate::bind::{Bound, Operand};
use crate::element::typed;
use crate::machine::Machine;
use crate::space::Space;
use crate::tiles::TILE;
use crate::tree::{Summand, cut, node_sum};
use crate::{Error, Interpreter};

/// Elements that one thread sums before it is worth asking another.
const PART: usize = 1 << 15;

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
    check::<T>(code, inputs)?;
    let bound = Bound::new(&code.program, inputs, &[])?;
    let space = Bound::c_space(inputs);
    assert!(indices.end <= space.len(), "indices {indices:?} of {}", space.len());
    Ok(Sum { code, bound: &bound, space: &space }.shared(indices))
}

fn check<T: Summand>(code: &Interpreter, inputs: &[Operand<'_>]) -> Result<(), Error> {
    let found = code.program.dtype(code.program.outputs[0]).expect("checked");
    if inputs.is_empty() {
        return Err(Error::Count {
            what: "input",
            expected: code.program.inputs.len().max(1),
            found: 0,
        });
    }
    match found == T::DTYPE {
        true => Ok(()),
        false => Err(Error::DTypeMismatch { place: "the sum".into(), expected: T::DTYPE, found }),
    }
}

#[derive(Clone, Copy)]
struct Sum<'a> {
    code: &'a Interpreter,
    bound: &'a Bound<'a>,
    space: &'a Space,
}

impl Sum<'_> {
    /// The sum of a node, its halves on different threads where it is large.
    fn shared<T: Summand>(self, node: Range<usize>) -> T {
        match halves(&node).filter(|_| node.len() > PART) {
            Some((left, right)) => {
                let (left, right) =
                    rayon::join(|| self.shared::<T>(left), || self.shared::<T>(right));
                left + right
            }
            None => alone(&mut Machine::new(self.code, self.bound, self.space), node),
        }
    }
}

/// The sum of a node on this thread: nodes of a tile's size or less are computed as one tile.
fn alone<T: Summand>(machine: &mut Machine<'_>, node: Range<usize>) -> T {
    match halves(&node).filter(|_| node.len() > TILE) {
        Some((left, right)) => alone::<T>(machine, left) + alone::<T>(machine, right),
        None => node_sum(typed::<T>(machine.value(node))),
    }
}

fn halves(node: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let middle = cut(&(node.start as u64..node.end as u64))? as usize;
    Some((node.start..middle, middle..node.end))
}
