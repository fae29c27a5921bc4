//! Jacobi iteration for Laplace's equation, built directly on plans and kernels.

use std::time::{Duration, Instant};

use dappled::plan::{AxisMapping, PlanOperand, plan};
use dappled::protocol::Distribution;
use dappled::protocol::slice::{KeyItem, SliceKey};
use dappled::run::{LocalPiece, RunError, run_plan};
use dappled_fabric::{Fabric, Tag};
use dappled_kernels::{DType, Interpreter, Op, Program, Scalar};

/// The initial value at a row and column: 1 in the first row, 0 elsewhere.
pub fn initial(row: u64, _column: u64) -> f64 {
    if row == 0 { 1.0 } else { 0.0 }
}

/// The program `(%0 + %1 + %2 + %3) / 4`.
fn stencil() -> Interpreter {
    let float = DType::Float64;
    let mut program = Program::new(vec![float; 4], vec![Scalar::new(4.0)]);
    let mut sum = program.input(0);
    for input in 1..4 {
        sum = program.push(Op::Add, float, &[sum, program.input(input)]);
    }
    let mean = program.push(Op::Divide, float, &[sum, program.constant(0)]);
    program.outputs.push(mean);
    Interpreter::new(&program).expect("the program is valid")
}

/// The operand `u[rows, columns]`.
fn slice_of(u: &Distribution, rows: (i64, i64), columns: (i64, i64)) -> PlanOperand {
    let item = |(start, stop): (i64, i64)| KeyItem::Slice(Some(start), Some(stop), None);
    let key =
        SliceKey::new(&[item(rows), item(columns)], &u.shape()).expect("the slices are inside u");
    PlanOperand::new(u, AxisMapping::from_key(&key)).expect("u has no labels")
}

/// This rank's local piece, with elements computed from their row and column.
pub fn piece_of(u: &Distribution, rank: u64, value: impl Fn(u64, u64) -> f64) -> LocalPiece {
    let shape = u.local_shape(rank);
    let piece = LocalPiece::zeros(DType::Float64, &shape);
    let mut memory = piece.buffer.write().expect("the buffer is new");
    for (cell, bytes) in (0u64..).zip(memory.chunks_exact_mut(8)) {
        let index = u
            .global(rank, &[cell / shape[1], cell % shape[1]])
            .expect("the cell is inside the local piece");
        bytes.copy_from_slice(&value(index[0] as u64, index[1] as u64).to_ne_bytes());
    }
    drop(memory);
    piece
}

/// Iterates `u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4`.
///
/// Alternates between two local pieces, both of which contain the border. Returns this rank's final
/// piece and the elapsed time.
pub fn iterate(
    fabric: &dyn Fabric,
    u: &Distribution,
    iterations: u64,
) -> Result<(LocalPiece, Duration), RunError> {
    let (height, width) = (u.shape()[0] as i64, u.shape()[1] as i64);
    let (rows, columns) = ((1, height - 1), (1, width - 1));
    let operands = [
        slice_of(u, (0, height - 2), columns),
        slice_of(u, (2, height), columns),
        slice_of(u, rows, (0, width - 2)),
        slice_of(u, rows, (2, width)),
    ];
    let assignment = plan(&slice_of(u, rows, columns), &operands, fabric.rank())
        .expect("block distributions have a plan");
    let engine = stencil();
    let mut current = piece_of(u, fabric.rank(), initial);
    let mut next = piece_of(u, fabric.rank(), initial);
    let start = Instant::now();
    for iteration in 0..iterations {
        run_plan(
            fabric,
            Tag::new(iteration, "laplace"),
            &assignment,
            &engine,
            &[&current; 4],
            &[&next],
        )?;
        std::mem::swap(&mut current, &mut next);
    }
    Ok((current, start.elapsed()))
}
