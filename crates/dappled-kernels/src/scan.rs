//! Scans of a fused program: each value folded with all before it along an axis.

use std::ops::Range;

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::bind::{Bound, Operand, Order};
use crate::kernels::{Folder, Variant};
use crate::machine::Machine;
use crate::reduce::{PART, check_shape, shape_of, write_in_order};
use crate::tiles::TILE;
use crate::{Error, Fold, Folded, Interpreter};

/// Columns that are worth a thread of their own.
const STRIP: usize = 512;

/// NumPy's `ufunc.accumulate` of the first output of a program, which has the shape of the inputs.
///
/// Values are taken one by one along the axis, as NumPy does; lines beside each other on different
/// threads. They go on from `before`, one value for each line in the order of the output's memory;
/// without it, from their first value. What it returns is what NumPy would warn of.
///
/// ```
/// use dappled_kernels::{Buffer, DType, Fold, Interpreter, Operand, Program, View, scan};
/// let mut program = Program::new(vec![DType::Int64], vec![]);
/// program.outputs.push(program.input(0));
/// let (a, out) = (Buffer::from_slice(&[1i64, 2, 3]), Buffer::zeroed(24));
/// let view = View::c_order(DType::Int64, &[3]);
/// let code = Interpreter::new(&program)?;
/// scan(&code, &[Operand::new(&a, &view)?], Fold::Add, 0, None, &Operand::new(&out, &view)?)?;
/// assert_eq!(out.to_vec::<i64>(), [1, 3, 6]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn scan(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    fold: Fold,
    axis: usize,
    before: Option<&[u8]>,
    out: &Operand<'_>,
) -> Result<Folded, Error> {
    let dtype = code.program.dtype(code.program.outputs[0]).expect("checked");
    if !fold.has_loop(dtype) {
        return Err(Error::NoFold { fold, dtype });
    }
    let (found, shape) = (out.view().dtype, shape_of(code, inputs)?);
    if found != dtype {
        return Err(Error::DTypeMismatch { place: "the output".into(), expected: dtype, found });
    }
    check_shape(shape.to_vec(), out)?;
    if out.is_empty() {
        return Ok(Folded::default());
    }
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    axes.sort_by_key(|&axis| std::cmp::Reverse(out.view().strides[axis].unsigned_abs()));
    let place = axes.iter().position(|&other| other == axis).expect("an axis of the values");
    let inner = axes[place + 1..].iter().map(|&axis| shape[axis]).product();
    let folder = Folder::for_scan(fold, dtype, shape[axis], Variant::chosen());
    write_in_order(out, &axes, inputs, false, |results| {
        let bound = Bound::new(&code.program, inputs, &[], Order::Axes(&axes))?;
        let len = shape[axis];
        let scan = Scan { code, bound: &bound, folder, len, inner, before };
        Ok(interrupt::pooled(out.len(), || scan.share(0, results)))
    })
}

/// Blocks of `len` rows of `inner` values each, the scan going from row to row.
#[derive(Clone, Copy)]
struct Scan<'a> {
    code: &'a Interpreter,
    bound: &'a Bound<'a>,
    folder: Folder,
    len: usize,
    inner: usize,
    before: Option<&'a [u8]>,
}

impl<'a> Scan<'a> {
    fn with_machine(&self, work: impl FnOnce(&mut Machine<'a>)) -> Folded {
        Machine::with(self.code, self.bound, self.folder.signals, work).1
    }

    /// So many values' bytes.
    fn bytes(&self, values: usize) -> usize {
        values * self.folder.itemsize
    }

    /// What the lines of a block go on from, from one of its columns on.
    fn before(&self, block: usize, column: usize) -> Option<&'a [u8]> {
        self.before.map(|before| &before[self.bytes(block * self.inner + column)..])
    }

