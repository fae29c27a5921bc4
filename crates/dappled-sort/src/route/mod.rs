//! Routing of row indices to the parts that own the rows, and the rows that each part returns.
//!
//! Rows are split into consecutive parts. A request is the list of positions in a part, as
//! little-endian integers of four bytes, or eight if a part has more than 2^32 rows.
//! [`crate::take_requests`] puts the returned rows into the order of the indices.

pub(crate) mod row_buckets;
#[allow(unsafe_code)]
pub(crate) mod simd_select;

use dappled_base::memory;
use rayon::prelude::*;

use self::row_buckets::RowBuckets;
use self::simd_select::{BLOCK_ROWS, PartRows};
use crate::config::{MAX_SCANNED_PARTS, PARALLEL_CHUNK_ELEMENTS, PREFETCH_DISTANCE};
use crate::{prefetch, wrap_index};

/// The first index that is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBoundsIndex(pub i64);

/// Returns the bytes needed to encode a position in any part. `starts` has the first row of each
/// part and the total number of rows.
pub fn position_bytes(starts: &[u64]) -> usize {
    let longest = starts.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
    if longest <= 1 << 32 { 4 } else { 8 }
}

/// Appends to each column the positions requested from its part.
///
/// The positions are in the order of the indices. Calls `on_part` for each part and block with the
/// number of the block's first index and the offsets of the requested indices in the block.
///
/// ```
/// use dappled_sort::route::route_indices;
/// let mut columns = [vec![], vec![]];
/// route_indices(&[1, 3, -1], &[0, 2, 5], 0..2, &mut columns, |_, _, _| ()).unwrap();
/// assert_eq!(columns, [[1, 0, 0, 0].to_vec(), [[1, 0, 0, 0], [2, 0, 0, 0]].concat()]);
/// ```
pub fn route_indices(
    indices: &[i64],
    starts: &[u64],
    parts: impl Iterator<Item = usize> + Clone,
    columns: &mut [Vec<u8>],
    mut on_part: impl FnMut(usize, usize, &[u8]),
) -> Result<(), OutOfBoundsIndex> {
    let (length, bytes) = (starts[columns.len()] as usize, position_bytes(starts));
    let (mut rows, scan_parts) =
        ([0; BLOCK_ROWS], bytes == 4 && columns.len() <= MAX_SCANNED_PARTS);
    let (mut part_rows, mut row_buckets) = (PartRows::new(), RowBuckets::new(columns.len()));
    for (block, indices) in indices.chunks(BLOCK_ROWS).enumerate() {
        let (rows, first) = (&mut rows[..indices.len()], block * BLOCK_ROWS);
        if !simd_select::wrap_indices(indices, length, rows) {
            return Err(first_out_of_bounds(indices, starts).expect("an index is out of bounds"));
        }
        if scan_parts {
            for part in parts.clone() {
                part_rows.select(rows, starts[part], starts[part + 1]);
                memory::append(&mut columns[part], part_rows.positions());
                on_part(part, first, part_rows.offsets());
            }
        } else {
            row_buckets.assign(rows, starts);
            for part in parts.clone() {
                row_buckets.append_positions(&mut columns[part], rows, (part, starts[part]), bytes);
                on_part(part, first, row_buckets.bucket(part));
            }
        }
    }
    Ok(())
}

/// Returns the first index that is out of bounds, if any.
pub fn first_out_of_bounds(indices: &[i64], starts: &[u64]) -> Option<OutOfBoundsIndex> {
    let length = starts.last().map_or(0, |&length| length as usize);
    indices.iter().copied().find(|&index| wrap_index(index, length) >= length).map(OutOfBoundsIndex)
}

/// Appends the rows that belong to the selected indices of a block.
pub fn append_rows(column: &mut Vec<u8>, rows: RowBytes<'_>, first: usize, offsets: &[u8]) {
    match rows.width {
        4 => append_fixed_width_rows::<4>(column, rows, first, offsets),
        8 => append_fixed_width_rows::<8>(column, rows, first, offsets),
        _ => append_fixed_width_rows::<0>(column, rows, first, offsets),
    }
}

fn append_fixed_width_rows<const W: usize>(
    column: &mut Vec<u8>,
    rows: RowBytes<'_>,
    first: usize,
    offsets: &[u8],
) {
    let width = row_width::<W>(rows.width);
    memory::reserve(column, offsets.len() * width);
    for &at in offsets {
        let from = first.wrapping_add(at.into()).wrapping_mul(width);
        column.extend_from_slice(&rows.bytes[from..][..width]);
    }
}

/// Rows as bytes.
#[derive(Clone, Copy)]
pub struct RowBytes<'a> {
    /// The bytes of all rows.
    pub bytes: &'a [u8],
    /// Bytes per row.
    pub width: usize,
}

/// Copies the requested rows of a part.
///
/// Positions are encoded in `position_bytes` bytes.
///
/// ```
/// use dappled_sort::route::{RowBytes, answer_requests};
/// let mut out = [0; 4];
/// let rows = RowBytes { bytes: b"aabbcc", width: 2 };
/// answer_requests(rows, &[2, 0, 0, 0, 1, 0, 0, 0], 4, &mut out);
/// assert_eq!(&out, b"ccbb");
/// ```
pub fn answer_requests(
    rows: RowBytes<'_>,
    positions: &[u8],
    position_bytes: usize,
    out: &mut [u8],
) {
    let chunk = (PARALLEL_CHUNK_ELEMENTS / rows.width).max(1);
    let copy = match (rows.width, position_bytes) {
        (1, 4) => copy_requested_rows::<1, 4>,
        (4, 4) => copy_requested_rows::<4, 4>,
        (8, 4) => copy_requested_rows::<8, 4>,
        (16, 4) => copy_requested_rows::<16, 4>,
        (_, 4) => copy_requested_rows::<0, 4>,
        _ => copy_requested_rows::<0, 8>,
    };
    if rayon::current_num_threads() == 1 {
        return copy(rows, positions, out);
    }
    let chunks =
        out.par_chunks_mut(chunk * rows.width).zip(positions.par_chunks(chunk * position_bytes));
    chunks.for_each(|(out, positions)| copy(rows, positions, out));
}

/// Returns the row width; a compile-time constant unless `WIDTH` is 0.
#[inline(always)]
pub(crate) fn row_width<const WIDTH: usize>(width: usize) -> usize {
    if WIDTH == 0 { width } else { WIDTH }
}

/// Decodes a position with one load. Assembling it from bytes in memory would wait for pending
/// stores.
#[inline(always)]
pub(crate) fn read_position<const N: usize>(bytes: &[u8; N]) -> usize {
    match (bytes.first_chunk::<8>(), bytes.first_chunk::<4>()) {
        (Some(bytes), _) => u64::from_le_bytes(*bytes) as usize,
        (_, Some(bytes)) => u32::from_le_bytes(*bytes) as usize,
        _ => 0,
    }
}

fn copy_requested_rows<const WIDTH: usize, const N: usize>(
    rows: RowBytes<'_>,
    positions: &[u8],
    out: &mut [u8],
) {
    let width = row_width::<WIDTH>(rows.width);
    let (positions, _) = positions.as_chunks::<N>();
    for (at, (position, out)) in positions.iter().zip(out.chunks_exact_mut(width)).enumerate() {
        if let Some(upcoming) = positions.get(at.wrapping_add(PREFETCH_DISTANCE)) {
            prefetch::prefetch(rows.bytes, read_position(upcoming).wrapping_mul(width));
        }
        out.copy_from_slice(&rows.bytes[read_position(position).wrapping_mul(width)..][..width]);
    }
}
