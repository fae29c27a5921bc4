//! Redistribution between all kinds of distributions: a plan with one operand that copies.

use crate::assignment::check;
use dappled::plan::{PlanOperand, plan};
use dappled::protocol::{AxisSpec, Distribution, Padding, Spec};
use dappled::run::{LocalPiece, run_plan};
use dappled_fabric::{Fabric, Tag, Threads};
use dappled_kernels::{DType, Interpreter, Program};

const SIZE: u64 = 29;

/// One axis of every kind over `ranks` ranks.
fn axes(ranks: u64) -> Vec<AxisSpec> {
    let of =
        |kind| AxisSpec { size: SIZE, grid: Some(ranks), kind: Some(kind), ..AxisSpec::default() };
    let uneven = |rank: u64| if rank < ranks { rank * rank % 5 + rank * 3 } else { SIZE };
    let last: Vec<u64> = (0..=ranks).map(|rank| if rank < ranks { 0 } else { SIZE }).collect();
    let mut uneven: Vec<u64> = (0..=ranks).map(uneven).collect();
    uneven.sort_unstable();
    let scattered = |rank: u64| {
        (0..SIZE as i64)
            .map(|at| at * 11 % 29)
            .filter(move |at| at.unsigned_abs() * at.unsigned_abs() % ranks == rank)
    };
    vec![
        of('b'),
        AxisSpec { padding: Some(Padding::Uniform(1)), periodic: true, ..of('b') },
        AxisSpec { bounds: Some(uneven), ..of('b') },
        AxisSpec { bounds: Some(last), ..of('b') },
        of('c'),
        AxisSpec { block_size: Some(3), ..of('c') },
        AxisSpec { block_size: Some(4), ..of('c') },
        AxisSpec {
            indices: Some((0..ranks).map(|rank| scattered(rank).collect()).collect()),
            ..of('u')
        },
    ]
}

/// One distribution of every kind, and a replicated one.
fn kinds(ranks: u64) -> Vec<Distribution> {
    let on_grid = |axis| Spec { axes: vec![axis], nprocs: None }.build().unwrap();
    let full_view = Distribution::spec(&[SIZE]).dist("n").nprocs(ranks).build().unwrap();
    axes(ranks).into_iter().map(on_grid).chain([full_view]).collect()
}

fn full_view(distribution: &Distribution) -> PlanOperand {
    PlanOperand::full_view(distribution).unwrap()
}

#[test]
fn between_all_kinds_of_distributions() {
    for ranks in [1, 2, 3, 4, 7] {
        for from in kinds(ranks) {
            for to in kinds(ranks).into_iter().chain([kinds(2)[4].clone(), kinds(5)[0].clone()]) {
                check(&full_view(&to), &[full_view(&from)]);
            }
        }
    }
}

#[test]
fn between_process_grids() {
    let shape = [9, 10];
    let specs = ["bb", "bn", "nb", "cb", "bc", "cc", "nn"];
    for (ranks, grid) in [(4, [2, 2]), (6, [3, 2]), (7, [1, 7])] {
        let made = specs.iter().flat_map(|dist| {
            let spec = Distribution::spec(&shape).dist(dist).block_size(2);
            [spec.clone().nprocs(ranks), spec.grid_shape(&grid)]
                .map(|spec| spec.build())
                .into_iter()
        });
        let made: Vec<Distribution> = made.filter_map(Result::ok).collect();
        for from in &made {
            made.iter().for_each(|to| check(&full_view(to), &[full_view(from)]));
        }
    }
}

/// A piece in which every byte of an element is the element's index.
fn numbered(dtype: DType, base: &Distribution, rank: u64) -> LocalPiece {
    let piece = LocalPiece::zeros(dtype, &base.local_shape(rank));
    let mut memory = piece.buffer.write().unwrap();
    for (cell, bytes) in (0u64..).zip(memory.chunks_exact_mut(dtype.itemsize())) {
        bytes.fill(base.global(rank, &[cell]).unwrap()[0] as u8);
    }
    drop(memory);
    piece
}

#[test]
fn all_itemsizes() {
    let (from, to) = (kinds(3)[5].clone(), kinds(3)[7].clone());
    for dtype in [DType::UInt8, DType::Int16, DType::Float32, DType::Int64, DType::Complex128] {
        let mut program = Program::new(vec![dtype], Vec::new());
        program.outputs.push(program.input(0));
        let engine = Interpreter::new(&program).unwrap();
        Threads::run(3, |fabric| {
            let rank = fabric.rank();
            let plan = plan(&full_view(&to), &[full_view(&from)], rank).unwrap();
            let (old, new) =
                (numbered(dtype, &from, rank), LocalPiece::zeros(dtype, &to.local_shape(rank)));
            run_plan(&fabric, Tag::new(1, "here"), &plan, &engine, &[&old], &[&new]).unwrap();
            let expected = numbered(dtype, &to, rank).buffer.to_vec::<u8>();
            assert_eq!(new.buffer.to_vec::<u8>(), expected, "{dtype}");
        });
    }
}
