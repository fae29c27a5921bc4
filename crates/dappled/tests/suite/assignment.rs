//! Runs the plans of an assignment on the thread fabric and compares the pieces with one memory.
#![allow(dead_code)]

#[path = "../../../dappled-protocol/tests/common/mod.rs"]
pub mod common;

use std::collections::{BTreeMap, HashSet};

use common::indices;
use dappled::plan::{AxisMapping, Plan, PlanOperand, plan};
use dappled::protocol::Distribution;
use dappled::run::{LocalPiece, run_plan};
use dappled_fabric::{Fabric, Tag, Threads};
use dappled_kernels::{DType, Interpreter, Op, Program, Scalar};

/// Initial value of targets and padding; no operand contains it.
const NOTHING: i64 = -1;

/// An operand's element is its flat index, as a digit of base `DIGIT` that no other operand uses.
const DIGIT: i64 = 100_003;

/// The program `%0 + DIGIT * (%1 + DIGIT * (%2 + ...))`, with `%0` as the second output.
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

/// The index in the base of an element of the view.
pub fn base_index(mapping: &AxisMapping, index: &[u64]) -> Vec<i64> {
    let mut found: Vec<i64> = mapping.starts.iter().map(|&start| start as i64).collect();
    for (along, &at) in mapping.axes.iter().zip(index) {
        if let Some((axis, step)) = along.base_axis {
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

/// A rank's piece: owned elements by a function of their index, other cells `NOTHING`.
fn piece_of(base: &Distribution, rank: u64, value: impl Fn(&[i64]) -> i64) -> LocalPiece {
    let shape = match base.holds(rank) {
        true => base.local_shape(rank),
        false => vec![0; base.axes().len()],
    };
    let piece = LocalPiece::full(Scalar::new(NOTHING), &shape);
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

/// The expected elements of the target, by index.
fn wanted(target: &PlanOperand, operands: &[PlanOperand]) -> BTreeMap<Vec<i64>, [i64; 2]> {
    let value = |operand: &PlanOperand, index: &[u64]| {
        number(&operand.base().shape(), &base_index(operand.mapping(), index))
    };
    let both = |index: Vec<u64>| {
        let all = operands.iter().rev();
        let sum = all.fold(0, |sum, operand| sum * DIGIT + value(operand, &index));
        (base_index(target.mapping(), &index), [sum, value(&operands[0], &index)])
    };
    indices(&target.shape()).into_iter().map(both).collect()
}

pub fn ranks_of(target: &PlanOperand, operands: &[PlanOperand]) -> u64 {
    let all = operands.iter().chain([target]);
    all.map(|operand| operand.base().nprocs()).max().unwrap_or(1)
}

/// Runs the assignment on all ranks, and compares every cell of every piece.
pub fn check(target: &PlanOperand, operands: &[PlanOperand]) {
    let ranks = ranks_of(target, operands);
    let plans: Vec<Plan> = (0..ranks).map(|rank| plan(target, operands, rank).unwrap()).collect();
    check_messages(&plans, target, operands);
    let wanted = wanted(target, operands);
    let found = Threads::run(ranks, |fabric| {
        let rank = fabric.rank();
        let pieces: Vec<LocalPiece> = operands
            .iter()
            .map(|operand| {
                let shape = operand.base().shape();
                piece_of(operand.base(), rank, |index| number(&shape, index))
            })
            .collect();
        let pieces: Vec<&LocalPiece> = pieces.iter().collect();
        let targets = [(); 2].map(|()| piece_of(target.base(), rank, |_| NOTHING));
        let engine = digits(operands.len());
        let targets: Vec<&LocalPiece> = targets.iter().collect();
        run_plan(&fabric, Tag::new(1, "here"), &plans[rank as usize], &engine, &pieces, &targets)
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

/// Checks that sends match receives, and that each needed element is received once.
fn check_messages(plans: &[Plan], target: &PlanOperand, operands: &[PlanOperand]) {
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

/// Number of elements of an operand that a rank needs and does not own.
fn needed(target: &PlanOperand, operand: &PlanOperand, rank: u64) -> u64 {
    let has = |base: &Distribution, index: &[i64]| base.owners(index).any(|(at, _)| at == rank);
    let mine = indices(&target.shape()).into_iter();
    let mine = mine.filter(|index| has(target.base(), &base_index(target.mapping(), index)));
    let read: HashSet<Vec<i64>> = mine.map(|index| base_index(operand.mapping(), &index)).collect();
    read.iter().filter(|index| !has(operand.base(), index)).count() as u64
}
