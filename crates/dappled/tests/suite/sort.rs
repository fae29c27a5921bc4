//! Sorting of distributed arrays, compared with a sort in one memory.

use std::cmp::Ordering;

use dappled::protocol::Distribution;
use dappled::{Array, ItemOrder, Limits, Result, Session, TIME_ORDER, UniqueOptions};
use dappled_fabric::Threads;
use dappled_kernels::Element;
use dappled_kernels::element::{Bool, bytes_of, f16};
use num_complex::Complex64;
use proptest::prelude::*;

use crate::reference::choices::Choices;

const RANKS: [u64; 5] = [1, 2, 3, 7, 64];

/// Distributions of a line: in blocks, cyclic, block-cyclic, uneven, on one rank, replicated.
fn distributions(length: usize, ranks: u64) -> Vec<Distribution> {
    let length = length as u64;
    let spec = || Distribution::spec(&[length]).nprocs(ranks);
    let bounds = |inner: &dyn Fn(u64) -> u64| {
        let mut spec = spec();
        spec.axes[0].bounds = Some((0..=ranks).map(inner).collect());
        spec.build().unwrap()
    };
    vec![
        spec().build().unwrap(),
        spec().dist("c").build().unwrap(),
        spec().dist("c").block_size(2).build().unwrap(),
        spec().dist("n").build().unwrap(),
        bounds(&|rank| if rank == ranks { length } else { length * rank * rank / (ranks * ranks) }),
        bounds(&|rank| if rank == 0 { 0 } else { length }),
        bounds(&|rank| if rank < ranks { 0 } else { length }),
    ]
}

/// Runs a function with an array of these values, in each distribution on each number of ranks.
fn for_each_distribution<T: Element, R: Send + PartialEq + std::fmt::Debug>(
    values: &[T],
    act: impl Fn(&Array) -> Result<R> + Sync,
    expected: &R,
) {
    for ranks in RANKS {
        // Many ranks take long to start.
        let stride = if ranks > 7 { 3 } else { 1 };
        for index in (0..distributions(values.len(), ranks).len()).step_by(stride) {
            let results = Threads::run(ranks, |fabric| {
                let limits = Limits { replicate_below: 0, ..Limits::default() };
                let session = Session::with_limits(Box::new(fabric), limits);
                let array = Array::from_slice(&session, &[values.len()], values);
                act(&array.redistribute(&distributions(values.len(), ranks)[index])?)
            });
            for (rank, found) in results.into_iter().enumerate() {
                let found = found.unwrap();
                let place = format!("rank {rank} of {ranks}, distribution {index}");
                assert_eq!(&found, expected, "{} {place}", T::DTYPE);
            }
        }
    }
}

