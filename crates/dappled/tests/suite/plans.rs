//! Plans of random views of random distributions; and plans as text.

use crate::assignment::check;
use crate::assignment::common::distribution_of;
use dappled::plan::{AxisMapping, MappedAxis, PlanOperand, plan};
use dappled::protocol::Distribution;
use dappled::protocol::slice::{KeyItem, SliceKey};
use proptest::collection::vec;
use proptest::prelude::*;

/// How an axis of a view maps to the base axis that is created for it.
#[derive(Clone, Debug)]
struct AxisLayout {
    repeats: bool,
    step: i64,
    before: u64,
    after: u64,
}

fn layout() -> impl Strategy<Value = AxisLayout> {
    let step = prop_oneof![3 => Just(1i64), 1 => Just(-1), 2 => -3i64..0, 2 => 1i64..4];
    (prop::bool::weighted(0.2), step, 0u64..4, 0u64..3)
        .prop_map(|(repeats, step, before, after)| AxisLayout { repeats, step, before, after })
}

/// A base axis: its length, the start of the view, and the axis of the view with its step.
type BaseAxis = (u64, u64, Option<(usize, i64)>);

fn base_axis(view_axis: usize, length: u64, layout: &AxisLayout) -> BaseAxis {
    let reach = length.saturating_sub(1) * layout.step.unsigned_abs();
    let size = layout.before + reach + u64::from(length > 0) + layout.after;
    let start = if layout.step > 0 { layout.before } else { layout.before + reach };
    (size, start, Some((view_axis, layout.step)))
}

fn mapping(shape: &[u64], base: &[BaseAxis]) -> AxisMapping {
    let along = |(axis, &length): (usize, &u64)| {
        let found = base.iter().position(|(.., along)| along.is_some_and(|(view, _)| view == axis));
        let step = found.and_then(|at| base[at].2).map_or(1, |(_, step)| step);
        MappedAxis { length, base_axis: found.map(|at| (at, step)) }
    };
    AxisMapping {
        starts: base.iter().map(|(_, start, _)| *start).collect(),
        axes: shape.iter().enumerate().map(along).collect(),
    }
}

/// A random distribution of a shape, or a row of one: on a merged grid, or on one rank.
fn base_of(shape: Vec<u64>) -> impl Strategy<Value = Distribution> {
    let rows = distribution_of([&[3], &shape[..]].concat());
    let row = (rows, 0i64..3).prop_map(|(rows, row)| {
        let key = SliceKey::new(&[KeyItem::Index(row)], &rows.shape()).unwrap();
        rows.slice(&key).unwrap()
    });
    prop_oneof![4 => distribution_of(shape), 1 => row]
}

/// A random view of this shape, with its axes in any order.
fn operand(shape: Vec<u64>, may_repeat: bool) -> impl Strategy<Value = PlanOperand> {
    let fixed = (1u64..4, 0u64..3).prop_map(|(size, start)| (size, start % size, None));
    (vec(layout(), shape.len()), vec(fixed, 0..2))
        .prop_map({
            let shape = shape.clone();
            move |(layouts, mut base)| {
                for (axis, (layout, &length)) in layouts.iter().zip(&shape).enumerate() {
                    if !(layout.repeats && (may_repeat || length == 1)) {
                        base.push(base_axis(axis, length, layout));
                    }
                }
                base
            }
        })
        .prop_flat_map(|base| Just(base).prop_shuffle())
        .prop_flat_map(move |base| {
            let mapping = mapping(&shape, &base);
            let sizes = base.iter().map(|(size, ..)| *size).collect();
            base_of(sizes).prop_map(move |base| PlanOperand::new(&base, mapping.clone()).unwrap())
        })
}

