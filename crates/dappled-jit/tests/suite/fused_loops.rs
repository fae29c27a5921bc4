//! Compiled loops against the interpreter, bit for bit, where any NaN equals any other.

use std::sync::Arc;

use dappled_jit::{JitMode, LoopCache};
use dappled_kernels::element::typed;
use dappled_kernels::{
    Buffer, BufferView, Compiler, CpuVariant, DType, Engine, Interpreter, Op, Program, ReduceOp,
    Reduction, Reg, Scalar, StepFlags, View, reduce, sum,
};
use proptest::prelude::*;
use proptest::sample::Index;

type Arrays = Vec<(Buffer, View)>;

fn operands(arrays: &[(Buffer, View)]) -> Vec<BufferView<'_>> {
    arrays.iter().map(|(buffer, view)| BufferView::new(buffer, view).unwrap()).collect()
}

/// Runs a program, and returns the memory of the outputs and the flags.
fn run(
    code: &Interpreter,
    inputs: &Arrays,
    outputs: &[(View, usize)],
) -> (Vec<Vec<u8>>, StepFlags) {
    let outputs: Arrays =
        outputs.iter().map(|(view, bytes)| (Buffer::zeroed(*bytes), view.clone())).collect();
    let raised = code.run(&operands(inputs), &operands(&outputs)).unwrap();
    (outputs.iter().map(|(buffer, _)| buffer.to_vec::<u8>()).collect(), raised)
}

fn assert_same(view: &View, found: &[u8], expected: &[u8], what: &str) {
    // From the first element on; only zeros precede it.
    let shift = view.offset % view.dtype.itemsize();
    for (at, (a, b)) in
        found[shift..].chunks(part(view)).zip(expected[shift..].chunks(part(view))).enumerate()
    {
        // Any nonzero byte is true.
        let true_both = view.dtype == DType::Bool && a != [0] && b != [0];
        let same = a == b || true_both || is_nan(view.dtype, a) && is_nan(view.dtype, b);
        assert!(same, "item {at}: found {a:02x?}, expected {b:02x?} in\n{what}");
    }
}

fn part(view: &View) -> usize {
    view.dtype.real().itemsize()
}

fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    let aligned = Buffer::from_slice(bytes);
    let bytes = &aligned.read().unwrap()[..];
    match dtype.real() {
        _ if bytes.len() < dtype.real().itemsize() => false,
        DType::Float32 => typed::<f32>(bytes)[0].is_nan(),
        DType::Float64 => typed::<f64>(bytes)[0].is_nan(),
        DType::Float16 => bytes[1] & 0x7c == 0x7c && (bytes[1] & 3 != 0 || bytes[0] != 0),
        _ => false,
    }
}

fn compare(program: &Program, loops: &Arc<LoopCache>, inputs: &Arrays, outputs: &[(View, usize)]) {
    let plain = Interpreter::new(program).unwrap();
    let fused = Interpreter::new(program).unwrap().with_compiler(loops.clone());
    let (expected, raised) = run(&plain, inputs, outputs);
    // In the second round everything is compiled already.
    for _ in 0..2 {
        let (found, also_raised) = run(&fused, inputs, outputs);
        for ((found, expected), (view, _)) in found.iter().zip(&expected).zip(outputs) {
            assert_same(view, found, expected, &program.to_string());
        }
        assert_eq!(also_raised, raised, "signalled by\n{program}");
    }
}

const FLOATS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    2.5,
    0.1,
    -7.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN_POSITIVE,
    -5e-324,
    1e-200,
    1e300,
    4503599627370497.5,
];
const INTEGERS: [i64; 10] =
    [0, 1, -1, 7, -13, i64::MAX, i64::MIN, i32::MAX as i64, i32::MIN as i64, 1 << 40];

