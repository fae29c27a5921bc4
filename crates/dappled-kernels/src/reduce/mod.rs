//! Reductions of a fused program in one pass over memory, with NumPy's bits.
//!
//! ```text
//! numpy_order           the order in which NumPy visits the values: rows or runs
//! accumulators          the memory of the accumulators: the output itself if possible
//! block                 accumulators with all their values, split among threads
//! serial, serial_rows   a block on one thread; its long rows, several at a time
//! tree_parts            a run of values, split along NumPy's pairwise tree
//! partial_sums          parts of a sum, joined by several ranks
//! contiguous, argminmax, write_reduce   small arrays; argmin and argmax; a reduction of a pending write
//! ```

pub(crate) mod accumulators;
pub(crate) mod argminmax;
pub(crate) mod block;
pub(crate) mod contiguous;
pub(crate) mod numpy_order;
pub(crate) mod partial_sums;
pub(crate) mod serial;
pub(crate) mod serial_rows;
pub(crate) mod tree_parts;
#[allow(unsafe_code)]
pub(crate) mod write_reduce;

pub(crate) use self::accumulators::write_in_order;
pub use self::argminmax::{ArgReduceOp, arg_reduce, arg_reduce_contiguous};
pub use self::contiguous::{ReduceLayout, reduce_contiguous};
pub use self::numpy_order::ReduceRuns;
pub use self::partial_sums::{sum, sum_parts, sum_parts_selected};

use self::block::{BlockReducer, ReduceBlock};
use self::numpy_order::ReduceOrder;
use self::tree_parts::TreeReducer;
use crate::error::Error;
use crate::execute::Interpreter;
use crate::execute::fused_write::FusedWrite;
use crate::iter::bound_operands::{self, BoundOperands, BufferView};
use crate::loops::reduce::ReduceKernels;
use crate::loops::variant::CpuVariant;
use crate::mask::selection::ElementSelection;
use crate::program::reduce_op::ReduceOp;
use crate::types::dtype::DType;
use crate::types::fp_flags::ReduceFlags;
use crate::types::scalar::Scalar;

/// A reduction: its operation and the array layout that decides NumPy's order of additions.
///
/// `where=` is a select in the program that substitutes a neutral value where the mask is false:
/// -0.0 for a sum, else the identity or the initial value that NumPy requires. The results have
/// NumPy's bits, except sums of floats along runs (the last axis of a C-ordered array, or all of
/// it): NumPy sums each stretch of the mask separately, and both agree to rounding.
#[derive(Clone, Debug)]
pub struct Reduction<'a> {
    /// The reduction operation.
    pub op: ReduceOp,
    /// The reduced axes.
    pub axes: &'a [usize],
    /// The byte strides of NumPy's array of values, which decide its order of additions. If `casts`
    /// is set, those of the array before the cast.
    pub strides: &'a [isize],
    /// The shape of NumPy's array, if the values are a part of it along axes that are kept or
    /// outside of runs. `None` if the values are all of it.
    pub full_shape: Option<&'a [usize]>,
    /// The initial value; `None` to start from the first value, as NumPy's `initial=None`.
    pub initial: Option<Scalar>,
    /// True to continue from the output's content, which ignores `initial`: earlier values were
    /// reduced elsewhere.
    pub continues: bool,
    /// True if NumPy casts the values while it reduces them (`numpy.sum(a, dtype=...)`, or the mean
    /// of integers). NumPy casts in buffers, which affects the bits.
    pub casts: bool,
}

impl<'a> Reduction<'a> {
    /// A reduction from the identity, without a cast.
    pub fn new(fold: ReduceOp, dtype: DType, axes: &'a [usize], order: &'a [isize]) -> Self {
        let initial = fold.identity(dtype);
        Self {
            op: fold,
            axes,
            strides: order,
            full_shape: None,
            initial,
            continues: false,
            casts: false,
        }
    }
}

