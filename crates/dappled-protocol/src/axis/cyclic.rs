//! Cyclic and block-cyclic axis map: blocks are assigned round-robin.
//!
//! | with `b = block_size`, `p = grid` | |
//! |---|---|
//! | owner of `g` | `(g / b) % p` |
//! | local index of `g` | `g / (b * p) * b + g % b` |
//! | global index of `l` on rank `r` | `l / b * (b * p) + r * b + l % b` |
//! | owned by `r` below `n` | `n / (b * p) * b + clamp(n % (b * p) - r * b, 0, b)` |
//!
//! In a region `start + step * v` the owned positions repeat every `b * p / gcd(b * p, step)`, in
//! no simple pattern. Their number below a position is a sum of floors, computed in logarithmic
//! time by Euclid's algorithm, so no table is needed.

use std::ops::Range;

use super::{OwnedRun, StructuredMap};
use crate::region::Region;

/// A cyclic axis map, restricted to a region.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CyclicMap {
    size: u64,
    grid: u64,
    pub block_size: u64,
    region: Region,
    /// Only version 0.9 allows it here; kept so that it can be written back.
    pub periodic: bool,
}

impl CyclicMap {
    pub fn new(size: u64, grid: u64, block_size: u64) -> Self {
        Self { size, grid, block_size, region: Region::all(size), periodic: false }
    }

    /// Returns whether this is a complete axis rather than a view.
    pub fn is_axis(&self) -> bool {
        self.region.is_all(self.size)
    }

    /// Returns the map of a region; a complete cyclic axis again if that is equivalent.
    pub fn view(&self, region: Region) -> Self {
        let region = self.region.then(region);
        let axis = |block_size| Self::new(region.len(), self.grid, block_size);
        if self.grid == 1 || region.is_empty() {
            return axis(self.block_size);
        }
        // From the start of a cycle, a step that divides the block size gives smaller blocks, and
        // whole cycles added to the step change nothing.
        let turn = i128::from(self.block_size) * i128::from(self.grid);
        let step = i128::from(region.step()).rem_euclid(turn);
        let starts_turn = i128::from(region.start()) % turn == 0;
        if starts_turn && step > 0 && i128::from(self.block_size) % step == 0 {
            return axis(self.block_size / step as u64);
        }
        Self { region, periodic: false, ..self.clone() }
    }

    /// Returns the block size, limited to the axis length to keep products small.
    fn clamped_block_size(&self) -> u64 {
        self.block_size.min(self.size.max(1))
    }

    /// Returns the number of indices in one cycle, at most about twice the size.
    fn cycle(&self) -> u128 {
        let dealt_ranks = self.grid.min(self.size.div_ceil(self.clamped_block_size()).max(1));
        u128::from(dealt_ranks) * u128::from(self.clamped_block_size())
    }

    fn owned_below(&self, rank: u64, global: u64) -> u64 {
        let (block, turn) = (u128::from(self.clamped_block_size()), self.cycle());
        let first = u128::from(rank) * block;
        if first >= turn {
            return 0;
        }
        let (turns, rest) = (u128::from(global) / turn, u128::from(global) % turn);
        (turns * block + rest.saturating_sub(first).min(block)) as u64
    }

    /// Counts the positions below `position` in the view that `rank` owns.
    fn owned_in_view(&self, rank: u64, position: u64) -> u64 {
        let (block, turn) = (u128::from(self.clamped_block_size()), self.cycle());
        let first = u128::from(rank) * block;
        if first >= turn {
            return 0;
        }
        let step = i128::from(self.region.step()).rem_euclid(turn as i128) as u128;
        let shift = (u128::from(self.region.start()) + turn - first) % turn;
        // floor((x + shift) / turn) - floor((x + shift - block) / turn) is 1 inside a block.
        let inside = floor_sum(position.into(), turn, step, shift)
            .wrapping_sub(floor_sum(position.into(), turn, step, shift + turn - block))
            .wrapping_add(position.into());
        inside as u64
    }
}

/// Returns the sum of `(a * i + b) / m` over `0 <= i < n`, modulo 2^128.
fn floor_sum(mut n: u128, mut m: u128, mut a: u128, mut b: u128) -> u128 {
    let mut sum = 0u128;
    loop {
        if n == 0 {
            return sum;
        }
        let pairs = if n.is_multiple_of(2) {
            (n / 2).wrapping_mul(n - 1)
        } else {
            ((n - 1) / 2).wrapping_mul(n)
        };
        sum = sum.wrapping_add(pairs.wrapping_mul(a / m)).wrapping_add(n.wrapping_mul(b / m));
        (a, b) = (a % m, b % m);
        let top = a * n + b;
        if top < m {
            return sum;
        }
        (n, b) = (top / m, top % m);
        (m, a) = (a, m);
    }
}

impl StructuredMap for CyclicMap {
    fn size(&self) -> u64 {
        self.region.len()
    }

    fn grid(&self) -> u64 {
        self.grid
    }

    fn period(&self) -> Option<u128> {
        let turn = self.cycle();
        let step = u128::from(self.region.step().unsigned_abs());
        Some(turn / gcd(turn, step))
    }

    fn range(&self, _rank: u64) -> Option<Range<u64>> {
        None
    }

    fn run_at(&self, position: u64) -> OwnedRun {
        let global = self.region.at(position);
        let (block, step) = (self.clamped_block_size(), self.region.step());
        let (rank, inside) = ((global / block) % self.grid, global % block);
        let room = if step > 0 { block - 1 - inside } else { inside };
        let stop = (position + room / step.unsigned_abs() + 1).min(self.size());
        OwnedRun { rank, local: self.owned_before(rank, position), stop }
    }

    fn owned_before(&self, rank: u64, position: u64) -> u64 {
        match self.is_axis() {
            true => self.owned_below(rank, position),
            false => self.owned_in_view(rank, position),
        }
    }

    fn nth_owned(&self, rank: u64, count: u64) -> u64 {
        if self.is_axis() {
            let (block, turn) = (self.clamped_block_size(), self.cycle() as u64);
            return count / block * turn + rank * block + count % block;
        }
        // Bisection: the first position below which more than `count` are owned, minus one.
        let (mut low, mut high) = (count, self.size() - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.owned_before(rank, middle + 1) > count {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }
}

pub(crate) fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
