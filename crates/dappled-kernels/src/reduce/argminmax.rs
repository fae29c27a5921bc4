//! `numpy.argmin` and `numpy.argmax` of a fused program.

use std::ops::Range;

use dappled_base::memory;

use super::accumulators::write_in_order;
use super::block::join_flags;
use super::{check_shape, shape_of};
use crate::config::{MIN_REDUCE_TASK_ELEMENTS, TILE_ELEMENTS};
use crate::error::Error;
use crate::execute::Interpreter;
use crate::execute::machine::Machine;
use crate::execute::registers::RegisterBuffer;
use crate::iter::bound_operands::{BoundOperands, BufferView, IterationOrder};
use crate::loops::reduce::argminmax::{ArgRecord, ArgminmaxKernels};
use crate::loops::variant::CpuVariant;
use crate::threads::parallel_map::parallel_map;
use crate::types::dtype::DType;
use crate::types::fp_flags::{FpFlags, ReduceFlags, StepFlags};

/// Which extremum to search for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgReduceOp {
    /// The minimum: `argmin`.
    ArgMin,
    /// The maximum: `argmax`.
    ArgMax,
}

/// The index of the first NaN, or of the first minimum or maximum, of a program's first output.
///
/// Searches along an axis, or in all values in C order. The output is int64 and has as many axes as
/// the inputs, of length 1 where they are reduced. Returns the flags of each step; the search
/// itself raises none.
pub fn arg_reduce(
    code: &Interpreter,
    inputs: &[BufferView<'_>],
    extreme: ArgReduceOp,
    axis: Option<usize>,
    out: &BufferView<'_>,
) -> Result<StepFlags, Error> {
    let (shape, found) = (shape_of(code, inputs)?, out.view().dtype);
    if found != DType::Int64 {
        let place = "the output".into();
        return Err(Error::DTypeMismatch { place, expected: DType::Int64, found });
    }
    let is_reduced = |at: usize| axis.is_none_or(|axis| axis == at);
    let expected =
        shape.iter().enumerate().map(|(at, &size)| if is_reduced(at) { 1 } else { size });
    check_shape(expected.collect(), out)?;
    if out.is_empty() {
        return Ok(StepFlags::default());
    }
    if shape.contains(&0) {
        let name = if extreme == ArgReduceOp::ArgMax { "argmax" } else { "argmin" };
        return Err(Error::EmptyReduction(name));
    }
    let inner = axis.map_or(1, |axis| shape[axis + 1..].iter().product());
    let len = axis.map_or(shape.iter().product(), |axis| shape[axis]);
    let dtype = code.program.dtype(code.program.outputs[0]).expect("checked");
    let kernels =
        ArgminmaxKernels::new(extreme == ArgReduceOp::ArgMax, dtype, CpuVariant::active());
    let axes: Vec<usize> = (0..shape.len()).collect();
    write_in_order(out, &axes, inputs, false, |indices| {
        let bound = BoundOperands::new(&code.program, inputs, &[], IterationOrder::C)?;
        let search = ArgSearch { code, bound: &bound, kernels, len, inner };
        Ok(search.search_parallel(indices).steps)
    })
}

/// Returns the index of the first NaN, or else of the first extremum.
///
/// The elements are contiguous. Panics if there are none.
///
/// ```
/// use dappled_kernels::{ArgReduceOp, DType, arg_reduce_contiguous, element::bytes_of};
/// let elements = [3, 7, 7];
/// let index = arg_reduce_contiguous(bytes_of(&elements), DType::Int32, ArgReduceOp::ArgMax);
/// assert_eq!(index, 1);
/// ```
pub fn arg_reduce_contiguous(elements: &[u8], dtype: DType, extreme: ArgReduceOp) -> usize {
    let kernels =
        ArgminmaxKernels::new(extreme == ArgReduceOp::ArgMax, dtype, CpuVariant::active());
    kernels.update_best(elements, 0, None)[0] as usize
}

/// Blocks of `len` rows of `inner` values each; the search goes from row to row.
#[derive(Clone, Copy)]
struct ArgSearch<'a> {
    code: &'a Interpreter,
    bound: &'a BoundOperands<'a>,
    kernels: ArgminmaxKernels,
    len: usize,
    inner: usize,
}

