//! A reduction fused with a pending write: `u[1:-1] = f(u)`, then `((u - old)**2).sum()`, in one
//! pass.

use super::numpy_order::ReduceOrder;
use super::{ReduceInput, Reduction, reduce_input, shape_of};
use crate::error::Error;
use crate::execute::fused_write::FusedWrite;
use crate::execute::fused_write::region::ArrayRegion;
use crate::execute::{Engine, Interpreter};
use crate::iter::bound_operands::BufferView;
use crate::memory::buffer::Buffer;
use crate::memory::view::View;
use crate::types::fp_flags::{ReduceFlags, StepFlags};

/// A pending write to a region of an array; the rest of the array is up to date.
#[derive(Clone, Copy)]
pub struct PendingWrite<'a> {
    /// The program of the write.
    pub code: &'a Interpreter,
    /// The inputs, which are in other buffers than the array.
    pub inputs: &'a [BufferView<'a>],
    /// The region to write.
    pub target: BufferView<'a>,
    /// The write composed with the reduced values, so that one loop computes both and the written
    /// elements are not read again. `None` if separate loops are better.
    pub fused: Option<&'a Interpreter>,
}

/// Reduces values of an array while a region of the array is written.
///
/// The values read the whole array, element by element. Returns the flags of the reduction and of
/// the write. Returns `None`, with nothing done, if one pass is impossible.
///
/// ```
/// use dappled_kernels::{
///     Buffer, BufferView, DType, Interpreter, Op, PendingWrite, Program, ReduceOp, Reduction,
///     View, write_and_reduce,
/// };
/// let dtype = DType::Float64;
/// let single_op = |op| {
///     let mut program = Program::new(vec![dtype], vec![]);
///     let result = program.push(op, dtype, &[program.input(0)]);
///     program.outputs.push(result);
///     Interpreter::new(&program)
/// };
/// let (negative, square) = (single_op(Op::Negative)?, single_op(Op::Square)?);
/// // u[1:] = -v; (u**2).sum()
/// let (u, v) = (Buffer::from_slice(&[1.0; 101]), Buffer::from_slice(&[2.0; 100]));
/// let (u_view, v_view) = (View::c_order(dtype, &[101]), View::c_order(dtype, &[100]));
/// let region = u_view.slice_axis(0, 1, 1, 100);
/// let write = PendingWrite {
///     code: &negative,
///     inputs: &[BufferView::new(&v, &v_view)?],
///     target: BufferView::new(&u, &region)?,
///     fused: None,
/// };
/// let (sum, sum_view) = (Buffer::zeroed(8), View::c_order(dtype, &[1]));
/// let reduction = Reduction::new(ReduceOp::Add, dtype, &[0], &[8]);
/// let (inputs, out) = ([BufferView::new(&u, &u_view)?], BufferView::new(&sum, &sum_view)?);
/// let flags = write_and_reduce(&square, &inputs, &write, &reduction, &out)?;
/// assert!(flags.is_some());
/// assert_eq!((sum.to_vec::<f64>()[0], u.to_vec::<f64>()[100]), (401.0, -2.0));
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn write_and_reduce(
    code: &Interpreter,
    inputs: &[BufferView<'_>],
    write: &PendingWrite<'_>,
    reduction: &Reduction<'_>,
    out: &BufferView<'_>,
) -> Result<Option<(ReduceFlags, StepFlags)>, Error> {
    let shape = shape_of(code, inputs)?;
    let Some(array) = whole_array_view(inputs, &write.target) else { return Ok(None) };
    if !reduces_in_memory_order(reduction, shape, array) {
        return Ok(None);
    }
    let Some(region) = ArrayRegion::new(array, write.target.view()) else { return Ok(None) };
    let Some(fused_write) = FusedWrite::new(write.code, write.inputs, &write.target, &region)?
    else {
        return Ok(None);
    };
    let others = inputs.iter().filter(|input| !input.buffer().is_same(write.target.buffer()));
    let parts: Vec<(&Buffer, View)> =
        others.map(|input| (input.buffer(), region.apply_to(input.view()))).collect();
    let others = parts.iter().map(|(buffer, view)| BufferView::new(buffer, view));
    let fused_inputs: Vec<BufferView<'_>> =
        write.inputs.iter().map(|&input| Ok(input)).chain(others).collect::<Result<_, _>>()?;
    let fused_write = match write.fused {
        // SAFETY: the same target. Beyond the inputs of the write, `fused_inputs` has inputs of the
        // reduction, which `reduce_input` claims before it starts; none is in the target's buffer.
        Some(both) => unsafe {
            fused_write.with_fused_program(both, &fused_inputs, &write.target)?
        },
        None => fused_write,
    };
    let values =
        ReduceInput { inputs, shape, selection: None, write: Some((&fused_write, &write.target)) };
    let flags = reduce_input(code, &values, reduction, out)?;
    match fused_write.finish() {
        (true, raised) => Ok(Some((flags, raised))),
        // The reduction skipped elements, since it had nothing to compute: writes all of them.
        _ => Ok(Some((flags, write.code.run(write.inputs, &[write.target])?))),
    }
}

/// The view of the array, if every read of it is the same whole view.
fn whole_array_view<'a>(inputs: &[BufferView<'a>], target: &BufferView<'_>) -> Option<&'a View> {
    let mut reads = inputs.iter().filter(|input| input.buffer().is_same(target.buffer()));
    let array = reads.next()?.view();
    reads.all(|input| input.view() == array).then_some(array)
}

/// True if all values are reduced to one, in the memory order of the array.
fn reduces_in_memory_order(reduction: &Reduction<'_>, shape: &[usize], array: &View) -> bool {
    let &Reduction { axes, strides: order, full_shape: part_of, continues, casts, .. } = reduction;
    let all = axes.len() == shape.len() && !array.is_empty() && array.is_contiguous();
    if !all || continues || part_of.is_some_and(|whole| whole != shape) {
        return false;
    }
    let order = ReduceOrder::new((shape, shape), order, axes, array.dtype.itemsize(), casts);
    !order.by_rows && order.axes.iter().copied().eq(0..shape.len())
}
