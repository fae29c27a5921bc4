//! Laplace's equation on all ranks: `mpiexec -n 4 laplace 4000 4000 100`, or without `mpiexec`.
//!
//! Rank 0 prints the time per iteration and the bits of a sum over the result, which do not depend
//! on the number of ranks.

mod grid;

use dappled::protocol::Distribution;
use dappled_fabric::{Fabric, Tag, connect};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<u64> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [rows, columns, iterations] = arguments[..] else {
        return Err("usage: laplace ROWS COLUMNS ITERATIONS".into());
    };
    let fabric = connect()?;
    let u = Distribution::spec(&[rows, columns]).dist("bn").nprocs(fabric.size()).build()?;
    let (piece, elapsed) = grid::iterate(&*fabric, &u, iterations)?;
    let elapsed = elapsed.as_secs_f64() * 1e3 / iterations.max(1) as f64;
    let sum = ordered_sum(&*fabric, &piece.buffer.to_vec::<f64>(), columns)?;
    if fabric.rank() == 0 {
        println!("{} ranks, {}: {elapsed:.2} ms per iteration", fabric.size(), fabric.name());
        println!("sum {sum} {:016x}", sum.to_bits());
    }
    Ok(fabric.leave(0)?)
}

/// The sum of the sums of the rows, in order: independent of the number of ranks.
fn ordered_sum(
    fabric: &dyn Fabric,
    cells: &[f64],
    columns: u64,
) -> Result<f64, Box<dyn std::error::Error>> {
    let sums = cells.chunks(columns as usize).map(|row| row.iter().sum::<f64>());
    let bytes = sums.flat_map(f64::to_ne_bytes).collect();
    let bytes = fabric.allgather(Tag::new(0, "sum"), bytes)?.concat();
    let (sums, _) = bytes.as_chunks::<8>();
    Ok(sums.iter().map(|row| f64::from_ne_bytes(*row)).sum())
}
