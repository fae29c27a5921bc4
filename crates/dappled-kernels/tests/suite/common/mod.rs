//! Helpers: single operations, and comparison of elements up to NaN payloads.

pub mod tables;

use dappled_kernels::element::typed;
use dappled_kernels::{
    Buffer, BufferView, CpuVariant, DType, DTypeKind, Engine, FpFlags, Interpreter, Op, Program,
    View,
};

/// Runs one operation on contiguous arguments in the best variant; arguments and result are bytes.
pub fn run(op: Op, dtype: DType, args: &[&[u8]]) -> Vec<u8> {
    run_in(CpuVariant::best(), op, dtype, args)
}

/// Runs one operation in a variant.
pub fn run_in(variant: CpuVariant, op: Op, dtype: DType, args: &[&[u8]]) -> Vec<u8> {
    run_flagged(variant, op, dtype, args).0
}

/// Runs one operation in a variant and returns its flags too.
pub fn run_flagged(
    variant: CpuVariant,
    op: Op,
    dtype: DType,
    args: &[&[u8]],
) -> (Vec<u8>, FpFlags) {
    let dtypes: Vec<DType> = (0..op.arity()).map(|at| op.argument(dtype, at)).collect();
    let mut program = Program::new(dtypes.clone(), vec![]);
    let regs: Vec<_> = (0..op.arity()).map(|at| program.input(at)).collect();
    let result = program.push(op, dtype, &regs);
    program.outputs.push(result);
    let len = args[0].len() / dtypes[0].itemsize();
    let buffers: Vec<Buffer> = args.iter().map(|bytes| Buffer::from_slice(bytes)).collect();
    let views: Vec<View> = dtypes.iter().map(|&dtype| View::c_order(dtype, &[len])).collect();
    let inputs: Vec<BufferView> = buffers
        .iter()
        .zip(&views)
        .map(|(buffer, view)| BufferView::new(buffer, view).unwrap())
        .collect();
    let out = Buffer::zeroed(len * op.result(dtype).itemsize());
    let view = View::c_order(op.result(dtype), &[len]);
    let engine = Interpreter::for_variant(&program, variant).unwrap();
    let raised = engine.run(&inputs, &[BufferView::new(&out, &view).unwrap()]).unwrap();
    (out.to_vec::<u8>(), raised.of(0))
}

/// Asserts equal bits, where any NaN equals any other.
pub fn assert_same(dtype: DType, found: &[u8], expected: &[u8], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let part =
        if dtype.kind() == DTypeKind::Complex { dtype.itemsize() / 2 } else { dtype.itemsize() };
    let is_float = matches!(dtype.kind(), DTypeKind::Float | DTypeKind::Complex);
    for (at, (a, b)) in found.chunks(part).zip(expected.chunks(part)).enumerate() {
        let same = a == b || is_float && is_nan(a) && is_nan(b);
        assert!(same, "{what}: element {at}: found {a:02x?}, expected {b:02x?}");
    }
}

fn is_nan(bytes: &[u8]) -> bool {
    let buffer = Buffer::from_slice(bytes);
    let bytes = &buffer.read().unwrap()[..];
    match bytes.len() {
        2 => typed::<half::f16>(bytes)[0].is_nan(),
        4 => typed::<f32>(bytes)[0].is_nan(),
        _ => typed::<f64>(bytes)[0].is_nan(),
    }
}
