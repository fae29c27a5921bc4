//! The communication volume of distributed matrix products.

use super::blocks;
use crate::array::Array;
use crate::session::Session;

/// A distributed algorithm.
pub(super) enum Algorithm {
    /// SUMMA on a process grid.
    Summa([u64; 2]),
    /// Ranks divide the inner axis, and the products are summed.
    InnerSplit,
}

/// The process grids of both factors, where they are known.
type Grids = [Option<[u64; 2]>; 2];

/// Chooses the algorithm by which a rank receives the fewest elements.
pub(super) fn choose(session: &Session, lengths: [usize; 3], factors: [&Array; 2]) -> Algorithm {
    let ranks = session.fabric().size();
    let grids = factors.map(known_grid);
    let [rows, inner, columns] = lengths.map(|length| length as f64);
    let default = blocks(session, &[lengths[0], lengths[2]], "bb", None).grid_shape();
    let mut best = [default[0], default[1]];
    for rows in (1..=ranks).rev().filter(|rows| ranks.is_multiple_of(*rows)) {
        let grid = [rows, ranks / rows];
        if summa_volume(lengths, grid, grids) < summa_volume(lengths, best, grids) {
            best = grid;
        }
    }
    let is_small = rows * columns * ranks as f64 <= (rows + columns) * inner;
    let split = inner_split_volume(lengths, ranks, grids);
    match is_small && split < summa_volume(lengths, best, grids) {
        true => Algorithm::InnerSplit,
        false => Algorithm::Summa(best),
    }
}

/// The process grid of a distributed matrix or of its transpose; `None` for other views.
fn known_grid(matrix: &Array) -> Option<[u64; 2]> {
    if matrix.is_replicated() {
        return None;
    }
    if let Ok(distribution) = matrix.distribution() {
        let grid = distribution.grid_shape();
        return Some([grid[0], grid[1]]);
    }
    let grid = matrix.transposed(&[1, 0]).distribution().ok()?.grid_shape();
    Some([grid[1], grid[0]])
}

/// Elements that a rank receives with SUMMA.
fn summa_volume(lengths: [usize; 3], grid: [u64; 2], [left, right]: Grids) -> f64 {
    let [rows, inner, columns] = lengths.map(|length| length as f64);
    let remote = |is_aligned: bool, ranks: u64| match is_aligned {
        true => 1.0 - 1.0 / ranks as f64,
        false => 1.0,
    };
    let left = left.map_or(1.0, |one| remote(one[0] == grid[0], one[1]));
    let right = right.map_or(1.0, |other| remote(other[1] == grid[1], other[0]));
    inner * (left * rows / grid[0] as f64 + right * columns / grid[1] as f64)
}

/// Elements that a rank receives if ranks divide the inner axis.
fn inner_split_volume(lengths: [usize; 3], ranks: u64, [left, right]: Grids) -> f64 {
    let [rows, inner, columns] = lengths.map(|length| length as f64);
    let left = if left == Some([1, ranks]) { 0.0 } else { rows };
    let right = if right == Some([ranks, 1]) { 0.0 } else { columns };
    inner * (left + right) / ranks as f64 + rows * columns
}
