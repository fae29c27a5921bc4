//! A run into the memory that it reads, against the same run aside and copied then.

use dappled_kernels::{Buffer, DType, Interpreter, Op, Operand, Program, View, execute};
use proptest::prelude::*;

const F: DType = DType::Float64;

/// `a0 + a1 * 0.5 + a2 * 0.5 + …`; of one input just that input.
fn program(inputs: usize) -> Program {
    let half = dappled_kernels::Scalar::new(0.5);
    let mut program = Program::new(vec![F; inputs], vec![half]);
    let mut total = program.input(0);
    for at in 1..inputs {
        let part = program.push(Op::Multiply, F, &[program.input(at), program.constant(0)]);
        total = program.push(Op::Add, F, &[total, part]);
    }
    program.outputs.push(total);
    program
}

/// A part of an array, these cells from its corner, in steps.
fn part(array: &View, shape: &[usize], start: &[usize], step: usize) -> View {
    (0..shape.len()).fold(array.clone(), |view, axis| {
        view.region(axis, start[axis], step as isize, shape[axis])
    })
}

/// What is in the array after a run into a part of it; None if it can't be done in one pass.
fn over(array: &[f64], inputs: &[View], target: &View) -> Option<Vec<f64>> {
    let memory = Buffer::from_slice(array);
    let code = Interpreter::new(&program(inputs.len())).unwrap();
    let operands: Vec<Operand<'_>> =
        inputs.iter().map(|view| Operand::new(&memory, view).unwrap()).collect();
    let done = code.run_over(&operands, &Operand::new(&memory, target).unwrap()).unwrap();
    drop(operands);
    done.map(|_| memory.to_vec())
}

fn aside(array: &[f64], inputs: &[View], target: &View) -> Vec<f64> {
    let memory = Buffer::from_slice(array);
    let apart = View::c_order(F, &target.shape);
    let made = Buffer::zeroed(apart.len() * 8);
    let operands: Vec<Operand<'_>> =
        inputs.iter().map(|view| Operand::new(&memory, view).unwrap()).collect();
    execute(&program(inputs.len()), &operands, &[Operand::new(&made, &apart).unwrap()]).unwrap();
    drop(operands);
    let mut copy = Program::new(vec![F], vec![]);
    copy.outputs.push(copy.input(0));
    let (from, to) = (Operand::new(&made, &apart).unwrap(), Operand::new(&memory, target).unwrap());
    execute(&copy, &[from], &[to]).unwrap();
    memory.to_vec()
}

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|at| (at as f64 * 0.37).sin()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Any parts of an array with the same strides, of one to three axes, in one thread or several.
    #[test]
    fn as_if_read_before_it_is_written(
        shape in prop::collection::vec(1..9_usize, 1..4),
        long in 1..700_usize,
        long_axis in 0..3_usize,
        starts in prop::collection::vec(prop::collection::vec(0..4_usize, 3), 2..6),
        step in 1..3_usize,
    ) {
        let mut shape = shape;
        let axis = long_axis % shape.len();
        shape[axis] *= long;
        let sizes: Vec<usize> = shape.iter().map(|length| (length - 1) * step + 4).collect();
        let (array, all) = (numbers(sizes.iter().product()), View::c_order(F, &sizes));
        let views: Vec<View> = starts.iter().map(|start| part(&all, &shape, start, step)).collect();
        let (target, inputs) = views.split_first().unwrap();
        if let Some(found) = over(&array, inputs, target) {
            prop_assert_eq!(found, aside(&array, inputs, target));
        }
    }
}

/// Stencils are done in one pass, by several threads.
#[test]
fn stencils_need_no_copy() {
    let (rows, columns) = (700, 900);
    let array = numbers(rows * columns);
    let all = View::c_order(F, &[rows, columns]);
    let inside = [rows - 2, columns - 2];
    let cells = [[0, 1], [2, 1], [1, 0], [1, 2], [1, 1]];
    let inputs = cells.map(|start| part(&all, &inside, &start, 1));
    let target = part(&all, &inside, &[1, 1], 1);
    assert_eq!(over(&array, &inputs, &target), Some(aside(&array, &inputs, &target)));
    // One axis, both ways.
    let line = View::c_order(F, &[array.len()]);
    for (from, to) in [(0, 1), (1, 0), (0, 17)] {
        let [input, target] = [from, to].map(|at| part(&line, &[array.len() - 20], &[at], 1));
        let inputs = [input];
        assert_eq!(over(&array, &inputs, &target), Some(aside(&array, &inputs, &target)));
    }
}

/// What lies in another way, or far away, is left alone.
#[test]
fn some_need_a_copy() {
    let array = numbers(300 * 300);
    let all = View::c_order(F, &[300, 300]);
    let upper = part(&all, &[150, 300], &[0, 0], 1);
    let lower = part(&all, &[150, 300], &[100, 0], 1);
    for (input, target) in [(all.transposed(), all.clone()), (upper, lower)] {
        assert_eq!(over(&array, &[input], &target), None);
    }
}
