//! Sorting of replicated and distributed arrays, along an axis.
//!
//! Input: an array. Output: a new array, with the default distribution of its shape. Every sort is
//! stable, and has NumPy's order: NaN last, zeros of either sign equal.
//!
//! ```text
//! order        the order of items in local memory
//! lines        lines along an axis of several
//! sample_sort  sort and argsort of a distributed line
//! splitters    exact splitters by iterated counting
//! unique       unique elements of a distributed line
//! unique_count unique integers of a small range
//! ```

mod lines;
mod order;
mod sample_sort;
mod splitters;
mod unique;
mod unique_count;

use dappled_base::memory;
use dappled_kernels::element::Element;
use dappled_kernels::{Buffer, DType, View};
use dappled_protocol::Distribution;

pub use order::{ItemOrder, TIME_ORDER};
pub use unique::{Unique, UniqueOptions};

use crate::array::Array;
use crate::error::{Result, RunError};
use crate::ops::fft::block_ranges;
use crate::ops::fft::pencils::piece;
use crate::run::collective;
use crate::session::Session;
use crate::view::byte_range;
use crate::view::memory_order::{copy_order, inverse_permutation};

/// Name of the messages of a sort.
const OPERATION: &str = "a sort";

impl Array {
    /// Returns a sorted copy: each line along an axis is sorted, stably. Collective.
    ///
    /// The copy has the memory order of the array.
    ///
    /// ```
    /// use dappled::{Array, Session};
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let values = Array::from_slice(&session, &[3], &[3.0, f64::NAN, 1.0]);
    /// assert_eq!(values.sort(0)?.to_vec::<f64>()?[..2], [1.0, 3.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sort(&self, axis: usize) -> Result<Array> {
        let axes = copy_order(self.view());
        let back = inverse_permutation(&axes);
        let in_order = self.transposed(&axes);
        let sorted = lines::map_lines(&in_order, back[axis], self.dtype(), lines::Function::Sort)?;
        Ok(sorted.transposed(&back))
    }

    /// Returns the indices that sort each line along an axis, stably, as int64. Collective.
    ///
    /// ```
    /// use dappled::{Array, Session};
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let values = Array::from_slice(&session, &[3], &[3, 2, 3]);
    /// assert_eq!(values.argsort(0)?.to_vec::<i64>()?, [1, 0, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn argsort(&self, axis: usize) -> Result<Array> {
        lines::map_lines(self, axis, DType::Int64, lines::Function::Argsort)
    }

    /// Sorts a line of items: an array of bytes whose last axis is the bytes of an item. Collective.
    pub fn sort_items(&self, order: &dyn ItemOrder) -> Result<Array> {
        sample_sort::sort(&Line::of_items(self, order))
    }

    /// Returns the indices that sort a line of items, stably; see [`Array::sort_items`].
    pub fn argsort_items(&self, order: &dyn ItemOrder) -> Result<Array> {
        sample_sort::argsort(&Line::of_items(self, order))
    }
}

/// The ranks that sort a line together: all, or this one alone.
struct Peers<'a> {
    session: &'a Session,
    is_alone: bool,
}

impl Peers<'_> {
    fn size(&self) -> usize {
        if self.is_alone { 1 } else { self.session.fabric().size() as usize }
    }

    fn rank(&self) -> usize {
        if self.is_alone { 0 } else { self.session.fabric().rank() as usize }
    }
}

/// All-to-all: sends `parts[r]` to rank r and returns the elements of each rank. Collective.
fn all_to_all<T: Element>(peers: &Peers<'_>, parts: Vec<Vec<T>>) -> Result<Vec<Vec<T>>> {
    match peers.is_alone {
        true => Ok(parts),
        false => collective::all_to_all(peers.session, OPERATION, parts),
    }
}

/// Allgather: returns the elements of each rank. Collective.
fn allgather<T: Element>(peers: &Peers<'_>, elements: &[T]) -> Result<Vec<Vec<T>>> {
    match peers.is_alone {
        true => Ok(vec![memory::copy_of(elements)]),
        false => collective::allgather(peers.session, OPERATION, elements),
    }
}

