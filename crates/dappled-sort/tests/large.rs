//! Long slices, which are shared among threads, against what one thread would do.

use dappled_sort::exact::Exact;
use dappled_sort::order::Key;
use dappled_sort::take::OutOfRange;
use dappled_sort::{
    asked, compact, count, divide, histogram, merge, put, rank, receive, route, select, sort, take,
};
use proptest::prelude::*;

const MOST: usize = 300_000;

/// Numbers that look random, the same for the same seed.
fn numbers(seed: u64, length: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length).map(|_| next()).collect()
}

fn floats(seed: u64, length: usize) -> Vec<f64> {
    let special = |number: u64| match number % 97 {
        0 => f64::NAN,
        1 => -0.0,
        2 => 0.0,
        3 => f64::NEG_INFINITY,
        _ => (number % 2001) as f64 - 1000.0,
    };
    numbers(seed, length).into_iter().map(special).collect()
}

/// The places in order, and numbers from large on that fall.
fn is_ordered<T: Key>(values: &[T]) {
    let (length, mut room) = (values.len(), vec![0; rank::ROOM * values.len()]);
    let mut expected: Vec<i64> = (0..length as i64).collect();
    expected.sort_by_key(|&place| values[place as usize].key());
    let mut order = vec![0; length];
    rank::argsort(values, &mut room, &mut order);
    assert_eq!(order, expected);
    for first in [0, 1 << 40] {
        let (one, other) = values.split_at(length / 3);
        let starts = [first, first + one.len() as u64];
        is_divided([one, other], starts, &expected);
    }
}

/// Two parts, each divided into ranges, of which one after the other is sorted.
fn is_divided<T: Key>(halves: [&[T]; 2], starts: [u64; 2], expected: &[i64]) {
    let all = starts[0] as usize + expected.len();
    let element = |part: usize| {
        let number = *expected.get(expected.len() * part / 3)?;
        Some((halves.concat()[number as usize], starts[0] as i64 + number))
    };
    for bounds in [vec![1], vec![1, 2]] {
        let ranges = bounds.len() + 1;
        let Some(bounds) = bounds.into_iter().map(element).collect::<Option<Vec<_>>>() else {
            return;
        };
        let bounds = divide::Bounds::new(bounds);
        let divided = [0, 1].map(|half| divided(&bounds, halves[half], starts[half]));
        let mut found = Vec::new();
        for range in 0..ranges {
            let part = |half: usize| {
                let (values, offsets) = &divided[half][range];
                rank::Part { values: &values[..], first: starts[half], offsets: Some(offsets) }
            };
            let count = divided.iter().map(|ranges| ranges[range].0.len()).sum();
            let (mut order, mut room) = (vec![0; count], vec![0; rank::ROOM * count]);
            rank::argsort_parts(&[part(0), part(1)], all, &mut room, &mut order);
            found.extend(order);
        }
        assert!(found.iter().map(|number| number - starts[0] as i64).eq(expected.iter().copied()));
    }
}

/// Values in ranges, and how far from the first they stood.
fn divided<T: Key>(bounds: &divide::Bounds, values: &[T], first: u64) -> Vec<(Vec<T>, Vec<u32>)> {
    let counts = bounds.counts(values, first as i64);
    let (mut found, mut offsets) = (values.to_vec(), vec![0; values.len()]);
    bounds.divide(values, first as i64, &counts, &mut found, &mut offsets);
    let range = |&count: &usize| (found.drain(..count).collect(), offsets.drain(..count).collect());
    counts.iter().map(range).collect()
}

