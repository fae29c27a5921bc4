//! Selects the loop that NumPy runs for complex numbers, whose rounding depends on it.
//!
//! NumPy's vector loop computes complex products with fused multiply-adds (FMA). It does not run
//! for complex64 with negative strides, for squares with different input and output strides, and
//! with AVX-512 for absolute values of complex128 with negative strides or results with negative
//! strides.
//!
//! The loop does not always see the array itself: where one loop over several axes is worth a copy,
//! NumPy's iterator passes a contiguous buffer. The source is `npyiter_find_buffering_setup` in
//! NumPy's `nditer_constr.c`, since NumPy 2.3, and `loops_arithm_fp.dispatch.c.src`.

use dappled_kernels::{CpuVariant, DType, Op, View};

use crate::array::node::{NodeInput, OperandVec};
use crate::config::NUMPY_BUFFER_ELEMENTS;
use crate::view;
use crate::view::memory_order::permute_axes;

/// Returns the operation that rounds as NumPy does for inputs of one shape.
///
/// `target` is the view that is written, if it is not a new array.
pub(crate) fn numpy_complex_loop(
    op: Op,
    dtype: DType,
    inputs: &[NodeInput],
    target: Option<&View>,
) -> Op {
    let unfused = match op {
        Op::Multiply => Op::UnfusedMultiply,
        Op::Square => Op::UnfusedSquare,
        Op::Absolute => Op::UnfusedAbsolute,
        _ => return op,
    };
    let is_strided = |view: &&View| !view.is_contiguous();
    let is_wide_absolute = op == Op::Absolute && CpuVariant::active() == CpuVariant::Avx512;
    let stores_backwards = !is_wide_absolute;
    let views: OperandVec<&View> = inputs.iter().filter_map(input_view).collect();
    let all_views = || views.iter().copied().chain(target);
    let may_differ = match dtype {
        DType::Complex64 => all_views().any(|view| is_strided(&view)),
        DType::Complex128 if is_wide_absolute => all_views().any(|view| is_strided(&view)),
        DType::Complex128 => op == Op::Square && target.as_ref().is_some_and(is_strided),
        _ => false,
    };
    if !may_differ {
        return op;
    }
    let (input_strides, output_stride) =
        NumpyLoop::new(dtype, op.result(dtype), inputs, target).inner_strides();
    let item = dtype.itemsize() as isize;
    let loads_backwards = dtype == DType::Complex128 && !is_wide_absolute;
    let loads = |&stride: &isize| stride >= 0 || loads_backwards;
    let fuses = match op {
        Op::Square => input_strides[0] == item || output_stride == item && loads(&input_strides[0]),
        _ => input_strides.iter().all(loads) && (output_stride >= 0 || stores_backwards),
    };
    if fuses { op } else { unfused }
}

fn input_view(input: &NodeInput) -> Option<&View> {
    match input {
        NodeInput::Array(_, view) => Some(view),
        NodeInput::Scalar(_) => None,
    }
}

/// Length of an axis, and the stride of each operand.
type LoopAxis = (usize, OperandVec<isize>);

/// NumPy's iteration over the operands, the output last.
struct NumpyLoop {
    /// Axes from the innermost outwards, coalesced where all operands allow it.
    axes: Vec<LoopAxis>,
    casts: OperandVec<bool>,
    /// Itemsize of each operand in the loop's dtype.
    itemsizes: OperandVec<isize>,
}