/// Sorts, argsorts and makes unique in every distribution.
fn check<T: Element>(values: &[T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    let mut order: Vec<i64> = (0..values.len() as i64).collect();
    order.sort_by(|&one, &other| compare(&values[one as usize], &values[other as usize]));
    let sorted: Vec<T> = order.iter().map(|&at| values[at as usize]).collect();
    let sorted_bytes = bytes_of(&sorted).to_vec();
    let results = |array: &Array| -> Result<_> {
        let sorted = array.sort(0)?;
        let blocks = array.session().block_distribution(array.shape());
        assert_eq!(
            sorted.distribution()? == blocks,
            !array.is_replicated() || blocks.nprocs() == 1
        );
        Ok((bytes_of(&sorted.to_vec::<T>()?).to_vec(), array.argsort(0)?.to_vec::<i64>()?))
    };
    for_each_distribution(values, results, &(sorted_bytes, order.clone()));
    check_unique(values, &order, compare);
}

fn check_unique<T: Element>(
    values: &[T],
    order: &[i64],
    compare: impl Fn(&T, &T) -> Ordering + Sync,
) {
    let (mut firsts, mut counts, mut inverse) = (Vec::new(), Vec::new(), vec![0; values.len()]);
    for &at in order {
        let same = |&first: &i64| {
            compare(&values[first as usize], &values[at as usize]) == Ordering::Equal
        };
        if firsts.last().is_none_or(|first| !same(first)) {
            firsts.push(at);
            counts.push(0);
        }
        inverse[at as usize] = firsts.len() as i64 - 1;
        *counts.last_mut().unwrap() += 1;
    }
    let unique: Vec<T> = firsts.iter().map(|&first| values[first as usize]).collect();
    let bytes = bytes_of(&unique).to_vec();
    let options = UniqueOptions { index: true, inverse: true, counts: true, distinct_nans: false };
    let results = |array: &Array| -> Result<_> {
        let alone = array.unique(UniqueOptions::default())?.values.to_vec::<T>()?;
        let found = array.unique(options)?;
        Ok((
            [bytes_of(&alone).to_vec(), bytes_of(&found.values.to_vec::<T>()?).to_vec()],
            found.index.unwrap().to_vec::<i64>()?,
            found.inverse.unwrap().to_vec::<i64>()?,
            found.counts.unwrap().to_vec::<i64>()?,
        ))
    };
    for_each_distribution(values, results, &([bytes.clone(), bytes], firsts, inverse, counts));
}

/// Random values of a range, sorted, reversed, equal, with few elements, and none.
fn integers(seed: u64) -> Vec<Vec<i64>> {
    let mut choices = Choices(seed);
    let mut random =
        |length, range| (0..length).map(|_| choices.below(range) as i64 - 50).collect();
    let mut cases: Vec<Vec<i64>> = vec![random(300, 100), random(201, 3), random(150, 1 << 40)];
    cases.push((0..130).collect());
    cases.push((0..130).rev().collect());
    cases.push(vec![7; 100]);
    cases.push(vec![2, 1]);
    cases.push(Vec::new());
    cases
}

#[test]
fn integers_of_every_dtype() {
    for values in integers(1) {
        check(&values, i64::cmp);
    }
    let values = &integers(2)[0];
    macro_rules! narrow {
        ($($integer:ty),*) => {$(
            check(&values.iter().map(|&v| v as $integer).collect::<Vec<_>>(), Ord::cmp);
        )*};
    }
    narrow!(i8, i16, i32, u8, u16, u32, u64);
    let bools: Vec<Bool> = values.iter().map(|&value| (value > 0).into()).collect();
    check(&bools, |one, other| one.partial_cmp(other).unwrap());
}

/// Values with NaNs of several kinds, zeros of either sign and infinities.
fn floats(length: usize) -> Vec<f64> {
    let mut choices = Choices(5);
    let special = [f64::NAN, -f64::NAN, f64::from_bits(f64::NAN.to_bits() | 7), 0.0, -0.0];
    let special = [&special[..], &[f64::INFINITY, f64::NEG_INFINITY, 5e-324]].concat();
    (0..length)
        .map(|_| match choices.one_in(3) {
            true => choices.of(&special),
            false => choices.below(100) as f64 - 50.0,
        })
        .collect()
}

/// NumPy's order of floats.
fn float_order(one: f64, other: f64) -> Ordering {
    one.partial_cmp(&other).unwrap_or_else(|| one.is_nan().cmp(&other.is_nan()))
}

#[test]
fn floats_keep_the_order_of_zeros_and_nans() {
    let values = floats(300);
    check(&values, |&one, &other| float_order(one, other));
    let single: Vec<f32> = values.iter().map(|&value| value as f32).collect();
    check(&single, |&one, &other| float_order(one.into(), other.into()));
    let half: Vec<f16> = values.iter().map(|&value| f16::from_f64(value)).collect();
    check(&half, |&one, &other| float_order(one.into(), other.into()));
    check(&[f64::NAN; 20], |&one, &other| float_order(one, other));
}

#[test]
fn complex_numbers_are_in_lexicographic_order() {
    let (re, im) = (floats(250), floats(251));
    let number = |(&re, &im): (&f64, &f64)| Complex64::new(re, im);
    let values: Vec<Complex64> = re.iter().zip(&im[1..]).map(number).collect();
    let nans = |value: &Complex64| (value.re.is_nan(), value.im.is_nan());
    let compare = |one: &Complex64, other: &Complex64| {
        let parts = float_order(one.re, other.re).then(float_order(one.im, other.im));
        nans(one).cmp(&nans(other)).then(parts)
    };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| compare(&values[one], &values[other]));
    let sorted: Vec<Complex64> = order.iter().map(|&at| values[at]).collect();
    let results = |array: &Array| Ok(bytes_of(&array.sort(0)?.to_vec::<Complex64>()?).to_vec());
    for_each_distribution(&values, results, &bytes_of(&sorted).to_vec());
    // Every number with a NaN part is the same unique number.
    let numbers: Vec<Complex64> = sorted.iter().copied().filter(|value| !value.is_nan()).collect();
    let mut expected = numbers.len() as i64;
    expected -= numbers.windows(2).filter(|pair| pair[0] == pair[1]).count() as i64 - 1;
    let count =
        |array: &Array| Ok(array.unique(UniqueOptions::default())?.values.shape()[0] as i64);
    for_each_distribution(&values, count, &expected);
}

