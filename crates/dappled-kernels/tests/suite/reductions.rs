//! Reductions and scans against NumPy's table; see `make_reductions.py`.

use std::path::Path;

use crate::common::run;
use dappled_kernels::element::{bytes_of, typed, typed_mut};
use dappled_kernels::{
    ArgReduceOp, Buffer, BufferView, CpuVariant, DType, DTypeKind, Error, FpFlags, Interpreter, Op,
    Program, ReduceLayout, ReduceOp, Reduction, Scalar, View, arg_reduce, reduce,
    reduce_contiguous, scan,
};
use num_complex::Complex64;

/// The numbers of `make_reductions.py`.
fn bits(i: u64) -> u64 {
    i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i.wrapping_mul(i) ^ (i >> 3)
}

fn spread(i: u64) -> f64 {
    (bits(i) >> 11) as f64 / 2f64.powi(53) - 0.5
}

/// The smallest and the largest normal number.
fn range(dtype: DType) -> (f64, f64) {
    match dtype.real() {
        DType::Float16 => (half::f16::MIN_POSITIVE.to_f64(), half::f16::MAX.to_f64()),
        DType::Float32 => (f32::MIN_POSITIVE.into(), f32::MAX.into()),
        _ => (f64::MIN_POSITIVE, f64::MAX),
    }
}

fn real(kind: &str, i: u64, dtype: DType) -> f64 {
    match kind {
        "few" => f64::from(bits(i) % 997 != 3),
        "zeros" => [-1.0, -0.0, -1.0, 0.0, -1.0, -1.0, -2.0, -0.0][(bits(i) >> 7) as usize % 8],
        "nans" if bits(i) % 41 == 5 => f64::NAN,
        "near" => 1.0 + spread(i) / 8.0,
        "infinite" if bits(i) % 1009 == 5 => {
            [f64::INFINITY, -f64::INFINITY, 0.0, f64::INFINITY][(bits(i) >> 9) as usize % 4]
        }
        "infinite" => 1.0 + spread(i) / 8.0,
        "large" => spread(i) * range(dtype).1,
        "tiny" => spread(i) * range(dtype).0 * 8.0,
        _ => spread(i),
    }
}

fn memory(kind: &str, len: usize, dtype: DType) -> Vec<u8> {
    let len = len as u64;
    if kind == "whole" {
        let numbers: Vec<i64> = (0..len).map(|i| bits(i) as i64).collect();
        return run(Op::Cast(dtype), DType::Int64, &[bytes_of(&numbers)]);
    }
    let reals: Vec<f64> = (0..len).map(|i| real(kind, i, dtype)).collect();
    if dtype.kind() != DTypeKind::Complex {
        return run(Op::Cast(dtype), DType::Float64, &[bytes_of(&reals)]);
    }
    let turned = |i: u64| match kind {
        "zeros" => -reals[i as usize],
        "large" | "tiny" => reals[i as usize],
        _ => spread(i),
    };
    let complex = |i: u64| Complex64::new(reals[i as usize], turned(len - 1 - i));
    let numbers: Vec<Complex64> = (0..len).map(complex).collect();
    run(Op::Cast(dtype), DType::Complex128, &[bytes_of(&numbers)])
}

/// One row of the table.
struct Case {
    line: String,
    name: String,
    source: DType,
    dtype: DType,
    axes: Vec<usize>,
    start: String,
    expected: String,
    flags: String,
    buffer: Buffer,
    view: View,
}

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    text.split(',').filter_map(|number| number.parse().ok()).collect()
}

