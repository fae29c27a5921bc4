//! Random programs of views, writes and pending operations, compared with eager evaluation.
//!
//! They run on several numbers of ranks.

use dappled::protocol::slice::KeyItem;
use dappled::{Array, GraphError, Limits, Session, UfuncOperand, ufunc};
use dappled_fabric::{Solo, Threads};
use dappled_kernels::Op;
use proptest::collection::vec;
use proptest::prelude::*;

const ROWS: i64 = 8;
const COLUMNS: i64 = 9;
/// All slices have one shape, so that any two are compatible.
const HEIGHT: i64 = 3;
const WIDTH: i64 = 4;
const ARRAYS: usize = 2;

/// A slice of an array: along each axis the first index and the step.
#[derive(Clone, Copy, Debug)]
struct Part {
    array: usize,
    rows: (i64, i64),
    columns: (i64, i64),
}

/// The second operand of an operation.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Part(Part),
    Pending(usize),
    Number(f64),
}

#[derive(Clone, Debug)]
enum Command {
    /// `pending.append(op(part, operand))`
    Request(Op, Part, Operand),
    /// `part[...] = pending[i]`, which may read the written elements
    Write(Part, usize),
    /// `part[...] = number`
    Fill(Part, f64),
}

impl Part {
    fn items(self) -> [KeyItem; 2] {
        let slice = |(start, step): (i64, i64), count: i64| {
            let stop = start + step * count;
            KeyItem::Slice(Some(start), (stop >= 0).then_some(stop), Some(step))
        };
        [slice(self.rows, HEIGHT), slice(self.columns, WIDTH)]
    }

    /// The flat indices of the elements in the array.
    fn positions(self) -> Vec<usize> {
        let row = |at: i64| self.rows.0 + at * self.rows.1;
        let column = |at: i64| self.columns.0 + at * self.columns.1;
        let all = (0..HEIGHT).flat_map(|i| (0..WIDTH).map(move |j| (i, j)));
        all.map(|(i, j)| (row(i) * COLUMNS + column(j)) as usize).collect()
    }
}

fn along(size: i64, count: i64) -> impl Strategy<Value = (i64, i64)> {
    prop_oneof![Just(1i64), Just(2), Just(-1), Just(-2)].prop_flat_map(move |step| {
        let reach = (count - 1) * step;
        let starts = if step > 0 { 0..size - reach } else { -reach..size };
        (starts, Just(step))
    })
}

fn part() -> impl Strategy<Value = Part> {
    (0..ARRAYS, along(ROWS, HEIGHT), along(COLUMNS, WIDTH))
        .prop_map(|(array, rows, columns)| Part { array, rows, columns })
}

fn command() -> impl Strategy<Value = Command> {
    let number = || prop_oneof![Just(0.5f64), Just(3.0), Just(-1.25)];
    let operand = prop_oneof![
        part().prop_map(Operand::Part),
        (0usize..8).prop_map(Operand::Pending),
        number().prop_map(Operand::Number),
    ];
    let op = prop_oneof![Just(Op::Add), Just(Op::Subtract), Just(Op::Multiply), Just(Op::Divide)];
    prop_oneof![
        4 => (op, part(), operand).prop_map(|(op, part, operand)| Command::Request(op, part, operand)),
        3 => (part(), 0usize..8).prop_map(|(part, at)| Command::Write(part, at)),
        1 => (part(), number()).prop_map(|(part, value)| Command::Fill(part, value)),
    ]
}

/// Evaluates the commands eagerly in one memory: the arrays, then the pending results.
fn reference(commands: &[Command]) -> Vec<Vec<f64>> {
    let size = (ROWS * COLUMNS) as usize;
    let mut arrays: Vec<Vec<f64>> = (0..ARRAYS).map(|at| vec![at as f64 + 1.0; size]).collect();
    let mut pending: Vec<Vec<f64>> = Vec::new();
    let read = |arrays: &[Vec<f64>], part: &Part| -> Vec<f64> {
        part.positions().into_iter().map(|position| arrays[part.array][position]).collect()
    };
    for command in commands {
        match command {
            Command::Request(op, part, operand) => {
                let left = read(&arrays, part);
                let right = match operand {
                    Operand::Part(part) => read(&arrays, part),
                    Operand::Pending(at) if *at < pending.len() => pending[*at].clone(),
                    Operand::Pending(_) => continue,
                    Operand::Number(number) => vec![*number; left.len()],
                };
                pending.push(left.iter().zip(&right).map(|(a, b)| apply(*op, *a, *b)).collect());
            }
            Command::Write(part, at) if *at < pending.len() => {
                for (position, value) in part.positions().into_iter().zip(&pending[*at]) {
                    arrays[part.array][position] = *value;
                }
            }
            Command::Write(..) => {}
            Command::Fill(part, value) => {
                part.positions()
                    .into_iter()
                    .for_each(|position| arrays[part.array][position] = *value);
            }
        }
    }
    [arrays, pending].concat()
}

