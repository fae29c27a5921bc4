//! Reductions of a fused program, without storing its values: memory is read once.
//!
//! ```text
//! order     in which order NumPy takes the values: rows or runs
//! target    the memory of the accumulators: the output's own where it can be
//! block     some accumulators and all their values: cut among threads
//! at_once   of contiguous values that are few
//! alone     a block on one thread; rows: its long rows, several at a time
//! parts     a run of values: cut along NumPy's tree
//! arg       where the least or the greatest value is
//! sum       parts of a sum, for trees over several ranks
//! written   of what is being written, in one pass
//! ```

mod alone;
mod arg;
mod at_once;
mod block;
mod order;
mod parts;
mod rows;
mod sum;
mod target;
#[allow(unsafe_code)]
mod written;

pub use self::arg::{Extreme, arg_of, arg_reduce};
pub use self::at_once::{Along, fold_at_once};
pub use self::order::Runs;
pub(crate) use self::parts::PART;
pub use self::sum::{sum, sum_parts, sum_parts_chosen};
pub(crate) use self::target::write_in_order;
pub use self::written::{Write, reduce_written};

use self::block::{Block, Work};
use self::order::Order;
use self::parts::Parts;
use crate::bind::{self, Bound, Operand};
use crate::kernels::{Folder, Variant};
use crate::machine::Ahead;
use crate::{Chosen, DType, Error, Fold, Folded, Interpreter, Scalar};

/// What is folded, and how NumPy would do it.
///
/// `where=` is a select in the program that puts a value where the mask is false: -0.0 for a sum,
/// else the fold's identity, or the initial value that NumPy then asks for. That gives NumPy's
/// bits, but for sums of floats along runs (the last axis of a C-ordered array, or all of it):
/// there NumPy sums each stretch of the mask by itself, and both are equal to rounding.
#[derive(Clone, Debug)]
pub struct Reduction<'a> {
    /// The operation.
    pub fold: Fold,
    /// The axes that are folded.
    pub axes: &'a [usize],
    /// The strides, in bytes, that NumPy's array of the values has: they decide in which order it
    /// folds. If `casts`, they are those of the array before the cast.
    pub order: &'a [isize],
    /// The shape of NumPy's array, where the values are a part of it, along axes that are kept or
    /// that no run goes over: it decides too. None where they are all of it.
    pub part_of: Option<&'a [usize]>,
    /// What accumulators start from; None: their first value, as NumPy's `initial=None`.
    pub initial: Option<Scalar>,
    /// Do they go on from what the output holds, whatever is initial: values of theirs that come
    /// before these were folded elsewhere?
    pub continues: bool,
    /// Does NumPy cast the values while it reduces them (`numpy.sum(a, dtype=...)`, or the mean of
    /// integers)? It does so in buffers, which shows in the bits.
    pub casts: bool,
}

impl<'a> Reduction<'a> {
    /// From the fold's identity, without a cast.
    pub fn new(fold: Fold, dtype: DType, axes: &'a [usize], order: &'a [isize]) -> Self {
        let initial = fold.identity(dtype);
        Self { fold, axes, order, part_of: None, initial, continues: false, casts: false }
    }
}

/// Folds the first output of a program over some axes. The output has as many axes as the inputs,
/// of length 1 where they are folded. What it returns is what NumPy would warn of.
///
/// ```
/// use dappled_kernels::{Buffer, DType, Fold, Interpreter, Op, Operand, Program, Reduction, View, reduce};
/// let f = DType::Float64;
/// let mut program = Program::new(vec![f], vec![]);
/// let square = program.push(Op::Square, f, &[program.input(0)]);
/// program.outputs.push(square);
/// // (a**2).sum(0)
/// let (a, view) = (Buffer::from_slice(&[1.0, 2.0, 3.0, 4.0]), View::c_order(f, &[2, 2]));
/// let (out, row) = (Buffer::zeroed(16), View::c_order(f, &[1, 2]));
/// let sum = Reduction::new(Fold::Add, f, &[0], &view.strides);
/// let code = Interpreter::new(&program)?;
/// reduce(&code, &[Operand::new(&a, &view)?], &sum, &Operand::new(&out, &row)?)?;
/// assert_eq!(out.to_vec::<f64>(), [10.0, 20.0]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn reduce(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    reduction: &Reduction<'_>,
    out: &Operand<'_>,
) -> Result<Folded, Error> {
    let shape = shape_of(code, inputs)?;
    reduce_of(code, &Values { inputs, shape, chosen: None, ahead: None }, reduction, out)
}

