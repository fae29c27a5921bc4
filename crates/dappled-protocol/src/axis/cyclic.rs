//! Cyclic and block-cyclic: blocks dealt out in turn.
//!
//! | with `b = block_size`, `p = grid` | |
//! |---|---|
//! | owner of `g` | `(g / b) % p` |
//! | local index of `g` | `g / (b * p) * b + g % b` |
//! | global index of `l` on rank `r` | `l / b * (b * p) + r * b + l % b` |
//! | owned by `r` below `n` | `n / (b * p) * b + clamp(n % (b * p) - r * b, 0, b)` |
//!
//! Through a region `start + step * v` the owned positions repeat every
//! `b * p / gcd(b * p, step)`, in no simple pattern; how many of them lie below a position is a
//! sum of floors, which Euclid's algorithm gives in logarithmic time. So nothing is tabulated.

use std::ops::Range;

use super::{Run, Structured};
use crate::region::Region;

/// The cyclic axis map, seen through a region.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Cyclic {
    size: u64,
    grid: u64,
    pub block_size: u64,
    region: Region,
    /// 0.9 can say so; it means nothing here but that it must be written again.
    pub periodic: bool,
}

impl Cyclic {
    pub fn new(size: u64, grid: u64, block_size: u64) -> Self {
        Self { size, grid, block_size, region: Region::all(size), periodic: false }
    }

    /// Is it an axis itself, not a part of one?
    pub fn is_axis(&self) -> bool {
        self.region.is_all(self.size)
    }

    /// What is left of the axis in a region of it; an axis again where a cyclic one can say it.
    pub fn view(&self, region: Region) -> Self {
        let region = self.region.then(region);
        let axis = |block_size| Self::new(region.len(), self.grid, block_size);
        if self.grid == 1 || region.is_empty() {
            return axis(self.block_size);
        }
        // From the start of a turn on, steps that divide the block deal out smaller blocks,
        // and whole turns more or less in a step change nothing.
        let turn = i128::from(self.block_size) * i128::from(self.grid);
        let step = i128::from(region.step()).rem_euclid(turn);
        let starts_turn = i128::from(region.start()) % turn == 0;
        if starts_turn && step > 0 && i128::from(self.block_size) % step == 0 {
            return axis(self.block_size / step as u64);
        }
        Self { region, periodic: false, ..self.clone() }
    }

    /// The block size, but not longer than the axis: keeps products small.
    fn block(&self) -> u64 {
        self.block_size.min(self.size.max(1))
    }

    /// Indices dealt out in one turn, at most about twice the size.
    fn turn(&self) -> u128 {
        let dealt_ranks = self.grid.min(self.size.div_ceil(self.block()).max(1));
        u128::from(dealt_ranks) * u128::from(self.block())
    }

    fn owned_below(&self, rank: u64, global: u64) -> u64 {
        let (block, turn) = (u128::from(self.block()), self.turn());
        let first = u128::from(rank) * block;
        if first >= turn {
            return 0;
        }
        let (turns, rest) = (u128::from(global) / turn, u128::from(global) % turn);
        (turns * block + rest.saturating_sub(first).min(block)) as u64
    }

    /// How many of the first `position` positions of the view lie in a block of `rank`.
    fn owned_in_view(&self, rank: u64, position: u64) -> u64 {
        let (block, turn) = (u128::from(self.block()), self.turn());
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

/// The sum of `(a * i + b) / m` over `0 <= i < n`, modulo 2^128.
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

impl Structured for Cyclic {
    fn size(&self) -> u64 {
        self.region.len()
    }

    fn grid(&self) -> u64 {
        self.grid
    }

    fn period(&self) -> Option<u128> {
        let turn = self.turn();
        let step = u128::from(self.region.step().unsigned_abs());
        Some(turn / gcd(turn, step))
    }

    fn range(&self, _rank: u64) -> Option<Range<u64>> {
        None
    }

    fn run_at(&self, position: u64) -> Run {
        let global = self.region.at(position);
        let (block, step) = (self.block(), self.region.step());
        let (rank, inside) = ((global / block) % self.grid, global % block);
        let room = if step > 0 { block - 1 - inside } else { inside };
        let stop = (position + room / step.unsigned_abs() + 1).min(self.size());
        Run { rank, local: self.owned_before(rank, position), stop }
    }

    fn owned_before(&self, rank: u64, position: u64) -> u64 {
        match self.is_axis() {
            true => self.owned_below(rank, position),
            false => self.owned_in_view(rank, position),
        }
    }

    fn nth_owned(&self, rank: u64, count: u64) -> u64 {
        if self.is_axis() {
            let (block, turn) = (self.block(), self.turn() as u64);
            return count / block * turn + rank * block + count % block;
        }
        // The first position below which more than `count` are owned, less one.
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
