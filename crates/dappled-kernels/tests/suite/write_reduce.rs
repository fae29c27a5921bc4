//! A reduction fused with a pending write, against the write followed by the reduction.
//!
//! Bits and flags agree for any region, any operation and any number of threads.

use dappled_kernels::{
    Buffer, BufferView, DType, Engine, Interpreter, Op, PendingWrite, Program, ReduceOp, Reduction,
    StepFlags, View, reduce, write_and_reduce,
};
use proptest::prelude::*;

const F: DType = DType::Float64;

/// `a / b`.
fn quotient() -> Interpreter {
    let mut program = Program::new(vec![F; 2], vec![]);
    let root = program.push(Op::Divide, F, &[program.input(0), program.input(1)]);
    program.outputs.push(root);
    Interpreter::new(&program).unwrap()
}

/// `(u - v) * u`.
fn values() -> Interpreter {
    let mut program = Program::new(vec![F; 2], vec![]);
    let difference = program.push(Op::Subtract, F, &[program.input(0), program.input(1)]);
    let root = program.push(Op::Multiply, F, &[difference, program.input(0)]);
    program.outputs.push(root);
    Interpreter::new(&program).unwrap()
}

/// Numbers, some of which raise flags.
fn numbers(count: usize, seed: usize) -> Buffer {
    let number = |at: usize| match (at * 7919 + seed) % 2003 {
        7 => 0.0,
        11 => 1e300,
        some => some as f64 * 0.37 - 370.0,
    };
    Buffer::from_slice(&(0..count).map(number).collect::<Vec<f64>>())
}

/// The shape of an array, and the written range of each axis.
fn setting() -> impl Strategy<Value = (Vec<usize>, Vec<(usize, usize)>)> {
    let shapes = vec![vec![5000], vec![70_000], vec![90, 400], vec![3, 20, 130], vec![400, 70]];
    prop::sample::select(shapes).prop_flat_map(|shape| {
        let side = |&length: &usize| (0..length / 2, 0..length / 2);
        let sides: Vec<_> = shape.iter().map(side).collect();
        (Just(shape), sides)
    })
}

type Bits = (Vec<u64>, Vec<u64>, StepFlags, StepFlags);

/// The array, the result of the reduction and the flags, if one pass is possible.
fn run_case(
    shape: &[usize],
    sides: &[(usize, usize)],
    fold: ReduceOp,
    threads: usize,
    at_once: bool,
) -> Option<Bits> {
    let all = View::c_order(F, shape);
    let cut = |view: View, (axis, &(before, after)): (usize, &(usize, usize))| {
        view.slice_axis(axis, before, 1, shape[axis] - before - after)
    };
    let part = sides.iter().enumerate().fold(all.clone(), cut);
    let (u, v) = (numbers(all.len(), 1), numbers(all.len(), 500));
    let (out, one) = (Buffer::zeroed(8), View::c_order(F, &vec![1; shape.len()]));
    let axes: Vec<usize> = (0..shape.len()).collect();
    let reduction = Reduction::new(fold, F, &axes, &all.strides);
    let (divide, code) = (quotient(), values());
    let operand = |buffer, view| BufferView::new(buffer, view).unwrap();
    let w = numbers(all.len(), 900);
    let read = [operand(&v, &part), operand(&w, &part)];
    let write =
        PendingWrite { code: &divide, inputs: &read, target: operand(&u, &part), fused: None };
    let (inputs, out_operand) = ([operand(&u, &all), operand(&v, &all)], operand(&out, &one));
    let done = || match at_once {
        true => write_and_reduce(&code, &inputs, &write, &reduction, &out_operand).unwrap(),
        false => {
            let raised = divide.run(&read, &[write.target]).unwrap();
            Some((reduce(&code, &inputs, &reduction, &out_operand).unwrap(), raised))
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (reduced, raised) = if threads == 0 { done() } else { pool.install(done) }?;
    let bits = |buffer: &Buffer| buffer.to_vec::<u64>();
    Some((bits(&u), bits(&out), raised, reduced.steps))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fused_writes_agree_with_separate_ones(
        (shape, sides) in setting(),
        fold in prop::sample::select(vec![ReduceOp::Add, ReduceOp::Multiply, ReduceOp::Minimum, ReduceOp::Maximum]),
        threads in 0..4usize,
    ) {
        let wanted = run_case(&shape, &sides, fold, 1, false);
        let found = run_case(&shape, &sides, fold, threads, true);
        let long_rows = shape[shape.len() - 1] - sides[shape.len() - 1].0 - sides[shape.len() - 1].1;
        prop_assert!(found.is_some() || long_rows < 64);
        if found.is_some() {
            prop_assert_eq!(found, wanted);
        }
    }
}