#[test]
fn nans_may_be_distinct() {
    let values = [2.0, f64::NAN, 1.0, f64::NAN, 2.0, f64::NAN];
    let options = UniqueOptions { distinct_nans: true, ..Default::default() };
    let count = |array: &Array| Ok(array.unique(options)?.values.shape()[0]);
    for_each_distribution(&values, count, &5);
}

/// Texts of three bytes, in reverse order of bytes.
struct Texts;

impl ItemOrder for Texts {
    fn itemsize(&self) -> usize {
        3
    }

    fn argsort(&self, items: &[u8], length: usize) -> Result<Vec<i64>> {
        let mut all = Vec::new();
        for line in items.chunks(3 * length.max(1)) {
            let mut order: Vec<i64> = (0..line.len() as i64 / 3).collect();
            order.sort_by(|&one, &other| text(line, other).cmp(text(line, one)));
            all.extend(order);
        }
        Ok(all)
    }

    fn search(&self, sorted: &[u8], values: &[u8]) -> Result<Vec<[usize; 2]>> {
        let texts: Vec<&[u8]> = sorted.chunks(3).collect();
        let bounds = |value: &[u8]| {
            [
                texts.partition_point(|text| *text > value),
                texts.partition_point(|text| *text >= value),
            ]
        };
        Ok(values.chunks(3).map(bounds).collect())
    }
}

fn text(items: &[u8], at: i64) -> &[u8] {
    &items[at as usize * 3..][..3]
}

#[test]
fn items_of_any_order() {
    let mut choices = Choices(3);
    let texts: Vec<[u8; 3]> =
        (0..150).map(|_| [0; 3].map(|_| b'a' + choices.below(4) as u8)).collect();
    let mut order: Vec<i64> = (0..150).collect();
    order.sort_by(|&one, &other| texts[other as usize].cmp(&texts[one as usize]));
    let sorted: Vec<u8> = order.iter().flat_map(|&at| texts[at as usize]).collect();
    let mut unique = sorted.as_chunks::<3>().0.to_vec();
    unique.dedup();
    for ranks in RANKS {
        let results = Threads::run(ranks, |fabric| {
            let limits = Limits { replicate_below: 0, ..Limits::default() };
            let session = Session::with_limits(Box::new(fabric), limits);
            let array = Array::from_slice(&session, &[150, 3], texts.as_flattened());
            let blocks = session.block_distribution(&[150]).with_trailing(3);
            let array = array.redistribute(&blocks).unwrap();
            (
                array.sort_items(&Texts).unwrap().to_vec::<u8>().unwrap(),
                array.argsort_items(&Texts).unwrap().to_vec::<i64>().unwrap(),
                array
                    .unique_items(&Texts, UniqueOptions::default())
                    .unwrap()
                    .values
                    .to_vec::<u8>()
                    .unwrap(),
            )
        });
        for (found, found_order, found_unique) in results {
            assert_eq!((&found, &found_order), (&sorted, &order), "{ranks} ranks");
            assert_eq!(found_unique, unique.as_flattened(), "{ranks} ranks");
        }
    }
}

#[test]
fn times_have_nat_last() {
    let values = [5, i64::MIN, 3, i64::MAX, i64::MIN, i64::MIN + 1, 3];
    let expected = [i64::MIN + 1, 3, 3, 5, i64::MAX, i64::MIN, i64::MIN];
    for ranks in RANKS {
        let results = Threads::run(ranks, |fabric| {
            let limits = Limits { replicate_below: 0, ..Limits::default() };
            let session = Session::with_limits(Box::new(fabric), limits);
            let array = Array::from_slice(&session, &[7, 8], bytes_of(&values));
            let blocks = session.block_distribution(&[7]).with_trailing(8);
            let array = array.redistribute(&blocks).unwrap();
            let unique = array.unique_items(TIME_ORDER, UniqueOptions::default()).unwrap();
            (
                array.sort_items(TIME_ORDER).unwrap().to_vec::<u8>().unwrap(),
                array.argsort_items(TIME_ORDER).unwrap().to_vec::<i64>().unwrap(),
                unique.values.shape()[0],
            )
        });
        for (found, order, unique) in results {
            assert_eq!(found, bytes_of(&expected));
            assert_eq!(order, [5, 2, 6, 0, 3, 1, 4]);
            assert_eq!(unique, 5);
        }
    }
}

