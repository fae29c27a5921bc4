//! Memory safety: aliases, overlaps, claims, bounds; and the validity of programs.

use std::ops::Range;
use std::ptr::NonNull;

use dappled_kernels::tree::TreePart;
use dappled_kernels::{
    Buffer, BufferView, DType, ElementSelection, Error, Interpreter, Op, Program, ProgramStep,
    ReduceOp, Reduction, Reg, Scalar, StepFlags, View, copy_elements, execute, reduce_selected,
    sum_parts_selected,
};

const F: DType = DType::Float64;

/// `x + 1` and `x * x`.
fn two_outputs() -> Program {
    let mut program = Program::new(vec![F], vec![Scalar::new(1.0)]);
    let more = program.push(Op::Add, F, &[Reg(0), Reg(1)]);
    let square = program.push(Op::Square, F, &[Reg(0)]);
    program.outputs = vec![more, square];
    program
}

fn line(len: usize) -> (Buffer, View) {
    let numbers: Vec<f64> = (0..len).map(|at| at as f64).collect();
    (Buffer::from_slice(&numbers), View::c_order(F, &[len]))
}

#[test]
fn outputs_may_be_inputs() {
    for len in [3, 2000, 300_000] {
        let ((a, view), (b, _)) = (line(len), line(len));
        let [x, y] = [&a, &b].map(|buffer| BufferView::new(buffer, &view).unwrap());
        execute(&two_outputs(), &[x], &[x, y]).unwrap();
        let expected: (Vec<f64>, Vec<f64>) =
            (0..len).map(|at| (at as f64 + 1.0, at as f64 * at as f64)).unzip();
        assert_eq!((a.to_vec::<f64>(), b.to_vec::<f64>()), expected);
    }
}

#[test]
fn interleaved_views_do_not_overlap() {
    let (a, view) = line(12);
    let thirds = [0, 1, 2].map(|start| view.slice_axis(0, start, 3, 4));
    let [x, y, z] = thirds.each_ref().map(|third| BufferView::new(&a, third).unwrap());
    execute(&two_outputs(), &[x], &[y, z]).unwrap();
    assert_eq!(a.to_vec::<f64>(), [0.0, 1.0, 0.0, 3.0, 4.0, 9.0, 6.0, 7.0, 36.0, 9.0, 10.0, 81.0]);
}

#[test]
fn overlapping_outputs_are_rejected() {
    let (a, view) = line(10);
    let (b, _) = line(10);
    let [left, right] = [0, 1].map(|start| view.slice_axis(0, start, 1, 9));
    let [x, y] = [&left, &right].map(|part| BufferView::new(&a, part).unwrap());
    let z = BufferView::new(&b, &left).unwrap();
    let refused = |inputs: &[BufferView], outputs: &[BufferView]| match execute(
        &two_outputs(),
        inputs,
        outputs,
    ) {
        Err(Error::Overlap { output, with }) => (output, with),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&[x], &[z, y]), (1, "input 0".to_string()));
    assert_eq!(refused(&[z], &[x, y]), (0, "output 1".to_string()));
    let repeated = View { strides: [0].as_slice().into(), ..left.clone() };
    let repeated = BufferView::new(&a, &repeated).unwrap();
    assert_eq!(refused(&[z], &[z, repeated]), (1, "itself".to_string()));
    assert_eq!(a.to_vec::<f64>(), line(10).0.to_vec::<f64>());
}

#[test]
fn a_buffer_has_one_writer_or_many_readers() {
    let (a, view) = line(4);
    let (b, _) = line(4);
    let (c, _) = line(4);
    let [x, y, z] = [&a, &b, &c].map(|buffer| BufferView::new(buffer, &view).unwrap());
    let reading = b.read().unwrap();
    assert_eq!(execute(&two_outputs(), &[x], &[y, z]), Err(Error::BufferBusy));
    drop(reading);
    // The rejected run has released its claims.
    assert_eq!(execute(&two_outputs(), &[x], &[y, z]), Ok(StepFlags::default()));
    let writing = a.write().unwrap();
    assert_eq!(execute(&two_outputs(), &[x], &[y, z]), Err(Error::BufferBusy));
    drop(writing);
    assert!(a.read().is_ok() && a.is_unique());
}

