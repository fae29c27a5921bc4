//! A few rows in the order of the many parts that they are in: what each costs does not depend on how
//! many parts there are.

use dappled_base::memory;

use crate::near::NEAR;

/// Which of a few rows are in which part.
pub(crate) struct Dealt {
    /// Which rows, part by part.
    at: [u8; NEAR],
    /// Of each part, the first of those; and at last how many there are.
    starts: Vec<u16>,
    /// The part of each row.
    part: [u32; NEAR],
}

impl Dealt {
    pub fn new(parts: usize) -> Self {
        Self { at: [0; _], starts: vec![0; parts + 1], part: [0; _] }
    }

    /// Deals rows, which are in range, to the parts that begin with these rows.
    pub fn deal(&mut self, rows: &[u64], starts: &[u64]) {
        self.starts.fill(0);
        for (part, row) in self.part.iter_mut().zip(rows) {
            let found = starts.partition_point(|start| start <= row).wrapping_sub(1);
            *part = found as u32;
            self.starts[found] += 1;
        }
        let mut before = 0;
        for start in &mut self.starts {
            before += std::mem::replace(start, before);
        }
        for (at, &part) in self.part[..rows.len()].iter().enumerate() {
            let slot = &mut self.starts[part as usize];
            self.at[usize::from(*slot)] = at as u8;
            *slot += 1;
        }
        // Each start has become the next one.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Which rows are in a part.
    pub fn at(&self, part: usize) -> &[u8] {
        &self.at[self.starts[part].into()..self.starts[part + 1].into()]
    }

    /// Appends the places, of so many bytes, of the rows of a part that begins there to its column.
    pub fn append(
        &self,
        column: &mut Vec<u8>,
        rows: &[u64],
        (part, start): (usize, u64),
        bytes: usize,
    ) {
        for &at in self.at(part) {
            let place = rows[usize::from(at)] - start;
            memory::append(column, &place.to_le_bytes()[..bytes]);
        }
    }
}