impl Case {
    fn new(line: &str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, source, dtype, kind, shape, order, steps, axes, start, expected, flags] =
            words[..]
        else {
            panic!("{line}")
        };
        let source = source.parse().unwrap();
        let view = layout(source, &numbers(shape), &numbers(order), &numbers(steps));
        let steps: Vec<isize> = numbers(steps);
        let len = view.len() * steps.iter().map(|step| step.unsigned_abs()).product::<usize>();
        Self {
            line: line.to_string(),
            name: name.to_string(),
            source,
            dtype: dtype.parse().unwrap(),
            axes: numbers(axes),
            start: start.to_string(),
            expected: expected.to_string(),
            flags: if flags == "-" { String::new() } else { flags.replace(',', ", ") },
            buffer: Buffer::from_slice(&memory(kind, len, source)),
            view,
        }
    }

    fn fold(&self) -> Option<ReduceOp> {
        ReduceOp::ALL.into_iter().find(|fold| fold.name() == self.name)
    }

    /// The values, cast if the case requires it.
    fn program(&self) -> Program {
        let mut program = Program::new(vec![self.source], vec![]);
        let reg = match self.source == self.dtype {
            true => program.input(0),
            false => program.push(Op::Cast(self.dtype), self.source, &[program.input(0)]),
        };
        program.outputs.push(reg);
        program
    }

    /// Describes a wrong result.
    fn compare(&self, dtype: DType, result: &[u8], flags: FpFlags) -> Option<String> {
        let (found, flags) = (formatted(dtype, result), flags.to_string());
        let same = found == self.expected && flags == self.flags;
        (!same).then(|| format!("{}: found {found} {flags}", self.line))
    }

    fn reduction(&self) -> Option<String> {
        let mut shape = self.view.shape.clone();
        self.axes.iter().for_each(|&axis| shape[axis] = 1);
        let mut reduction =
            Reduction::new(self.fold().unwrap(), self.dtype, &self.axes, &self.view.strides);
        reduction.casts = self.source != self.dtype;
        reduction.initial = self.initial();
        // To NumPy the cast is a part of the reduction.
        self.result(self.dtype, &shape, |code, inputs, out| {
            let folded = reduce(code, inputs, &reduction, out)?;
            Ok(folded.reduction | folded.steps.of(0))
        })
    }

    fn initial(&self) -> Option<Scalar> {
        match &self.start[..] {
            "first" => None,
            "3" => Some(Scalar::new(3i8).cast(self.dtype)),
            _ => self.fold().unwrap().identity(self.dtype),
        }
    }

    /// The arrangement of the values, if `fold_at_once` can reduce them.
    fn along(&self) -> Option<ReduceLayout> {
        let is_plain = self.source == self.dtype && self.view.is_contiguous();
        ReduceLayout::of(&self.view.shape, &self.axes).filter(|_| is_plain && !self.view.is_empty())
    }

    fn at_once(&self) -> Option<String> {
        let bytes = self.view.len() * self.dtype.itemsize();
        let values = &self.buffer.read().unwrap()[self.view.offset..][..bytes];
        let kept = |(axis, &length)| if self.axes.contains(&axis) { 1 } else { length };
        let count: usize = self.view.shape.iter().enumerate().map(kept).product();
        let out = Buffer::zeroed(count * self.dtype.itemsize());
        let (fold, along) = (self.fold().unwrap(), self.along().unwrap());
        let mut accs = out.write().unwrap();
        let flags = reduce_contiguous(fold, self.dtype, along, values, &mut accs, self.initial());
        self.compare(self.dtype, &accs, flags)
    }

    fn scan(&self) -> Option<String> {
        let (fold, axis) = (self.fold().unwrap(), self.axes[0]);
        let shape = &self.view.shape;
        self.result(self.dtype, shape, |code, inputs, out| {
            Ok(scan(code, inputs, fold, axis, None, out)?.reduction)
        })
    }

    fn argument(&self) -> Option<String> {
        let extreme = if self.name == "argmax" { ArgReduceOp::ArgMax } else { ArgReduceOp::ArgMin };
        let axis = self.axes.first().copied();
        let length = |(at, &size)| if axis.is_none_or(|axis| axis == at) { 1 } else { size };
        let shape: Vec<usize> = self.view.shape.iter().enumerate().map(length).collect();
        self.result(DType::Int64, &shape, |code, inputs, out| {
            Ok(arg_reduce(code, inputs, extreme, axis, out)?.of(0))
        })
    }

    /// Runs with a new output array, and describes a wrong result.
    fn result(
        &self,
        dtype: DType,
        shape: &[usize],
        run: impl Fn(&Interpreter, &[BufferView], &BufferView) -> Result<FpFlags, Error>,
    ) -> Option<String> {
        let view = View::c_order(dtype, shape);
        let out = Buffer::zeroed(view.len() * dtype.itemsize());
        let code = Interpreter::new(&self.program()).unwrap();
        let inputs = [BufferView::new(&self.buffer, &self.view).unwrap()];
        let flags = run(&code, &inputs, &BufferView::new(&out, &view).unwrap()).unwrap();
        self.compare(dtype, &out.to_vec::<u8>(), flags)
    }
}

