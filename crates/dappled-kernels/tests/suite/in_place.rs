//! In-place runs, against a run to other memory followed by a copy.

use dappled_kernels::{Buffer, BufferView, DType, Interpreter, Op, Program, View, execute};
use proptest::prelude::*;

const F: DType = DType::Float64;

/// `a0 + a1 * 0.5 + a2 * 0.5 + …`; for one input, the input itself.
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

/// A part of an array, from a corner on, with a step.
fn part(array: &View, shape: &[usize], start: &[usize], step: usize) -> View {
    (0..shape.len()).fold(array.clone(), |view, axis| {
        view.slice_axis(axis, start[axis], step as isize, shape[axis])
    })
}

/// The array after an in-place run; `None` if one pass is impossible.
fn run_in_place(array: &[f64], inputs: &[View], target: &View) -> Option<Vec<f64>> {
    let memory = Buffer::from_slice(array);
    let code = Interpreter::new(&program(inputs.len())).unwrap();
    let operands: Vec<BufferView<'_>> =
        inputs.iter().map(|view| BufferView::new(&memory, view).unwrap()).collect();
    let done = code.run_in_place(&operands, &BufferView::new(&memory, target).unwrap()).unwrap();
    drop(operands);
    done.map(|_| memory.to_vec())
}

fn run_to_copy(array: &[f64], inputs: &[View], target: &View) -> Vec<f64> {
    let memory = Buffer::from_slice(array);
    let apart = View::c_order(F, &target.shape);
    let made = Buffer::zeroed(apart.len() * 8);
    let operands: Vec<BufferView<'_>> =
        inputs.iter().map(|view| BufferView::new(&memory, view).unwrap()).collect();
    execute(&program(inputs.len()), &operands, &[BufferView::new(&made, &apart).unwrap()]).unwrap();
    drop(operands);
    let mut copy = Program::new(vec![F], vec![]);
    copy.outputs.push(copy.input(0));
    let (from, to) =
        (BufferView::new(&made, &apart).unwrap(), BufferView::new(&memory, target).unwrap());
    execute(&copy, &[from], &[to]).unwrap();
    memory.to_vec()
}

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|at| (at as f64 * 0.37).sin()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Any parts of an array with equal strides, of one to three axes, on one thread or several.
    #[test]
    fn in_place_runs_agree_with_a_copy(
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
        if let Some(found) = run_in_place(&array, inputs, target) {
            prop_assert_eq!(found, run_to_copy(&array, inputs, target));
        }
    }
}

/// Stencils run in one pass, on several threads.
#[test]
fn stencils_run_in_place() {
    let (rows, columns) = (700, 900);
    let array = numbers(rows * columns);
    let all = View::c_order(F, &[rows, columns]);
    let inside = [rows - 2, columns - 2];
    let cells = [[0, 1], [2, 1], [1, 0], [1, 2], [1, 1]];
    let inputs = cells.map(|start| part(&all, &inside, &start, 1));
    let target = part(&all, &inside, &[1, 1], 1);
    assert_eq!(run_in_place(&array, &inputs, &target), Some(run_to_copy(&array, &inputs, &target)));
    // One axis, in both directions.
    let line = View::c_order(F, &[array.len()]);
    for (from, to) in [(0, 1), (1, 0), (0, 17)] {
        let [input, target] = [from, to].map(|at| part(&line, &[array.len() - 20], &[at], 1));
        let inputs = [input];
        assert_eq!(
            run_in_place(&array, &inputs, &target),
            Some(run_to_copy(&array, &inputs, &target))
        );
    }
}

/// Inputs with other strides, or far away, are rejected.
#[test]
fn other_layouts_are_rejected() {
    let array = numbers(900 * 900);
    let all = View::c_order(F, &[900, 900]);
    let upper = part(&all, &[600, 900], &[0, 0], 1);
    let lower = part(&all, &[600, 900], &[300, 0], 1);
    for (input, target) in [(all.transposed(), all.clone()), (upper, lower)] {
        assert_eq!(run_in_place(&array, &[input], &target), None);
    }
}
