//! Raw binary files: elements in C order at an offset.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use dappled_kernels::{Buffer, DType, View};
use dappled_protocol::Distribution;
use dappled_protocol::slice::KeyItem;

use super::outcome::share_outcome;
use crate::array::Array;
use crate::config::FILE_ROUND_BYTES;
use crate::error::{Result, RunError};
use crate::session::Session;
use crate::view::reshape::reshape_view;

const WRITING: &str = "writing a file, which one rank alone does in dappled.local()";
const READING: &str = "reading a file";

impl Array {
    /// Creates a file with a header and the elements in C order. Collective.
    ///
    /// Rank 0 creates the file, and every rank writes blocks of elements. The file is complete when
    /// the call returns.
    pub fn write_raw(&self, path: &Path, header: &[u8]) -> Result<()> {
        let (session, item) = (self.session(), self.dtype().itemsize());
        let (name, offset) = (path.display().to_string(), header.len() as u64);
        // A rank that is late may still read the old file.
        share_outcome(session, WRITING, &name, Ok(()))?;
        let create = || create_file(path, header, (self.view().len() * item) as u64);
        let created = if session.fabric().rank() == 0 { create() } else { Ok(()) };
        share_outcome(session, WRITING, &name, created)?;
        let row = self.flattened()?;
        let step = (FILE_ROUND_BYTES / item.max(1)).max(1) * session.fabric().size() as usize;
        let mut written = Ok(());
        for start in (0..row.view().len()).step_by(step) {
            let part = row.slice(&[element_range(start, row.view().len().min(start + step))])?;
            let block = LocalBlock::of(&part)?;
            if written.is_ok() && !block.view.is_empty() {
                written = block.write(path, offset + ((start + block.first) * item) as u64);
            }
        }
        share_outcome(session, WRITING, &name, written)
    }

    /// Reads an array in C order at an offset of a file, each rank its local piece. Collective.
    ///
    /// The distribution is one of blocks: every rank reads a box of indices.
    pub fn read_raw(
        session: &Session,
        path: &Path,
        offset: u64,
        dtype: DType,
        distribution: Distribution,
    ) -> Result<Array> {
        let rank = session.fabric().rank();
        let lengths = distribution.local_shape(rank);
        let local: Vec<usize> = lengths.iter().map(|&length| length as usize).collect();
        let shape: Vec<usize> =
            distribution.shape().iter().map(|&length| length as usize).collect();
        let first = distribution.global(rank, &vec![0; local.len()]).unwrap_or_default();
        let view = View::c_order(dtype, &local);
        let memory = session.buffer_pool().allocate(view.len() * dtype.itemsize(), &view);
        let read = || -> Result<io::Result<()>, RunError> {
            let mut bytes = memory.write()?;
            Ok(read_box(path, offset, &shape, &first, &local, dtype.itemsize(), &mut bytes))
        };
        let outcome = if view.is_empty() { Ok(()) } else { read()? };
        share_outcome(session, READING, &path.display().to_string(), outcome)?;
        Ok(Array::from_owned_piece(session, distribution, memory, view))
    }

    /// The elements in C order as one axis: a view if strides can express it, otherwise a copy.
    fn flattened(&self) -> Result<Array> {
        let shape = [self.view().len()];
        match reshape_view(self.view(), &shape) {
            Some(view) => Ok(self.with_view(view)),
            None => self.reshaped_copy(&shape),
        }
    }
}

fn element_range(start: usize, stop: usize) -> KeyItem {
    KeyItem::Slice(Some(start as i64), Some(stop as i64), None)
}

/// This rank's block of consecutive elements of a one-dimensional array.
struct LocalBlock {
    first: usize,
    memory: Buffer,
    view: View,
}

impl LocalBlock {
    /// Redistributes an array to blocks, if it has another distribution. Collective.
    fn of(row: &Array) -> Result<Self> {
        let session = row.session();
        let blocks = session.block_distribution(row.shape());
        let (memory, view) = row.contiguous_local_part(&blocks)?;
        let first = blocks.global(session.fabric().rank(), &[0]).map_or(0, |index| index[0]);
        Ok(Self { first: first as usize, memory, view })
    }

    fn write(&self, path: &Path, offset: u64) -> io::Result<()> {
        let bytes = self.memory.read().map_err(io::Error::other)?;
        let length = self.view.len() * self.view.dtype.itemsize();
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(&bytes[self.view.offset..self.view.offset + length])
    }
}

fn create_file(path: &Path, header: &[u8], bytes: u64) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(header)?;
    file.set_len(header.len() as u64 + bytes)
}

/// Reads a box of an array in C order: as few reads as its contiguous runs allow.
fn read_box(
    path: &Path,
    offset: u64,
    shape: &[usize],
    first: &[i64],
    local: &[usize],
    item: usize,
    out: &mut [u8],
) -> io::Result<()> {
    let mut file = File::open(path)?;
    // The trailing axes that the box contains whole form one run with the axis before them.
    let whole = shape.iter().zip(local).rev().take_while(|(all, part)| all == part).count();
    let split = shape.len().saturating_sub(whole + 1);
    let run: usize = local[split..].iter().product::<usize>() * item;
    let mut index = vec![0; split];
    for bytes in out.chunks_exact_mut(run.max(1)) {
        let positions = index.iter().copied().chain(std::iter::repeat(0));
        let at = (shape.iter().zip(first).zip(positions))
            .fold(0, |at, ((&length, &start), inside)| at * length as u64 + start as u64 + inside);
        file.seek(SeekFrom::Start(offset + at * item as u64))?;
        file.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => io::Error::other("the file ends before the array"),
            _ => error,
        })?;
        advance(&mut index, local);
    }
    Ok(())
}

/// The next index of a box in C order.
fn advance(index: &mut [u64], lengths: &[usize]) {
    for (at, &length) in index.iter_mut().zip(lengths).rev() {
        *at += 1;
        if *at < length as u64 {
            return;
        }
        *at = 0;
    }
}