fn assignment() -> impl Strategy<Value = (PlanOperand, Vec<PlanOperand>)> {
    let shape = prop_oneof![
        vec(0u64..6, 0..3),
        vec(1u64..4, 3..4),
        vec(5u64..40, 1..2),
        vec(4u64..9, 2..3)
    ];
    shape.prop_flat_map(|shape| (operand(shape.clone(), false), vec(operand(shape, true), 1..4)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn random_assignments((target, operands) in assignment()) {
        check(&target, &operands);
    }
}

fn all_plans(target: &PlanOperand, operands: &[PlanOperand]) -> String {
    let text = |rank| format!("rank {rank}\n{}", plan(target, operands, rank).unwrap());
    check(target, operands);
    (0..crate::assignment::ranks_of(target, operands)).map(text).collect()
}

fn spec(shape: &[u64], dist: &str, ranks: u64) -> Distribution {
    Distribution::spec(shape).dist(dist).nprocs(ranks).build().unwrap()
}

/// `base[start:stop, ...]`
fn part(base: &Distribution, slices: &[(i64, i64)]) -> PlanOperand {
    let items: Vec<KeyItem> =
        slices.iter().map(|&(start, stop)| KeyItem::Slice(Some(start), Some(stop), None)).collect();
    let key = SliceKey::new(&items, &base.shape()).unwrap();
    PlanOperand::new(base, AxisMapping::from_key(&key)).unwrap()
}

#[test]
fn laplace_sends_one_row_to_each_side() {
    let u = spec(&[8, 6], "bn", 4);
    let target = part(&u, &[(1, 7), (1, 5)]);
    let operands = [
        part(&u, &[(0, 6), (1, 5)]),
        part(&u, &[(2, 8), (1, 5)]),
        part(&u, &[(1, 7), (0, 4)]),
        part(&u, &[(1, 7), (2, 6)]),
    ];
    check(&target, &operands[..3]);
    let of_rank = |rank: u64| plan(&target, &operands, rank).unwrap();
    let expected = "\
send 4 elements of operand 0 to rank 2
send 4 elements of operand 1 to rank 0
receive 4 elements of operand 0 from rank 0
receive 4 elements of operand 1 from rank 2
tile (0, 0):(1, 4) at (0, 1), operand 0 in message 0 at (0, 0), operand 1 in the local piece at (1, 1), operand 2 in the local piece at (0, 0), operand 3 in the local piece at (0, 2)
tile (1, 0):(2, 4) at (1, 1), operand 0 in the local piece at (0, 1), operand 1 in message 1 at (0, 0), operand 2 in the local piece at (1, 0), operand 3 in the local piece at (1, 2)
";
    assert_eq!(of_rank(1).to_string(), expected);
    assert_eq!(of_rank(1).bytes_sent(&[8; 4]), 64);
    let alone = plan(&part(&spec(&[8, 6], "bn", 1), &[(1, 7)]), &[], 0).unwrap();
    assert_eq!(alone.tiles.len(), 1);
    assert!(alone.is_local(&alone.tiles[0]));
}

/// Each rank keeps its diagonal block, and receives the other one untransposed.
#[test]
fn transpose() {
    let a = spec(&[4, 4], "bn", 2);
    let axes = vec![
        MappedAxis { length: 4, base_axis: Some((1, 1)) },
        MappedAxis { length: 4, base_axis: Some((0, 1)) },
    ];
    let transposed = PlanOperand::new(&a, AxisMapping { starts: vec![0, 0], axes }).unwrap();
    let expected = "\
rank 0
send 4 elements of operand 0 to rank 1
receive 4 elements of operand 0 from rank 1
tile (0, 0):(2, 2) at (0, 0), operand 0 in the local piece at (0, 0) axes (1, 0)
tile (0, 2):(2, 4) at (0, 2), operand 0 in message 0 at (0, 0) axes (1, 0)
rank 1
send 4 elements of operand 0 to rank 0
receive 4 elements of operand 0 from rank 0
tile (0, 0):(2, 2) at (0, 0), operand 0 in message 0 at (0, 0) axes (1, 0)
tile (0, 2):(2, 4) at (0, 2), operand 0 in the local piece at (0, 2) axes (1, 0)
";
    assert_eq!(all_plans(&PlanOperand::full_view(&a).unwrap(), &[transposed]), expected);
}

/// A row added to every row: each rank receives it once.
#[test]
fn broadcast() {
    let (a, row) = (spec(&[6, 4], "bn", 3), spec(&[4], "b", 2));
    let axes = vec![
        MappedAxis { length: 6, base_axis: None },
        MappedAxis { length: 4, base_axis: Some((0, 1)) },
    ];
    let repeated = PlanOperand::new(&row, AxisMapping { starts: vec![0], axes }).unwrap();
    let whole = PlanOperand::full_view(&a).unwrap();
    let expected = "\
rank 0
send 2 elements of operand 1 to rank 1
send 2 elements of operand 1 to rank 2
receive 2 elements of operand 1 from rank 1
tile (0, 0):(2, 2) at (0, 0), operand 0 in the local piece at (0, 0), operand 1 in the local piece at (0) step (0, 1)
tile (0, 2):(2, 4) at (0, 2), operand 0 in the local piece at (0, 2), operand 1 in message 0 at (0) step (0, 1)
rank 1
send 2 elements of operand 1 to rank 0
send 2 elements of operand 1 to rank 2
receive 2 elements of operand 1 from rank 0
tile (0, 0):(2, 2) at (0, 0), operand 0 in the local piece at (0, 0), operand 1 in message 0 at (0) step (0, 1)
tile (0, 2):(2, 4) at (0, 2), operand 0 in the local piece at (0, 2), operand 1 in the local piece at (0) step (0, 1)
rank 2
receive 2 elements of operand 1 from rank 0
receive 2 elements of operand 1 from rank 1
tile (0, 0):(2, 2) at (0, 0), operand 0 in the local piece at (0, 0), operand 1 in message 0 at (0) step (0, 1)
tile (0, 2):(2, 4) at (0, 2), operand 0 in the local piece at (0, 2), operand 1 in message 1 at (0) step (0, 1)
";
    assert_eq!(all_plans(&whole, &[whole.clone(), repeated]), expected);
}

/// A cyclic operand is assembled; a cyclic target is scattered only if its cells have no single
/// stride.
#[test]
fn cyclic_distributions() {
    let (blocks, cyclic) = (spec(&[10], "b", 2), spec(&[10], "c", 2));
    let whole = |base: &Distribution| PlanOperand::full_view(base).unwrap();
    let expected = "\
rank 0
send 2 elements of operand 0 to rank 1
receive 2 elements of operand 0 from rank 1
assemble operand 0 as (5), 3 from the local piece, 2 from message 0
tile (0):(5) at (0), operand 0 assembled at (0)
rank 1
send 2 elements of operand 0 to rank 0
receive 2 elements of operand 0 from rank 0
assemble operand 0 as (5), 2 from message 0, 3 from the local piece
tile (0):(5) at (0), operand 0 assembled at (0)
";
    assert_eq!(all_plans(&whole(&blocks), &[whole(&cyclic)]), expected);
    let same = "\
rank 0
tile (0):(5) at (0), operand 0 in the local piece at (0)
rank 1
tile (0):(5) at (0), operand 0 in the local piece at (0)
";
    assert_eq!(all_plans(&whole(&cyclic), &[whole(&cyclic)]), same);
    let pairs = Distribution::spec(&[20]).dist("c").block_size(2).nprocs(2).build().unwrap();
    let tail = part(&pairs, &[(1, 20)]);
    let direct = "\
rank 0
tile (0):(9) at (1), operand 0 in the local piece at (1)
rank 1
tile (0):(10) at (0), operand 0 in the local piece at (0)
";
    assert_eq!(all_plans(&tail, std::slice::from_ref(&tail)), direct);
    let key = SliceKey::new(&[KeyItem::Slice(None, None, Some(3))], &[20]).unwrap();
    let thirds = PlanOperand::new(&pairs, AxisMapping::from_key(&key)).unwrap();
    let scattered = "\
rank 0
assemble operand 0 as (3), 3 from the local piece
tile (0):(3) at (0), operand 0 assembled at (0)
scatter (3)
rank 1
assemble operand 0 as (4), 4 from the local piece
tile (0):(4) at (0), operand 0 assembled at (0)
scatter (4)
";
    assert_eq!(all_plans(&thirds, std::slice::from_ref(&thirds)), scattered);
}

/// Planning takes time proportional to the peers, not the ranks.
#[test]
fn planning_for_a_million_ranks() {
    let u = spec(&[4_000_000, 3], "bn", 1_000_000);
    let backwards = vec![
        MappedAxis { length: 3_999_999, base_axis: Some((0, -1)) },
        MappedAxis { length: 3, base_axis: Some((1, 1)) },
    ];
    let mirrored =
        PlanOperand::new(&u, AxisMapping { starts: vec![3_999_999, 0], axes: backwards }).unwrap();
    let (target, shifted) =
        (part(&u, &[(1, 4_000_000), (0, 3)]), part(&u, &[(0, 3_999_999), (0, 3)]));
    let plan = plan(&target, &[shifted, mirrored], 700_000).unwrap();
    let expected = "\
send 3 elements of operand 0 to rank 700001
send 9 elements of operand 1 to rank 299999
send 3 elements of operand 1 to rank 300000
receive 3 elements of operand 0 from rank 699999
receive 9 elements of operand 1 from rank 299999
receive 3 elements of operand 1 from rank 300000
tile (0, 0):(1, 3) at (0, 0), operand 0 in message 0 at (0, 0), operand 1 in message 2 at (0, 0) step (-1, 1)
tile (1, 0):(4, 3) at (1, 0), operand 0 in the local piece at (0, 0), operand 1 in message 1 at (2, 0) step (-1, 1)
";
    assert_eq!(plan.to_string(), expected);
}
