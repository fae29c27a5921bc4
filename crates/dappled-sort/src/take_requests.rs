//! Requests of a distributed `take`: the positions requested from each part, and the placement of
//! the rows that come back.

use dappled_base::memory;
use rayon::prelude::*;

use crate::config::{MIN_INDICES_PER_THREAD, PREFETCH_DISTANCE};
use crate::prefetch;
use crate::route::simd_select::BLOCK_ROWS;
use crate::route::{
    OutOfBoundsIndex, RowBytes, position_bytes, read_position, route_indices, row_width,
};

/// The requests of one thread's share of the indices.
#[derive(Debug, Default)]
pub struct TakeRequests {
    /// Number of indices in this share.
    indices: usize,
    /// The encoded positions requested from each part.
    positions: Vec<Vec<u8>>,
    /// For each block of indices, the offsets of its indices in the block, grouped by part.
    block_offsets: Vec<u8>,
    /// For each block, where the offsets of each part end.
    part_ends: Vec<u16>,
    /// Bytes per encoded position.
    position_bytes: usize,
}

/// Builds the requests for all indices, one share per thread.
///
/// ```
/// use dappled_sort::route::RowBytes;
/// use dappled_sort::take_requests::{
///     build_requests, requested_positions, write_local_rows, write_received_rows,
/// };
/// let (requests, mut out) = (build_requests(&[1, 3, -1], &[0, 2, 5]).unwrap(), [0; 3]);
/// assert_eq!(requested_positions(&requests, 1, vec![]), [1, 0, 0, 0, 2, 0, 0, 0]);
/// write_local_rows(&requests, 0, RowBytes { bytes: b"ab", width: 1 }, &mut out);
/// write_received_rows(&requests, 1, b"de", 1, &mut out);
/// assert_eq!(&out, b"bde");
/// ```
pub fn build_requests(
    indices: &[i64],
    starts: &[u64],
) -> Result<Vec<TakeRequests>, OutOfBoundsIndex> {
    let size = indices.len().div_ceil(rayon::current_num_threads()).max(MIN_INDICES_PER_THREAD);
    if indices.len() <= size {
        return Ok(vec![TakeRequests::new(indices, starts)?]); // wakes no other thread
    }
    let shares = indices.par_chunks(size.next_multiple_of(BLOCK_ROWS));
    shares.map(|indices| TakeRequests::new(indices, starts)).collect()
}

/// Appends all positions requested from `part` to `room`.
pub fn requested_positions(requests: &[TakeRequests], part: usize, mut room: Vec<u8>) -> Vec<u8> {
    requests.iter().for_each(|requests| memory::append(&mut room, &requests.positions[part]));
    room
}

/// Writes the rows requested from a part that is in local memory.
pub fn write_local_rows(
    requests: &[TakeRequests],
    part: usize,
    rows: RowBytes<'_>,
    out: &mut [u8],
) {
    let copy = match (rows.width, requests.first().map(|requests| requests.position_bytes)) {
        (1, Some(4)) => TakeRequests::copy_local_rows::<1, 4>,
        (4, Some(4)) => TakeRequests::copy_local_rows::<4, 4>,
        (8, Some(4)) => TakeRequests::copy_local_rows::<8, 4>,
        (16, Some(4)) => TakeRequests::copy_local_rows::<16, 4>,
        (_, Some(4)) => TakeRequests::copy_local_rows::<0, 4>,
        _ => TakeRequests::copy_local_rows::<0, 8>,
    };
    for_each_request(requests, part, rows.width, out, |requests, _, out| {
        copy(requests, part, rows, out)
    });
}

/// Writes the rows received from a part, in the order in which they were requested.
pub fn write_received_rows(
    requests: &[TakeRequests],
    part: usize,
    received: &[u8],
    width: usize,
    out: &mut [u8],
) {
    let copy = match width {
        1 => TakeRequests::copy_received_rows::<1>,
        4 => TakeRequests::copy_received_rows::<4>,
        8 => TakeRequests::copy_received_rows::<8>,
        16 => TakeRequests::copy_received_rows::<16>,
        _ => TakeRequests::copy_received_rows::<0>,
    };
    for_each_request(requests, part, width, out, |requests, first, out| {
        copy(requests, part, &received[first * width..], width, out);
    });
}

