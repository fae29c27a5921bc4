//! Times reductions: `cargo run --release --example reductions`.

use std::time::Instant;

use dappled_kernels::{
    Buffer, BufferView, DType, Error, Interpreter, Op, Program, ReduceOp, Reduction, View, reduce,
};

const FLOAT: DType = DType::Float64;

/// `(a - b) ** 2`, or `a` itself.
fn program(fused: bool) -> Program {
    let mut program = Program::new(vec![FLOAT; 1 + usize::from(fused)], vec![]);
    let mut root = program.input(0);
    if fused {
        root = program.push(Op::Subtract, FLOAT, &[root, program.input(1)]);
        root = program.push(Op::Square, FLOAT, &[root]);
    }
    program.outputs.push(root);
    program
}

/// The best time of several runs, in milliseconds.
fn time(fold: ReduceOp, fused: bool, view: &View, axes: &[usize]) -> Result<f64, Error> {
    let numbers: Vec<f64> =
        (0..view.byte_bounds().end as usize / 8).map(|at| (at % 1013) as f64).collect();
    let buffers = [Buffer::from_slice(&numbers), Buffer::from_slice(&numbers)];
    let inputs = buffers.each_ref().map(|buffer| BufferView::new(buffer, view).expect("inside"));
    let mut shape = view.shape.clone();
    axes.iter().for_each(|&axis| shape[axis] = 1);
    let target = View::c_order(FLOAT, &shape);
    let out = Buffer::zeroed(8 * target.len());
    let code = Interpreter::new(&program(fused))?;
    let reduction = Reduction::new(fold, FLOAT, axes, &view.strides);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        let inputs = &inputs[..1 + usize::from(fused)];
        reduce(&code, inputs, &reduction, &BufferView::new(&out, &target)?)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

fn main() -> Result<(), Error> {
    let matrix = View::c_order(FLOAT, &[5000, 5000]);
    let inner = matrix.slice_axis(0, 1, 1, 4998).slice_axis(1, 1, 1, 4998);
    let small = View::c_order(FLOAT, &[1000, 1000]);
    let tall = View::c_order(FLOAT, &[8_000_000, 3]);
    let cube = View::c_order(FLOAT, &[1000, 100, 250]);
    let cases: [(&str, &View, &[usize]); 10] = [
        ("all of 5000²", &matrix, &[0, 1]),
        ("axis 0 of 5000²", &matrix, &[0]),
        ("axis 1 of 5000²", &matrix, &[1]),
        ("all of the inner 4998²", &inner, &[0, 1]),
        ("all of 1000²", &small, &[0, 1]),
        ("axis 0 of 8000000 x 3", &tall, &[0]),
        ("axis 1 of 8000000 x 3", &tall, &[1]),
        ("axis 1 of 1000 x 100 x 250", &cube, &[1]),
        ("axes 0, 2 of 1000 x 100 x 250", &cube, &[0, 2]),
        ("axes 0, 1 of 1000 x 100 x 250", &cube, &[0, 1]),
    ];
    println!("{:<32}{:>10}{:>10}{:>10}", "ms", "sum", "max", "sum (a-b)²");
    for (what, view, axes) in cases {
        let [sum, max] =
            [ReduceOp::Add, ReduceOp::Maximum].map(|fold| time(fold, false, view, axes));
        println!(
            "{what:<32}{:>10.2}{:>10.2}{:>10.2}",
            sum?,
            max?,
            time(ReduceOp::Add, true, view, axes)?
        );
    }
    Ok(())
}