/// Reduces the first output of a program over some axes and returns the flags.
///
/// The output has as many axes as the inputs, of length 1 where they are reduced.
///
/// ```
/// use dappled_kernels::{
///     Buffer, BufferView, DType, Interpreter, Op, Program, ReduceOp, Reduction, View, reduce,
/// };
/// let dtype = DType::Float64;
/// let mut program = Program::new(vec![dtype], vec![]);
/// let square = program.push(Op::Square, dtype, &[program.input(0)]);
/// program.outputs.push(square);
/// // (a**2).sum(0)
/// let (a, view) = (Buffer::from_slice(&[1.0, 2.0, 3.0, 4.0]), View::c_order(dtype, &[2, 2]));
/// let (out, out_view) = (Buffer::zeroed(16), View::c_order(dtype, &[1, 2]));
/// let sum = Reduction::new(ReduceOp::Add, dtype, &[0], &view.strides);
/// let inputs = [BufferView::new(&a, &view)?];
/// reduce(&Interpreter::new(&program)?, &inputs, &sum, &BufferView::new(&out, &out_view)?)?;
/// assert_eq!(out.to_vec::<f64>(), [10.0, 20.0]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn reduce(
    code: &Interpreter,
    inputs: &[BufferView<'_>],
    reduction: &Reduction<'_>,
    out: &BufferView<'_>,
) -> Result<ReduceFlags, Error> {
    let shape = shape_of(code, inputs)?;
    reduce_input(code, &ReduceInput { inputs, shape, selection: None, write: None }, reduction, out)
}

/// Reduces the selected values of a program's first output.
///
/// Computes `a[mask].sum()` without storing `a[mask]`. The selected values count as one row.
///
/// ```
/// use dappled_kernels::{
///     Buffer, BufferView, DType, ElementSelection, Interpreter, Program, ReduceOp, Reduction,
///     View, reduce_selected,
/// };
/// let identity = |dtype| {
///     let mut program = Program::new(vec![dtype], vec![]);
///     program.outputs.push(program.input(0));
///     Interpreter::new(&program)
/// };
/// let (mask, mask_view) = (Buffer::from_slice(&[1u8, 0, 1]), View::c_order(DType::Bool, &[3]));
/// let mask = BufferView::new(&mask, &mask_view)?;
/// let (selection, _) = ElementSelection::new(&identity(DType::Bool)?, &[mask])?;
/// let dtype = DType::Float64;
/// let (a, view) = (Buffer::from_slice(&[1.0, 2.0, 4.0]), View::c_order(dtype, &[3]));
/// let (sum, sum_view) = (Buffer::zeroed(8), View::c_order(dtype, &[1]));
/// let reduction = Reduction::new(ReduceOp::Add, dtype, &[0], &[8]);
/// let (inputs, out) = ([BufferView::new(&a, &view)?], BufferView::new(&sum, &sum_view)?);
/// reduce_selected(&identity(dtype)?, &inputs, &selection, &reduction, &out)?;
/// assert_eq!(sum.to_vec::<f64>(), [5.0]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn reduce_selected(
    code: &Interpreter,
    inputs: &[BufferView<'_>],
    selection: &ElementSelection,
    reduction: &Reduction<'_>,
    out: &BufferView<'_>,
) -> Result<ReduceFlags, Error> {
    let values: usize = shape_of(code, inputs)?.iter().product();
    if values != selection.length() {
        return Err(Error::MaskLength { mask: selection.length(), values });
    }
    let shape = &[selection.count()];
    reduce_input(
        code,
        &ReduceInput { inputs, shape, selection: Some(selection), write: None },
        reduction,
        out,
    )
}

/// The values to reduce.
struct ReduceInput<'a> {
    inputs: &'a [BufferView<'a>],
    shape: &'a [usize],
    selection: Option<&'a ElementSelection>,
    /// The write that updates one of the inputs during the reduction, and its target.
    write: Option<(&'a FusedWrite<'a>, &'a BufferView<'a>)>,
}

