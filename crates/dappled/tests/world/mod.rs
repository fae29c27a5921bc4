//! Assignments carried out on threads, beside the same in one plain memory.
#![allow(dead_code)]

#[path = "../../../dappled-protocol/tests/common/mod.rs"]
pub mod common;

use std::collections::{BTreeMap, HashSet};

use common::indices;
use dappled::plan::{Operand, Plan, Through, plan};
use dappled::protocol::Distribution;
use dappled::run::{Piece, run};
use dappled_fabric::{Fabric, Tag, Threads};
use dappled_kernels::{DType, Interpreter, Op, Program, Scalar};

/// What a target holds before, and what padding holds: never a value.
const NOTHING: i64 = -1;

/// An operand's element is its number in C order, in a digit of its own.
const DIGIT: i64 = 100_003;

/// `%0 + DIGIT * (%1 + DIGIT * (%2 + ...))`, and `%0` itself.
fn digits(operands: usize) -> Interpreter {
    let integer = DType::Int64;
    let mut program = Program::new(vec![integer; operands], vec![Scalar::new(DIGIT)]);
    let mut sum = program.input(operands - 1);
    for number in (0..operands - 1).rev() {
        let shifted = program.push(Op::Multiply, integer, &[sum, program.constant(0)]);
        sum = program.push(Op::Add, integer, &[shifted, program.input(number)]);
    }
    program.outputs.extend([sum, program.input(0)]);
    Interpreter::new(&program).expect("the program is legal")
}

/// The element of the base that an element of the view is.
pub fn base_index(through: &Through, index: &[u64]) -> Vec<i64> {
    let mut found: Vec<i64> = through.starts.iter().map(|&start| start as i64).collect();
    for (along, &at) in through.axes.iter().zip(index) {
        if let Some((axis, step)) = along.base {
            found[axis] += step * at as i64;
        }
    }
    found
}

fn number(shape: &[u64], index: &[i64]) -> i64 {
    shape.iter().zip(index).fold(0, |number, (&length, at)| number * length as i64 + at)
}

fn elements(base: &Distribution) -> Vec<Vec<i64>> {
    indices(&base.shape()).iter().map(|index| common::signed(index)).collect()
}

/// A rank's piece, each owned element given by its index, everything else nothing.
fn piece_of(base: &Distribution, rank: u64, value: impl Fn(&[i64]) -> i64) -> Piece {
    let shape = match base.holds(rank) {
        true => base.local_shape(rank),
        false => vec![0; base.axes().len()],
    };
    let piece = Piece::full(Scalar::new(NOTHING), &shape);
    let mut memory = piece.buffer.write().unwrap();
    for index in elements(base) {
        for (_, cell) in base.owners(&index).filter(|(owner, _)| *owner == rank) {
            let at = number(&shape, &common::signed(&cell)) as usize * 8;
            memory[at..at + 8].copy_from_slice(&value(&index).to_ne_bytes());
        }
    }
    drop(memory);
    piece
}

/// What the assignment gives in one plain memory.
fn wanted(target: &Operand, operands: &[Operand]) -> BTreeMap<Vec<i64>, [i64; 2]> {
    let value = |operand: &Operand, index: &[u64]| {
        number(&operand.base().shape(), &base_index(operand.through(), index))
    };
    let both = |index: Vec<u64>| {
        let all = operands.iter().rev();
        let sum = all.fold(0, |sum, operand| sum * DIGIT + value(operand, &index));
        (base_index(target.through(), &index), [sum, value(&operands[0], &index)])
    };
    indices(&target.shape()).into_iter().map(both).collect()
}

pub fn ranks_of(target: &Operand, operands: &[Operand]) -> u64 {
    let all = operands.iter().chain([target]);
    all.map(|operand| operand.base().nprocs()).max().unwrap_or(1)
}

/// Carries the assignment out, and compares everything in every piece.
pub fn check(target: &Operand, operands: &[Operand]) {
    let ranks = ranks_of(target, operands);
    let plans: Vec<Plan> = (0..ranks).map(|rank| plan(target, operands, rank).unwrap()).collect();
    check_messages(&plans, target, operands);
    let wanted = wanted(target, operands);
    let found = Threads::run(ranks, |fabric| {
        let rank = fabric.rank();
        let pieces: Vec<Piece> = operands
            .iter()
            .map(|operand| {
                let shape = operand.base().shape();
                piece_of(operand.base(), rank, |index| number(&shape, index))
            })
            .collect();
        let pieces: Vec<&Piece> = pieces.iter().collect();
        let targets = [(); 2].map(|()| piece_of(target.base(), rank, |_| NOTHING));
        let engine = digits(operands.len());
        let targets: Vec<&Piece> = targets.iter().collect();
        run(&fabric, Tag::new(1, "here"), &plans[rank as usize], &engine, &pieces, &targets)
            .unwrap();
        targets.iter().map(|piece| piece.buffer.to_vec::<i64>()).collect::<Vec<_>>()
    });
    for (rank, found) in (0u64..).zip(found) {
        for (output, found) in found.into_iter().enumerate() {
            let value = |index: &[i64]| wanted.get(index).map_or(NOTHING, |both| both[output]);
            let expected = piece_of(target.base(), rank, value).buffer.to_vec::<i64>();
            assert_eq!(found, expected, "output {output} of rank {rank}\n{}", plans[rank as usize]);
        }
    }
}

/// What is sent is what is received; and that is what is needed, each element once.
fn check_messages(plans: &[Plan], target: &Operand, operands: &[Operand]) {
    for (rank, plan) in (0u64..).zip(plans) {
        for (number, operand) in operands.iter().enumerate() {
            let mine = plan.receives.iter().filter(|receive| receive.operand == number);
            let mut cells = 0;
            for receive in mine {
                let sends = &plans[receive.peer as usize].sends;
                let sends: Vec<_> = sends
                    .iter()
                    .filter(|send| (send.peer, send.operand) == (rank, number))
                    .collect();
                let [send] = sends[..] else { panic!("{} messages", sends.len()) };
                let shape: Vec<u64> = send.cells.iter().map(|cells| cells.cells()).collect();
                assert_eq!(shape, receive.shape);
                cells += receive.count();
            }
            assert_eq!(cells, needed(target, operand, rank), "operand {number}\n{plan}");
        }
    }
    let sends: usize = plans.iter().map(|plan| plan.sends.len()).sum();
    let receives: usize = plans.iter().map(|plan| plan.receives.len()).sum();
    assert_eq!(sends, receives);
}

/// How many elements of an operand a rank needs and does not have.
fn needed(target: &Operand, operand: &Operand, rank: u64) -> u64 {
    let has = |base: &Distribution, index: &[i64]| base.owners(index).any(|(at, _)| at == rank);
    let mine = indices(&target.shape()).into_iter();
    let mine = mine.filter(|index| has(target.base(), &base_index(target.through(), index)));
    let read: HashSet<Vec<i64>> = mine.map(|index| base_index(operand.through(), &index)).collect();
    read.iter().filter(|index| !has(operand.base(), index)).count() as u64
}
