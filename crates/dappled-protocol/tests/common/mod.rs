//! Strategies for distributions of every kind, shared by all tests.
#![allow(dead_code)] // the tests of `dappled` use some of it too

use dappled_protocol::slice::{KeyItem, SliceKey};
use dappled_protocol::{AxisMap, AxisSpec, Distribution, Padding, Region, Spec};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;

/// Specifications of one axis of every kind.
pub fn axis_spec(size: u64, grid: u64) -> BoxedStrategy<AxisSpec> {
    let base = AxisSpec { size, grid: Some(grid), ..AxisSpec::default() };
    let of = |kind: char| AxisSpec { kind: Some(kind), ..base.clone() };
    let (regular, cyclic, irregular, listed) = (of('b'), of('c'), of('b'), of('u'));
    let bounds = vec(0..=size, grid as usize - 1).prop_map(move |mut inner| {
        inner.sort_unstable();
        [vec![0], inner, vec![size]].concat()
    });
    let irregular =
        bounds.prop_map(move |bounds| AxisSpec { bounds: Some(bounds), ..irregular.clone() });
    let labels: Vec<i64> = (0..size as i64).collect();
    let lists =
        (Just(labels).prop_shuffle(), vec(0..=size as usize, grid as usize - 1), any::<bool>());
    prop_oneof![
        2 => (any::<bool>(), 0u64..4).prop_map(move |(periodic, width)| {
            uniform(AxisSpec { periodic, ..regular.clone() }, width)
        }),
        2 => irregular.prop_flat_map(padded),
        2 => (1..=size + 2).prop_map(move |block| AxisSpec { block_size: Some(block), ..cyclic.clone() }),
        1 => lists.prop_map(move |(labels, cuts, one_to_one)| AxisSpec {
            indices: Some(cut(&labels, cuts)), one_to_one, ..listed.clone()
        }),
    ]
    .boxed()
}

/// Sets the widest allowed padding up to `width`.
fn uniform(spec: AxisSpec, width: u64) -> AxisSpec {
    let padded = AxisSpec { padding: Some(Padding::Uniform(width)), ..spec.clone() };
    match (Spec { axes: vec![padded.clone()], nprocs: None }).build() {
        Err(_) if width > 0 => uniform(spec, width - 1),
        _ => padded,
    }
}

fn cut(labels: &[i64], mut cuts: Vec<usize>) -> Vec<Vec<i64>> {
    cuts.sort_unstable();
    let starts = [vec![0], cuts.clone()].concat();
    let ends = [cuts, vec![labels.len()]].concat();
    starts.into_iter().zip(ends).map(|(start, end)| labels[start..end].to_vec()).collect()
}

/// Padding widths that the bounds allow, periodic or not.
fn padded(spec: AxisSpec) -> BoxedStrategy<AxisSpec> {
    let bounds = spec.bounds.clone().unwrap_or_default();
    let owned: Vec<u64> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let inner = owned.windows(2).map(|pair| pair[0].min(pair[1]));
    let outer = |owned: u64| if bounds.len() == 2 { owned / 2 } else { owned };
    let most = [outer(owned[0])].into_iter().chain(inner).chain([outer(owned[owned.len() - 1])]);
    let widths: Vec<_> = most.map(|most| 0..=most).collect();
    (widths, any::<bool>(), any::<bool>())
        .prop_map(move |(widths, periodic, wanted)| AxisSpec {
            padding: wanted.then_some(Padding::Edges(widths)),
            periodic,
            ..spec.clone()
        })
        .boxed()
}

/// An array of at most four axes over at most twelve ranks.
pub fn distribution() -> impl Strategy<Value = Distribution> {
    shape().prop_flat_map(distribution_of)
}

pub fn shape() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![vec(0u64..9, 0..3), vec(0u64..4, 3..5), vec(8u64..40, 1..2)]
}

/// A distribution of this shape.
pub fn distribution_of(shape: Vec<u64>) -> BoxedStrategy<Distribution> {
    let axes = shape.len();
    let whole = (1u64..5).prop_map({
        let shape = shape.clone();
        move |nprocs| {
            let kinds = "n".repeat(shape.len());
            Distribution::spec(&shape).dist(&kinds).nprocs(nprocs).build().unwrap()
        }
    });
    let on_grid = subsequence(vec![2u64, 2, 3], 0..=3)
        .prop_flat_map(move |primes| (Just(primes.clone()), vec(0..axes.max(1), primes.len())))
        .prop_flat_map(move |(primes, places)| {
            let mut grid = vec![1; shape.len()];
            for (prime, place) in primes.iter().zip(places) {
                if let Some(ranks) = grid.get_mut(place) {
                    *ranks *= prime;
                }
            }
            shape.iter().zip(grid).map(|(&size, ranks)| axis_spec(size, ranks)).collect::<Vec<_>>()
        })
        .prop_map(|axes| Spec { axes, nprocs: None }.build().unwrap());
    prop_oneof![1 => whole, 9 => on_grid].boxed()
}

/// A distribution, possibly of a slice.
pub fn view() -> impl Strategy<Value = Distribution> {
    (distribution(), vec(item(), 0..4), any::<bool>()).prop_map(|(base, items, sliced)| {
        match SliceKey::new(&items, &base.shape()) {
            Ok(key) if sliced => base.slice(&key).unwrap(),
            _ => base,
        }
    })
}

pub fn item() -> impl Strategy<Value = KeyItem> {
    let bound = || prop_oneof![3 => (-12i64..12).prop_map(Some), 1 => Just(None)];
    let step = prop_oneof![-4i64..0, 1i64..4, Just(i64::MAX), Just(-i64::MAX)].prop_map(Some);
    prop_oneof![
        2 => (-4i64..4).prop_map(KeyItem::Index),
        5 => (bound(), bound(), step).prop_map(|(start, stop, step)| KeyItem::Slice(start, stop, step)),
        1 => Just(KeyItem::Ellipsis),
        1 => Just(KeyItem::NewAxis),
    ]
}

/// A region of an axis of this size.
pub fn region_of(size: u64) -> BoxedStrategy<Region> {
    if size == 0 {
        return Just(Region::all(0)).boxed();
    }
    (0..size, prop_oneof![-5i64..0, 1i64..5], 0..=size)
        .prop_map(move |(start, step, len)| {
            let room = if step > 0 { size - 1 - start } else { start };
            Region::new(start, step, len.min(room / step.unsigned_abs() + 1))
        })
        .boxed()
}

/// Returns all multi-indices below a shape, in row-major order.
pub fn indices(shape: &[u64]) -> Vec<Vec<u64>> {
    let mut indices_below = vec![vec![]];
    for &length in shape {
        indices_below = indices_below
            .into_iter()
            .flat_map(|index: Vec<u64>| (0..length).map(move |at| [&index[..], &[at]].concat()))
            .collect();
    }
    indices_below
}

pub fn signed(index: &[u64]) -> Vec<i64> {
    index.iter().map(|&at| at as i64).collect()
}

/// Axis maps of every kind, including slices and merged grids.
pub fn axis_map() -> impl Strategy<Value = AxisMap> {
    view().prop_filter_map("no axis", |distribution| distribution.axes().first().cloned())
}