impl NumpyLoop {
    fn new(dtype: DType, result: DType, inputs: &[NodeInput], target: Option<&View>) -> Self {
        let views: OperandVec<&View> = inputs.iter().filter_map(input_view).chain(target).collect();
        let shape = &views[0].shape;
        let order = view::memory_order(&views, shape.len());
        let order = order.unwrap_or_else(|| (0..shape.len()).collect());
        let shape: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let result_view = View::c_order(result, &shape);
        let permuted: OperandVec<View> =
            views.iter().map(|view| permute_axes(view, &order)).collect();
        let outputs = target.is_none().then_some(&result_view);
        let all: OperandVec<&View> = permuted.iter().chain(outputs).collect();
        let axis = |axis: usize| (shape[axis], all.iter().map(|view| view.strides[axis]).collect());
        let last = all.len() - 1;
        let effective: OperandVec<DType> =
            (0..all.len()).map(|at| if at == last { result } else { dtype }).collect();
        let inner_first = (0..shape.len()).rev().filter(|&axis| shape[axis] != 1).map(axis);
        Self {
            axes: coalesce_axes(inner_first, target.is_some()),
            casts: all
                .iter()
                .zip(&effective)
                .map(|(view, effective)| view.dtype != *effective)
                .collect(),
            itemsizes: effective.iter().map(|effective| effective.itemsize() as isize).collect(),
        }
    }

    /// The inner strides that the loop sees: of the inputs, and of the output.
    fn inner_strides(&self) -> (OperandVec<isize>, isize) {
        let outer = self.outermost_buffered_axis();
        let (_, inner) = self.axes.first().cloned().unwrap_or_else(|| (1, self.zero_strides()));
        let effective =
            (0..inner.len()).map(|at| match self.casts[at] || self.coalesced_axes(at) <= outer {
                true => self.itemsizes[at],
                false => inner[at],
            });
        let mut effective: OperandVec<isize> = effective.collect();
        let output_stride = effective.pop().expect("the output is the last operand");
        (effective, output_stride)
    }

    fn zero_strides(&self) -> OperandVec<isize> {
        self.casts.iter().map(|_| 0).collect()
    }

    /// Number of inner axes that an operand traverses with a single stride.
    fn coalesced_axes(&self, at: usize) -> usize {
        let reaches = |pair: &&[LoopAxis]| pair[0].1[at] * pair[0].0 as isize == pair[1].1[at];
        1 + self.axes.windows(2).take_while(reaches).count()
    }

    /// The outermost axis of the inner loop. More axes are better, buffered operands are worse.
    fn outermost_buffered_axis(&self) -> usize {
        let cast = self.casts.iter().filter(|&&casts| casts).count();
        let mut size = self.axes.first().map_or(1, |axis| axis.0);
        let (mut best, mut best_cost, mut best_size) = (0, 1 + cast, size);
        let mut cost = best_cost;
        for outer in 1..self.axes.len() {
            if size >= NUMPY_BUFFER_ELEMENTS && cost > 1 {
                break;
            }
            let copied = |&at: &usize| !self.casts[at] && self.coalesced_axes(at) <= outer;
            cost = 1 + cast + (0..self.casts.len()).filter(copied).count();
            size *= self.axes[outer].0;
            let at_once = if cost > 1 { size.min(NUMPY_BUFFER_ELEMENTS) } else { size };
            if cost as f64 * best_size as f64 <= best_cost as f64 * at_once as f64 {
                (best, best_cost, best_size) = (outer, cost, size);
            }
        }
        best
    }
}

/// Coalesces axes. If the output is given, axes with only negative strides are reversed first.
fn coalesce_axes(inner_first: impl Iterator<Item = LoopAxis>, turns: bool) -> Vec<LoopAxis> {
    let mut merged: Vec<LoopAxis> = Vec::new();
    for (size, mut strides) in inner_first {
        if turns && strides.iter().all(|&stride| stride <= 0) {
            strides.iter_mut().for_each(|stride| *stride = -*stride);
        }
        match merged.last_mut() {
            Some((inner, steps)) if is_coalescable(*inner, steps, &strides) => *inner *= size,
            _ => merged.push((size, strides)),
        }
    }
    merged
}

fn is_coalescable(size: usize, inner: &[isize], outer: &[isize]) -> bool {
    inner.iter().zip(outer).all(|(inner, outer)| inner * size as isize == *outer)
}
