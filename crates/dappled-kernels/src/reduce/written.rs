//! A fold of what is being written: `u[1:-1] = f(u)`, then `((u - old)**2).sum()`, in one pass.

use super::order::Order;
use super::{Reduction, Values, reduce_of, shape_of};
use crate::bind::Operand;
use crate::machine::{Ahead, Window};
use crate::{Buffer, Engine, Error, Folded, Interpreter, Raised, View};

/// A part of an array that is still to be written. The rest of the array is there already.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    /// The program.
    pub code: &'a Interpreter,
    /// What it reads: other memory than the array's.
    pub inputs: &'a [Operand<'a>],
    /// The part.
    pub target: Operand<'a>,
    /// The program and behind it that of the values, see [`crate::Program::followed_by`]: where there is one
    /// loop for both, what was written is not read again. None if they are better apart.
    pub both: Option<&'a Interpreter>,
}

/// Folds values that read an array, all of it and element by element in the same place, while a part
/// of it is written. None, with nothing done, where that can't be in one pass. What both have
/// signalled: the fold, and the steps of the write.
///
/// ```
/// use dappled_kernels::{
///     Buffer, DType, Fold, Interpreter, Op, Operand, Program, Reduction, View, Write, reduce_written,
/// };
/// let f = DType::Float64;
/// let program = |op| {
///     let mut program = Program::new(vec![f], vec![]);
///     let made = program.push(op, f, &[program.input(0)]);
///     program.outputs.push(made);
///     Interpreter::new(&program)
/// };
/// // u[1:] = -v; (u**2).sum()
/// let (u, v) = (Buffer::from_slice(&[1.0; 101]), Buffer::from_slice(&[2.0; 100]));
/// let (all, seen) = (View::c_order(f, &[101]), View::c_order(f, &[100]));
/// let part = all.region(0, 1, 1, 100);
/// let (negative, square) = (program(Op::Negative)?, program(Op::Square)?);
/// let write = Write { code: &negative, inputs: &[Operand::new(&v, &seen)?], target: Operand::new(&u, &part)?, both: None };
/// let (out, one) = (Buffer::zeroed(8), View::c_order(f, &[1]));
/// let sum = Reduction::new(Fold::Add, f, &[0], &[8]);
/// let done = reduce_written(&square, &[Operand::new(&u, &all)?], &write, &sum, &Operand::new(&out, &one)?)?;
/// assert!(done.is_some());
/// assert_eq!((out.to_vec::<f64>()[0], u.to_vec::<f64>()[100]), (401.0, -2.0));
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn reduce_written(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    write: &Write<'_>,
    reduction: &Reduction<'_>,
    out: &Operand<'_>,
) -> Result<Option<(Folded, Raised)>, Error> {
    let shape = shape_of(code, inputs)?;
    let Some(array) = read_whole(inputs, &write.target) else { return Ok(None) };
    if !goes_along(reduction, shape, array) {
        return Ok(None);
    }
    let Some(window) = Window::new(array, write.target.view()) else { return Ok(None) };
    let Some(ahead) = Ahead::new(write.code, write.inputs, &write.target, &window)? else {
        return Ok(None);
    };
    let others = inputs.iter().filter(|input| !input.buffer().is_same(write.target.buffer()));
    let parts: Vec<(&Buffer, View)> =
        others.map(|input| (input.buffer(), window.of(input.view()))).collect();
    let others = parts.iter().map(|(buffer, view)| Operand::new(buffer, view));
    let seen: Vec<Operand<'_>> =
        write.inputs.iter().map(|&input| Ok(input)).chain(others).collect::<Result<_, _>>()?;
    let ahead = match write.both {
        // SAFETY: the same target. What `seen` has beside the write's inputs are inputs of the fold,
        // which `reduce_of` claims before it folds; none is in the target's buffer.
        Some(both) => unsafe { ahead.with_both(both, &seen, &write.target)? },
        None => ahead,
    };
    let values = Values { inputs, shape, chosen: None, ahead: Some((&ahead, &write.target)) };
    let folded = reduce_of(code, &values, reduction, out)?;
    match ahead.finish() {
        (true, raised) => Ok(Some((folded, raised))),
        // Not all was folded, as nothing of it counts.
        _ => Ok(Some((folded, write.code.run(write.inputs, &[write.target])?))),
    }
}

/// The array, if whatever reads it reads all of it in the same way.
fn read_whole<'a>(inputs: &[Operand<'a>], target: &Operand<'_>) -> Option<&'a View> {
    let mut reads = inputs.iter().filter(|input| input.buffer().is_same(target.buffer()));
    let array = reads.next()?.view();
    reads.all(|input| input.view() == array).then_some(array)
}

/// Are all values folded into one, in the order in which the array lies?
fn goes_along(reduction: &Reduction<'_>, shape: &[usize], array: &View) -> bool {
    let &Reduction { axes, order, part_of, continues, casts, .. } = reduction;
    let all = axes.len() == shape.len() && !array.is_empty() && array.is_contiguous();
    if !all || continues || part_of.is_some_and(|whole| whole != shape) {
        return false;
    }
    let order = Order::new((shape, shape), order, axes, array.dtype.itemsize(), casts);
    !order.by_rows && order.axes.iter().copied().eq(0..shape.len())
}
