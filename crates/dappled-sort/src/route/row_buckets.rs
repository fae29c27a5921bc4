//! Groups a block of rows by part with a counting sort, at a cost independent of the number of
//! parts per row.

use dappled_base::memory;

use super::simd_select::BLOCK_ROWS;

/// The rows of one block, grouped by part.
pub(crate) struct RowBuckets {
    /// Offsets of the rows in the block, grouped by part.
    rows: [u8; BLOCK_ROWS],
    /// Start of each part's group, and the total.
    starts: Vec<u16>,
    /// The part of each row.
    buckets: [u32; BLOCK_ROWS],
}

impl RowBuckets {
    pub fn new(parts: usize) -> Self {
        Self { rows: [0; _], starts: vec![0; parts + 1], buckets: [0; _] }
    }

    /// Groups rows by part; `starts` are the first rows of the parts.
    pub fn assign(&mut self, rows: &[u64], starts: &[u64]) {
        self.starts.fill(0);
        for (part, row) in self.buckets.iter_mut().zip(rows) {
            let bucket = starts.partition_point(|start| start <= row).wrapping_sub(1);
            *part = bucket as u32;
            self.starts[bucket] += 1;
        }
        let mut before = 0;
        for start in &mut self.starts {
            before += std::mem::replace(start, before);
        }
        for (at, &part) in self.buckets[..rows.len()].iter().enumerate() {
            let slot = &mut self.starts[part as usize];
            self.rows[usize::from(*slot)] = at as u8;
            *slot += 1;
        }
        // The counting pass has advanced each start to the next one.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Returns the offsets of the rows in a part.
    pub fn bucket(&self, part: usize) -> &[u8] {
        &self.rows[self.starts[part].into()..self.starts[part + 1].into()]
    }

    /// Appends the positions of a part's rows, relative to the start of the part, to its column.
    pub fn append_positions(
        &self,
        column: &mut Vec<u8>,
        rows: &[u64],
        (part, start): (usize, u64),
        bytes: usize,
    ) {
        for &at in self.bucket(part) {
            let position = rows[usize::from(at)] - start;
            memory::append(column, &position.to_le_bytes()[..bytes]);
        }
    }
}
