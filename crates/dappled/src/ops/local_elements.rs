//! This rank's elements of an array, in contiguous memory.

use std::ops::Range;

use dappled_kernels::element::{Element, typed};
use dappled_kernels::{Buffer, View};
use dappled_protocol::{Distribution, Held};

use super::fft::block_ranges;
use super::index_arrays::row_blocks;
use crate::array::Array;
use crate::error::Result;
use crate::run::complement::copy_to_c_order;
use crate::session::Session;

/// Elements of this rank in C order, for immediate reading.
pub(crate) struct LocalElements {
    buffer: Buffer,
    bytes: Range<usize>,
}

impl LocalElements {
    /// This rank's part of an array in a distribution. Collective.
    ///
    /// No elements move if the array has that distribution.
    pub fn in_distribution(array: &Array, target: &Distribution) -> Result<Self> {
        let (buffer, view) = array.local_part(target)?;
        Self::contiguous(array.session(), buffer, &view)
    }

    /// All elements of a replicated array.
    pub fn whole(array: &Array) -> Result<Self> {
        Self::contiguous(array.session(), array.local_buffer()?, array.view())
    }

    /// This rank's block of the rows of an array. Collective.
    pub fn rows(array: &Array) -> Result<Self> {
        if array.is_replicated() {
            let length = array.shape()[0];
            let row = array.view().len() * array.dtype().itemsize() / length.max(1);
            return Self::block_of_replicated(array, length, row);
        }
        Self::in_distribution(array, &row_blocks(array.shape(), array.session().fabric().size()))
    }

    /// Elements of an array, each on one rank, in any order. Collective.
    ///
    /// No elements move unless the array is a view or padded.
    pub fn unordered(array: &Array) -> Result<Self> {
        if array.is_replicated() {
            return Self::block_of_replicated(array, array.view().len(), array.dtype().itemsize());
        }
        let is_plain = |distribution: &Distribution| {
            let axes = 0..array.shape().len();
            distribution.held() != Held::All
                && !axes.into_iter().any(|axis| distribution.is_padded(axis))
        };
        match array.distribution().ok().filter(is_plain) {
            Some(distribution) => Self::in_distribution(array, &distribution),
            None => {
                let blocks = array.session().block_distribution(array.shape());
                Self::in_distribution(array, &blocks)
            }
        }
    }

    /// This rank's block of a replicated array of `count` rows.
    fn block_of_replicated(array: &Array, count: usize, row_bytes: usize) -> Result<Self> {
        let session = array.session();
        let whole = Self::whole(array)?;
        let rank = session.fabric().rank() as usize;
        let own = block_ranges(session, count)[rank].clone();
        let start = whole.bytes.start;
        Ok(Self {
            bytes: start + own.start * row_bytes..start + own.end * row_bytes,
            buffer: whole.buffer,
        })
    }

    fn contiguous(session: &Session, buffer: Buffer, view: &View) -> Result<Self> {
        let bytes = view.len() * view.dtype.itemsize();
        let start = buffer.as_ptr().addr() + view.offset;
        match view.is_contiguous() && start.is_multiple_of(view.dtype.itemsize().min(8)) {
            true => Ok(Self { bytes: view.offset..view.offset + bytes, buffer }),
            false => Ok(Self { buffer: copy_to_c_order(session, &buffer, view)?, bytes: 0..bytes }),
        }
    }

    /// Calls `act` with the bytes.
    pub fn with_bytes<R>(&self, act: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
        let memory = self.buffer.read()?;
        act(&memory[self.bytes.clone()])
    }

    /// Calls `act` with the elements, whose type must be that of the array.
    pub fn with<T: Element, R>(&self, act: impl FnOnce(&[T]) -> Result<R>) -> Result<R> {
        self.with_bytes(|bytes| act(typed(bytes)))
    }
}

/// Creates a row from this rank's block, in the default distribution. Collective.
pub(crate) fn from_block<T: Element>(
    session: &Session,
    length: usize,
    elements: &[T],
) -> Result<Array> {
    let blocks = session.block_distribution(&[length]);
    let view = View::c_order(T::DTYPE, &[elements.len()]);
    let memory = Buffer::from_slice(elements);
    default_layout(&Array::from_owned_piece(session, blocks, memory, view))
}

/// The array in the default distribution of its shape. Collective.
pub(crate) fn default_layout(array: &Array) -> Result<Array> {
    let session = array.session();
    let target = match session.should_replicate(array.shape(), array.dtype().itemsize()) {
        true if array.is_replicated() => return Ok(array.clone()),
        true => session.replicated_distribution(array.shape()),
        false => session.block_distribution(array.shape()),
    };
    match array.distribution() {
        Ok(distribution) if distribution == target => Ok(array.clone()),
        _ => array.redistribute(&target),
    }
}