#[allow(unsafe_code)]
impl<'a> ReduceInput<'a> {
    fn bind(&self, code: &Interpreter, axes: &[usize]) -> Result<BoundOperands<'a>, Error> {
        let order = if self.selection.is_some() {
            bound_operands::IterationOrder::C
        } else {
            bound_operands::IterationOrder::Axes(axes)
        };
        match self.write {
            // SAFETY: `FusedWrite` claims the target. Only `reduce_written` constructs such an
            // input, after checking that every read of the array is of an element at its own index,
            // once: each element is written and reduced by one machine.
            Some((write, target)) => unsafe {
                BoundOperands::with_writer(
                    &code.program,
                    self.inputs,
                    target.buffer(),
                    write,
                    order,
                )
            },
            None => BoundOperands::new(&code.program, self.inputs, &[], order)?
                .with_selection(self.selection),
        }
    }
}

fn reduce_input(
    code: &Interpreter,
    values: &ReduceInput<'_>,
    reduction: &Reduction<'_>,
    out: &BufferView<'_>,
) -> Result<ReduceFlags, Error> {
    let &ReduceInput { inputs, shape, .. } = values;
    let &Reduction {
        op: fold,
        axes,
        strides: order,
        full_shape: part_of,
        ref initial,
        continues,
        casts,
    } = reduction;
    check_reduction(code, shape, reduction, out)?;
    if out.is_empty() {
        return Ok(ReduceFlags::default());
    }
    let fill =
        |accs: &mut [u8]| continues || initial.inspect(|initial| initial.fill(accs)).is_some();
    if shape.contains(&0) {
        let all: Vec<usize> = (0..shape.len()).collect();
        let filled = |accs: &mut [u8]| match fill(accs) {
            true => Ok(ReduceFlags::default()),
            false => Err(Error::EmptyReduction(fold.name())),
        };
        return write_in_order(out, &all, inputs, continues, filled);
    }
    let dtype = out.view().dtype;
    let order =
        ReduceOrder::new((part_of.unwrap_or(shape), shape), order, axes, dtype.itemsize(), casts);
    let order = order.with_long_rows(shape, axes);
    let kernels = ReduceKernels::new(fold, dtype, order.spacing, CpuVariant::active());
    write_in_order(out, &order.axes, inputs, continues, |accs| {
        let bound = values.bind(code, &order.axes)?.within_rows(order.is_rotated);
        let tree = TreeReducer { code, bound: &bound, kernels };
        let work = BlockReducer { tree, order: &order, fold };
        let takes_first_value = !fill(accs);
        Ok(work.reduce_parallel(ReduceBlock::whole(&order, takes_first_value), accs))
    })
}

/// Checks the operation, dtypes and shapes of a reduction.
fn check_reduction(
    code: &Interpreter,
    shape: &[usize],
    reduction: &Reduction<'_>,
    out: &BufferView<'_>,
) -> Result<(), Error> {
    let dtype = code.program.dtype(code.program.outputs[0]).expect("checked");
    if !reduction.op.has_loop(dtype) {
        return Err(Error::NoReduceLoop { fold: reduction.op, dtype });
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
    assert_eq!(reduction.strides.len(), shape.len(), "one stride per axis is required");
    Ok(())
}

/// The common shape of the inputs, of which there must be at least one.
pub(crate) fn shape_of<'s>(
    code: &Interpreter,
    inputs: &[BufferView<'s>],
) -> Result<&'s [usize], Error> {
    let expected = code.program.inputs.len().max(1);
    let first = inputs.first().ok_or(Error::OperandCount { what: "input", expected, found: 0 })?;
    Ok(&first.view().shape)
}

pub(crate) fn check_shape(expected: Vec<usize>, out: &BufferView<'_>) -> Result<(), Error> {
    let found = &out.view().shape;
    match found[..] == expected[..] {
        true => Ok(()),
        false => Err(Error::ShapeMismatch { expected, found: found.to_vec() }),
    }
}