/// Every axis of an array, in C and Fortran order, also with fewer lines than ranks.
#[test]
fn lines_along_every_axis() {
    for (shape, ranks) in [([6, 5, 4], 3), ([1, 40, 1], 3), ([2, 3, 30], 7), ([4, 0, 2], 2)] {
        let count: usize = shape.iter().product();
        let values: Vec<i32> = (0..count).map(|at| (at * 7919 % 101) as i32).collect();
        for axis in 0..3 {
            let results = Threads::run(ranks, |fabric| {
                let limits = Limits { replicate_below: 0, ..Limits::default() };
                let session = Session::with_limits(Box::new(fabric), limits);
                let array = Array::from_slice(&session, &shape, &values);
                let blocks = session.block_distribution(&shape);
                let array = array.redistribute(&blocks).unwrap();
                let fortran = array.transposed(&[2, 1, 0]);
                let sorted = array.sort(axis).unwrap();
                let order = array.argsort(axis).unwrap();
                let turned = fortran.sort(2 - axis).unwrap();
                assert_eq!(turned.shape(), fortran.shape());
                (
                    sorted.to_vec::<i32>().unwrap(),
                    order.to_vec::<i64>().unwrap(),
                    turned.transposed(&[2, 1, 0]).to_vec::<i32>().unwrap(),
                )
            });
            let (mut sorted, mut order) = (values.clone(), vec![0; count]);
            let inner: usize = shape[axis + 1..].iter().product();
            for start in (0..count).filter(|at| (at / inner).is_multiple_of(shape[axis])) {
                let mut line: Vec<(i32, i64)> =
                    (0..shape[axis]).map(|at| (values[start + at * inner], at as i64)).collect();
                line.sort();
                for (at, (value, index)) in line.into_iter().enumerate() {
                    (sorted[start + at * inner], order[start + at * inner]) = (value, index);
                }
            }
            for (found, found_order, turned) in results {
                assert_eq!((&found, &found_order), (&sorted, &order), "{shape:?} axis {axis}");
                assert_eq!(turned, sorted, "{shape:?} axis {axis}");
            }
        }
    }
}

/// Ranks send about their piece; equal values and sorted ones stay where they are.
#[test]
fn messages_are_as_large_as_pieces() {
    const LENGTH: usize = 1 << 18;
    type Value = fn(u64) -> i64;
    let cases: [(&str, Value, usize); 3] = [
        ("random", |at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as i64, 1),
        ("equal", |_| 7, 0),
        ("sorted", |at| at as i64 / 3, 0),
    ];
    for ranks in [2, 3, 8] {
        for (name, value, columns) in cases {
            let values: Vec<i64> = (0..LENGTH as u64).map(value).collect();
            let mut expected = values.clone();
            expected.sort();
            Threads::run(ranks, |fabric| {
                let limits = Limits { replicate_below: 0, ..Limits::default() };
                let session = Session::with_limits(Box::new(fabric), limits);
                let array = Array::from_slice(&session, &[LENGTH], &values);
                let array = array.redistribute(&session.block_distribution(&[LENGTH])).unwrap();
                // Candidates for splitters and their counts.
                let most = (LENGTH / ranks as usize * columns + LENGTH / 4) * 8;
                let before = session.fabric().stats().bytes;
                let sorted = array.sort(0).unwrap();
                let bytes = (session.fabric().stats().bytes - before) as usize;
                assert!(bytes <= most, "sort of {name} on {ranks}: {bytes} bytes, not {most}");
                let before = session.fabric().stats().bytes;
                array.argsort(0).unwrap();
                let bytes = (session.fabric().stats().bytes - before) as usize;
                assert!(bytes <= 2 * most, "argsort of {name} on {ranks}: {bytes} bytes");
                assert!(sorted.to_vec::<i64>().unwrap() == expected, "{name} on {ranks}");
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any values on any number of ranks, with ties that several ranks share.
    #[test]
    fn any_values(values in prop::collection::vec(-4_i16..4, 0..60), ranks in 1_u64..9) {
        let mut expected: Vec<(i16, i64)> = values.iter().copied().zip(0..).collect();
        expected.sort();
        let order: Vec<i64> = expected.iter().map(|&(_, index)| index).collect();
        let results = Threads::run(ranks, |fabric| {
            let limits = Limits { replicate_below: 0, ..Limits::default() };
            let session = Session::with_limits(Box::new(fabric), limits);
            let array = Array::from_slice(&session, &[values.len()], &values);
            let cyclic = distributions(values.len(), ranks).swap_remove(1);
            array.redistribute(&cyclic).unwrap().argsort(0).unwrap().to_vec::<i64>().unwrap()
        });
        for found in results {
            prop_assert_eq!(&found, &order);
        }
    }
}
