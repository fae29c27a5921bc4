//! Cumulative reductions of a fused program along an axis.

use std::ops::Range;

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::config::{MIN_REDUCE_TASK_ELEMENTS, MIN_STRIP_ELEMENTS, TILE_ELEMENTS};
use crate::error::Error;
use crate::execute::Interpreter;
use crate::execute::machine::Machine;
use crate::iter::bound_operands::{BoundOperands, BufferView, IterationOrder};
use crate::loops::reduce::ReduceKernels;
use crate::loops::variant::CpuVariant;
use crate::program::reduce_op::ReduceOp;
use crate::reduce::accumulators::write_in_order;
use crate::reduce::{check_shape, shape_of};
use crate::types::fp_flags::ReduceFlags;

/// Accumulates a program's first output along an axis, as NumPy's `ufunc.accumulate` does.
///
/// The output has the shape of the inputs. Returns the flags.
///
/// Values are taken one by one along the axis, as NumPy does, and independent lines run on
/// different threads. Lines continue from `before`, which has one value per line in the order of
/// the output's memory, or start from their first value.
///
/// ```
/// use dappled_kernels::{Buffer, BufferView, DType, Interpreter, Program, ReduceOp, View, scan};
/// let mut program = Program::new(vec![DType::Int64], vec![]);
/// program.outputs.push(program.input(0));
/// let (a, sums) = (Buffer::from_slice(&[1i64, 2, 3]), Buffer::zeroed(24));
/// let view = View::c_order(DType::Int64, &[3]);
/// let (inputs, out) = ([BufferView::new(&a, &view)?], BufferView::new(&sums, &view)?);
/// scan(&Interpreter::new(&program)?, &inputs, ReduceOp::Add, 0, None, &out)?;
/// assert_eq!(sums.to_vec::<i64>(), [1, 3, 6]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn scan(
    code: &Interpreter,
    inputs: &[BufferView<'_>],
    fold: ReduceOp,
    axis: usize,
    before: Option<&[u8]>,
    out: &BufferView<'_>,
) -> Result<ReduceFlags, Error> {
    let dtype = code.program.dtype(code.program.outputs[0]).expect("checked");
    if !fold.has_loop(dtype) {
        return Err(Error::NoReduceLoop { fold, dtype });
    }
    let (found, shape) = (out.view().dtype, shape_of(code, inputs)?);
    if found != dtype {
        return Err(Error::DTypeMismatch { place: "the output".into(), expected: dtype, found });
    }
    check_shape(shape.to_vec(), out)?;
    if out.is_empty() {
        return Ok(ReduceFlags::default());
    }
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    axes.sort_by_key(|&axis| std::cmp::Reverse(out.view().strides[axis].unsigned_abs()));
    let position = axes.iter().position(|&other| other == axis).expect("an axis of the values");
    let inner = axes[position + 1..].iter().map(|&axis| shape[axis]).product();
    let kernels = ReduceKernels::for_scan(fold, dtype, shape[axis], CpuVariant::active());
    write_in_order(out, &axes, inputs, false, |results| {
        let bound = BoundOperands::new(&code.program, inputs, &[], IterationOrder::Axes(&axes))?;
        let len = shape[axis];
        let scan = ScanBlocks { code, bound: &bound, kernels, len, inner, before };
        Ok(interrupt::run_in_pool(out.len(), || scan.scan_parallel(0, results)))
    })
}

/// Blocks of `len` rows of `inner` values each; the scan goes from row to row.
#[derive(Clone, Copy)]
struct ScanBlocks<'a> {
    code: &'a Interpreter,
    bound: &'a BoundOperands<'a>,
    kernels: ReduceKernels,
    len: usize,
    inner: usize,
    before: Option<&'a [u8]>,
}

impl<'a> ScanBlocks<'a> {
    fn with_machine(&self, work: impl FnOnce(&mut Machine<'a>)) -> ReduceFlags {
        Machine::run_with(self.code, self.bound, self.kernels.cpu_flags, work).1
    }

    /// The number of bytes of `values` values.
    fn bytes(&self, values: usize) -> usize {
        values * self.kernels.itemsize
    }

    /// The values that the lines of a block continue from, starting at a column.
    fn before(&self, block: usize, column: usize) -> Option<&'a [u8]> {
        self.before.map(|before| &before[self.bytes(block * self.inner + column)..])
    }

