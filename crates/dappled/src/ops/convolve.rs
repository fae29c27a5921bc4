//! Convolution of a distributed row with a short replicated one.
//!
//! Each rank convolves its block, preceded by a halo: as many elements of the blocks before as the
//! short row has, less one.

use std::ops::Range;

use dappled_base::{interrupt, memory};
use dappled_kernels::element::typed_or_copied;
use dappled_kernels::{Buffer, DTypeKind, Element, View};
use dappled_protocol::Distribution;
use dappled_protocol::slice::KeyItem;
use num_complex::Complex64;

use super::fft::block_ranges;
use super::local_elements::{LocalElements, default_layout};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::run::collective::all_to_all;

/// Name of the messages of a halo exchange.
const OPERATION: &str = "a halo exchange";

/// Products between two checks for an interrupt.
const PRODUCTS_PER_CHECK: usize = 1 << 22;

/// The part of a full convolution that is returned, as `mode` of NumPy's `convolve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvolveMode {
    /// All sums with at least one product.
    Full,
    /// As many elements as the longer row, in the middle.
    Same,
    /// The sums over all elements of the shorter row.
    Valid,
}

impl ConvolveMode {
    /// The first element and the number of elements of the full result for these lengths.
    fn range(self, long: usize, short: usize) -> (usize, usize) {
        match self {
            ConvolveMode::Full => (0, long + short - 1),
            ConvolveMode::Same => ((short - 1) / 2, long),
            ConvolveMode::Valid => (short - 1, long - short + 1),
        }
    }
}

impl Array {
    /// The convolution of two rows of the same dtype: NumPy's `convolve`. Collective.
    ///
    /// Every rank gets the shorter row. Fails if a row is empty or has several axes.
    ///
    /// ```
    /// use dappled::{Array, ConvolveMode, Session};
    ///
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let row = Array::from_slice(&session, &[3], &[1.0, 2.0, 3.0]);
    /// let short = Array::from_slice(&session, &[2], &[1.0, 0.5]);
    /// let full = row.convolve(&short, ConvolveMode::Full)?;
    /// assert_eq!(full.to_vec::<f64>()?, [1.0, 2.5, 4.0, 1.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convolve(&self, other: &Array, mode: ConvolveMode) -> Result<Array> {
        let is_row = |array: &Array| array.shape().len() == 1 && !array.view().is_empty();
        if !is_row(self) || !is_row(other) {
            return Err(Error::InvalidConvolution);
        }
        let (long, short) =
            if self.shape()[0] < other.shape()[0] { (other, self) } else { (self, other) };
        let dtype = self.dtype();
        let full = match dtype.kind() {
            DTypeKind::Complex => convolve_as::<Complex64>(long, short, |a, b| a + b, |a, b| a * b),
            DTypeKind::Float => convolve_as::<f64>(long, short, |a, b| a + b, |a, b| a * b),
            _ => convolve_as::<i64>(long, short, i64::wrapping_add, i64::wrapping_mul),
        }?;
        let (first, count) = mode.range(long.shape()[0], short.shape()[0]);
        let part = KeyItem::Slice(Some(first as i64), Some((first + count) as i64), None);
        full.slice(&[part])?.cast_copy(dtype)
    }

    /// This rank's block of a row, preceded by up to `halo` elements before it. Collective.
    ///
    /// Elements have the axes after the first. The result is bytes in C order.
    pub fn block_with_halo(&self, halo: usize) -> Result<Vec<u8>> {
        let session = self.session();
        let ranges = block_ranges(session, self.shape()[0]);
        let own = ranges[session.fabric().rank() as usize].clone();
        let width = self.shape()[1..].iter().product::<usize>() * self.dtype().itemsize();
        let block = LocalElements::rows(self)?;
        block.with_bytes(|block| {
            let part = |range: &Range<usize>| {
                let needed = range.start.saturating_sub(if range.is_empty() { 0 } else { halo });
                let (start, stop) = (needed.max(own.start), range.start.min(own.end));
                match start < stop {
                    true => memory::copy_of(
                        &block[(start - own.start) * width..(stop - own.start) * width],
                    ),
                    false => Vec::new(),
                }
            };
            let received = all_to_all(session, OPERATION, ranges.iter().map(part).collect())?;
            let mut rows =
                memory::with_capacity(received.iter().map(Vec::len).sum::<usize>() + block.len());
            received.iter().for_each(|part| rows.extend_from_slice(part));
            rows.extend_from_slice(block);
            Ok(rows)
        })
    }
}

/// The full convolution in a wide element type. Collective.
fn convolve_as<T: Element>(
    long: &Array,
    short: &Array,
    add: impl Fn(T, T) -> T,
    multiply: impl Fn(T, T) -> T,
) -> Result<Array> {
    let session = long.session();
    let short = short.cast(T::DTYPE)?.to_vec::<T>()?;
    let (length, halo) = (long.shape()[0], short.len() - 1);
    let rows = long.cast(T::DTYPE)?.block_with_halo(halo)?;
    let rows = typed_or_copied::<T>(&rows);
    let ranges = block_ranges(session, length);
    let own = ranges[session.fabric().rank() as usize].clone();
    // The rank with the last elements also has the sums after them.
    let end = if own.end == length && !own.is_empty() { length + halo } else { own.end };
    let origin = own.end - rows.len();
    let mut sums = memory::with_capacity(end - own.start);
    let check_interval = PRODUCTS_PER_CHECK / short.len().max(1) + 1;
    for position in own.start..end {
        if (position - own.start).is_multiple_of(check_interval) {
            interrupt::check();
        }
        let first = (position + 1).saturating_sub(short.len()).max(origin);
        let last = (position + 1).min(own.end);
        let products = (first..last).map(|at| multiply(rows[at - origin], short[position - at]));
        sums.push(products.fold(T::default(), &add));
    }
    let mut bounds: Vec<u64> = ranges.iter().map(|range| range.start as u64).collect();
    bounds.push((length + halo) as u64);
    // Blocks without elements at the end follow the last sum.
    for (bound, range) in bounds.iter_mut().zip(&ranges) {
        if range.start == length {
            *bound = (length + halo) as u64;
        }
    }
    let ranks = session.fabric().size();
    let mut spec = Distribution::spec(&[(length + halo) as u64]).dist("b").nprocs(ranks);
    spec.axes[0].bounds = Some(bounds);
    let blocks = spec.build().expect("bounds that ascend are valid");
    let view = View::c_order(T::DTYPE, &[sums.len()]);
    default_layout(&Array::from_owned_piece(session, blocks, Buffer::from_slice(&sums), view))
}