fn apply(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Add => a + b,
        Op::Subtract => a - b,
        Op::Multiply => a * b,
        _ => a / b,
    }
}

/// Evaluates the commands with deferred arrays.
fn deferred(session: &Session, commands: &[Command]) -> Result<Vec<Vec<f64>>, GraphError> {
    let shape = [ROWS as usize, COLUMNS as usize];
    let arrays: Vec<Array> =
        (0..ARRAYS).map(|at| Array::full(session, &shape, at as f64 + 1.0)).collect();
    let mut pending: Vec<Array> = Vec::new();
    let part = |part: &Part| arrays[part.array].slice(&part.items());
    for command in commands {
        match command {
            Command::Request(op, own, operand) => {
                let other = match operand {
                    Operand::Part(other) => Some(part(other)?),
                    Operand::Pending(at) if *at < pending.len() => Some(pending[*at].clone()),
                    Operand::Pending(_) => continue,
                    Operand::Number(_) => None,
                };
                let with = match (&other, operand) {
                    (Some(array), _) => UfuncOperand::from(array),
                    (None, Operand::Number(number)) => UfuncOperand::from(*number),
                    _ => continue,
                };
                let own = part(own)?;
                pending.push(ufunc(session, *op, &[UfuncOperand::from(&own), with])?);
            }
            Command::Write(own, at) if *at < pending.len() => part(own)?.assign(&pending[*at])?,
            Command::Write(..) => {}
            Command::Fill(own, value) => part(own)?.fill(*value)?,
        }
    }
    arrays.iter().chain(&pending).map(Array::to_vec).collect()
}

/// Combinations of replicated or distributed arrays, and eager or deferred operations.
fn limits() -> impl Strategy<Value = Limits> {
    prop_oneof![
        3 => Just(Limits { replicate_below: 0, eager_max: 0 }),
        1 => Just(Limits { replicate_below: 1 << 20, eager_max: 1 << 20 }),
        1 => Just(Limits { replicate_below: 0, eager_max: 1 << 20 }),
        1 => Just(Limits { replicate_below: 1 << 20, eager_max: 0 }),
    ]
}

fn bits(values: &[Vec<f64>]) -> Vec<Vec<u64>> {
    values.iter().map(|values| values.iter().map(|value| value.to_bits()).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn results_do_not_depend_on_the_number_of_ranks(commands in vec(command(), 1..25), ranks in 0usize..5, limits in limits()) {
        let ranks = [1, 2, 3, 4, 7][ranks];
        let wanted = bits(&reference(&commands));
        let found = Threads::run(ranks, |fabric| {
            let session = Session::with_limits(Box::new(fabric), limits);
            deferred(&session, &commands).map_err(|error| error.to_string())
        });
        for values in found {
            prop_assert_eq!(bits(&values.unwrap()), wanted.clone());
        }
    }
}

fn solo() -> Session {
    Session::new(Box::new(Solo::default()))
}

#[test]
fn laplace_iterations() {
    let session = solo();
    let u = Array::full(&session, &[10, 10], 0.0);
    u.slice(&[KeyItem::Index(0)]).unwrap().fill(1.0).unwrap();
    let part = |rows: (i64, i64), columns: (i64, i64)| {
        let slice = |(start, stop)| KeyItem::Slice(Some(start), Some(stop), None);
        u.slice(&[slice(rows), slice(columns)]).unwrap()
    };
    for _ in 0..3 {
        let (up, down) = (part((0, 8), (1, 9)), part((2, 10), (1, 9)));
        let (left, right) = (part((1, 9), (0, 8)), part((1, 9), (2, 10)));
        let sum = up.add(&down).unwrap().add(&left).unwrap().add(&right).unwrap();
        part((1, 9), (1, 9)).assign(&sum.divide(4.0).unwrap()).unwrap();
    }
    // NumPy's values of u[1, 1:4].
    assert_eq!(u.to_vec::<f64>().unwrap()[11..14], [0.359375, 0.4375, 0.453125]);
}

#[test]
fn long_chains_do_not_overflow_the_stack() {
    let mut sum = Array::full(&solo(), &[2], 0.0);
    for _ in 0..100_000 {
        sum = sum.add(1.0).unwrap();
    }
    assert_eq!(sum.to_vec::<f64>().unwrap(), [100_000.0; 2]);
}

#[test]
fn errors_leave_arrays_unchanged() {
    let session = solo();
    let (a, b) = (Array::full(&session, &[3], 1i64), Array::full(&session, &[4], 0.5));
    assert!(matches!(a.add(&b), Err(GraphError::View(_))));
    assert!(matches!(a.assign(&b), Err(GraphError::AssignmentShape { .. })));
    assert!(matches!(a.slice(&[KeyItem::Index(3)]), Err(GraphError::View(_))));
    let negated = ufunc(&session, Op::Not, &[UfuncOperand::from(&b)]);
    assert!(matches!(negated, Err(GraphError::NoLoop { .. })));
    assert_eq!(a.to_vec::<i64>().unwrap(), [1, 1, 1]);
}