/// A view with this memory order of axes, and with steps along them.
fn layout(dtype: DType, shape: &[usize], order: &[usize], steps: &[isize]) -> View {
    let base: Vec<usize> =
        order.iter().map(|&axis| shape[axis] * steps[axis].unsigned_abs()).collect();
    let memory = View::c_order(dtype, &base);
    let mut view = memory.clone();
    for (at, &axis) in order.iter().enumerate() {
        (view.shape[axis], view.strides[axis]) = (memory.shape[at], memory.strides[at]);
    }
    for (axis, &step) in steps.iter().enumerate() {
        let start = if step < 0 && !view.is_empty() { view.shape[axis] - 1 } else { 0 };
        view = view.slice_axis(axis, start, step, shape[axis]);
    }
    view
}

/// A result in the format of the table: one NaN, and long results hashed.
fn formatted(dtype: DType, result: &[u8]) -> String {
    let buffer = Buffer::from_slice(result);
    let mut bytes = buffer.write().unwrap();
    match dtype.real() {
        DType::Float16 => typed_mut::<half::f16>(&mut bytes)
            .iter_mut()
            .filter(|value| value.is_nan())
            .for_each(|value| *value = half::f16::from_bits(0x7e00)),
        DType::Float32 => typed_mut::<f32>(&mut bytes)
            .iter_mut()
            .filter(|value| value.is_nan())
            .for_each(|value| *value = f32::from_bits(0x7fc0_0000)),
        DType::Float64 => typed_mut::<f64>(&mut bytes)
            .iter_mut()
            .filter(|value| value.is_nan())
            .for_each(|value| *value = f64::from_bits(0x7ff8_0000_0000_0000)),
        _ => {}
    }
    match bytes.len() {
        0 => "-".to_string(),
        1..=32 => typed::<u8>(&bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
        _ => {
            let mix =
                |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            format!("#{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix))
        }
    }
}

fn cases(wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/reductions.txt");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("# NumPy 2."), "made by NumPy");
    let lines = text.lines().skip(1).filter(|line| wanted(line.split(' ').nth(8).unwrap()));
    lines.map(Case::new).collect()
}

/// One thread for every variant, and more threads than cores.
fn in_pools(check: impl Fn(&Case) -> Option<String> + Sync, cases: &[Case]) {
    let alone = CpuVariant::available().map(|variant| (variant, 1));
    for (variant, threads) in alone.chain([(CpuVariant::best(), 3)]) {
        variant.activate();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let wrong: Vec<String> = pool.install(|| cases.iter().filter_map(&check).collect());
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    }
}

#[test]
fn reductions_have_numpys_bits_and_flags_on_any_number_of_threads() {
    let cases = cases(|start| !["scan", "argument"].contains(&start));
    assert!(cases.len() > 1000);
    in_pools(Case::reduction, &cases);
}

#[test]
fn contiguous_reductions_have_numpys_bits_and_flags() {
    let mut cases = cases(|start| !["scan", "argument"].contains(&start));
    cases.retain(|case| case.along().is_some());
    let rows = cases.iter().filter(|case| case.along() == Some(ReduceLayout::Rows)).count();
    assert!(rows > 40 && cases.len() > rows + 500, "{rows} of {}", cases.len());
    in_pools(Case::at_once, &cases);
}

#[test]
fn scans_have_numpys_bits_and_flags() {
    let cases = cases(|start| start == "scan");
    assert!(cases.len() > 300);
    in_pools(Case::scan, &cases);
}

#[test]
fn argmin_and_argmax_agree_with_numpy() {
    let cases = cases(|start| start == "argument");
    assert!(cases.len() > 100);
    in_pools(Case::argument, &cases);
}