/// A line of elements or items, with their order.
struct Line<'a> {
    array: &'a Array,
    order: &'a dyn ItemOrder,
    peers: Peers<'a>,
}

impl<'a> Line<'a> {
    fn of_elements(array: &'a Array) -> Self {
        Self::of_items(array, order::dtype_order(array.dtype()))
    }

    fn of_items(array: &'a Array, order: &'a dyn ItemOrder) -> Self {
        let session = array.session();
        let is_alone = session.fabric().size() == 1 || array.is_replicated();
        Self { array, order, peers: Peers { session, is_alone } }
    }

    fn len(&self) -> usize {
        self.array.shape()[0]
    }

    /// The start of each rank's block, and the length.
    fn starts(&self) -> Vec<u64> {
        match self.peers.is_alone {
            true => vec![0, self.len() as u64],
            false => block_starts(self.peers.session, self.len()),
        }
    }

    /// Calls a function with this rank's block of encoded items. Collective.
    fn with_items<R>(&self, act: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
        let session = self.peers.session;
        let blocks = with_bytes(session.block_distribution(&[self.len()]), self.array.shape());
        let (buffer, view) = piece(self.array, &blocks)?;
        let memory = buffer.read().map_err(RunError::from)?;
        act(&self.order.encode(&memory[byte_range(&view)]))
    }

    /// The array of these encoded items, in blocks as this line. Collective.
    fn array_of_items(&self, mut items: Vec<u8>) -> Result<Array> {
        self.order.decode(&mut items);
        let starts = self.starts();
        self.array_in_blocks(items, self.array.dtype(), &self.array.shape()[1..], &starts)
    }

    /// The array of these bytes, this rank's block of rows between `starts`. Collective.
    fn array_in_blocks(
        &self,
        bytes: Vec<u8>,
        dtype: DType,
        row: &[usize],
        starts: &[u64],
    ) -> Result<Array> {
        let session = self.peers.session;
        let length = starts[starts.len() - 1];
        let width = dtype.itemsize() * row.iter().product::<usize>();
        let local = View::c_order(dtype, &[&[bytes.len() / width.max(1)], row].concat());
        let shape = [&[length as usize], row].concat();
        let buffer = Buffer::from_vec(bytes, dtype.itemsize());
        if self.peers.is_alone {
            return Ok(Array::from_owned_piece(
                session,
                session.replicated_distribution(&shape),
                buffer,
                local,
            ));
        }
        let blocks = session.block_distribution(&[length as usize]);
        let blocks = match block_starts(session, length as usize) == starts {
            true => blocks,
            false => uneven_blocks(session, starts),
        };
        let array = Array::from_owned_piece(session, with_bytes(blocks, &shape), buffer, local);
        let target = match session.should_replicate(&shape[..1], width) {
            true => session.replicated_distribution(&shape),
            false => with_bytes(session.block_distribution(&shape[..1]), &shape),
        };
        if array.distribution()? == target { Ok(array) } else { array.redistribute(&target) }
    }
}

/// The start of each rank's block of a line, and its length.
fn block_starts(session: &Session, length: usize) -> Vec<u64> {
    let ends = block_ranges(session, length).into_iter().map(|range| range.end as u64);
    std::iter::once(0).chain(ends).collect()
}

/// The distribution of a line in blocks between these bounds.
fn uneven_blocks(session: &Session, starts: &[u64]) -> Distribution {
    let length = starts[starts.len() - 1];
    let mut spec = Distribution::spec(&[length]).nprocs(session.fabric().size());
    spec.axes[0].bounds = Some(starts.to_vec());
    spec.build().expect("ascending bounds are valid")
}

/// The distribution of a line, with an axis for the bytes of items if the shape has one.
fn with_bytes(line: Distribution, shape: &[usize]) -> Distribution {
    shape[1..].iter().fold(line, |line, &bytes| line.with_trailing(bytes as u64))
}