/// The same of the values that are chosen, which are one row: `a[mask].sum()`, without the memory
/// for `a[mask]`.
///
/// ```
/// use dappled_kernels::{
///     Buffer, Chosen, DType, Fold, Interpreter, Operand, Program, Reduction, View, reduce_chosen,
/// };
/// let reads = |dtype| {
///     let mut program = Program::new(vec![dtype], vec![]);
///     program.outputs.push(program.input(0));
///     Interpreter::new(&program)
/// };
/// let (mask, seen) = (Buffer::from_slice(&[1u8, 0, 1]), View::c_order(DType::Bool, &[3]));
/// let (chosen, _) = Chosen::new(&reads(DType::Bool)?, &[Operand::new(&mask, &seen)?])?;
/// let (a, view) = (Buffer::from_slice(&[1.0, 2.0, 4.0]), View::c_order(DType::Float64, &[3]));
/// let (out, one) = (Buffer::zeroed(8), View::c_order(DType::Float64, &[1]));
/// let sum = Reduction::new(Fold::Add, DType::Float64, &[0], &[8]);
/// let code = reads(DType::Float64)?;
/// reduce_chosen(&code, &[Operand::new(&a, &view)?], &chosen, &sum, &Operand::new(&out, &one)?)?;
/// assert_eq!(out.to_vec::<f64>(), [5.0]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn reduce_chosen(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    chosen: &Chosen,
    reduction: &Reduction<'_>,
    out: &Operand<'_>,
) -> Result<Folded, Error> {
    let values: usize = shape_of(code, inputs)?.iter().product();
    if values != chosen.length() {
        return Err(Error::MaskLength { mask: chosen.length(), values });
    }
    let shape = &[chosen.count()];
    reduce_of(code, &Values { inputs, shape, chosen: Some(chosen), ahead: None }, reduction, out)
}

/// What is folded.
struct Values<'a> {
    inputs: &'a [Operand<'a>],
    shape: &'a [usize],
    chosen: Option<&'a Chosen>,
    /// What writes one of the inputs meanwhile, and where.
    ahead: Option<(&'a Ahead<'a>, &'a Operand<'a>)>,
}

#[allow(unsafe_code)]
impl<'a> Values<'a> {
    fn bound(&self, code: &Interpreter, axes: &[usize]) -> Result<Bound<'a>, Error> {
        let order = if self.chosen.is_some() { bind::Order::C } else { bind::Order::Axes(axes) };
        match self.ahead {
            // SAFETY: `Ahead` claims the target. `reduce_written`, which alone makes such values,
            // has checked that all that reads the array reads each element in its own place, once:
            // a machine writes the elements that it folds, and each is one machine's.
            Some((ahead, target)) => unsafe {
                Bound::after(&code.program, self.inputs, target.buffer(), ahead, order)
            },
            None => Bound::new(&code.program, self.inputs, &[], order)?.choosing(self.chosen),
        }
    }
}

fn reduce_of(
    code: &Interpreter,
    values: &Values<'_>,
    reduction: &Reduction<'_>,
    out: &Operand<'_>,
) -> Result<Folded, Error> {
    let &Values { inputs, shape, .. } = values;
    let &Reduction { fold, axes, order, part_of, ref initial, continues, casts } = reduction;
    check(code, shape, reduction, out)?;
    if out.is_empty() {
        return Ok(Folded::default());
    }
    let fill =
        |accs: &mut [u8]| continues || initial.inspect(|initial| initial.fill(accs)).is_some();
    if shape.contains(&0) {
        let all: Vec<usize> = (0..shape.len()).collect();
        let filled = |accs: &mut [u8]| match fill(accs) {
            true => Ok(Folded::default()),
            false => Err(Error::NothingToFold(fold.name())),
        };
        return write_in_order(out, &all, inputs, continues, filled);
    }
    let dtype = out.view().dtype;
    let order = Order::new((part_of.unwrap_or(shape), shape), order, axes, dtype.itemsize(), casts);
    let order = order.with_long_rows(shape, axes);
    let folder = Folder::new(fold, dtype, order.spacing, Variant::chosen());
    write_in_order(out, &order.axes, inputs, continues, |accs| {
        let bound = values.bound(code, &order.axes)?.in_rows(order.turned);
        let parts = Parts { code, bound: &bound, folder };
        let work = Work { parts, order: &order, fold };
        let fresh = !fill(accs);
        Ok(work.share(Block::whole(&order, fresh), accs))
    })
}

/// Says whether the reduction of values of this shape can be done.
fn check(
    code: &Interpreter,
    shape: &[usize],
    reduction: &Reduction<'_>,
    out: &Operand<'_>,
) -> Result<(), Error> {
    let dtype = code.program.dtype(code.program.outputs[0]).expect("checked");
    if !reduction.fold.has_loop(dtype) {
        return Err(Error::NoFold { fold: reduction.fold, dtype });
    }
    let started = reduction.initial.map_or(dtype, |initial| initial.dtype());
    for (place, found) in [("the initial value", started), ("the output", out.view().dtype)] {
        if found != dtype {
            return Err(Error::DTypeMismatch { place: place.into(), expected: dtype, found });
        }
    }
    let length =
        |(axis, &size): (usize, &usize)| if reduction.axes.contains(&axis) { 1 } else { size };
    let expected: Vec<usize> = shape.iter().enumerate().map(length).collect();
    check_shape(expected, out)?;
    assert_eq!(reduction.order.len(), shape.len(), "one stride for each axis");
    Ok(())
}

/// The common shape of the inputs; there must be one.
pub(crate) fn shape_of<'s>(
    code: &Interpreter,
    inputs: &[Operand<'s>],
) -> Result<&'s [usize], Error> {
    let expected = code.program.inputs.len().max(1);
    let first = inputs.first().ok_or(Error::Count { what: "input", expected, found: 0 })?;
    Ok(&first.view().shape)
}

pub(crate) fn check_shape(expected: Vec<usize>, out: &Operand<'_>) -> Result<(), Error> {
    let found = &out.view().shape;
    match found[..] == expected[..] {
        true => Ok(()),
        false => Err(Error::Shape { expected, found: found.to_vec() }),
    }
}
