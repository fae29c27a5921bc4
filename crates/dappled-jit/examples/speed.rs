//! Times the 5-point stencil and a chain, interpreted and compiled, and the compilation itself.

use std::sync::Arc;
use std::time::Instant;

use dappled_jit::{JitMode, LoopCache};
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

/// `a*b + c*2 - sqrt(abs(a))`.
fn chain() -> Program {
    let mut program = Program::new(vec![FLOAT; 3], vec![Scalar::new(2.0)]);
    let [a, b, c] = [0, 1, 2].map(|at| program.input(at));
    let product = program.push(Op::Multiply, FLOAT, &[a, b]);
    let double = program.push(Op::Multiply, FLOAT, &[c, program.constant(0)]);
    let sum = program.push(Op::Add, FLOAT, &[product, double]);
    let size = program.push(Op::Absolute, FLOAT, &[a]);
    let root = program.push(Op::Sqrt, FLOAT, &[size]);
    let result = program.push(Op::Subtract, FLOAT, &[sum, root]);
    program.outputs.push(result);
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

fn milliseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

/// The best times of all engines, measured alternately.
fn best(times: usize, engines: &[Interpreter], mut run: impl FnMut(&Interpreter)) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; engines.len()];
    for _ in 0..times {
        for (engine, best) in engines.iter().zip(&mut best) {
            *best = best.min(milliseconds(|| run(engine)));
        }
    }
    best
}

fn engines(program: &Program) -> Result<[Interpreter; 2], Error> {
    let loops = Arc::new(LoopCache::new(JitMode::Always));
    Ok([Interpreter::new(program)?, Interpreter::new(program)?.with_compiler(loops)])
}

fn main() -> Result<(), Error> {
    let engines_of_stencil = engines(&stencil())?;
    let shown = |name: String, times: &[f64]| {
        println!("{name:>16}  interpreted {:8.3} ms  compiled {:8.3} ms", times[0], times[1]);
    };
    for (size, times) in [(100, 2000), (1000, 300), (4000, 30), (10_000, 8)] {
        let shifted = [(0, 1), (2, 1), (1, 0), (1, 2)].map(|(row, at)| inner(size, row, at));
        let middle = inner(size, 1, 1);
        let mut pair = [(); 2].map(|()| Buffer::full(Scalar::new(1.0), size * size));
        let run = |engine: &Interpreter| {
            let inputs =
                shifted.each_ref().map(|view| BufferView::new(&pair[0], view).expect("inside"));
            engine
                .run(&inputs, &[BufferView::new(&pair[1], &middle).expect("inside")])
                .expect("legal");
            pair.swap(0, 1);
        };
        shown(format!("laplace {size}²"), &best(times, &engines_of_stencil, run));
    }
    let engines_of_chain = engines(&chain())?;
    for (len, times) in [(10_000, 2000), (1_000_000, 100), (50_000_000, 6)] {
        let numbers = [0.5, 1.5, -2.5, 0.0].map(|value| Buffer::full(Scalar::new(value), len));
        let view = View::c_order(FLOAT, &[len]);
        let run = |engine: &Interpreter| {
            let all =
                numbers.each_ref().map(|buffer| BufferView::new(buffer, &view).expect("inside"));
            engine.run(&all[..3], &all[3..]).expect("legal");
        };
        shown(format!("chain {len}"), &best(times, &engines_of_chain, run));
    }
    for (name, program) in [("stencil", stencil()), ("chain", chain())] {
        let (a, view) = (Buffer::full(Scalar::new(1.0), 64), View::c_order(FLOAT, &[64]));
        let out = Buffer::zeroed(512);
        let compiled = (0..20).map(|_| {
            let [_, engine] = engines(&program).expect("legal");
            milliseconds(|| {
                let inputs =
                    vec![BufferView::new(&a, &view).expect("inside"); program.inputs.len()];
                engine
                    .run(&inputs, &[BufferView::new(&out, &view).expect("inside")])
                    .expect("legal");
            })
        });
        println!("compiling the {name}: {:.3} ms", compiled.fold(f64::INFINITY, f64::min));
    }
    Ok(())
}