impl<'a> ArgSearch<'a> {
    fn with_machine<T>(&self, work: impl FnOnce(&mut Machine<'a>) -> T) -> (T, ReduceFlags) {
        Machine::run_with(self.code, self.bound, FpFlags::NONE, work)
    }

    /// Searches all blocks in parallel.
    fn search_parallel(self, indices: &mut [u8]) -> ReduceFlags {
        let count = indices.len() / 8;
        if count * self.len <= MIN_REDUCE_TASK_ELEMENTS {
            return self.search_blocks(0, 0, indices);
        }
        let parts = self.code.max_chunks();
        let blocks = count / self.inner;
        if blocks > 1 {
            let each = blocks.div_ceil(parts);
            let parts = indices.chunks_mut(each * self.inner * 8).enumerate();
            let part =
                |(at, indices): (usize, &mut [u8])| self.search_blocks(at * each, 0, indices);
            return join_flags(parallel_map(memory::collect(parts), part));
        }
        let each = count.div_ceil(parts).next_multiple_of(64).max(TILE_ELEMENTS);
        let parts = indices.chunks_mut(each * 8).enumerate();
        let part = |(at, indices): (usize, &mut [u8])| self.search_blocks(0, at * each, indices);
        join_flags(parallel_map(memory::collect(parts), part))
    }

    /// Searches some columns of a block, from `column` on, or several whole blocks.
    fn search_blocks(self, block: usize, column: usize, indices: &mut [u8]) -> ReduceFlags {
        if self.inner == 1 {
            return self.search_lines(block, indices);
        }
        let each = indices.chunks_mut(self.inner * 8).enumerate();
        join_flags(
            each.map(|(at, indices)| self.search_rows(block + at, column, indices)).collect(),
        )
    }

    /// Searches blocks whose rows are single values.
    fn search_lines(self, first: usize, indices: &mut [u8]) -> ReduceFlags {
        let work = |machine: &mut Machine<'_>| {
            for (at, index) in indices.chunks_exact_mut(8).enumerate() {
                let start = (first + at) * self.len;
                let record = self.search_line(machine, start..start + self.len);
                index.copy_from_slice(&(record[0] as i64 - start as i64).to_ne_bytes());
            }
        };
        self.with_machine(work).1
    }

    /// The extremum of a range, in parallel if it is large.
    fn search_line(&self, machine: &mut Machine<'_>, range: Range<usize>) -> ArgRecord {
        if range.len() > MIN_REDUCE_TASK_ELEMENTS {
            return machine.suspend(|| self.search_line_parallel(range));
        }
        let most = machine.value_tile_elements();
        let tiles = range.clone().step_by(most).map(|start| start..range.end.min(start + most));
        let better = |best: Option<ArgRecord>, tile: Range<usize>| {
            let start = tile.start;
            Some(self.kernels.update_best(machine.compute(tile), start, best))
        };
        tiles.fold(None, better).expect("not empty")
    }

    fn search_line_parallel(&self, range: Range<usize>) -> (ArgRecord, ReduceFlags) {
        let parts = range
            .clone()
            .step_by(MIN_REDUCE_TASK_ELEMENTS)
            .map(|start| start..range.end.min(start + MIN_REDUCE_TASK_ELEMENTS));
        let part = |range| self.with_machine(|machine| self.search_line(machine, range));
        let records = parallel_map(memory::collect(parts), part).into_iter();
        let join = |left: (ArgRecord, ReduceFlags), right: (ArgRecord, ReduceFlags)| {
            (self.kernels.join(left.0, right.0), left.1.join(right.1))
        };
        records.reduce(join).expect("not empty")
    }

    /// Searches some columns of a block, a tile of them at a time.
    fn search_rows(self, block: usize, column: usize, indices: &mut [u8]) -> ReduceFlags {
        self.with_machine(|machine| self.search_columns(machine, block, column, indices)).1
    }

    fn search_columns(
        self,
        machine: &mut Machine<'_>,
        block: usize,
        column: usize,
        indices: &mut [u8],
    ) {
        let mut memory = RegisterBuffer::default();
        for (at, indices) in indices.chunks_mut(8 * TILE_ELEMENTS).enumerate() {
            let width = indices.len() / 8;
            let start = block * self.len * self.inner + column + at * TILE_ELEMENTS;
            let bests = memory.bytes_mut(width * (8 + self.kernels.itemsize));
            for row in 0..self.len {
                let start = start + row * self.inner;
                let values = machine.compute(start..start + width);
                match row {
                    0 => {
                        bests[..8 * width].fill(0);
                        bests[8 * width..].copy_from_slice(values);
                    }
                    _ => self.kernels.rows(bests, values, row),
                }
            }
            indices.copy_from_slice(&bests[..8 * width]);
        }
    }
}
