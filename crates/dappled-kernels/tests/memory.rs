//! Which memory a run may touch: aliases, overlaps, claims, bounds; and which programs are legal.

use dappled_kernels::{
    Buffer, DType, Error, Op, Operand, Program, Raised, Reg, Scalar, Step, View, execute,
};

const F: DType = DType::Float64;

/// `x + 1` and `x * x`
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
fn an_output_may_be_an_input() {
    for len in [3, 2000, 300_000] {
        let ((a, view), (b, _)) = (line(len), line(len));
        let [x, y] = [&a, &b].map(|buffer| Operand::new(buffer, &view).unwrap());
        execute(&two_outputs(), &[x], &[x, y]).unwrap();
        let expected: (Vec<f64>, Vec<f64>) =
            (0..len).map(|at| (at as f64 + 1.0, at as f64 * at as f64)).unzip();
        assert_eq!((a.to_vec::<f64>(), b.to_vec::<f64>()), expected);
    }
}

#[test]
fn interleaved_parts_of_one_buffer_are_apart() {
    let (a, view) = line(12);
    let thirds = [0, 1, 2].map(|start| view.region(0, start, 3, 4));
    let [x, y, z] = thirds.each_ref().map(|third| Operand::new(&a, third).unwrap());
    execute(&two_outputs(), &[x], &[y, z]).unwrap();
    assert_eq!(a.to_vec::<f64>(), [0.0, 1.0, 0.0, 3.0, 4.0, 9.0, 6.0, 7.0, 36.0, 9.0, 10.0, 81.0]);
}

#[test]
fn overlaps_are_refused() {
    let (a, view) = line(10);
    let (b, _) = line(10);
    let [left, right] = [0, 1].map(|start| view.region(0, start, 1, 9));
    let [x, y] = [&left, &right].map(|part| Operand::new(&a, part).unwrap());
    let z = Operand::new(&b, &left).unwrap();
    let refused =
        |inputs: &[Operand], outputs: &[Operand]| match execute(&two_outputs(), inputs, outputs) {
            Err(Error::Overlap { output, with }) => (output, with),
            other => panic!("{other:?}"),
        };
    assert_eq!(refused(&[x], &[z, y]), (1, "input 0".to_string()));
    assert_eq!(refused(&[z], &[x, y]), (0, "output 1".to_string()));
    let repeated = View { strides: [0].as_slice().into(), ..left.clone() };
    let repeated = Operand::new(&a, &repeated).unwrap();
    assert_eq!(refused(&[z], &[z, repeated]), (1, "itself".to_string()));
    assert_eq!(a.to_vec::<f64>(), line(10).0.to_vec::<f64>());
}

#[test]
fn a_buffer_has_one_writer_or_many_readers() {
    let (a, view) = line(4);
    let (b, _) = line(4);
    let (c, _) = line(4);
    let [x, y, z] = [&a, &b, &c].map(|buffer| Operand::new(buffer, &view).unwrap());
    let reading = b.read().unwrap();
    assert_eq!(execute(&two_outputs(), &[x], &[y, z]), Err(Error::Busy));
    drop(reading);
    // The refusal has left no claim behind.
    assert_eq!(execute(&two_outputs(), &[x], &[y, z]), Ok(Raised::default()));
    let writing = a.write().unwrap();
    assert_eq!(execute(&two_outputs(), &[x], &[y, z]), Err(Error::Busy));
    drop(writing);
    assert!(a.read().is_ok() && a.is_unique());
}

#[test]
fn views_outside_their_buffer_are_refused() {
    let (a, view) = line(4);
    let beyond = View { offset: 8, ..view.clone() };
    let below = View { strides: [-8].as_slice().into(), ..view.clone() };
    for bad in [beyond, below] {
        assert!(matches!(Operand::new(&a, &bad), Err(Error::OutOfBounds { len: 32, .. })));
    }
    assert_eq!(a.as_ptr().addr() % 64, 0);
}

#[test]
fn operands_must_fit_the_program() {
    let ((a, view), (b, short)) = (line(4), line(3));
    let (x, y) = (Operand::new(&a, &view).unwrap(), Operand::new(&b, &short).unwrap());
    let count = Error::Count { what: "output", expected: 2, found: 1 };
    assert_eq!(execute(&two_outputs(), &[x], &[x]), Err(count));
    assert!(matches!(execute(&two_outputs(), &[x], &[y, y]), Err(Error::Shape { .. })));
    let ints = View::c_order(DType::Int64, &[4]);
    let ints = Operand::new(&a, &ints).unwrap();
    assert!(matches!(execute(&two_outputs(), &[ints], &[x, x]), Err(Error::DTypeMismatch { .. })));
}

#[test]
fn illegal_programs_are_refused() {
    let with = |op, dtype, args: &[u16]| {
        let mut program = Program::new(vec![F, DType::Bool], vec![]);
        program.steps.push(Step { op, dtype, args: args.iter().map(|&reg| Reg(reg)).collect() });
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
