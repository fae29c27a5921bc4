//! Gather and scatter of rows by index arrays.
//!
//! Input: an array in blocks of rows, and indices that are distributed over the ranks. Output: the
//! selected rows, on the ranks of their indices; or the array, written in place.
//!
//! Guarantees: one all-to-all of positions and one of rows, in rounds for gathers
//! ([`super::take_pipelined`]). An index out of bounds is detected before anything is written, on
//! every rank.

use dappled_fabric::{ExchangeRequest, Payload, keep, take_empty_buffer};
use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;
use dappled_sort::put_received;
use dappled_sort::route::{self, OutOfBoundsIndex, RowBytes};

use crate::array::Array;
use crate::array::node::Node;
use crate::array::ownership::KnownHolders;
use crate::array::placement::Placement;
use crate::error::Result;
use crate::run::evaluate::materialize;
use crate::session::Session;

/// The name of the operation in error messages.
pub(crate) const OPERATION_LABEL: &str = "take or put of rows";

/// Indices of rows to take or put; negative indices count from the end.
pub struct RowIndices<'a> {
    /// The block distribution of the rows.
    pub rows: &'a Distribution,
    /// This rank's indices.
    pub indices: &'a [i64],
}

/// The bytes of the rows to write.
#[derive(Clone, Copy)]
pub enum PutValues<'a> {
    /// One row for each index.
    PerIndex(&'a [u8]),
    /// One row for all indices.
    Broadcast(&'a [u8]),
}

impl<'a> PutValues<'a> {
    fn rows(self) -> &'a [u8] {
        match self {
            PutValues::PerIndex(rows) | PutValues::Broadcast(rows) => rows,
        }
    }
}

/// A result, or the first index out of bounds, which is the same on every rank.
pub type BoundsChecked<T> = Result<Result<T, OutOfBoundsIndex>>;

impl Array {
    /// Gathers rows in the order of the indices. Collective.
    ///
    /// In `target` each rank has the rows of its indices. `piece` is this rank's local piece of the
    /// rows.
    pub fn take_rows(
        &self,
        indices: &RowIndices<'_>,
        piece: &[u8],
        target: &Distribution,
    ) -> BoundsChecked<Array> {
        let session = self.session();
        let shape: Vec<usize> = target.shape().iter().map(|&length| length as usize).collect();
        let placement =
            Placement::distributed(target.clone(), self.dtype(), session.fabric().rank());
        let (result, memory) =
            Node::with_new_buffer(session, View::c_order(self.dtype(), &shape), placement);
        let width = self.row_bytes();
        let mut out = memory.write()?;
        let axes = 1 + shape.len() - self.shape().len();
        let count = |rank| target.local_shape(rank)[..axes].iter().product::<u64>() as usize;
        let max_count = (0..target.nprocs()).map(count).max().unwrap_or(0);
        let bounds_check = session.take_rows_pipelined(
            indices,
            max_count,
            RowBytes { bytes: piece, width },
            &mut out,
        )?;
        drop(out);
        Ok(bounds_check.map(|()| Array::from_node(session, result)))
    }

    /// Writes a row for each index, or one row for all, in place. Collective.
    ///
    /// If an index occurs several times, the last row is kept. Returns `None` if the array is not
    /// in the block distribution of the indices, or its memory is lent.
    pub fn put_rows(
        &self,
        indices: &RowIndices<'_>,
        values: PutValues<'_>,
    ) -> BoundsChecked<Option<()>> {
        let session = self.session();
        let mut node = self.storage.current();
        let has_distribution = match &node.placement {
            Placement::Distributed(placement) => placement.distribution == *indices.rows,
            Placement::Replicated => false,
        };
        if !has_distribution || *self.view() != node.base || self.storage.is_lent() {
            return Ok(Ok(None));
        }
        self.storage.count_write();
        let mut memory = materialize(session, &node)?;
        let in_flight = match session.send_rows(indices, values, self.row_bytes())? {
            Ok(in_flight) => in_flight,
            Err(out_of_bounds) => return Ok(Err(out_of_bounds)),
        };
        // Other holders need the old values, and so do rows or indices in the array's own memory.
        let is_overlapping = overlaps(&memory, values.rows()) || overlaps(&memory, indices.indices);
        if node.is_shared(KnownHolders::STORAGE_AND_WRITER) || is_overlapping {
            node = session.copy_node(&node, &memory)?;
            self.storage.replace(node.clone());
            memory = materialize(session, &node)?;
        }
        let mut target = memory.write()?;
        session.receive_rows(indices, in_flight, values, self.row_bytes(), &mut target)?;
        node.set_id(session.next_array_id());
        Ok(Ok(Some(())))
    }

    /// The number of bytes of a row.
    fn row_bytes(&self) -> usize {
        self.shape()[1..].iter().product::<usize>() * self.dtype().itemsize()
    }
}

/// The positions that each rank has sent, and the rows that are still in flight.
struct RowsInFlight {
    positions: Vec<Vec<u8>>,
    rows: Option<ExchangeRequest>,
}

