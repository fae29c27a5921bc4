//! Runs the plans of gathers of rows in rounds, overlapped with communication.
//!
//! Input: indices that are distributed over the ranks. Output: their rows. Guarantees: the
//! positions and rows of a round fit in the cache; local rows are copied while messages are in
//! flight.

use dappled_fabric::{ExchangeRequest, Payload, keep, take_buffer, take_empty_buffer};
use dappled_sort::route::{self, OutOfBoundsIndex, RowBytes};
use dappled_sort::take_requests::{self, TakeRequests};

use super::put_rows::{BoundsChecked, OPERATION_LABEL, append_bounds_status, split_bounds_status};
use crate::config::REQUEST_BUFFER_BYTES;
use crate::error::Result;
use crate::plan::rows::TakePlan;
use crate::session::Session;

/// A round whose answers are in flight.
struct TakeRound<'a> {
    requests: Vec<TakeRequests>,
    answers: ExchangeRequest,
    out: &'a mut [u8],
}

impl Session {
    /// Gathers the rows of this rank's indices. Collective.
    pub(crate) fn run_take(
        &self,
        plan: &TakePlan,
        indices: &[i64],
        piece: RowBytes<'_>,
        mut out: &mut [u8],
    ) -> BoundsChecked<()> {
        let starts = &plan.rows.starts;
        let (mut chunks, mut previous) = (indices.chunks(plan.round_size), None);
        for _ in 0..plan.rounds {
            let round_indices = chunks.next().unwrap_or(&[]);
            let (round_out, rest) =
                std::mem::take(&mut out).split_at_mut(round_indices.len() * piece.width);
            out = rest;
            let requests = route_indices(round_indices, starts);
            let positions = self.start_requests(&requests, starts.len() - 1)?;
            previous.take().map_or(Ok(()), |round| self.finish_round(round, piece.width))?;
            take_requests::write_local_rows(&requests.0, self.own_rank(), piece, round_out);
            let Some(positions) = receive_requests(positions, requests.1)? else {
                return self.first_out_of_bounds(indices, starts).map(Err);
            };
            let answers = self.start_answers(positions, piece, plan.rows.position_bytes)?;
            previous = Some(TakeRound { requests: requests.0, answers, out: round_out });
        }
        previous.map_or(Ok(()), |round| self.finish_round(round, piece.width)).map(Ok)
    }

    fn own_rank(&self) -> usize {
        self.fabric().rank() as usize
    }

    /// Sends each rank the positions of the requested rows, or an index that is out of bounds.
    fn start_requests(
        &self,
        (requests, out_of_bounds): &(Vec<TakeRequests>, Option<OutOfBoundsIndex>),
        ranks: usize,
    ) -> Result<ExchangeRequest> {
        let message = |rank| {
            if rank == self.own_rank() {
                return Payload::from(Vec::new());
            }
            let mut message = take_requests::requested_positions(
                requests,
                rank,
                take_empty_buffer(REQUEST_BUFFER_BYTES),
            );
            append_bounds_status(&mut message, *out_of_bounds);
            Payload::from(message)
        };
        self.start_all_to_all(OPERATION_LABEL, (0..ranks).map(message).collect())
    }

    /// Sends the requested rows to the other ranks.
    fn start_answers(
        &self,
        positions: Vec<Vec<u8>>,
        piece: RowBytes<'_>,
        position_bytes: usize,
    ) -> Result<ExchangeRequest> {
        let answer = |positions: Vec<u8>| {
            let mut rows = take_buffer(positions.len() / position_bytes * piece.width);
            route::answer_requests(piece, &positions, position_bytes, &mut rows);
            keep(positions);
            Payload::from(rows)
        };
        let mut answers: Vec<Payload> = positions.into_iter().map(answer).collect();
        answers.insert(self.own_rank(), Payload::from(Vec::new()));
        self.start_all_to_all(OPERATION_LABEL, answers)
    }

    /// Writes the rows that the other ranks have sent.
    fn finish_round(&self, round: TakeRound<'_>, width: usize) -> Result<()> {
        let answers = round.answers.wait()?;
        let others = (0..).filter(|&rank| rank != self.own_rank());
        for (rank, answers) in others.zip(answers) {
            take_requests::write_received_rows(&round.requests, rank, &answers, width, round.out);
            keep(answers);
        }
        Ok(())
    }

    /// The first index out of bounds, of the first rank that has one. Collective.
    fn first_out_of_bounds(&self, indices: &[i64], starts: &[u64]) -> Result<OutOfBoundsIndex> {
        let mut status = Vec::new();
        append_bounds_status(&mut status, route::first_out_of_bounds(indices, starts));
        let mut statuses = self.allgather(OPERATION_LABEL, status)?;
        Ok(statuses
            .iter_mut()
            .find_map(split_bounds_status)
            .expect("one rank has reported an index out of bounds"))
    }
}

/// The requests for these indices; none if an index is out of bounds.
fn route_indices(indices: &[i64], starts: &[u64]) -> (Vec<TakeRequests>, Option<OutOfBoundsIndex>) {
    match take_requests::build_requests(indices, starts) {
        Ok(requests) => (requests, None),
        Err(out_of_bounds) => (Vec::new(), Some(out_of_bounds)),
    }
}

/// The positions that other ranks request; `None` if any rank has an index out of bounds.
fn receive_requests(
    positions: ExchangeRequest,
    out_of_bounds: Option<OutOfBoundsIndex>,
) -> Result<Option<Vec<Vec<u8>>>> {
    let mut positions = positions.wait()?;
    let statuses: Vec<Option<OutOfBoundsIndex>> =
        positions.iter_mut().map(split_bounds_status).collect();
    let is_valid = out_of_bounds.is_none() && statuses.iter().all(Option::is_none);
    Ok(is_valid.then_some(positions))
}
