//! Random programs over random views, against one element and one operation at a time.

use crate::common::{assert_same, run, run_flagged};
use dappled_kernels::{
    Buffer, BufferView, CpuVariant, DType, Engine, FpFlags, Interpreter, Op, Program, Reg, Scalar,
    StepFlags, View, execute, sum, tree,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// Random choices, consumed one by one while a program or a view is built.
type Dice = Vec<Index>;

struct Rolls<'a>(std::slice::Iter<'a, Index>);

impl Rolls<'_> {
    fn below(&mut self, sides: usize) -> usize {
        self.0.next().map_or(0, |index| index.index(sides))
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// A random register, cast if it has another dtype.
fn argument(program: &mut Program, rolls: &mut Rolls, dtype: DType) -> Reg {
    let reg = Reg(rolls.below(program.len()) as u16);
    match program.dtype(reg).unwrap() {
        found if found == dtype => reg,
        found => program.push(Op::Cast(dtype), found, &[reg]),
    }
}

fn random_program(rolls: &mut Rolls) -> Program {
    let inputs = (0..1 + rolls.below(3)).map(|_| rolls.of(&DType::ALL)).collect();
    let constants =
        [Scalar::new(0.1), Scalar::new(3i32), Scalar::new(num_complex::Complex64::new(1.0, 2.0))];
    let mut program = Program::new(inputs, constants[..rolls.below(4)].to_vec());
    for _ in 0..1 + rolls.below(6) {
        let dtype = program.dtype(Reg(rolls.below(program.len()) as u16)).unwrap();
        let ops: Vec<Op> = Op::ALL_BUT_CAST.into_iter().filter(|op| op.has_loop(dtype)).collect();
        let op = rolls.of(&ops);
        let args: Vec<Reg> = (0..op.arity())
            .map(|at| argument(&mut program, rolls, op.argument(dtype, at)))
            .collect();
        program.push(op, dtype, &args);
    }
    program.outputs = vec![Reg(program.len() as u16 - 1)];
    if rolls.below(2) == 1 {
        program.outputs.push(Reg(rolls.below(program.len()) as u16));
    }
    program
}

/// A view of this shape with random strides and axis order, and the size of its memory.
fn random_view(rolls: &mut Rolls, dtype: DType, shape: &[usize], steps: &[isize]) -> (View, usize) {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    (1..order.len()).for_each(|at| order.swap(at, rolls.below(at + 1)));
    let steps: Vec<isize> = shape.iter().map(|_| rolls.of(steps)).collect();
    // An odd number of bytes before the first element makes the view unaligned.
    let before = rolls.of(&[0, 0, 8, 1]);
    let mut view =
        View { dtype, offset: before, shape: shape.into(), strides: vec![0; shape.len()].into() };
    let mut size = dtype.itemsize() as isize;
    for &axis in &order {
        view.strides[axis] = size * steps[axis];
        let last = (shape[axis] as isize - 1).max(0) * view.strides[axis];
        view.offset = (view.offset as isize - last.min(0)) as usize;
        size = size.max(last.abs() + size);
    }
    (view, before + size as usize)
}

/// Memory of random small numbers of the view's dtype.
fn random_buffer(view: &View, bytes: usize, seed: usize) -> Buffer {
    let item = view.dtype.itemsize();
    let noise: Vec<u8> =
        (0..bytes / item + 2).map(|at| ((at * 73 + seed * 19) % 251) as u8).collect();
    let numbers = run(Op::Cast(view.dtype), DType::Int8, &[&noise]);
    let mut memory = vec![0; bytes];
    let shift = view.offset % item;
    memory[shift.min(bytes)..].copy_from_slice(&numbers[..bytes - shift.min(bytes)]);
    Buffer::from_slice(&memory)
}

/// The elements of a view in C order.
fn elements(buffer: &Buffer, view: &View) -> Vec<Vec<u8>> {
    let mut places = vec![view.offset as isize];
    for (&size, &stride) in view.shape.iter().zip(&view.strides) {
        let along =
            |place: &isize| (0..size as isize).map(|at| place + at * stride).collect::<Vec<_>>();
        places = places.iter().flat_map(along).collect();
    }
    let bytes = buffer.read().unwrap();
    if view.is_empty() {
        return Vec::new();
    }
    let item =
        |&place: &isize| bytes[place as usize..place as usize + view.dtype.itemsize()].to_vec();
    places.iter().map(item).collect()
}

/// All outputs for one element of each input, one operation at a time.
fn evaluate(program: &Program, inputs: &[Vec<u8>], raised: &mut StepFlags) -> Vec<Vec<u8>> {
    let mut regs = inputs.to_vec();
    regs.extend(program.constants.iter().map(|constant| constant.bytes().to_vec()));
    for (at, step) in program.steps.iter().enumerate() {
        let args: Vec<&[u8]> = step.args.iter().map(|arg| &regs[usize::from(arg.0)][..]).collect();
        let (value, flags) = run_flagged(CpuVariant::best(), step.op, step.dtype, &args);
        regs.push(value);
        raised.add(at, flags);
    }
    program.outputs.iter().map(|reg| regs[usize::from(reg.0)].clone()).collect()
}

fn check(dice: &Dice, shape: &[usize]) {
    let mut rolls = Rolls(dice.iter());
    let program = random_program(&mut rolls);
    program.check().unwrap();
    let inputs: Vec<(Buffer, View)> = (program.inputs.iter().enumerate())
        .map(|(at, &dtype)| {
            let (view, bytes) = random_view(&mut rolls, dtype, shape, &[1, 1, 2, -1, -3, 0]);
            (random_buffer(&view, bytes, at), view)
        })
        .collect();
    let outputs: Vec<(Buffer, View)> = (program.outputs.iter())
        .map(|&reg| {
            let dtype = program.dtype(reg).unwrap();
            let (view, bytes) = random_view(&mut rolls, dtype, shape, &[1, 1, 2, -1, -3]);
            (Buffer::zeroed(bytes), view)
        })
        .collect();
    let raised = execute(&program, &operands(&inputs), &operands(&outputs)).unwrap();
    assert_eq!(compare(&program, &inputs, &outputs), raised, "signalled by\n{program}");
}

fn operands(arrays: &[(Buffer, View)]) -> Vec<BufferView<'_>> {
    arrays.iter().map(|(buffer, view)| BufferView::new(buffer, view).unwrap()).collect()
}

