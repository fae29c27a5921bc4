//! Laplace's equation on a grid in pieces, by plans and kernels alone.

use std::time::{Duration, Instant};

use dappled::plan::{Operand, Through, plan};
use dappled::protocol::Distribution;
use dappled::protocol::slice::{Item, Key};
use dappled::run::{Piece, RunError, run};
use dappled_fabric::{Fabric, Tag};
use dappled_kernels::{DType, Interpreter, Op, Program, Scalar};

/// The value at a row and column before the first iteration: the first row is 1.
pub fn initial(row: u64, _column: u64) -> f64 {
    if row == 0 { 1.0 } else { 0.0 }
}

/// `(%0 + %1 + %2 + %3) / 4`
fn stencil() -> Interpreter {
    let float = DType::Float64;
    let mut program = Program::new(vec![float; 4], vec![Scalar::new(4.0)]);
    let mut sum = program.input(0);
    for input in 1..4 {
        sum = program.push(Op::Add, float, &[sum, program.input(input)]);
    }
    let quarter = program.push(Op::Divide, float, &[sum, program.constant(0)]);
    program.outputs.push(quarter);
    Interpreter::new(&program).expect("the program is legal")
}

/// `u[rows, columns]`
fn part(u: &Distribution, rows: (i64, i64), columns: (i64, i64)) -> Operand {
    let slice = |(start, stop): (i64, i64)| Item::Slice(Some(start), Some(stop), None);
    let key = Key::new(&[slice(rows), slice(columns)], &u.shape()).expect("inside u");
    Operand::new(u, Through::of_key(&key)).expect("u has no labels")
}

/// A rank's piece, each element given by its row and column.
pub fn piece_of(u: &Distribution, rank: u64, value: impl Fn(u64, u64) -> f64) -> Piece {
    let shape = u.local_shape(rank);
    let piece = Piece::zeros(DType::Float64, &shape);
    let mut memory = piece.buffer.write().expect("it is new");
    for (cell, bytes) in (0u64..).zip(memory.chunks_exact_mut(8)) {
        let index =
            u.global(rank, &[cell / shape[1], cell % shape[1]]).expect("a cell of the piece");
        bytes.copy_from_slice(&value(index[0] as u64, index[1] as u64).to_ne_bytes());
    }
    drop(memory);
    piece
}

/// `u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4`, again and again:
/// from one piece to another in turns, the border being in both. Gives this rank's last piece, and
/// how long the iterations took.
pub fn iterate(
    fabric: &dyn Fabric,
    u: &Distribution,
    times: u64,
) -> Result<(Piece, Duration), RunError> {
    let (height, width) = (u.shape()[0] as i64, u.shape()[1] as i64);
    let (rows, columns) = ((1, height - 1), (1, width - 1));
    let operands = [
        part(u, (0, height - 2), columns),
        part(u, (2, height), columns),
        part(u, rows, (0, width - 2)),
        part(u, rows, (2, width)),
    ];
    let steps =
        plan(&part(u, rows, columns), &operands, fabric.rank()).expect("blocks have a plan");
    let engine = stencil();
    let mut old = piece_of(u, fabric.rank(), initial);
    let mut new = piece_of(u, fabric.rank(), initial);
    let start = Instant::now();
    for time in 0..times {
        run(fabric, Tag::new(time, "laplace"), &steps, &engine, &[&old; 4], &[&new])?;
        std::mem::swap(&mut old, &mut new);
    }
    Ok((old, start.elapsed()))
}
