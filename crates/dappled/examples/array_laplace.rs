//! Jacobi iteration for Laplace's equation with lazy, fused, distributed arrays.
//!
//! Run `array_laplace 4000 100`, or `mpiexec -n 4 array_laplace 4000 100`.

use std::time::Instant;

use dappled::protocol::slice::KeyItem;
use dappled::{Array, GraphError, Session};
use dappled_fabric::connect;

/// The slice `start:stop`; negative bounds count from the end.
fn slice(start: i64, stop: Option<i64>) -> KeyItem {
    KeyItem::Slice(Some(start), stop, None)
}

/// Replaces each inner element by the mean of its four neighbours.
fn step(u: &Array) -> Result<(), GraphError> {
    let inner = slice(1, Some(-1));
    let up = u.slice(&[slice(0, Some(-2)), inner])?;
    let down = u.slice(&[slice(2, None), inner])?;
    let left = u.slice(&[inner, slice(0, Some(-2))])?;
    let right = u.slice(&[inner, slice(2, None)])?;
    let mean = up.add(&down)?.add(&left)?.add(&right)?.divide(4.0)?;
    u.slice(&[inner, inner])?.assign(&mean)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [size, iterations] = arguments[..] else {
        return Err("usage: array_laplace SIZE ITERATIONS".into());
    };
    let session = Session::new(connect()?);
    let u = Array::full(&session, &[size, size], 0.0);
    u.slice(&[KeyItem::Index(0)])?.fill(1.0)?;
    let start = Instant::now();
    for _ in 0..iterations {
        step(&u)?;
    }
    let elapsed = start.elapsed().as_secs_f64() * 1e3 / iterations.max(1) as f64;
    let corner = u.slice(&[slice(1, Some(2)), slice(1, Some(4))])?.to_vec::<f64>()?;
    if session.fabric().rank() == 0 {
        println!(
            "{} ranks: {elapsed:.2} ms per iteration, u[1, 1:4] = {corner:?}",
            session.fabric().size()
        );
    }
    Ok(session.fabric().leave(0)?)
}
