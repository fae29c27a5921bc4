//! Promotion, casts and sums against NumPy's tables; see `make_tables.py`.

use std::collections::HashMap;

use crate::common::assert_same;
use crate::common::tables::{bytes, check, dtype, table};
use dappled_kernels::tree::{Summand, TreePart, cover, join, node_sum};
use dappled_kernels::{
    Buffer, BufferView, Casting, DType, Interpreter, Op, Program, View, WeakScalar, can_cast,
    promote, promote_weak, sum,
};

#[test]
fn promotion_agrees_with_numpy() {
    let rows = table("promotion");
    assert_eq!(rows.len(), 14 * 14);
    for row in rows {
        assert_eq!(promote(dtype(&row[0]), dtype(&row[1])), dtype(&row[2]), "{row:?}");
    }
}

#[test]
fn python_scalars_are_weak() {
    let weak = [
        ("bool", WeakScalar::Bool),
        ("int", WeakScalar::Int),
        ("float", WeakScalar::Float),
        ("complex", WeakScalar::Complex),
    ];
    let weak = HashMap::from(weak);
    let rows = table("weak");
    assert_eq!(rows.len(), 14 * 4);
    for row in rows {
        assert_eq!(promote_weak(dtype(&row[0]), weak[&row[1][..]]), dtype(&row[2]), "{row:?}");
    }
}

#[test]
fn casting_rules_agree_with_numpy() {
    let rules = [Casting::No, Casting::Equiv, Casting::Safe, Casting::SameKind, Casting::Unsafe];
    let rules: HashMap<&str, Casting> =
        ["no", "equiv", "safe", "same_kind", "unsafe"].into_iter().zip(rules).collect();
    let rows = table("casting");
    assert_eq!(rows.len(), 14 * 14 * 5);
    for row in rows {
        let found = can_cast(dtype(&row[0]), dtype(&row[1]), rules[&row[2][..]]);
        assert_eq!(found, row[3] == "1", "{row:?}");
    }
}

#[test]
fn casts_agree_with_numpy() {
    let rows = table("casts");
    assert_eq!(rows.len(), 14 * 14);
    for row in rows {
        let (from, to) = (dtype(&row[0]), dtype(&row[1]));
        check(Op::Cast(to), from, &[&bytes(&row[2])], &bytes(&row[3]));
    }
}

/// The numbers of `mixed` in `make_tables.py`.
fn mixed(len: usize) -> Vec<f64> {
    let bits = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i.wrapping_mul(i);
    (0..len as u64).map(|i| (bits(i) >> 11) as f64 / 2f64.powi(53) - 0.5).collect()
}

fn check_sum<T: Summand>(values: Vec<T>, expected: &[u8]) {
    let mut program = Program::new(vec![T::DTYPE], vec![]);
    program.outputs.push(program.input(0));
    let (buffer, view) = (Buffer::from_slice(&values), View::c_order(T::DTYPE, &[values.len()]));
    let found: T =
        sum(&Interpreter::new(&program).unwrap(), &[BufferView::new(&buffer, &view).unwrap()])
            .unwrap();
    assert_same(T::DTYPE, dappled_kernels::element::bytes_of(&[found]), expected, "one memory");
    for ranks in 1..6u64 {
        let joined = join(values.len() as u64, &parts(&values, ranks)).unwrap();
        assert_same(T::DTYPE, dappled_kernels::element::bytes_of(&[joined]), expected, "ranks");
    }
}

/// The contributions of some ranks, split at indices that are no node boundaries.
fn parts<T: Summand>(values: &[T], ranks: u64) -> Vec<(TreePart, Vec<T>)> {
    let total = values.len() as u64;
    let bound = |rank: u64| (total * rank * rank) / (ranks * ranks);
    let covers = (0..ranks).flat_map(|rank| cover::<T>(total, bound(rank)..bound(rank + 1)));
    let contribution = |part: TreePart| {
        let held = match &part {
            TreePart::Node(at) => vec![node_sum(&values[at.start as usize..at.end as usize])],
            TreePart::Values(at) => values[at.start as usize..at.end as usize].to_vec(),
        };
        (part, held)
    };
    covers.map(contribution).collect()
}

#[test]
fn sums_have_numpys_bits_on_any_number_of_ranks() {
    for row in table("sums") {
        let values = mixed(row[1].parse().unwrap());
        match dtype(&row[0]) {
            DType::Float64 => check_sum(values, &bytes(&row[2])),
            _ => check_sum(values.iter().map(|&value| value as f32).collect(), &bytes(&row[2])),
        }
    }
}