/// Numbers of all kinds, as elements.
fn numbers(dtype: DType, len: usize, seed: usize) -> Vec<u8> {
    let pick = |at: usize| (at * 7 + at / 16 * 3 + seed * 5 + at / 100) % 160;
    let element = |at: usize| match dtype {
        DType::Float64 => Scalar::new(FLOATS[pick(at) % 16]),
        DType::Float32 => Scalar::new(FLOATS[pick(at) % 16] as f32),
        DType::Int64 => Scalar::new(INTEGERS[pick(at) % 10]),
        DType::UInt64 => Scalar::new(INTEGERS[pick(at) % 10] as u64),
        DType::Int32 => Scalar::new(INTEGERS[pick(at) % 10] as i32),
        DType::UInt32 => Scalar::new(INTEGERS[pick(at) % 10] as u32),
        // Any nonzero byte is true.
        DType::Bool => Scalar::new(dappled_kernels::Bool([0, 1, 0, 255, 2][pick(at) % 5])),
        _ => Scalar::from_bytes(
            dtype,
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7][..dtype.itemsize()],
        ),
    };
    (0..len).flat_map(|at| element(at).bytes().to_vec()).collect()
}

/// The operation twice, with its arguments in both orders, so that a loop is compiled.
fn twice(op: Op, dtype: DType) -> Program {
    let dtypes: Vec<DType> = (0..op.arity().max(2)).map(|at| op.argument(dtype, at)).collect();
    let mut program = Program::new(dtypes, vec![]);
    let orders = match op.arity() {
        1 => [vec![0], vec![1]],
        2 => [vec![0, 1], vec![1, 0]],
        _ => [vec![0, 1, 2], vec![0, 2, 1]],
    };
    for order in orders {
        let args: Vec<Reg> = order.into_iter().map(|at| program.input(at)).collect();
        let result = program.push(op, dtype, &args);
        program.outputs.push(result);
    }
    program
}

/// Caches for Cranelift, and for AVX2 where the CPU has it.
fn caches_of_all_variants() -> impl Iterator<Item = Arc<LoopCache>> {
    let variants = [CpuVariant::Plain, CpuVariant::best()];
    variants.into_iter().map(|variant| Arc::new(LoopCache::of_variant(JitMode::Always, variant)))
}

#[test]
fn every_operation_agrees_with_the_interpreter() {
    caches_of_all_variants().for_each(every_operation);
}

fn every_operation(loops: Arc<LoopCache>) {
    let casts = DType::ALL.map(Op::Cast);
    let mut count = 0;
    for op in Op::ALL_BUT_CAST.into_iter().chain(casts) {
        for dtype in DType::ALL.into_iter().filter(|&dtype| op.has_loop(dtype)) {
            if !loops.supports(op, dtype) {
                continue;
            }
            let program = twice(op, dtype);
            program.check().unwrap();
            for len in [1, 15, 16, 17, 1000] {
                let inputs = program.inputs.iter().enumerate().map(|(at, &dtype)| {
                    (Buffer::from_slice(&numbers(dtype, len, at)), View::c_order(dtype, &[len]))
                });
                let outputs = program.outputs.iter().map(|&reg| {
                    let view = View::c_order(program.dtype(reg).unwrap(), &[len]);
                    let bytes = len * view.dtype.itemsize();
                    (view, bytes)
                });
                compare(&program, &loops, &inputs.collect(), &outputs.collect::<Vec<_>>());
            }
            count += 1;
            assert_eq!(loops.len(), count, "not compiled:\n{program}");
        }
    }
    assert!(count > 150, "{count}");
}

/// Random choices, consumed one by one while a program or a view is built.
struct Rolls<'a>(std::slice::Iter<'a, Index>);

