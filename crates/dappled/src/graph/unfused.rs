//! Which of its loops NumPy runs for complex numbers: its vector loop fuses products with sums and
//! does not take complex64 that lies backwards, nor squares from one stride to another, nor with
//! AVX-512 the absolute values of complex128 that lies backwards, nor writes any backwards.
//!
//! What the loop sees is not always the array: where one loop over several axes is worth a copy,
//! NumPy's iterator brings it one that is contiguous. The source is `npyiter_find_buffering_setup`
//! in NumPy's `nditer_constr.c`, since NumPy 2.3, and `loops_arithm_fp.dispatch.c.src`.

use dappled_kernels::{DType, Op, Variant, View};

use super::node::{Arg, Few};
use crate::view::{self, permuted};

/// Elements of NumPy's buffer.
const BUFFER: usize = 8192;

/// The operation whose bits NumPy gives, for arguments of one shape; `target` is the memory that is
/// written, if it is not new.
pub(super) fn as_numpy(op: Op, dtype: DType, args: &[Arg], target: Option<&View>) -> Op {
    let unfused = match op {
        Op::Multiply => Op::UnfusedMultiply,
        Op::Square => Op::UnfusedSquare,
        Op::Absolute => Op::UnfusedAbsolute,
        _ => return op,
    };
    let is_strided = |view: &&View| !view.is_contiguous();
    let is_wide_absolute = op == Op::Absolute && Variant::chosen() == Variant::Avx512;
    let stores_backwards = !is_wide_absolute;
    let views: Few<&View> = args.iter().filter_map(view_of).collect();
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
    let (inputs, output) = Loop::new(dtype, op.result(dtype), args, target).strides();
    let item = dtype.itemsize() as isize;
    let loads_backwards = dtype == DType::Complex128 && !is_wide_absolute;
    let loads = |&stride: &isize| stride >= 0 || loads_backwards;
    let fuses = match op {
        Op::Square => inputs[0] == item || output == item && loads(&inputs[0]),
        _ => inputs.iter().all(loads) && (output >= 0 || stores_backwards),
    };
    if fuses { op } else { unfused }
}

fn view_of(arg: &Arg) -> Option<&View> {
    match arg {
        Arg::Part(_, view) => Some(view),
        Arg::Scalar(_) => None,
    }
}

/// An axis: its size, and each operand's stride.
type Axis = (usize, Few<isize>);

/// NumPy's iteration over some operands, the output last.
struct Loop {
    /// The innermost first, merged where all operands step over both as over one.
    axes: Vec<Axis>,
    casts: Few<bool>,
    /// Bytes of an element of each operand, as the loop sees it.
    items: Few<isize>,
}

impl Loop {
    fn new(dtype: DType, result: DType, args: &[Arg], target: Option<&View>) -> Self {
        let views: Few<&View> = args.iter().filter_map(view_of).chain(target).collect();
        let shape = &views[0].shape;
        let order = view::memory_order(&views, shape.len());
        let order = order.unwrap_or_else(|| (0..shape.len()).collect());
        let shape: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let made = View::c_order(result, &shape);
        let turned: Few<View> = views.iter().map(|view| permuted(view, &order)).collect();
        let outputs = target.is_none().then_some(&made);
        let all: Few<&View> = turned.iter().chain(outputs).collect();
        let axis = |axis: usize| (shape[axis], all.iter().map(|view| view.strides[axis]).collect());
        let last = all.len() - 1;
        let seen: Few<DType> =
            (0..all.len()).map(|at| if at == last { result } else { dtype }).collect();
        let inner_first = (0..shape.len()).rev().filter(|&axis| shape[axis] != 1).map(axis);
        Self {
            axes: merged(inner_first, target.is_some()),
            casts: all.iter().zip(&seen).map(|(view, seen)| view.dtype != *seen).collect(),
            items: seen.iter().map(|seen| seen.itemsize() as isize).collect(),
        }
    }

    /// The strides that the loop sees: of the inputs, and of the output.
    fn strides(&self) -> (Few<isize>, isize) {
        let outer = self.outer();
        let (_, inner) = self.axes.first().cloned().unwrap_or_else(|| (1, self.still()));
        let seen = (0..inner.len()).map(|at| match self.casts[at] || self.single(at) <= outer {
            true => self.items[at],
            false => inner[at],
        });
        let mut seen: Few<isize> = seen.collect();
        let output = seen.pop().expect("an output");
        (seen, output)
    }

    fn still(&self) -> Few<isize> {
        self.casts.iter().map(|_| 0).collect()
    }

    /// How many axes an operand goes over with a single stride.
    fn single(&self, at: usize) -> usize {
        let reaches = |pair: &&[Axis]| pair[0].1[at] * pair[0].0 as isize == pair[1].1[at];
        1 + self.axes.windows(2).take_while(reaches).count()
    }

    /// The outermost axis that one loop goes over: more axes are better, copies are worse.
    fn outer(&self) -> usize {
        let cast = self.casts.iter().filter(|&&casts| casts).count();
        let mut size = self.axes.first().map_or(1, |axis| axis.0);
        let (mut best, mut best_cost, mut best_size) = (0, 1 + cast, size);
        let mut cost = best_cost;
        for outer in 1..self.axes.len() {
            if size >= BUFFER && cost > 1 {
                break;
            }
            let copied = |&at: &usize| !self.casts[at] && self.single(at) <= outer;
            cost = 1 + cast + (0..self.casts.len()).filter(copied).count();
            size *= self.axes[outer].0;
            let at_once = if cost > 1 { size.min(BUFFER) } else { size };
            if cost as f64 * best_size as f64 <= best_cost as f64 * at_once as f64 {
                (best, best_cost, best_size) = (outer, cost, size);
            }
        }
        best
    }
}

/// Joins axes; where the output is given, those along which all lie backwards are turned first.
fn merged(inner_first: impl Iterator<Item = Axis>, turns: bool) -> Vec<Axis> {
    let mut merged: Vec<Axis> = Vec::new();
    for (size, mut strides) in inner_first {
        if turns && strides.iter().all(|&stride| stride <= 0) {
            strides.iter_mut().for_each(|stride| *stride = -*stride);
        }
        match merged.last_mut() {
            Some((inner, steps)) if reaches(*inner, steps, &strides) => *inner *= size,
            _ => merged.push((size, strides)),
        }
    }
    merged
}

fn reaches(size: usize, inner: &[isize], outer: &[isize]) -> bool {
    inner.iter().zip(outer).all(|(inner, outer)| inner * size as isize == *outer)
}