/// Compares all elements, and returns the flags of computing them one by one.
fn compare(program: &Program, inputs: &[(Buffer, View)], outputs: &[(Buffer, View)]) -> StepFlags {
    let mut raised = StepFlags::default();
    let listed = |arrays: &[(Buffer, View)]| -> Vec<Vec<Vec<u8>>> {
        arrays.iter().map(|(buffer, view)| elements(buffer, view)).collect()
    };
    let (read, written) = (listed(inputs), listed(outputs));
    for at in 0..written[0].len() {
        let of_inputs: Vec<Vec<u8>> = read.iter().map(|input| input[at].clone()).collect();
        for (output, expected) in evaluate(program, &of_inputs, &mut raised).iter().enumerate() {
            let what = format!("output {output} at {at} of\n{program}");
            assert_same(outputs[output].1.dtype, &written[output][at], expected, &what);
        }
    }
    raised
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn programs_agree_with_single_elements(
        dice in prop::collection::vec(any::<Index>(), 80),
        shape in prop::collection::vec(prop::sample::select(vec![0usize, 1, 2, 3, 5, 9]), 0..4),
    ) {
        check(&dice, &shape);
    }

    #[test]
    fn long_rows_are_split_into_tiles(
        dice in prop::collection::vec(any::<Index>(), 80),
        shape in prop::sample::select(vec![vec![63], vec![64], vec![513], vec![1025], vec![3, 65], vec![2, 520], vec![70, 3], vec![2, 5, 67], vec![37, 66], vec![19, 2, 65]]),
    ) {
        check(&dice, &shape);
    }
}

fn chain() -> Program {
    let f = DType::Float64;
    let mut program = Program::new(vec![f, f], vec![Scalar::new(2.0)]);
    let product = program.push(Op::Multiply, f, &[program.input(0), program.input(1)]);
    let root = program.push(Op::Absolute, f, &[product]);
    let root = program.push(Op::Sqrt, f, &[root]);
    let large = program.push(Op::Less, f, &[Reg(2), root]);
    let chosen = program.push(Op::Select, f, &[large, product, root]);
    let count = program.push(Op::Cast(DType::Int8), DType::Bool, &[large]);
    program.outputs = vec![chosen, count];
    program
}