/// Buffers over the same foreign bytes exclude each other; buffers over other bytes do not.
#[test]
fn foreign_buffers_share_claims() {
    let mut numbers = vec![0_u64; 10];
    let start = NonNull::new(numbers.as_mut_ptr().cast::<u8>()).unwrap();
    let part = |bytes: Range<usize>| {
        // SAFETY: bytes of a vector that outlives the buffers, accessed through them only.
        unsafe { Buffer::foreign(start.add(bytes.start), bytes.len(), Box::new(())) }
    };
    let [all, left, right, again] = [0..80, 0..40, 40..80, 0..80].map(part);
    for (first, second, overlap) in
        [(&all, &again, true), (&all, &left, true), (&right, &again, true), (&left, &right, false)]
    {
        let writing = first.write().unwrap();
        assert_eq!(second.read().is_err(), overlap);
        assert_eq!(second.write().is_err(), overlap);
        drop(writing);
        let reading = (first.read().unwrap(), second.read().unwrap());
        assert!(first.write().is_err());
        drop(reading.1);
        assert_eq!(second.write().is_err(), overlap);
        drop(reading.0);
        assert!(second.write().is_ok() && first.write().is_ok());
    }
}

#[test]
fn views_outside_their_buffer_are_rejected() {
    let (a, view) = line(4);
    let beyond = View { offset: 8, ..view.clone() };
    let below = View { strides: [-8].as_slice().into(), ..view.clone() };
    for bad in [beyond, below] {
        assert!(matches!(BufferView::new(&a, &bad), Err(Error::OutOfBounds { len: 32, .. })));
    }
    assert_eq!(a.as_ptr().addr() % 64, 0);
}

#[test]
fn operands_must_match_the_program() {
    let ((a, view), (b, short)) = (line(4), line(3));
    let (x, y) = (BufferView::new(&a, &view).unwrap(), BufferView::new(&b, &short).unwrap());
    let count = Error::OperandCount { what: "output", expected: 2, found: 1 };
    assert_eq!(execute(&two_outputs(), &[x], &[x]), Err(count));
    assert!(matches!(execute(&two_outputs(), &[x], &[y, y]), Err(Error::ShapeMismatch { .. })));
    let ints = View::c_order(DType::Int64, &[4]);
    let ints = BufferView::new(&a, &ints).unwrap();
    assert!(matches!(execute(&two_outputs(), &[ints], &[x, x]), Err(Error::DTypeMismatch { .. })));
}

/// A program whose output is its input.
fn identity(dtype: DType) -> Interpreter {
    let mut program = Program::new(vec![dtype], vec![]);
    program.outputs.push(program.input(0));
    Interpreter::new(&program).unwrap()
}

/// A mask needs one element per value, or values outside the buffer would be read.
#[test]
fn masks_of_another_length_are_rejected() {
    // Strides that do not merge into one axis, so that row offsets are computed.
    let (a, code) = (Buffer::from_slice(&[1.0; 24]), identity(F));
    let view = View {
        shape: [3, 4].as_slice().into(),
        strides: [64, 8].as_slice().into(),
        ..View::c_order(F, &[1])
    };
    let values = [BufferView::new(&a, &view).unwrap()];
    for length in [0, 5, 11, 13, 1000, 100_000] {
        let bits = Buffer::from_slice(&vec![1_u8; length]);
        let seen = View::c_order(DType::Bool, &[length]);
        let mask = [BufferView::new(&bits, &seen).unwrap()];
        let (chosen, _) = ElementSelection::new(&identity(DType::Bool), &mask).unwrap();
        let refused = Error::MaskLength { mask: length, values: 12 };
        assert_eq!(
            chosen.compress(&code, &values, &Buffer::zeroed(8 * length)),
            Err(refused.clone())
        );
        let all = [TreePart::Node(0..length as u64)];
        let summed = sum_parts_selected::<f64>(&code, &values, &chosen, &all);
        assert_eq!(summed.map(|(sums, _)| sums), Err(refused.clone()));
        let (sum, one) = (Buffer::zeroed(8), View::c_order(F, &[1]));
        let reduction = Reduction::new(ReduceOp::Add, F, &[0], &[8]);
        let out = BufferView::new(&sum, &one).unwrap();
        let reduced = reduce_selected(&code, &values, &chosen, &reduction, &out);
        assert_eq!(reduced.map(drop), Err(refused));
    }
}

/// The buffer for selected values must have exactly their length.
#[test]
fn selected_values_need_a_buffer_of_their_length() {
    let ((a, view), bits) = (line(12), Buffer::from_slice(&[1_u8; 12]));
    let seen = View::c_order(DType::Bool, &[12]);
    let mask = [BufferView::new(&bits, &seen).unwrap()];
    let (chosen, _) = ElementSelection::new(&identity(DType::Bool), &mask).unwrap();
    let values = [BufferView::new(&a, &view).unwrap()];
    for bytes in [0, 88, 104] {
        let written = chosen.compress(&identity(F), &values, &Buffer::zeroed(bytes));
        assert_eq!(written, Err(Error::OutOfBounds { start: 0, stop: 96, len: bytes }));
    }
    let out = Buffer::zeroed(96);
    chosen.compress(&identity(F), &values, &out).unwrap();
    assert_eq!(out.to_vec::<f64>(), a.to_vec::<f64>());
}