impl Session {
    /// Sends rows and their positions to their owners; only positions if one row is written to all.
    fn send_rows(
        &self,
        indices: &RowIndices<'_>,
        values: PutValues<'_>,
        width: usize,
    ) -> BoundsChecked<RowsInFlight> {
        let (ranks, own_rank) = (self.fabric().size() as usize, self.fabric().rank() as usize);
        let (starts, others) =
            (row_starts(indices.rows), (0..ranks).filter(|&rank| rank != own_rank));
        let bytes = route::position_bytes(&starts);
        // The room for one rank: an eighth more than with evenly distributed indices.
        let share = |bytes: usize| take_empty_buffer(bytes / ranks + bytes / ranks / 8);
        let (mut positions, mut rows) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        for rank in others.clone() {
            positions[rank] = share(indices.indices.len() * bytes);
            rows[rank] = share(if let PutValues::PerIndex(rows) = values { rows.len() } else { 0 });
        }
        let bounds_check = route::route_indices(
            indices.indices,
            &starts,
            others,
            &mut positions,
            |rank, first, selected| {
                if let PutValues::PerIndex(bytes) = values {
                    route::append_rows(&mut rows[rank], RowBytes { bytes, width }, first, selected);
                }
            },
        );
        positions.iter_mut().for_each(|message| append_bounds_status(message, bounds_check.err()));
        let own_positions = std::mem::take(&mut positions[own_rank]);
        let start = |messages: Vec<Vec<u8>>| {
            self.start_all_to_all(
                OPERATION_LABEL,
                messages.into_iter().map(Payload::from).collect(),
            )
        };
        let positions = start(positions)?;
        let rows = if let PutValues::PerIndex(_) = values { Some(start(rows)?) } else { None };
        let mut positions = positions.wait()?;
        positions.insert(own_rank, own_positions);
        let out_of_bounds: Vec<Option<OutOfBoundsIndex>> =
            positions.iter_mut().map(split_bounds_status).collect();
        Ok(out_of_bounds
            .into_iter()
            .flatten()
            .next()
            .map_or(Ok(RowsInFlight { positions, rows }), Err))
    }

    /// Writes the received rows in the order of the ranks, including this rank's own.
    fn receive_rows(
        &self,
        indices: &RowIndices<'_>,
        in_flight: RowsInFlight,
        values: PutValues<'_>,
        width: usize,
        target: &mut [u8],
    ) -> Result<()> {
        let (starts, own_rank) = (row_starts(indices.rows), self.fabric().rank() as usize);
        let (start, length) = (starts[own_rank] as usize, starts[starts.len() - 1] as usize);
        let position_bytes = route::position_bytes(&starts);
        let (mut awaited, mut received) = (in_flight.rows, Vec::new().into_iter());
        for (rank, positions) in in_flight.positions.into_iter().enumerate() {
            if rank == own_rank {
                put_received::put_local_rows(
                    target,
                    width,
                    indices.indices,
                    (start, length),
                    values.rows(),
                );
                continue;
            }
            // Wait only now: the first rank writes its own rows before it needs any message.
            if let Some(rows) = awaited.take() {
                received = rows.wait()?.into_iter();
            }
            let rows: Vec<u8> = received.next().unwrap_or_default();
            let each = if let PutValues::Broadcast(row) = values { row } else { &rows };
            put_received::put_rows(target, width, &positions, position_bytes, each);
            keep(positions);
            keep(rows);
        }
        Ok(())
    }
}

/// The first row of each rank, and the number of rows.
pub(crate) fn row_starts(rows: &Distribution) -> Vec<u64> {
    let lengths = (0..rows.nprocs()).map(|rank| rows.local_shape(rank)[0]);
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Appends to a message the index that is out of bounds, if any.
pub(crate) fn append_bounds_status(message: &mut Vec<u8>, out_of_bounds: Option<OutOfBoundsIndex>) {
    if out_of_bounds.is_some() {
        message.clear();
    }
    message.extend(out_of_bounds.map_or(0, |OutOfBoundsIndex(index)| index).to_le_bytes());
    message.push(out_of_bounds.is_some().into());
}

/// Removes the status of [`append_bounds_status`] from a message and returns it.
pub(crate) fn split_bounds_status(message: &mut Vec<u8>) -> Option<OutOfBoundsIndex> {
    let is_out_of_bounds = message.pop() == Some(1);
    let (rest, index) = message.split_last_chunk::<8>()?;
    let (length, index) = (rest.len(), i64::from_le_bytes(*index));
    message.truncate(length);
    is_out_of_bounds.then_some(OutOfBoundsIndex(index))
}

/// Returns true if elements are in this buffer.
fn overlaps<T>(memory: &Buffer, elements: &[T]) -> bool {
    let (start, other) = (memory.as_ptr() as usize, elements.as_ptr() as usize);
    start < other + size_of_val(elements) && other < start + memory.len()
}