/// Sorted at once and in two parts, as one thread would: to the last bit.
fn is_sorted<T: Exact>(values: &[T], cut: usize) {
    let mut expected: Vec<u64> = values.iter().map(|value| value.exact()).collect();
    expected.sort_unstable();
    let (mut room, mut out) = (vec![0; values.len()], values.to_vec());
    sort::sort(values, &mut room, &mut out);
    assert!(out.iter().map(|value| value.exact()).eq(expected.iter().copied()));
    let cut = cut.min(values.len());
    let (here, there) = room.split_at_mut(cut);
    let ranges = sort::ranges(values.len());
    let mut dealt = sort::deal(&values[cut..], &values[..cut], ranges, here);
    dealt.extend(sort::deal(&values[cut..], &values[cut..], ranges, there));
    sort::gather(&dealt, &mut out);
    assert!(out.iter().map(|value| value.exact()).eq(expected));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Few values and many, of all magnitudes, with all kinds of bits, and nearly all alike.
    #[test]
    fn sorted_to_the_last_bit(seed: u64, length in 0..MOST, cut in 0..MOST, bits in 0..65_u32) {
        let random = numbers(seed, length);
        is_sorted(&random, cut);
        is_sorted(&random.iter().map(|&number| f64::from_bits(number)).collect::<Vec<_>>(), cut);
        is_sorted(&floats(seed, length), cut);
        let narrow: Vec<u64> = random.iter().map(|n| n.checked_shr(bits).unwrap_or(0)).collect();
        is_sorted(&narrow, cut);
        is_sorted(&narrow.iter().map(|&number| number as i64).collect::<Vec<_>>(), cut);
        is_sorted(&narrow.iter().map(|&n| (n as f64 / 1e9).exp()).collect::<Vec<_>>(), cut);
        is_sorted(&random.iter().map(|n| n / (u64::MAX / 1000) / 999).collect::<Vec<_>>(), cut);
        is_sorted(&random.iter().map(|n| 1.0 / (n % 1000) as f64).collect::<Vec<_>>(), cut);
    }

    #[test]
    fn rows_are_those_of_the_indices(seed: u64, rows in 1..MOST, width in 1..4_usize) {
        let from = numbers(seed, rows * width);
        let at: Vec<i64> = numbers(seed ^ 5, MOST / 4)
            .into_iter()
            .map(|number| (number % (2 * rows as u64)) as i64 - rows as i64)
            .collect();
        let mut out = vec![0; at.len() * width];
        prop_assert_eq!(take::take(&from, width, &at, &mut out), Ok(()));
        for (&index, row) in at.iter().zip(out.chunks(width)) {
            let place = index.rem_euclid(rows as i64) as usize * width;
            prop_assert_eq!(row, &from[place..place + width]);
        }
    }

    #[test]
    fn rows_in_parts_are_those_of_the_numbers(
        seed: u64,
        lengths in prop_oneof![
            prop::collection::vec(0..20_000_u64, 1..5),
            prop::collection::vec(prop_oneof![Just(0), 0..2_000_u64], 10..40),
        ],
        width in prop::sample::select(vec![1, 2, 4, 8, 12, 16]),
    ) {
        let ends = lengths.iter().scan(0, |end, length| { *end += length; Some(*end) });
        let starts: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let (parts, rows) = (lengths.len(), starts[lengths.len()] as usize);
        let all: Vec<u8> = numbers(seed, rows * width).iter().map(|&number| number as u8).collect();
        let part = |part: usize| starts[part] as usize * width..starts[part + 1] as usize * width;
        let size = if rows == 0 { 0 } else { MOST / 4 };
        let at: Vec<i64> = numbers(seed ^ 5, size)
            .into_iter()
            .map(|number| (number % (2 * rows as u64)) as i64 - rows as i64)
            .collect();
        let values: Vec<u8> = numbers(seed ^ 7, size * width).iter().map(|&number| number as u8).collect();
        let given = route::Rows { bytes: &values, width };
        let (mut columns, mut sent) = (vec![Vec::new(); parts], vec![Vec::new(); parts]);
        let told = route::ask(&at, &starts, 0..parts, &mut columns, |part, first, chosen| {
            route::append_rows(&mut sent[part], given, first, chosen);
        });
        prop_assert_eq!(told, Ok(()));
        let bytes = route::place_bytes(&starts);
        let answers: Vec<Vec<u8>> = columns.iter().enumerate().map(|(number, places)| {
            let mut out = vec![0; places.len() / bytes * width];
            route::answered(route::Rows { bytes: &all[part(number)], width }, places, bytes, &mut out);
            out
        }).collect();
        let mut out = vec![0; size * width];
        let asked = asked::ask_all(&at, &starts).unwrap();
        for (number, answers) in answers.iter().enumerate() {
            prop_assert_eq!(&asked::column(&asked, number, vec![]), &columns[number]);
            match number % 2 {
                0 => asked::join(&asked, number, answers, width, &mut out),
                _ => asked::own(&asked, number, route::Rows { bytes: &all[part(number)], width }, &mut out),
            }
        }
        let (mut written, mut own) = (all.clone(), all.clone());
        for number in 0..parts {
            let place = (starts[number] as usize, rows);
            receive::write(&mut written[part(number)], width, &columns[number], bytes, &sent[number]);
            receive::write_own(&mut own[part(number)], width, &at, place, &values);
        }
        let mut expected = all.clone();
        for (number, &index) in at.iter().enumerate() {
            let place = index.rem_euclid(rows as i64) as usize * width;
            prop_assert_eq!(&out[number * width..][..width], &all[place..][..width]);
            expected[place..][..width].copy_from_slice(&values[number * width..][..width]);
        }
        prop_assert!(written == expected && own == expected);
        let beyond = [&at[..], &[rows as i64, -1 - rows as i64]].concat();
        let told = route::ask(&beyond, &starts, 0..parts, &mut columns, |_, _, _| ());
        prop_assert_eq!(told, Err(route::Wrong(rows as i64)));
        prop_assert!(asked::ask_all(&beyond, &starts).is_err());
    }

    #[test]
    fn the_first_wrong_index_is_told(length in 1..MOST, wrong in 0..MOST, more in 0..MOST) {
        let mut at = vec![0; wrong + more + 1];
        at[wrong] = length as i64;
        at[wrong + more] = -(length as i64) - 1;
        let told = Err(OutOfRange(wrong));
        prop_assert_eq!(take::take(&vec![1; length], 1, &at, &mut vec![0; at.len()]), told);
        let mut target = vec![1; length];
        prop_assert_eq!(put::put(&mut target, &at, &[2]), told);
        prop_assert!(target.iter().all(|&value| value == 1));
    }

    #[test]
    fn the_last_value_stays(seed: u64, length in 1..5000_usize, count in 0..MOST) {
        let places = numbers(seed, count).into_iter().map(|number| number as usize % length);
        let at: Vec<i64> = places.map(|place| place as i64).collect();
        let values: Vec<usize> = (1..=count).collect();
        let mut target = vec![0; length];
        put::put(&mut target, &at, &values).unwrap();
        let mut expected = vec![0; length];
        at.iter().zip(&values).for_each(|(&place, &value)| expected[place as usize] = value);
        prop_assert_eq!(target, expected);
    }

    #[test]
    fn what_is_chosen_keeps_its_order(seed: u64, length in 0..MOST, share in 0..101_u64) {
        let values = numbers(seed, length);
        let mask: Vec<bool> = values.iter().map(|value| value % 101 < share).collect();
        let expected: Vec<u64> = values.iter().copied().filter(|value| value % 101 < share).collect();
        prop_assert_eq!(compact::count(&mask), expected.len());
        let mut places = vec![0; expected.len()];
        compact::places(&mask, &mut places);
        let found: Vec<u64> = places.iter().map(|&place| values[place as usize]).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn merged_is_sorted(seed: u64, one in 0..MOST, other in 0..MOST) {
        let (mut a, mut b) = (floats(seed, one), floats(seed ^ 7, other));
        a.sort_by_key(|value| value.key());
        b.sort_by_key(|value| value.key());
        let mut out = vec![0.0; one + other];
        merge::merge(&a, &b, &mut out);
        let mut expected = [a, b].concat();
        expected.sort_by_key(|value| value.key());
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&out), bits(&expected));
    }

    #[test]
    fn the_order_is_stable(seed: u64, length in 0..MOST, spread: bool) {
        let values = floats(seed, length);
        is_ordered(&values);
        // Narrow ones, alike or all different.
        let whole = |number: u64| if spread { number as i32 } else { (number % 7) as i32 };
        is_ordered(&numbers(seed, length).into_iter().map(whole).collect::<Vec<_>>());
    }

    #[test]
    fn all_within_a_range_are_found(seed: u64, length in 0..MOST, low in -900..900, more in 0..90) {
        let values = floats(seed, length);
        let (low, high) = (f64::from(low), f64::from(low + more));
        let within = select::within(&values, low, high);
        let count = |wanted: &dyn Fn(f64) -> bool| values.iter().filter(|&&one| wanted(one)).count();
        prop_assert_eq!(within.before, count(&|one| one < low));
        prop_assert_eq!(within.nans, count(&|one| one.is_nan()));
        prop_assert_eq!(within.found.len(), count(&|one| low <= one && one <= high));
    }

    #[test]
    fn counts_add_up(seed: u64, length in 1..MOST, bins in 1..1000_usize) {
        let places: Vec<i64> =
            numbers(seed, length).into_iter().map(|number| (number % bins as u64) as i64 - 3).collect();
        let mut expected = vec![0; bins];
        places.iter().for_each(|&place| expected[(place + 3) as usize] += 1);
        prop_assert_eq!(count::count(&places, -3, bins), expected);
        let ends = (places.iter().min().copied().unwrap(), places.iter().max().copied().unwrap());
        prop_assert_eq!(count::extent(&places), Some(ends));
    }

    #[test]
    fn each_value_is_in_its_bin(
        seed: u64,
        length in 0..MOST,
        bins in 1..300_usize,
        scale in prop::sample::select(vec![1.0, 0.7123, 0.0517]),
    ) {
        // Many of them on edges; or few; or nearly all inside.
        let values: Vec<f64> = floats(seed, length).iter().map(|value| value * scale).collect();
        let edges: Vec<f64> =
            (0..=bins).map(|edge| -500.0 + 1000.0 * edge as f64 / bins as f64).collect();
        let mut expected = vec![0; bins];
        for &value in values.iter().filter(|&&value| (-500.0..=500.0).contains(&value)) {
            let above = edges.partition_point(|&edge| edge <= value);
            expected[(above - 1).min(bins - 1)] += 1;
        }
        prop_assert_eq!(histogram::histogram(&values, &edges), expected);
    }
}
