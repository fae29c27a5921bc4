//! Laplace's equation by Jacobi iteration: `array_laplace 4000 100`, or under `mpiexec -n 4`.

use std::time::Instant;

use dappled::prelude::*;

/// Replaces each inner element by the mean of its four neighbours.
fn step(u: &Array<f64>) -> dappled::Result<()> {
    let (up, down) = (u.slice(s![..-2, 1..-1]), u.slice(s![2.., 1..-1]));
    let (left, right) = (u.slice(s![1..-1, ..-2]), u.slice(s![1..-1, 2..]));
    u.slice(s![1..-1, 1..-1]).assign((up + down + left + right) / 4.0)
}

fn main() -> dappled::Result<()> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let [size, iterations] = arguments[..] else { panic!("usage: array_laplace SIZE ITERATIONS") };
    let cx = Context::init()?;
    let u = Array::<f64>::zeros(&cx, [size, size]);
    u.slice(s![0]).fill(1.0)?;
    let start = Instant::now();
    for _ in 0..iterations {
        step(&u)?;
    }
    let elapsed = start.elapsed().as_secs_f64() * 1e3 / iterations.max(1) as f64;
    let corner = u.slice(s![1..2, 1..4]).to_vec()?;
    if cx.rank() == 0 {
        println!("{} ranks: {elapsed:.2} ms per iteration, u[1, 1:4] = {corner:?}", cx.size());
    }
    Ok(())
}
