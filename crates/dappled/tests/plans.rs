//! Plans of any views of any distributions, carried out; and plans as text.

mod world;

use dappled::plan::{Along, Operand, Plan, Through, plan};
use dappled::protocol::Distribution;
use dappled::protocol::slice::{Item, Key};
use proptest::collection::vec;
use proptest::prelude::*;
use world::check;
use world::common::distribution_of;

/// How one axis of a view lies in a base axis that is made for it.
#[derive(Clone, Debug)]
struct Lie {
    repeats: bool,
    step: i64,
    before: u64,
    after: u64,
}

fn lie() -> impl Strategy<Value = Lie> {
    let step = prop_oneof![3 => Just(1i64), 1 => Just(-1), 2 => -3i64..0, 2 => 1i64..4];
    (prop::bool::weighted(0.2), step, 0u64..4, 0u64..3)
        .prop_map(|(repeats, step, before, after)| Lie { repeats, step, before, after })
}

/// A base axis: its length, where the view starts, and which axis of the view runs along it.
type BaseAxis = (u64, u64, Option<(usize, i64)>);

fn base_axis(view_axis: usize, length: u64, lie: &Lie) -> BaseAxis {
    let reach = length.saturating_sub(1) * lie.step.unsigned_abs();
    let size = lie.before + reach + u64::from(length > 0) + lie.after;
    let start = if lie.step > 0 { lie.before } else { lie.before + reach };
    (size, start, Some((view_axis, lie.step)))
}

fn through(shape: &[u64], base: &[BaseAxis]) -> Through {
    let along = |(axis, &length): (usize, &u64)| {
        let found = base.iter().position(|(.., along)| along.is_some_and(|(view, _)| view == axis));
        let step = found.and_then(|at| base[at].2).map_or(1, |(_, step)| step);
        Along { length, base: found.map(|at| (at, step)) }
    };
    Through {
        starts: base.iter().map(|(_, start, _)| *start).collect(),
        axes: shape.iter().enumerate().map(along).collect(),
    }
}

/// A view of this shape: of a base of any kind, its axes in any order.
fn operand(shape: Vec<u64>, may_repeat: bool) -> impl Strategy<Value = Operand> {
    let fixed = (1u64..4, 0u64..3).prop_map(|(size, start)| (size, start % size, None));
    (vec(lie(), shape.len()), vec(fixed, 0..2))
        .prop_map({
            let shape = shape.clone();
            move |(lies, mut base)| {
                for (axis, (lie, &length)) in lies.iter().zip(&shape).enumerate() {
                    if !(lie.repeats && (may_repeat || length == 1)) {
                        base.push(base_axis(axis, length, lie));
                    }
                }
                base
            }
        })
        .prop_flat_map(|base| Just(base).prop_shuffle())
        .prop_flat_map(move |base| {
            let through = through(&shape, &base);
            let sizes = base.iter().map(|(size, ..)| *size).collect();
            distribution_of(sizes)
                .prop_map(move |base| Operand::new(&base, through.clone()).unwrap())
        })
}

fn assignment() -> impl Strategy<Value = (Operand, Vec<Operand>)> {
    let shape = prop_oneof![
        vec(0u64..6, 0..3),
        vec(1u64..4, 3..4),
        vec(5u64..40, 1..2),
        vec(4u64..9, 2..3)
    ];
    shape.prop_flat_map(|shape| (operand(shape.clone(), false), vec(operand(shape, true), 1..4)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_element_gets_its_operands((target, operands) in assignment()) {
        check(&target, &operands);
    }
}