#[test]
fn programs_have_a_text_form() {
    let expected = "\
%0 = input float64
%1 = input float64
%2 = constant float64 2.0
%3 = multiply float64 %0 %1
%4 = absolute float64 %3
%5 = sqrt float64 %4
%6 = less float64 %2 %5
%7 = select float64 %6 %3 %5
%8 = cast bool %6 to int8
output %7
output %8
";
    assert_eq!(chain().to_string(), expected);
}

/// `(a - b)**2` of two views in different memory orders, summed without storing it.
#[test]
fn fused_sums_follow_the_pairwise_tree() {
    let f = DType::Float64;
    let mut program = Program::new(vec![f, f], vec![]);
    let difference = program.push(Op::Subtract, f, &[Reg(0), Reg(1)]);
    let square = program.push(Op::Square, f, &[difference]);
    program.outputs.push(square);
    let engine = Interpreter::new(&program).unwrap();
    for size in [1, 7, 33, 150, 400] {
        let numbers: Vec<f64> =
            (0..size * size).map(|at| (at % 1013) as f64 * 0.37 - 150.0).collect();
        let view = View::c_order(f, &[size, size]);
        let inputs = [view.transposed(), view.slice_axis(1, size - 1, -1, size)]
            .map(|view| (Buffer::from_slice(&numbers), view));
        let stored = (Buffer::zeroed(size * size * 8), view);
        engine.run(&operands(&inputs), &operands(std::slice::from_ref(&stored))).unwrap();
        let expected = 0.0 + tree::node_sum(&stored.0.to_vec::<f64>());
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found: f64 = pool.install(|| sum(&engine, &operands(&inputs))).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{size}², {threads} threads");
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let shape = [301, 777];
    let engine = Interpreter::new(&chain()).unwrap();
    let numbers: Vec<f64> = (0..301 * 777).map(|at| (at % 1013) as f64 * 0.37 - 150.0).collect();
    let a = (Buffer::from_slice(&numbers), View::c_order(DType::Float64, &shape));
    let b = (a.0.clone(), a.1.slice_axis(0, 300, -1, 301));
    let results = [1, 2, 3, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let outputs = [DType::Float64, DType::Int8].map(|dtype| {
            (Buffer::zeroed(301 * 777 * dtype.itemsize()), View::c_order(dtype, &shape))
        });
        let inputs = [a.clone(), b.clone()];
        pool.install(|| engine.run(&operands(&inputs), &operands(&outputs))).unwrap();
        outputs.map(|(buffer, _)| buffer.to_vec::<u8>())
    });
    assert!(results.iter().all(|result| *result == results[0]));
}

/// `1 / (a - b)` stored over an input, where one element of the last tile is 0/0.
#[test]
fn flags_are_attributed_before_inputs_are_overwritten() {
    let f = DType::Float64;
    let mut program = Program::new(vec![f, f], vec![Scalar::new(1.0)]);
    let difference = program.push(Op::Subtract, f, &[Reg(0), Reg(1)]);
    let large = program.push(Op::Less, f, &[difference, Reg(2)]);
    let quotient = program.push(Op::Divide, f, &[difference, difference]);
    let chosen = program.push(Op::Select, f, &[large, quotient, Reg(0)]);
    program.outputs.push(chosen);
    let len = 300_000;
    for (zero, expected) in [(Some(len - 3), FpFlags::INVALID), (None, FpFlags::NONE)] {
        let mut a: Vec<f64> = (0..len).map(|at| at as f64 + 0.5).collect();
        let b = vec![-1.0; len];
        zero.into_iter().for_each(|at| a[at] = -1.0);
        let view = View::c_order(f, &[len]);
        let arrays = [a, b].map(|values| (Buffer::from_slice(&values), view.clone()));
        let raised = execute(&program, &operands(&arrays), &operands(&arrays[..1])).unwrap();
        let all: Vec<(usize, FpFlags)> = raised.iter().collect();
        assert_eq!(raised.is_empty(), expected.is_empty());
        assert!(all.is_empty() || all == [(2, expected)], "{all:?}");
    }
}
