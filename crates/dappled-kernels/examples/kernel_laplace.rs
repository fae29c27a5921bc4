//! Times one step of the 5-point stencil: `cargo run --release --example kernel_laplace`.

use std::time::Instant;

use dappled_kernels::{
    Buffer, BufferView, DType, Engine, Error, Interpreter, Op, Program, Scalar, View,
};

const FLOAT: DType = DType::Float64;

/// `(north + south + west + east) / 4`.
fn stencil() -> Program {
    let mut program = Program::new(vec![FLOAT; 4], vec![Scalar::new(4.0)]);
    let mut sum = program.input(0);
    for neighbour in 1..4 {
        sum = program.push(Op::Add, FLOAT, &[sum, program.input(neighbour)]);
    }
    let mean = program.push(Op::Divide, FLOAT, &[sum, program.constant(0)]);
    program.outputs.push(mean);
    program
}

fn inner(size: usize, row: usize, column: usize) -> View {
    View::c_order(FLOAT, &[size, size]).slice_axis(0, row, 1, size - 2).slice_axis(
        1,
        column,
        1,
        size - 2,
    )
}

/// The best time of an iteration, in milliseconds.
fn time(engine: &dyn Engine, size: usize, iterations: usize) -> Result<f64, Error> {
    let shifted = [(0, 1), (2, 1), (1, 0), (1, 2)].map(|(row, column)| inner(size, row, column));
    let middle = inner(size, 1, 1);
    let mut pair =
        [Buffer::full(Scalar::new(1.0), size * size), Buffer::full(Scalar::new(1.0), size * size)];
    let mut best = f64::INFINITY;
    for _ in 0..iterations {
        let start = Instant::now();
        let inputs =
            shifted.each_ref().map(|view| BufferView::new(&pair[0], view).expect("inside"));
        engine.run(&inputs, &[BufferView::new(&pair[1], &middle)?])?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        pair.swap(0, 1);
    }
    Ok(best)
}

fn main() -> Result<(), Error> {
    let program = stencil();
    print!("{program}");
    let engine = Interpreter::new(&program)?;
    for (size, iterations) in [(100, 2000), (1000, 300), (4000, 30)] {
        println!("{size:>5}²  {:8.3} ms", time(&engine, size, iterations)?);
    }
    Ok(())
}
