//! The example of the design page as a Rust user writes it: lazy, fused, on all ranks.
//!
//! `array_laplace 4000 100`, or `mpiexec -n 4 array_laplace 4000 100`.

use std::time::Instant;

use dappled::graph::{Array, GraphError, Session};
use dappled::protocol::slice::Item;
use dappled_fabric::connect;

/// `start:stop` from either end.
fn cut(start: i64, stop: Option<i64>) -> Item {
    Item::Slice(Some(start), stop, None)
}

fn step(u: &Array) -> Result<(), GraphError> {
    let inner = cut(1, Some(-1));
    let up = u.part(&[cut(0, Some(-2)), inner])?;
    let down = u.part(&[cut(2, None), inner])?;
    let left = u.part(&[inner, cut(0, Some(-2))])?;
    let right = u.part(&[inner, cut(2, None)])?;
    let mean = up.add(&down)?.add(&left)?.add(&right)?.divide(4.0)?;
    u.part(&[inner, inner])?.assign(&mean)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [size, times] = numbers[..] else { return Err("usage: array_laplace SIZE TIMES".into()) };
    let session = Session::new(connect()?);
    let u = Array::full(&session, &[size, size], 0.0);
    u.part(&[Item::Index(0)])?.fill(1.0)?;
    let start = Instant::now();
    for _ in 0..times {
        step(&u)?;
    }
    let elapsed = start.elapsed().as_secs_f64() * 1e3 / times.max(1) as f64;
    let corner = u.part(&[cut(1, Some(2)), cut(1, Some(4))])?.to_vec::<f64>()?;
    if session.fabric().rank() == 0 {
        println!(
            "{} ranks: {elapsed:.2} ms an iteration, u[1, 1:4] = {corner:?}",
            session.fabric().size()
        );
    }
    Ok(session.fabric().leave(0)?)
}