    /// Scans the blocks from index `first` on.
    fn scan_parallel(self, first: usize, results: &mut [u8]) -> ReduceFlags {
        let block = self.bytes(self.len * self.inner);
        let count = results.len() / block;
        if count > 1 && results.len() > self.bytes(MIN_REDUCE_TASK_ELEMENTS) {
            let (left, right) = results.split_at_mut(count / 2 * block);
            let (left, right) = rayon::join(
                || self.scan_parallel(first, left),
                || self.scan_parallel(first + count / 2, right),
            );
            left.join(right)
        } else if self.inner > TILE_ELEMENTS {
            let blocks = results.chunks_exact_mut(block).enumerate();
            let blocks = blocks.map(|(at, results)| self.scan_strips(first + at, results));
            blocks.reduce(ReduceFlags::join).unwrap_or_default()
        } else {
            self.with_machine(|machine| self.scan_short_rows(machine, first, results))
        }
    }

    /// Scans a block whose rows are longer than a tile.
    fn scan_strips(self, block: usize, results: &mut [u8]) -> ReduceFlags {
        let large = results.len() > self.bytes(MIN_REDUCE_TASK_ELEMENTS);
        let most = if large {
            (self.inner / MIN_STRIP_ELEMENTS).min(rayon::current_num_threads())
        } else {
            1
        };
        let width = self.inner.div_ceil(most).next_multiple_of(64);
        let mut strips: Vec<Vec<&mut [u8]>> = Vec::new();
        for row in results.chunks_exact_mut(self.bytes(self.inner)) {
            for (at, part) in row.chunks_mut(self.bytes(width)).enumerate() {
                if strips.len() == at {
                    strips.push(memory::with_capacity(self.len));
                }
                strips[at].push(part);
            }
        }
        let start = block * self.len * self.inner;
        let strips = strips.par_iter_mut().enumerate();
        let strips = strips.map(|(at, rows)| {
            let before = self.before(block, at * width);
            self.with_machine(|machine| {
                self.scan_long_rows(machine, start + at * width, before, rows)
            })
        });
        strips.reduce(ReduceFlags::default, ReduceFlags::join)
    }

    /// Scans some columns of a block, starting at index `start`.
    fn scan_long_rows(
        self,
        machine: &mut Machine<'_>,
        start: usize,
        begin: Option<&[u8]>,
        rows: &mut [&mut [u8]],
    ) {
        for at in 0..rows.len() {
            let (before, now) = rows.split_at_mut(at);
            let (before, now) = (before.last().map(|row| &**row).or(begin), &mut *now[0]);
            let mut index = start + at * self.inner;
            for tile in byte_ranges(now.len(), self.bytes(TILE_ELEMENTS)) {
                let end = index + tile.len() / self.kernels.itemsize;
                let values = machine.compute(index..end);
                match before {
                    Some(before) => {
                        self.kernels.scan_row(&before[tile.clone()], values, &mut now[tile])
                    }
                    None => now[tile].copy_from_slice(values),
                }
                index = end;
            }
        }
    }

    /// Scans blocks of rows of which a tile holds one or more.
    fn scan_short_rows(self, machine: &mut Machine<'_>, first: usize, results: &mut [u8]) {
        let row = self.bytes(self.inner);
        let start = first * self.len * self.inner;
        for tile in byte_ranges(results.len(), self.bytes(TILE_ELEMENTS / self.inner * self.inner))
        {
            let indices = |byte: usize| start + byte / self.kernels.itemsize;
            let values = machine.compute(indices(tile.start)..indices(tile.end));
            if self.inner == 1 {
                self.scan_lines(first, tile.start / row, values, &mut results[..tile.end]);
                continue;
            }
            for (at, values) in (tile.start / row..).zip(values.chunks_exact(row)) {
                let (before, now) = results.split_at_mut(at * row);
                let before = match at % self.len {
                    0 => self.before(first + at / self.len, 0),
                    _ => Some(&before[(at - 1) * row..]),
                };
                match before {
                    Some(before) => self.kernels.scan_row(&before[..row], values, &mut now[..row]),
                    None => now[..row].copy_from_slice(values),
                }
            }
        }
    }

    /// Scans rows of one value: the values end where the results end, and the first has index `at`.
    fn scan_lines(self, first: usize, mut at: usize, mut values: &[u8], results: &mut [u8]) {
        let item = self.kernels.itemsize;
        while !values.is_empty() {
            if at.is_multiple_of(self.len) {
                let result = &mut results[at * item..(at + 1) * item];
                match self.before(first + at / self.len, 0) {
                    Some(before) => self.kernels.scan_row(&before[..item], &values[..item], result),
                    None => result.copy_from_slice(&values[..item]),
                }
                (values, at) = (&values[item..], at + 1);
            }
            let count = ((self.len - 1) - (at - 1) % self.len).min(values.len() / item);
            let (now, later) = values.split_at(count * item);
            self.kernels.scan_line(&mut results[(at - 1) * item..(at + count) * item], now);
            (values, at) = (later, at + count);
        }
    }
}

/// Splits `len` bytes into ranges of `part` bytes; the last may be shorter.
fn byte_ranges(len: usize, part: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(part).map(move |start| start..len.min(start + part))
}
