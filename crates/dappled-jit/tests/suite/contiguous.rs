//! Compiled loops over contiguous operands, against tiled runs.

use std::sync::Arc;

use dappled_jit::{JitMode, LoopCache};
use dappled_kernels::element::bytes_of;
use dappled_kernels::{
    Buffer, BufferView, DType, Engine, Error, Interpreter, Op, Program, Scalar, View,
};

/// `a * b + c * 2 - sqrt(a)`, and whether it is negative.
fn programs() -> [Program; 3] {
    let f = DType::Float64;
    let mut chain = Program::new(vec![f; 3], vec![Scalar::new(2.0)]);
    let [a, b, c, two] = [chain.input(0), chain.input(1), chain.input(2), chain.constant(0)];
    let product = chain.push(Op::Multiply, f, &[a, b]);
    let double = chain.push(Op::Multiply, f, &[c, two]);
    let sum = chain.push(Op::Add, f, &[product, double]);
    let root = chain.push(Op::Sqrt, f, &[a]);
    let difference = chain.push(Op::Subtract, f, &[sum, root]);
    let mut negative = chain.clone();
    let signs = negative.push(Op::Signbit, f, &[difference]);
    chain.outputs.push(difference);
    negative.outputs.push(signs);
    let mut functions = Program::new(vec![f], vec![]);
    let power = functions.push(Op::Exp, f, &[functions.input(0)]);
    let both = functions.push(Op::Add, f, &[power, functions.input(0)]);
    functions.outputs.push(both);
    [chain, negative, functions]
}

fn elements(len: usize, first: f64) -> Vec<f64> {
    (0..len).map(|at| first + (at * 7 % 101) as f64 / 8.0).collect()
}

fn engine(program: &Program, mode: Option<JitMode>) -> Interpreter {
    let code = Interpreter::new(program).unwrap();
    match mode {
        Some(mode) => code.with_compiler(Arc::new(LoopCache::new(mode))),
        None => code,
    }
}

#[test]
fn compiled_runs_agree_with_tiles() {
    let mut compiled = 0;
    for (program, mode) in programs().into_iter().flat_map(|program| {
        let modes =
            [None, Some(JitMode::Always), Some(JitMode::NoExecutableMemory), Some(JitMode::Auto)];
        modes.map(|mode| (program.clone(), mode))
    }) {
        let code = engine(&program, mode);
        let item = program.dtype(program.outputs[0]).unwrap().itemsize();
        for (len, first) in [1, 7, 63, 64, 65, 127, 1000, 5000, 20_000]
            .map(|len| (len, 0.0))
            .into_iter()
            .chain([(5000, -3.0)])
        {
            let inputs: Vec<Vec<f64>> =
                (0..program.inputs.len()).map(|at| elements(len, first + at as f64)).collect();
            let buffers: Vec<Buffer> =
                inputs.iter().map(|input| Buffer::from_slice(input)).collect();
            let (view, out) = (View::c_order(DType::Float64, &[len]), Buffer::zeroed(len * item));
            let target = View::c_order(program.dtype(program.outputs[0]).unwrap(), &[len]);
            let operands: Vec<BufferView<'_>> =
                buffers.iter().map(|buffer| BufferView::new(buffer, &view).unwrap()).collect();
            let raised = code.run(&operands, &[BufferView::new(&out, &target).unwrap()]).unwrap();
            // Words, for their alignment.
            let mut words = vec![0u64; (len * item).div_ceil(8)];
            let words = &mut dappled_kernels::element::word_bytes(&mut words)[..len * item];
            let slices: Vec<&[u8]> = inputs.iter().map(|input| bytes_of(input)).collect();
            assert_eq!(raised.is_empty(), first >= 0.0 || program.inputs.len() == 1);
            let is_complete = code.run_compiled(&slices, words).unwrap();
            if is_complete {
                compiled += 1;
                assert!(raised.is_empty(), "{len} {mode:?}: the flags need the interpreter");
                assert_eq!(*words, *out.read().unwrap(), "{len} {mode:?}");
            }
            let never_compiles = !matches!(mode, Some(JitMode::Always | JitMode::Auto));
            assert!(!(is_complete && (never_compiles || len < 64)), "{len} {mode:?}");
        }
    }
    assert!(compiled > 0, "no program was compiled");
}

#[test]
fn mismatched_operands_are_rejected() {
    let code = engine(&programs()[0], None);
    let (three, two) = ([1.0; 3], [1.0; 2]);
    let mut out = [0u64; 3];
    let out = dappled_kernels::element::word_bytes(&mut out);
    let found = code.run_compiled(&[bytes_of(&three), bytes_of(&three), bytes_of(&two)], out);
    assert!(matches!(found, Err(Error::ShapeMismatch { .. })));
    assert!(matches!(code.run_compiled(&[bytes_of(&three)], out), Err(Error::OperandCount { .. })));
}
