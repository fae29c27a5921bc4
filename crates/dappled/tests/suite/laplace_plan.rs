//! The Laplace iteration, planned and run on several numbers of ranks, compared with a loop.

#[path = "../../examples/laplace/grid.rs"]
mod grid;

use dappled::protocol::Distribution;
use dappled_fabric::Threads;
use grid::{initial, iterate, piece_of};

const ROWS: u64 = 13;
const COLUMNS: u64 = 9;
const TIMES: u64 = 20;

/// The result of the reference loop.
fn reference() -> Vec<Vec<f64>> {
    let row = |row| (0..COLUMNS).map(|column| initial(row, column)).collect();
    let mut u: Vec<Vec<f64>> = (0..ROWS).map(row).collect();
    for _ in 0..TIMES {
        let old = u.clone();
        for row in 1..u.len() - 1 {
            for column in 1..u[row].len() - 1 {
                let sum = old[row - 1][column] + old[row + 1][column] + old[row][column - 1];
                u[row][column] = (sum + old[row][column + 1]) / 4.0;
            }
        }
    }
    u
}

fn check_pieces(u: &Distribution) {
    let wanted = reference();
    let pieces = Threads::run(u.nprocs(), |fabric| iterate(&fabric, u, TIMES).unwrap().0);
    for (rank, piece) in (0u64..).zip(pieces) {
        let wanted = piece_of(u, rank, |row, column| wanted[row as usize][column as usize]);
        let (found, wanted) = (piece.buffer.to_vec::<f64>(), wanted.buffer.to_vec::<f64>());
        assert_eq!(found, wanted, "rank {rank} of {u:?}");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_ranks() {
    for ranks in [1, 2, 3, 4, 7, 12] {
        for dist in ["bb", "bn", "nb"] {
            let spec = Distribution::spec(&[ROWS, COLUMNS]).dist(dist);
            check_pieces(&spec.nprocs(ranks).build().unwrap());
        }
    }
}

#[test]
fn uneven_bounds_and_empty_ranks() {
    let mut spec = Distribution::spec(&[ROWS, COLUMNS]);
    spec.axes[0].bounds = Some(vec![0, 0, 1, 9, 9, 13]);
    spec.axes[1].bounds = Some(vec![0, 8, 9]);
    check_pieces(&spec.build().unwrap());
}
