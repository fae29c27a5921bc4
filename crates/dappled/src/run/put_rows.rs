//! Runs the plans of scatters of rows by index arrays.

use dappled_fabric::{ExchangeRequest, Payload, keep, take_empty_buffer};
use dappled_sort::put_received;
use dappled_sort::route::{self, OutOfBoundsIndex, RowBytes};

use crate::error::Result;
use crate::plan::rows::{PutPlan, RowBlocks};
use crate::session::Session;

/// The name of the operation in error messages.
pub(crate) const OPERATION_LABEL: &str = "take or put of rows";

/// The bytes of the rows to write.
#[derive(Clone, Copy)]
pub(crate) enum PutValues<'a> {
    /// One row for each index.
    PerIndex(&'a [u8]),
    /// One row for all indices.
    Broadcast(&'a [u8]),
}

impl<'a> PutValues<'a> {
    /// The bytes of the rows.
    pub(crate) fn rows(self) -> &'a [u8] {
        match self {
            PutValues::PerIndex(rows) | PutValues::Broadcast(rows) => rows,
        }
    }
}

/// A result, or the first index out of bounds, which is the same on every rank.
pub(crate) type BoundsChecked<T> = Result<Result<T, OutOfBoundsIndex>>;

/// The positions that each rank has sent, and the rows that are still in flight.
pub(crate) struct RowsInFlight {
    positions: Vec<Vec<u8>>,
    rows: Option<ExchangeRequest>,
}

impl Session {
    /// Sends rows and their positions to their owners; only positions if one row is written to all.
    pub(crate) fn send_rows(
        &self,
        plan: &PutPlan,
        indices: &[i64],
        values: PutValues<'_>,
    ) -> BoundsChecked<RowsInFlight> {
        let (ranks, own_rank) = (plan.context.ranks as usize, plan.context.rank as usize);
        let RowBlocks { starts, width, position_bytes } = &plan.rows;
        let others = (0..ranks).filter(|&rank| rank != own_rank);
        // The room for one rank: an eighth more than with evenly distributed indices.
        let share = |bytes: usize| take_empty_buffer(bytes / ranks + bytes / ranks / 8);
        let (mut positions, mut rows) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        for rank in others.clone() {
            positions[rank] = share(indices.len() * position_bytes);
            rows[rank] = share(if let PutValues::PerIndex(rows) = values { rows.len() } else { 0 });
        }
        let bounds_check = route::route_indices(
            indices,
            starts,
            others,
            &mut positions,
            |rank, first, selected| {
                if let PutValues::PerIndex(bytes) = values {
                    route::append_rows(
                        &mut rows[rank],
                        RowBytes { bytes, width: *width },
                        first,
                        selected,
                    );
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
    pub(crate) fn receive_rows(
        &self,
        plan: &PutPlan,
        indices: &[i64],
        (in_flight, values): (RowsInFlight, PutValues<'_>),
        target: &mut [u8],
    ) -> Result<()> {
        let RowBlocks { starts, width, position_bytes } = &plan.rows;
        let (own_rank, width) = (plan.context.rank as usize, *width);
        let (start, length) = (starts[own_rank] as usize, starts[starts.len() - 1] as usize);
        let (mut awaited, mut received) = (in_flight.rows, Vec::new().into_iter());
        for (rank, positions) in in_flight.positions.into_iter().enumerate() {
            if rank == own_rank {
                put_received::put_local_rows(
                    target,
                    width,
                    indices,
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
            put_received::put_rows(target, width, &positions, *position_bytes, each);
            keep(positions);
            keep(rows);
        }
        Ok(())
    }
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
