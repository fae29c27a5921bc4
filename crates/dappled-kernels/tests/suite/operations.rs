//! Every operation against NumPy's loops, values and flags; see `make_operations.py`.

use crate::common::tables::{Operands, bytes, check, dtype, op, table};
use crate::common::{run_flagged, run_in};
use dappled_kernels::element::{Element, typed};
use dappled_kernels::{Buffer, CpuVariant, DType, FpFlags, Op, Scalar, apply};

#[test]
fn loops_agree_with_numpy() {
    let rows = table("loops");
    assert_eq!(
        rows.len(),
        (Op::ALL_BUT_CAST.len() - 6) * 14,
        "all but those with no name of their own"
    );
    for row in rows {
        let found = op(&row[0]).loop_for(dtype(&row[1]));
        let expected = (row[2] != "-").then(|| dtype(&row[2]));
        assert_eq!(found, expected, "{row:?}");
        let native = expected == Some(dtype(&row[1]));
        assert!(native || !op(&row[0]).has_loop(dtype(&row[1])), "{row:?}");
    }
}

#[test]
fn names_agree_with_numpy() {
    for op in Op::ALL_BUT_CAST {
        let expected = match op {
            Op::Select => None,
            Op::UnfusedMultiply => Some(Op::Multiply),
            Op::UnfusedSquare => Some(Op::Square),
            Op::UnfusedAbsolute => Some(Op::Absolute),
            op => Some(op),
        };
        assert_eq!(Op::from_numpy_name(op.numpy_name()), expected);
    }
    assert_eq!(Op::from_numpy_name("degrees"), Some(Op::Rad2Deg));
    assert_eq!(Op::from_numpy_name("matmul"), None);
}

#[test]
fn values_agree_with_numpy() {
    let operands = Operands::read("operands");
    for row in table("exact") {
        let (op, dtype) = (op(&row[0]), dtype(&row[1]));
        assert!(op.has_loop(dtype), "{op} {dtype}");
        check(op, dtype, &operands.of(op, dtype), &bytes(&row[2]));
    }
}

#[test]
fn parts_of_complex_numbers() {
    for row in table("real_and_imag") {
        check(Op::Real, dtype(&row[0]), &[&bytes(&row[1])], &bytes(&row[2]));
        check(Op::Imag, dtype(&row[0]), &[&bytes(&row[1])], &bytes(&row[3]));
    }
}

#[test]
fn powers_of_integers_wrap() {
    for row in table("integer_powers") {
        let columns = [1, 2, 3].map(|at| bytes(&row[at]));
        check(Op::Power, dtype(&row[0]), &[&columns[0], &columns[1]], &columns[2]);
    }
}

/// The index of a float among all floats of its width: neighbours differ by one.
fn float_index(bits: u64, width: u32) -> i64 {
    let size = (bits & !(1 << (width - 1))) as i64;
    if size as u64 == bits { size } else { -size }
}

fn float_indices(dtype: DType, memory: &[u8]) -> Vec<Option<i64>> {
    let buffer = Buffer::from_slice(memory);
    let memory = &buffer.read().unwrap()[..];
    fn each<T: Element>(memory: &[u8], float_index: impl Fn(T) -> Option<i64>) -> Vec<Option<i64>> {
        typed::<T>(memory).iter().map(|&value| float_index(value)).collect()
    }
    match dtype {
        DType::Float16 => {
            each(memory, |a: half::f16| (!a.is_nan()).then(|| float_index(a.to_bits().into(), 16)))
        }
        DType::Float32 => {
            each(memory, |a: f32| (!a.is_nan()).then(|| float_index(a.to_bits().into(), 32)))
        }
        _ => each(memory, |a: f64| (!a.is_nan()).then(|| float_index(a.to_bits(), 64))),
    }
}

/// The tolerated distance from NumPy's result, in units of the last float_index. NumPy's own float32
/// loops deviate by up to three.
fn max_ulps(op: Op, dtype: DType) -> i64 {
    match (op, dtype) {
        (Op::Log, DType::Float32) => 4,
        _ => 2,
    }
}

#[test]
fn functions_are_close_to_numpy() {
    let operands = Operands::read("function_operands");
    for row in table("functions") {
        let (op, dtype) = (op(&row[0]), dtype(&row[1]));
        let (args, expected) = (operands.of(op, dtype), float_indices(dtype, &bytes(&row[2])));
        let mut worst = 0;
        for variant in CpuVariant::available() {
            let found = float_indices(dtype, &run_in(variant, op, dtype, &args));
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let what = || {
                    let item = dtype.itemsize();
                    let args = args.iter().map(|arg| &arg[at * item..(at + 1) * item]);
                    format!("{op} {dtype} {variant:?} of {:02x?}", args.collect::<Vec<_>>())
                };
                assert_eq!(found.is_none(), expected.is_none(), "{}", what());
                let apart = found.unwrap_or(0).abs_diff(expected.unwrap_or(0)) as i64;
                assert!(apart <= max_ulps(op, dtype), "{}: {apart} apart", what());
                worst = worst.max(apart);
            }
        }
        println!("{op} {dtype}: {worst}");
    }
}