/// Runs `copy` on each share, with the number of earlier requests to the part and its share of the
/// output.
fn for_each_request(
    requests: &[TakeRequests],
    part: usize,
    width: usize,
    mut out: &mut [u8],
    copy: impl Fn(&TakeRequests, usize, &mut [u8]) + Sync,
) {
    let (mut first, mut shares) = (0, Vec::new());
    for requests in requests {
        let (share_out, rest) = std::mem::take(&mut out).split_at_mut(requests.indices * width);
        shares.push((requests, first, share_out));
        first += requests.positions[part].len() / requests.position_bytes;
        out = rest;
    }
    match shares.len() {
        1 => shares.into_iter().for_each(|(requests, first, out)| copy(requests, first, out)),
        _ => shares.into_par_iter().for_each(|(requests, first, out)| copy(requests, first, out)),
    }
}

impl TakeRequests {
    fn new(indices: &[i64], starts: &[u64]) -> Result<Self, OutOfBoundsIndex> {
        let (parts, position_bytes) = (starts.len() - 1, position_bytes(starts));
        // Room for an even distribution, plus an eighth.
        let room = indices.len() / parts * position_bytes;
        let mut positions: Vec<Vec<u8>> =
            (0..parts).map(|_| memory::with_capacity(room + room / 8)).collect();
        let mut block_offsets = memory::with_capacity(indices.len());
        let mut part_ends = memory::with_capacity(indices.len().div_ceil(BLOCK_ROWS) * parts);
        route_indices(indices, starts, 0..parts, &mut positions, |_, first, offsets| {
            memory::append(&mut block_offsets, offsets);
            part_ends.push((block_offsets.len() - first) as u16);
        })?;
        Ok(Self { indices: indices.len(), positions, block_offsets, part_ends, position_bytes })
    }

    fn copy_local_rows<const W: usize, const N: usize>(
        &self,
        part: usize,
        rows: RowBytes<'_>,
        out: &mut [u8],
    ) {
        let width = row_width::<W>(rows.width);
        let (positions, _) = self.positions[part].as_chunks::<N>();
        self.copy_rows::<W>(part, width, out, |at| {
            if let Some(upcoming) = positions.get(at.wrapping_add(PREFETCH_DISTANCE)) {
                prefetch::prefetch(rows.bytes, read_position(upcoming).wrapping_mul(width));
            }
            &rows.bytes[read_position(&positions[at]).wrapping_mul(width)..][..width]
        });
    }

    fn copy_received_rows<const W: usize>(
        &self,
        part: usize,
        received: &[u8],
        width: usize,
        out: &mut [u8],
    ) {
        let width = row_width::<W>(width);
        self.copy_rows::<W>(part, width, out, |at| &received[at.wrapping_mul(width)..][..width]);
    }

    /// Writes the rows of one part; `row(k)` returns the k-th of them.
    #[inline(always)]
    fn copy_rows<'a, const W: usize>(
        &self,
        part: usize,
        width: usize,
        out: &mut [u8],
        row: impl Fn(usize) -> &'a [u8],
    ) {
        let (width, mut done) = (row_width::<W>(width), 0_usize);
        let part_ends = self.part_ends.chunks_exact(self.positions.len());
        let blocks = self.block_offsets.chunks(BLOCK_ROWS).zip(out.chunks_mut(BLOCK_ROWS * width));
        for (ends, (offsets, out)) in part_ends.zip(blocks) {
            let before = if part == 0 { 0 } else { ends[part - 1] };
            for &at in &offsets[before.into()..ends[part].into()] {
                out[usize::from(at).wrapping_mul(width)..][..width].copy_from_slice(row(done));
                done = done.wrapping_add(1);
            }
        }
    }
}