#[test]
fn invalid_programs_are_rejected() {
    let with = |op, dtype, args: &[u16]| {
        let mut program = Program::new(vec![F, DType::Bool], vec![]);
        program.steps.push(ProgramStep {
            op,
            dtype,
            args: args.iter().map(|&reg| Reg(reg)).collect(),
        });
        program.outputs.push(Reg(2));
        program.check().unwrap_err()
    };
    assert_eq!(with(Op::Add, F, &[0]), Error::Arity { op: Op::Add, found: 1 });
    assert_eq!(with(Op::Add, F, &[0, 2]), Error::Undefined(2));
    assert_eq!(
        with(Op::Subtract, DType::Bool, &[1, 1]),
        Error::NoLoop { op: Op::Subtract, dtype: DType::Bool }
    );
    let text = with(Op::Add, F, &[0, 1]).to_string();
    assert_eq!(text, "argument 1 of step %2 is bool, expected float64");
    let mut empty = Program::new(vec![F], vec![]);
    assert_eq!(empty.check(), Err(Error::ProgramSize));
    empty.outputs.push(Reg(7));
    assert_eq!(empty.check(), Err(Error::Undefined(7)));
}

/// Views of one shape, each with the size of its memory: permuted axes, gaps, negative strides.
fn views_of(dtype: DType, shape: [usize; 3]) -> Vec<(View, usize)> {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let steps = [[1, 1, 1], [1, 1, -1], [2, -1, 1], [-1, 1, 2], [1, -3, 1], [-1, -1, -1]];
    let pairs = orders.into_iter().flat_map(|order| steps.map(|step| (order, step)));
    let view = |(order, step): ([usize; 3], [isize; 3])| {
        let sizes = order.map(|axis| shape[axis] * step[axis].unsigned_abs());
        let mut seen = View::c_order(dtype, &sizes);
        let bytes = seen.len() * dtype.itemsize();
        for (at, axis) in order.into_iter().enumerate() {
            let start = if step[axis] < 0 { sizes[at] - 1 } else { 0 };
            seen = seen.slice_axis(at, start, step[axis], shape[axis]);
        }
        let place = |axis: usize| order.iter().position(|&other| other == axis).unwrap();
        let strides = [0, 1, 2].map(|axis| seen.strides[place(axis)]);
        (View { shape: shape.as_slice().into(), strides: strides.as_slice().into(), ..seen }, bytes)
    };
    pairs.map(view).collect()
}

/// The byte offsets of the elements in C order.
fn byte_offsets(view: &View) -> Vec<usize> {
    let [a, b, c] = [0, 1, 2].map(|axis| view.shape[axis] as isize);
    let offset = |i, j, k| view.strides[0] * i + view.strides[1] * j + view.strides[2] * k;
    let all = (0..a).flat_map(|i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))));
    all.map(|(i, j, k)| (view.offset as isize + offset(i, j, k)) as usize).collect()
}

#[test]
fn copies_between_any_views() {
    let dtypes = [DType::UInt8, DType::Int16, DType::Float32, F, DType::Complex128];
    for (dtype, shape) in
        dtypes.into_iter().zip([[3, 70, 5], [66, 9, 2], [1, 65, 67], [5, 67, 66], [4, 1, 70]])
    {
        let item = dtype.itemsize();
        for (read, needed) in views_of(dtype, shape) {
            let from: Vec<u8> = (0..needed).map(|at| (at * 7 % 251) as u8).collect();
            for (written, needed) in views_of(dtype, shape) {
                let (mut found, mut wanted) = (vec![255; needed], vec![255; needed]);
                copy_elements((&from, &read), (&mut found, &written)).unwrap();
                for (at, to) in byte_offsets(&read).into_iter().zip(byte_offsets(&written)) {
                    wanted[to..to + item].copy_from_slice(&from[at..at + item]);
                }
                assert!(found == wanted, "{read:?} to {written:?}");
            }
        }
    }
}

#[test]
fn copies_outside_the_memory_are_rejected() {
    let (small, large) = (View::c_order(F, &[2]), View::c_order(F, &[3]).slice_axis(0, 1, 1, 2));
    let mut out = [0; 16];
    assert!(copy_elements((&[0; 16], &large), (&mut out, &small)).is_err());
    assert!(copy_elements((&[0; 24], &large), (&mut out, &large)).is_err());
}