/// Zeros, with their signs, and infinities are exact.
#[test]
fn special_values_agree_with_numpy() {
    let operands = Operands::read("function_operands");
    for row in table("functions") {
        let (op, dtype) = (op(&row[0]), dtype(&row[1]));
        let (args, expected) = (operands.of(op, dtype), bytes(&row[2]));
        let found = run_in(CpuVariant::best(), op, dtype, &args);
        let item = dtype.itemsize();
        let top = float_indices(dtype, &infinity(dtype))[0];
        for (at, float_index) in float_indices(dtype, &expected).iter().enumerate() {
            let range = at * item..(at + 1) * item;
            if *float_index == Some(0) || float_index.map(i64::abs) == top {
                assert_eq!(found[range.clone()], expected[range], "{op} {dtype} element {at}");
            }
        }
    }
}

fn infinity(dtype: DType) -> Vec<u8> {
    Scalar::new(f64::INFINITY).cast(dtype).bytes().to_vec()
}

fn flags_of(digit: u8) -> FpFlags {
    let all = [FpFlags::DIVIDE, FpFlags::OVERFLOW, FpFlags::UNDERFLOW, FpFlags::INVALID];
    let value = (digit as char).to_digit(17).unwrap();
    let set = all.into_iter().enumerate().filter(|(bit, _)| value & 1 << bit != 0);
    let flags = set.fold(FpFlags::NONE, |all, (_, flag)| all | flag);
    if value == 16 { FpFlags::NEGATIVE_POWER } else { flags }
}

/// Removes underflow flags that differ from NumPy's: float16 functions ignore the rounding of the
/// float32 result, and NumPy's sine squares tiny numbers.
fn comparable_flags(op: Op, dtype: DType, flags: FpFlags) -> FpFlags {
    let no_underflow = match dtype {
        DType::Float16 => matches!(op, Op::Arctan2 | Op::Log1p | Op::Logaddexp | Op::Logaddexp2),
        DType::Float32 => matches!(op, Op::Sin | Op::Cos),
        _ => false,
    };
    let watched = FpFlags::DIVIDE | FpFlags::OVERFLOW | FpFlags::INVALID | FpFlags::NEGATIVE_POWER;
    if no_underflow { flags & watched } else { flags }
}

fn applied(op: Op, dtype: DType, args: &[&[u8]]) -> FpFlags {
    let args: Vec<Buffer> = args.iter().map(|arg| Buffer::from_slice(arg)).collect();
    let args: Vec<_> = args.iter().map(|arg| arg.read().unwrap()).collect();
    let args: Vec<&[u8]> = args.iter().map(|arg| &arg[..]).collect();
    let out = Buffer::zeroed(op.result(dtype).itemsize());
    let out = &mut out.write().unwrap();
    apply(op, dtype, &args, out).unwrap()
}

/// Runs each element separately, by a program and by `apply`, and compares the flags.
fn check_flags(op: Op, dtype: DType, args: &[&[u8]], expected: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, digit) in expected.bytes().enumerate() {
        let item = dtype.itemsize();
        let one: Vec<&[u8]> = args.iter().map(|arg| &arg[at * item..(at + 1) * item]).collect();
        let shown: Vec<String> =
            one.iter().map(|arg| Scalar::from_bytes(dtype, arg).to_string()).collect();
        let found = [run_flagged(CpuVariant::best(), op, dtype, &one).1, applied(op, dtype, &one)];
        let expected = comparable_flags(op, dtype, flags_of(digit));
        if found.map(|flags| comparable_flags(op, dtype, flags)) != [expected; 2] {
            wrong.push(format!("{op} {shown:?}: found {}, expected {expected}", found[0]));
        }
    }
    wrong
}

#[test]
fn flags_agree_with_numpy() {
    let operands = Operands::read("flag_operands");
    let mut wrong = Vec::new();
    for row in table("flags") {
        let (op, dtype) = (op(&row[0]), dtype(&row[1]));
        if op.has_loop(dtype) {
            wrong.extend(check_flags(op, dtype, &operands.of(op, dtype), &row[2]));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn flags_of_casts_agree_with_numpy() {
    let mut wrong = Vec::new();
    for row in table("cast_flags") {
        let (from, to) = (dtype(&row[0]), dtype(&row[1]));
        wrong.extend(check_flags(Op::Cast(to), from, &[&bytes(&row[2])], &row[3]));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
