//! A fold of what is being written, against the write and then the fold: the same bits and signals,
//! for any box of an array, any fold and any number of threads.

use dappled_kernels::{
    Buffer, DType, Engine, Fold, Interpreter, Op, Operand, Program, Raised, Reduction, View, Write,
    reduce, reduce_written,
};
use proptest::prelude::*;

const F: DType = DType::Float64;

/// `a / b`
fn quotient() -> Interpreter {
    let mut program = Program::new(vec![F; 2], vec![]);
    let root = program.push(Op::Divide, F, &[program.input(0), program.input(1)]);
    program.outputs.push(root);
    Interpreter::new(&program).unwrap()
}

/// `(u - v) * u`
fn values() -> Interpreter {
    let mut program = Program::new(vec![F; 2], vec![]);
    let difference = program.push(Op::Subtract, F, &[program.input(0), program.input(1)]);
    let root = program.push(Op::Multiply, F, &[difference, program.input(0)]);
    program.outputs.push(root);
    Interpreter::new(&program).unwrap()
}

/// Numbers, some of which signal something.
fn numbers(count: usize, seed: usize) -> Buffer {
    let number = |at: usize| match (at * 7919 + seed) % 2003 {
        7 => 0.0,
        11 => 1e300,
        some => some as f64 * 0.37 - 370.0,
    };
    Buffer::from_slice(&(0..count).map(number).collect::<Vec<f64>>())
}

/// An array's shape, and the part of each axis that is written.
fn setting() -> impl Strategy<Value = (Vec<usize>, Vec<(usize, usize)>)> {
    let shapes = vec![vec![5000], vec![70_000], vec![90, 400], vec![3, 20, 130], vec![400, 70]];
    prop::sample::select(shapes).prop_flat_map(|shape| {
        let side = |&length: &usize| (0..length / 2, 0..length / 2);
        let sides: Vec<_> = shape.iter().map(side).collect();
        (Just(shape), sides)
    })
}

type Bits = (Vec<u64>, Vec<u64>, Raised, Raised);

/// The array and the fold's result afterwards, and what was signalled, if it is done in one pass.
fn folded(
    shape: &[usize],
    sides: &[(usize, usize)],
    fold: Fold,
    threads: usize,
    at_once: bool,
) -> Option<Bits> {
    let all = View::c_order(F, shape);
    let cut = |view: View, (axis, &(before, after)): (usize, &(usize, usize))| {
        view.region(axis, before, 1, shape[axis] - before - after)
    };
    let part = sides.iter().enumerate().fold(all.clone(), cut);
    let (u, v) = (numbers(all.len(), 1), numbers(all.len(), 500));
    let (out, one) = (Buffer::zeroed(8), View::c_order(F, &vec![1; shape.len()]));
    let axes: Vec<usize> = (0..shape.len()).collect();
    let reduction = Reduction::new(fold, F, &axes, &all.strides);
    let (divide, code) = (quotient(), values());
    let operand = |buffer, view| Operand::new(buffer, view).unwrap();
    let w = numbers(all.len(), 900);
    let read = [operand(&v, &part), operand(&w, &part)];
    let write = Write { code: &divide, inputs: &read, target: operand(&u, &part), both: None };
    let (inputs, out_operand) = ([operand(&u, &all), operand(&v, &all)], operand(&out, &one));
    let done = || match at_once {
        true => reduce_written(&code, &inputs, &write, &reduction, &out_operand).unwrap(),
        false => {
            let raised = divide.run(&read, &[write.target]).unwrap();
            Some((reduce(&code, &inputs, &reduction, &out_operand).unwrap(), raised))
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (folded, raised) = if threads == 0 { done() } else { pool.install(done) }?;
    let bits = |buffer: &Buffer| buffer.to_vec::<u64>();
    Some((bits(&u), bits(&out), raised, folded.steps))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_one_after_the_other(
        (shape, sides) in setting(),
        fold in prop::sample::select(vec![Fold::Add, Fold::Multiply, Fold::Minimum, Fold::Maximum]),
        threads in 0..4usize,
    ) {
        let wanted = folded(&shape, &sides, fold, 1, false);
        let found = folded(&shape, &sides, fold, threads, true);
        let long_rows = shape[shape.len() - 1] - sides[shape.len() - 1].0 - sides[shape.len() - 1].1;
        prop_assert!(found.is_some() || long_rows < 64);
        if found.is_some() {
            prop_assert_eq!(found, wanted);
        }
    }
}