    /// The blocks from number `first` on.
    fn share(self, first: usize, results: &mut [u8]) -> Folded {
        let block = self.bytes(self.len * self.inner);
        let count = results.len() / block;
        if count > 1 && results.len() > self.bytes(PART) {
            let (left, right) = results.split_at_mut(count / 2 * block);
            let (left, right) =
                rayon::join(|| self.share(first, left), || self.share(first + count / 2, right));
            left.join(right)
        } else if self.inner > TILE {
            let blocks = results.chunks_exact_mut(block).enumerate();
            let blocks = blocks.map(|(at, results)| self.strips(first + at, results));
            blocks.reduce(Folded::join).unwrap_or_default()
        } else {
            self.with_machine(|machine| self.short_rows(machine, first, results))
        }
    }

    /// One block of rows that are longer than a tile.
    fn strips(self, block: usize, results: &mut [u8]) -> Folded {
        let large = results.len() > self.bytes(PART);
        let most = if large { (self.inner / STRIP).min(rayon::current_num_threads()) } else { 1 };
        let width = self.inner.div_ceil(most).next_multiple_of(64);
        let mut strips: Vec<Vec<&mut [u8]>> = Vec::new();
        for row in results.chunks_exact_mut(self.bytes(self.inner)) {
            for (at, part) in row.chunks_mut(self.bytes(width)).enumerate() {
                if strips.len() == at {
                    strips.push(memory::with_room(self.len));
                }
                strips[at].push(part);
            }
        }
        let start = block * self.len * self.inner;
        let strips = strips.par_iter_mut().enumerate();
        let strips = strips.map(|(at, rows)| {
            let before = self.before(block, at * width);
            self.with_machine(|machine| self.long_rows(machine, start + at * width, before, rows))
        });
        strips.reduce(Folded::default, Folded::join)
    }

    /// Part of each row of a block, from this index on.
    fn long_rows(
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
            for tile in tiles(now.len(), self.bytes(TILE)) {
                let end = index + tile.len() / self.folder.itemsize;
                let values = machine.value(index..end);
                match before {
                    Some(before) => self.folder.step(&before[tile.clone()], values, &mut now[tile]),
                    None => now[tile].copy_from_slice(values),
                }
                index = end;
            }
        }
    }

    /// Blocks of rows of which a tile holds one or more.
    fn short_rows(self, machine: &mut Machine<'_>, first: usize, results: &mut [u8]) {
        let row = self.bytes(self.inner);
        let start = first * self.len * self.inner;
        for tile in tiles(results.len(), self.bytes(TILE / self.inner * self.inner)) {
            let indices = |byte: usize| start + byte / self.folder.itemsize;
            let values = machine.value(indices(tile.start)..indices(tile.end));
            if self.inner == 1 {
                self.lines(first, tile.start / row, values, &mut results[..tile.end]);
                continue;
            }
            for (at, values) in (tile.start / row..).zip(values.chunks_exact(row)) {
                let (before, now) = results.split_at_mut(at * row);
                let before = match at % self.len {
                    0 => self.before(first + at / self.len, 0),
                    _ => Some(&before[(at - 1) * row..]),
                };
                match before {
                    Some(before) => self.folder.step(&before[..row], values, &mut now[..row]),
                    None => now[..row].copy_from_slice(values),
                }
            }
        }
    }

    /// Values that end where the results end, the first being number `at`: rows of one value.
    fn lines(self, first: usize, mut at: usize, mut values: &[u8], results: &mut [u8]) {
        let item = self.folder.itemsize;
        while !values.is_empty() {
            if at.is_multiple_of(self.len) {
                let result = &mut results[at * item..(at + 1) * item];
                match self.before(first + at / self.len, 0) {
                    Some(before) => self.folder.step(&before[..item], &values[..item], result),
                    None => result.copy_from_slice(&values[..item]),
                }
                (values, at) = (&values[item..], at + 1);
            }
            let count = ((self.len - 1) - (at - 1) % self.len).min(values.len() / item);
            let (now, later) = values.split_at(count * item);
            self.folder.line(&mut results[(at - 1) * item..(at + count) * item], now);
            (values, at) = (later, at + count);
        }
    }
}

/// So many bytes in parts of equal length, but for the last.
fn tiles(len: usize, part: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(part).map(move |start| start..len.min(start + part))
}
