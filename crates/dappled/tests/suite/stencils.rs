//! Stencils: each rank receives each element that it needs once.

use dappled::plan::{AxisMapping, MappedAxis, Plan, PlanOperand, plan_with_shared_bases};
use dappled::protocol::Distribution;
use dappled::protocol::slice::KeyItem;
use dappled::{Array, Limits, Session};
use dappled_fabric::Threads;

/// Offsets of the operands of a stencil from the inner elements.
const FIVE: [(i64, i64); 4] = [(-1, 0), (1, 0), (0, -1), (0, 1)];
const NINE: [(i64, i64); 8] =
    [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];
const WIDE: [(i64, i64); 4] = [(-2, 0), (-1, 0), (1, 0), (2, 0)];

fn view(base: &Distribution, (row, column): (i64, i64), width: u64) -> PlanOperand {
    let along = |axis: usize| MappedAxis {
        length: base.shape()[axis] - 2 * width,
        base_axis: Some((axis, 1)),
    };
    let start = |by: i64| (width as i64 + by) as u64;
    let mapping =
        AxisMapping { starts: vec![start(row), start(column)], axes: vec![along(0), along(1)] };
    PlanOperand::new(base, mapping).unwrap()
}

fn plan_of(base: &Distribution, offsets: &[(i64, i64)], rank: u64) -> Plan {
    let width = offsets.iter().map(|at| at.0.abs().max(at.1.abs())).max().unwrap_or(0) as u64;
    let operands: Vec<PlanOperand> = offsets.iter().map(|&at| view(base, at, width)).collect();
    let bases = vec![0; operands.len()];
    plan_with_shared_bases(&view(base, (0, 0), width), &operands, &bases, rank).unwrap()
}

#[test]
fn each_element_is_received_once() {
    // Process grid, stencil, an inner rank; the messages and cells that it receives.
    type Case = ([u64; 2], &'static [(i64, i64)], u64, usize, u64);
    let table: [Case; 5] = [
        ([5, 1], &FIVE, 2, 2, 2 * 28),
        ([3, 3], &FIVE, 4, 4, 4 * 10),
        ([5, 1], &NINE, 2, 2, 2 * 30),
        ([3, 3], &NINE, 4, 8, 4 * 10 + 4),
        ([5, 1], &WIDE, 2, 2, 2 * 2 * 26),
    ];
    for (grid, offsets, rank, messages, cells) in table {
        let base = Distribution::spec(&[30, 30]).grid_shape(&grid).build().unwrap();
        let plan = plan_of(&base, offsets, rank);
        let received: u64 = plan.receives.iter().map(|receive| receive.count()).sum();
        assert_eq!((plan.receives.len(), received), (messages, cells), "{grid:?} {offsets:?}");
        let others = (0..base.nprocs()).map(|peer| plan_of(&base, offsets, peer));
        let sent = others.flat_map(|plan| plan.sends).filter(|send| send.peer == rank);
        assert_eq!(sent.map(|send| send.count()).sum::<u64>(), cells);
        // Tiles without messages are computed while messages travel: all but the boundary.
        let inner = plan.tiles.iter().filter(|tile| plan.is_local(tile));
        let inner: u64 = inner.map(|tile| tile.shape.iter().product::<u64>()).sum();
        assert!(inner > 0, "{plan}");
    }
}

fn part(array: &Array, (row, column): (i64, i64), width: i64) -> Array {
    let cut = |by: i64, length: usize| {
        KeyItem::Slice(Some(width + by), Some(length as i64 - width + by), None)
    };
    array.slice(&[cut(row, array.shape()[0]), cut(column, array.shape()[1])]).unwrap()
}

fn sum_of(array: &Array, offsets: &[(i64, i64)], width: i64) -> Array {
    let parts = offsets.iter().map(|&at| part(array, at, width));
    parts.reduce(|sum, part| sum.add(&part).unwrap()).unwrap()
}

#[test]
fn stencils_do_not_depend_on_the_number_of_ranks() {
    let shape = [13, 11];
    let numbers: Vec<f64> = (0..143).map(|number| (number * number % 37) as f64).collect();
    for (dist, block) in [("bb", 1), ("bn", 1), ("nb", 1), ("cb", 2), ("cc", 1), ("bc", 3)] {
        for (offsets, width) in [(&FIVE[..], 1), (&NINE[..], 1), (&WIDE[..], 2)] {
            let run = |ranks: u64| {
                Threads::run(ranks, |fabric| {
                    let limits = Limits { replicate_below: 0, eager_max: 0 };
                    let session = Session::with_limits(Box::new(fabric), limits);
                    let spec = Distribution::spec(&[13, 11]).dist(dist).block_size(block);
                    let u = Array::from_slice(&session, &shape, &numbers);
                    let u = u.redistribute(&spec.nprocs(ranks).build().unwrap()).unwrap();
                    for _ in 0..3 {
                        let next = sum_of(&u, offsets, width);
                        part(&u, (0, 0), width).assign(&next).unwrap();
                    }
                    u.to_vec::<f64>().unwrap()
                })
            };
            let alone = run(1).remove(0);
            for ranks in [2, 3, 4, 7] {
                for found in run(ranks) {
                    assert_eq!(found, alone, "{dist} {offsets:?} on {ranks} ranks");
                }
            }
        }
    }
}

/// Writes to less than half of an array are in place; elements read at the edges are copied first.
#[test]
fn overlapping_writes_do_not_depend_on_the_number_of_ranks() {
    let numbers: Vec<f64> = (0..60 * 7).map(|number| (number * number % 41) as f64).collect();
    for (start, stop, by, held) in [
        (2, 28, 1, false),
        (5, 31, 2, false),
        (30, 58, 1, true),
        (20, 40, 3, false),
        (1, 9, 1, true),
    ] {
        let run = |ranks: u64| {
            Threads::run(ranks, |fabric| {
                let limits = Limits { replicate_below: 0, eager_max: 0 };
                let session = Session::with_limits(Box::new(fabric), limits);
                let u = Array::from_slice(&session, &[60, 7], &numbers);
                let spec = Distribution::spec(&[60, 7]).nprocs(ranks).build().unwrap();
                let u = u.redistribute(&spec).unwrap();
                let rows = |by: i64| {
                    u.slice(&[KeyItem::Slice(Some(start + by), Some(stop + by), None)]).unwrap()
                };
                let mut kept = Vec::new();
                for turn in 0..3 {
                    // A rank that holds the old version longer than others needs more memory, and
                    // no communication.
                    let own = (session.fabric().rank() == turn).then(|| u.copy().unwrap());
                    let next = rows(-1).add(&rows(by)).unwrap();
                    rows(0).assign(&next).unwrap();
                    kept.extend(held.then_some(next));
                    drop(own);
                }
                kept.push(u.clone());
                kept.iter().map(|array| array.to_vec::<f64>().unwrap()).collect::<Vec<_>>()
            })
        };
        let alone = run(1).remove(0);
        for ranks in [2, 3, 4, 7] {
            for found in run(ranks) {
                assert_eq!(found, alone, "{start}..{stop}, {by} on {ranks} ranks");
            }
        }
    }
}