impl Rolls<'_> {
    fn below(&mut self, sides: usize) -> usize {
        self.0.next().map_or(0, |index| index.index(sides))
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// Mostly dtypes and operations that are compiled.
const DTYPES: [DType; 9] = [
    DType::Float64,
    DType::Float64,
    DType::Float64,
    DType::Float32,
    DType::Float32,
    DType::Int64,
    DType::Int32,
    DType::Bool,
    DType::UInt64,
];

fn random_program(rolls: &mut Rolls, loops: &LoopCache) -> Program {
    let inputs = (0..1 + rolls.below(3)).map(|_| rolls.of(&DTYPES)).collect();
    let constants = [Scalar::new(0.1), Scalar::new(3i32), Scalar::new(2.5f32), Scalar::new(-7i64)];
    let mut program = Program::new(inputs, constants[..rolls.below(5)].to_vec());
    for _ in 0..1 + rolls.below(12) {
        let dtype = program.dtype(Reg(rolls.below(program.len()) as u16)).unwrap();
        let any = rolls.below(8) == 0;
        let fits = |op: &Op| op.has_loop(dtype) && (any || loops.supports(*op, dtype));
        let ops: Vec<Op> = Op::ALL_BUT_CAST.into_iter().filter(fits).collect();
        if ops.is_empty() {
            continue;
        }
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

/// A random register, cast if it has another dtype.
fn argument(program: &mut Program, rolls: &mut Rolls, dtype: DType) -> Reg {
    let reg = Reg(rolls.below(program.len()) as u16);
    match program.dtype(reg).unwrap() {
        found if found == dtype => reg,
        found => program.push(Op::Cast(dtype), found, &[reg]),
    }
}

/// A view of this shape with random strides and axis order, and the size of its memory.
fn random_view(rolls: &mut Rolls, dtype: DType, shape: &[usize], steps: &[isize]) -> (View, usize) {
    let mut order: Vec<usize> = (0..shape.len()).rev().collect();
    if rolls.below(3) == 0 {
        (1..order.len()).for_each(|at| order.swap(at, rolls.below(at + 1)));
    }
    let steps: Vec<isize> = shape.iter().map(|_| rolls.of(steps)).collect();
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

fn random_input(rolls: &mut Rolls, dtype: DType, shape: &[usize], seed: usize) -> (Buffer, View) {
    let (view, bytes) = random_view(rolls, dtype, shape, &[1, 1, 1, 2, -1, -3, 0, 0]);
    let item = dtype.itemsize();
    let shift = (view.offset % item).min(bytes);
    let mut memory = vec![0; bytes];
    // Every other input has ordinary numbers, so that not every tile raises flags.
    let values = match seed % 2 {
        0 => numbers(dtype, bytes / item + 1, seed),
        _ => (0..bytes / item + 1).flat_map(|at| plain(dtype, at).bytes().to_vec()).collect(),
    };
    memory[shift..].copy_from_slice(&values[..bytes - shift]);
    (Buffer::from_slice(&memory), view)
}

fn plain(dtype: DType, at: usize) -> Scalar {
    let number = (at * 73 % 251) as i64 - 120;
    match dtype {
        DType::Float64 => Scalar::new(number as f64 * 0.37),
        DType::Float32 => Scalar::new(number as f32 * 0.37),
        DType::Int64 => Scalar::new(number),
        DType::Int32 => Scalar::new(number as i32),
        DType::UInt64 => Scalar::new(number as u64),
        DType::Bool => Scalar::new(dappled_kernels::Bool((number % 3 == 0) as u8)),
        _ => unreachable!("no input is of this dtype"),
    }
}

fn check(dice: &[Index], shape: &[usize]) {
    let mut rolls = Rolls(dice.iter());
    let program = random_program(&mut rolls, &LoopCache::new(JitMode::Always));
    program.check().unwrap();
    let seed = rolls.below(4);
    let inputs: Arrays = (program.inputs.iter().enumerate())
        .map(|(at, &dtype)| random_input(&mut rolls, dtype, shape, at + seed))
        .collect();
    let outputs: Vec<(View, usize)> = (program.outputs.iter())
        .map(|&reg| {
            let dtype = program.dtype(reg).unwrap();
            random_view(&mut rolls, dtype, shape, &[1, 1, 1, 2, -1])
        })
        .collect();
    caches_of_all_variants().for_each(|loops| compare(&program, &loops, &inputs, &outputs));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn programs_agree_with_the_interpreter(
        dice in prop::collection::vec(any::<Index>(), 120),
        shape in prop::sample::select(vec![
            vec![7], vec![16], vec![64], vec![513], vec![1025], vec![9000], vec![3, 65], vec![2, 520],
            vec![70, 3], vec![2, 5, 67], vec![40, 40], vec![0], vec![],
        ]),
    ) {
        check(&dice, &shape);
    }
}

/// More values than registers: all pairwise sums, then products from both ends, with more constants
/// than stay in registers.
#[test]
fn values_are_spilled_to_the_stack() {
    for dtype in [DType::Float64, DType::Float32, DType::Int64] {
        for constants in [0, 3, 12] {
            let scalar = |at: usize| Scalar::from_bytes(dtype, plain(dtype, at).bytes());
            let mut program = Program::new(vec![dtype; 4], (0..constants).map(scalar).collect());
            let known = program.len() as u16;
            let pairs = (0..known).flat_map(|a| (0..a).map(move |b| [Reg(a), Reg(b)]));
            let sums: Vec<Reg> = pairs.map(|pair| program.push(Op::Add, dtype, &pair)).collect();
            let products: Vec<Reg> = (sums.iter().zip(sums.iter().rev()))
                .map(|(&a, &b)| program.push(Op::Multiply, dtype, &[a, b]))
                .collect();
            let all =
                products.into_iter().reduce(|a, b| program.push(Op::Subtract, dtype, &[a, b]));
            program.outputs = vec![all.unwrap(), sums[1]];
            let shape = [203];
            let bytes = shape[0] * dtype.itemsize();
            let view = View::c_order(dtype, &shape);
            let inputs = (0..4).map(|at| {
                let numbers: Vec<u8> =
                    (0..203).flat_map(|i| plain(dtype, i * 7 + at).bytes().to_vec()).collect();
                (Buffer::from_slice(&numbers), view.clone())
            });
            let (inputs, outputs) = (inputs.collect(), vec![(view.clone(), bytes); 2]);
            caches_of_all_variants().for_each(|loops| compare(&program, &loops, &inputs, &outputs));
        }
    }
}

/// Over an input's own memory: flags are attributed before it is overwritten.
#[test]
fn outputs_may_be_inputs() {
    let f = DType::Float64;
    let mut program = Program::new(vec![f, f], vec![Scalar::new(1.0)]);
    let difference = program.push(Op::Subtract, f, &[Reg(0), Reg(1)]);
    let quotient = program.push(Op::Divide, f, &[difference, difference]);
    program.outputs.push(quotient);
    let len = 300_000;
    for zero in [Some(len - 3), None] {
        let results = [None, Some(Arc::new(LoopCache::new(JitMode::Always)))].map(|loops| {
            let mut a: Vec<f64> = (0..len).map(|at| at as f64 + 0.5).collect();
            zero.into_iter().for_each(|at| a[at] = -1.0);
            let view = View::c_order(f, &[len]);
            let arrays =
                [a, vec![-1.0; len]].map(|values| (Buffer::from_slice(&values), view.clone()));
            let code = Interpreter::new(&program).unwrap();
            let code = match loops {
                Some(loops) => code.with_compiler(loops),
                None => code,
            };
            let raised = code.run(&operands(&arrays), &operands(&arrays[..1])).unwrap();
            (raised, arrays[0].0.to_vec::<u64>())
        });
        assert!(results[0].0 == results[1].0 && results[0].0.is_empty() == zero.is_none());
        let same = |(a, b): (&u64, &u64)| a == b || f64::from_bits(a & b).is_nan();
        assert!(results[0].1.iter().zip(&results[1].1).all(same));
    }
}

/// Sums, in NumPy's order whatever computes the values.
#[test]
fn fused_sums_have_the_same_bits() {
    let f = DType::Float64;
    let mut program = Program::new(vec![f, f], vec![]);
    let difference = program.push(Op::Subtract, f, &[Reg(0), Reg(1)]);
    let square = program.push(Op::Square, f, &[difference]);
    program.outputs.push(square);
    let plain = Interpreter::new(&program).unwrap();
    let loops = Arc::new(LoopCache::new(JitMode::Always));
    let fused = Interpreter::new(&program).unwrap().with_compiler(loops.clone());
    for size in [1, 7, 33, 150, 400] {
        let numbers: Vec<f64> =
            (0..size * size).map(|at| (at % 1013) as f64 * 0.37 - 150.0).collect();
        let view = View::c_order(f, &[size, size]);
        let inputs = [view.clone(), view.slice_axis(1, size - 1, -1, size)]
            .map(|view| (Buffer::from_slice(&numbers), view));
        let sums = [&plain, &fused].map(|code| sum::<f64>(code, &operands(&inputs)).unwrap());
        assert_eq!(sums[0].to_bits(), sums[1].to_bits(), "{size}²");
    }
    assert!(!loops.is_empty());
}

/// Reductions along the first axis by multi-row loops, with operands of all kinds, and their flags.
fn check_reduction(dice: &[Index], shape: &[usize], fold: ReduceOp) {
    let mut rolls = Rolls(dice.iter());
    let mut program = random_program(&mut rolls, &LoopCache::new(JitMode::Always));
    program.outputs.truncate(1);
    let dtype = program.dtype(program.outputs[0]).unwrap();
    let seed = rolls.below(4);
    let inputs: Arrays = (program.inputs.iter().enumerate())
        .map(|(at, &dtype)| {
            let (buffer, mut view) = random_input(&mut rolls, dtype, shape, at + seed);
            // One row for all rows, or one element per row.
            match rolls.below(4) {
                0 => view.strides[0] = 0,
                1 => view.strides[1] = 0,
                _ => {}
            }
            (buffer, view)
        })
        .collect();
    let strides = View::c_order(dtype, shape).strides;
    let reduction = Reduction::new(fold, dtype, &[0], &strides);
    let row = View::c_order(dtype, &[1, shape[1]]);
    let folded = |code: &Interpreter| {
        let out = Buffer::zeroed(shape[1] * dtype.itemsize());
        let target = BufferView::new(&out, &row).unwrap();
        let told = reduce(code, &operands(&inputs), &reduction, &target).unwrap();
        (out.to_vec::<u8>(), told)
    };
    let (expected, told) = folded(&Interpreter::new(&program).unwrap());
    for loops in caches_of_all_variants() {
        let (found, also_told) = folded(&Interpreter::new(&program).unwrap().with_compiler(loops));
        assert_same(&row, &found, &expected, &program.to_string());
        assert_eq!(also_told, told, "signalled by\n{program}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn multi_row_reductions_agree_with_the_interpreter(
        dice in prop::collection::vec(any::<Index>(), 120),
        shape in prop::sample::select(vec![[21, 600], [9, 4500], [3, 530], [30, 100]]),
        fold in prop::sample::select(vec![ReduceOp::Add, ReduceOp::Multiply, ReduceOp::Maximum, ReduceOp::Fmin]),
    ) {
        check_reduction(&dice, &shape, fold);
    }
}

#[test]
fn rows_are_reduced_by_a_multi_row_loop() {
    let f = DType::Float64;
    let mut program = Program::new(vec![f, f], vec![]);
    let difference = program.push(Op::Subtract, f, &[Reg(0), Reg(1)]);
    program.outputs.push(difference);
    let loops = Arc::new(LoopCache::new(JitMode::Always));
    let code = Interpreter::new(&program).unwrap().with_compiler(loops.clone());
    let (view, row) = (View::c_order(f, &[17, 600]), View::c_order(f, &[1, 600]));
    let numbers = Buffer::from_slice(&vec![0.5; view.len()]);
    let (out, reduction) =
        (Buffer::zeroed(4800), Reduction::new(ReduceOp::Add, f, &[0], &view.strides));
    let halves = BufferView::new(&numbers, &view).unwrap();
    reduce(&code, &[halves, halves], &reduction, &BufferView::new(&out, &row).unwrap()).unwrap();
    // The loop of the difference, and the multi-row loop.
    assert_eq!(loops.len(), 2);
}

#[test]
fn denied_memory_falls_back_to_the_interpreter() {
    let loops = Arc::new(LoopCache::new(JitMode::NoExecutableMemory));
    let program = twice(Op::Add, DType::Float64);
    let inputs: Arrays = (0..2)
        .map(|at| {
            let bytes = numbers(DType::Float64, 1000, at);
            (Buffer::from_slice(&bytes), View::c_order(DType::Float64, &[1000]))
        })
        .collect();
    let outputs = vec![(View::c_order(DType::Float64, &[1000]), 8000); 2];
    compare(&program, &loops, &inputs, &outputs);
    assert!(loops.is_empty());
}

/// More programs than the cache holds: old loops are freed, those in use keep working.
#[test]
fn the_cache_is_bounded() {
    let loops = Arc::new(LoopCache::new(JitMode::Always));
    let f = DType::Float64;
    for length in 2..300 {
        let mut program = Program::new(vec![f], vec![]);
        let mut last = program.input(0);
        for at in 0..6 {
            let op = if length >> at & 1 == 1 { Op::Add } else { Op::Multiply };
            last = program.push(op, f, &[last, program.input(0)]);
        }
        for _ in 0..length % 5 {
            last = program.push(Op::Negative, f, &[last]);
        }
        program.outputs.push(last);
        let inputs = vec![(Buffer::from_slice(&numbers(f, 40, length)), View::c_order(f, &[40]))];
        compare(&program, &loops, &inputs, &[(View::c_order(f, &[40]), 320)]);
        assert!(loops.len() <= 256);
    }
}
