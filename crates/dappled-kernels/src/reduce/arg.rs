//! Where the least or the greatest value is: `numpy.argmin`, `numpy.argmax`.

use std::ops::Range;

use dappled_base::memory;

use super::block::joined;
use super::parts::PART;
use super::{check_shape, shape_of, write_in_order};
use crate::bind::{Bound, Operand, Order};
use crate::kernels::{Finder, Record, Variant};
use crate::machine::Machine;
use crate::share::share;
use crate::slot::Slot;
use crate::tiles::TILE;
use crate::{DType, Error, Flags, Folded, Interpreter, Raised};

/// Which value is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The least: `argmin`.
    Least,
    /// The greatest: `argmax`.
    Greatest,
}

/// The place of the first NaN of a program's first output, or of the first of its least or
/// greatest values: along an axis, or among all of them in C order. The output is int64 and has
/// as many axes as the inputs, of length 1 where places are counted. What it returns is what NumPy
/// would warn of, by step: the search itself signals nothing.
pub fn arg_reduce(
    code: &Interpreter,
    inputs: &[Operand<'_>],
    extreme: Extreme,
    axis: Option<usize>,
    out: &Operand<'_>,
) -> Result<Raised, Error> {
    let (shape, found) = (shape_of(code, inputs)?, out.view().dtype);
    if found != DType::Int64 {
        let place = "the output".into();
        return Err(Error::DTypeMismatch { place, expected: DType::Int64, found });
    }
    let counted = |at: usize| axis.is_none_or(|axis| axis == at);
    let expected = shape.iter().enumerate().map(|(at, &size)| if counted(at) { 1 } else { size });
    check_shape(expected.collect(), out)?;
    if out.is_empty() {
        return Ok(Raised::default());
    }
    if shape.contains(&0) {
        let name = if extreme == Extreme::Greatest { "argmax" } else { "argmin" };
        return Err(Error::NothingToFold(name));
    }
    let inner = axis.map_or(1, |axis| shape[axis + 1..].iter().product());
    let len = axis.map_or(shape.iter().product(), |axis| shape[axis]);
    let dtype = code.program.dtype(code.program.outputs[0]).expect("checked");
    let finder = Finder::new(extreme == Extreme::Greatest, dtype, Variant::chosen());
    let axes: Vec<usize> = (0..shape.len()).collect();
    write_in_order(out, &axes, inputs, false, |places| {
        let bound = Bound::new(&code.program, inputs, &[], Order::C)?;
        let search = Search { code, bound: &bound, finder, len, inner };
        Ok(search.share(places).steps)
    })
}

/// The same of some elements, at once: the place of the first NaN among them, or of the first of the
/// best. Panics if there are none.
///
/// ```
/// use dappled_kernels::{DType, Extreme, arg_of, element::bytes_of};
/// let numbers = [3, 7, 7];
/// assert_eq!(arg_of(bytes_of(&numbers), DType::Int32, Extreme::Greatest), 1);
/// ```
pub fn arg_of(elements: &[u8], dtype: DType, extreme: Extreme) -> usize {
    let finder = Finder::new(extreme == Extreme::Greatest, dtype, Variant::chosen());
    finder.best(elements, 0, None)[0] as usize
}

/// Blocks of `len` rows of `inner` values each; places are counted from row to row.
#[derive(Clone, Copy)]
struct Search<'a> {
    code: &'a Interpreter,
    bound: &'a Bound<'a>,
    finder: Finder,
    len: usize,
    inner: usize,
}

impl<'a> Search<'a> {
    fn with_machine<T>(&self, work: impl FnOnce(&mut Machine<'a>) -> T) -> (T, Folded) {
        Machine::with(self.code, self.bound, Flags::NONE, work)
    }

    /// Finds the places of all blocks.
    fn share(self, places: &mut [u8]) -> Folded {
        let count = places.len() / 8;
        if count * self.len <= PART {
            return self.some(0, 0, places);
        }
        let parts = self.code.parts();
        let blocks = count / self.inner;
        if blocks > 1 {
            let each = blocks.div_ceil(parts);
            let parts = places.chunks_mut(each * self.inner * 8).enumerate();
            let part = |(at, places): (usize, &mut [u8])| self.some(at * each, 0, places);
            return joined(share(memory::collected(parts), part));
        }
        let each = count.div_ceil(parts).next_multiple_of(64).max(TILE);
        let parts = places.chunks_mut(each * 8).enumerate();
        let part = |(at, places): (usize, &mut [u8])| self.some(0, at * each, places);
        joined(share(memory::collected(parts), part))
    }

    /// Finds so many places of a block, from a column on, or of several whole blocks.
    fn some(self, block: usize, column: usize, places: &mut [u8]) -> Folded {
        if self.inner == 1 {
            return self.lines(block, places);
        }
        let each = places.chunks_mut(self.inner * 8).enumerate();
        joined(each.map(|(at, places)| self.rows(block + at, column, places)).collect())
    }

    /// Blocks whose rows are single values.
    fn lines(self, first: usize, places: &mut [u8]) -> Folded {
        let work = |machine: &mut Machine<'_>| {
            for (at, place) in places.chunks_exact_mut(8).enumerate() {
                let start = (first + at) * self.len;
                let found = self.line(machine, start..start + self.len);
                place.copy_from_slice(&(found[0] as i64 - start as i64).to_ne_bytes());
            }
        };
        self.with_machine(work).1
    }

    /// The best of a range, its parts on different threads where it is large.
    fn line(&self, machine: &mut Machine<'_>, range: Range<usize>) -> Record {
        if range.len() > PART {
            return machine.aside(|| self.long_line(range));
        }
        let most = machine.most_values();
        let tiles = range.clone().step_by(most).map(|start| start..range.end.min(start + most));
        let better = |best: Option<Record>, tile: Range<usize>| {
            let start = tile.start;
            Some(self.finder.best(machine.value(tile), start, best))
        };
        tiles.fold(None, better).expect("not empty")
    }

    fn long_line(&self, range: Range<usize>) -> (Record, Folded) {
        let parts = range.clone().step_by(PART).map(|start| start..range.end.min(start + PART));
        let part = |range| self.with_machine(|machine| self.line(machine, range));
        let found = share(memory::collected(parts), part).into_iter();
        let join = |left: (Record, Folded), right: (Record, Folded)| {
            (self.finder.join(left.0, right.0), left.1.join(right.1))
        };
        found.reduce(join).expect("not empty")
    }

    /// Some columns of a block, a tile of them at a time.
    fn rows(self, block: usize, column: usize, places: &mut [u8]) -> Folded {
        self.with_machine(|machine| self.columns(machine, block, column, places)).1
    }

    fn columns(self, machine: &mut Machine<'_>, block: usize, column: usize, places: &mut [u8]) {
        let mut memory = Slot::default();
        for (at, places) in places.chunks_mut(8 * TILE).enumerate() {
            let width = places.len() / 8;
            let start = block * self.len * self.inner + column + at * TILE;
            let bests = memory.bytes_mut(width * (8 + self.finder.itemsize));
            for row in 0..self.len {
                let start = start + row * self.inner;
                let values = machine.value(start..start + width);
                match row {
                    0 => {
                        bests[..8 * width].fill(0);
                        bests[8 * width..].copy_from_slice(values);
                    }
                    _ => self.finder.rows(bests, values, row),
                }
            }
            places.copy_from_slice(&bests[..8 * width]);
        }
    }
}
