//! Compares the parallel functions with serial reference implementations on long slices.

use dappled_sort::numpy_order::NumpyOrder;
use dappled_sort::sort_key::SortKey;
use dappled_sort::take::OutOfBoundsPosition;
use dappled_sort::{
    argsort, bincount, histogram, merge, nonzero, put, put_received, route, select, sort, take,
    take_requests,
};
use proptest::prelude::*;

const MAX_LENGTH: usize = 300_000;

/// Returns reproducible pseudo-random numbers.
fn random_words(seed: u64, length: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length).map(|_| next()).collect()
}

fn random_floats(seed: u64, length: usize) -> Vec<f64> {
    let special = |number: u64| match number % 97 {
        0 => f64::NAN,
        1 => -0.0,
        2 => 0.0,
        3 => f64::NEG_INFINITY,
        _ => (number % 2001) as f64 - 1000.0,
    };
    random_words(seed, length).into_iter().map(special).collect()
}

fn check_argsort<T: NumpyOrder>(values: &[T]) {
    let (length, mut room) = (values.len(), vec![0; argsort::SCRATCH_WORDS * values.len()]);
    let mut expected: Vec<i64> = (0..length as i64).collect();
    expected.sort_by_key(|&place| values[place as usize].key());
    let mut order = vec![0; length];
    argsort::argsort(values, &mut room, &mut order);
    assert_eq!(order, expected);
}

/// Checks sorting to the last bit, and stable sorting.
fn check_sort<T: SortKey + Default>(values: &[T]) {
    let mut expected: Vec<u64> = values.iter().map(|value| value.to_sort_key()).collect();
    expected.sort_unstable();
    let (mut room, mut out) = (vec![0; values.len()], values.to_vec());
    sort::sort(values, &mut room, &mut out);
    assert!(out.iter().map(|value| value.to_sort_key()).eq(expected));
    let mut expected = values.to_vec();
    expected.sort_by_key(|value| value.key());
    sort::sort_stable(values, &mut out);
    let keys = |values: &[T]| values.iter().map(|value| value.to_sort_key()).collect::<Vec<_>>();
    assert_eq!(keys(&out), keys(&expected));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Short and long, all magnitudes, all bit patterns, and nearly all equal.
    #[test]
    fn sort_is_exact(seed: u64, length in 0..MAX_LENGTH, bits in 0..65_u32) {
        let random = random_words(seed, length);
        check_sort(&random);
        check_sort(&random.iter().map(|&number| f64::from_bits(number)).collect::<Vec<_>>());
        check_sort(&random_floats(seed, length));
        let narrow: Vec<u64> = random.iter().map(|n| n.checked_shr(bits).unwrap_or(0)).collect();
        check_sort(&narrow);
        check_sort(&narrow.iter().map(|&number| number as i64).collect::<Vec<_>>());
        check_sort(&narrow.iter().map(|&n| (n as f64 / 1e9).exp()).collect::<Vec<_>>());
        check_sort(&random.iter().map(|n| n / (u64::MAX / 1000) / 999).collect::<Vec<_>>());
        check_sort(&random.iter().map(|n| 1.0 / (n % 1000) as f64).collect::<Vec<_>>());
        check_sort(&random.iter().map(|&number| f32::from_bits(number as u32)).collect::<Vec<_>>());
        check_sort(&random.iter().map(|&number| number as i32).collect::<Vec<_>>());
        check_sort(&random.iter().map(|&number| number as i8).collect::<Vec<_>>());
    }

    #[test]
    fn take_copies_rows(seed: u64, rows in 1..MAX_LENGTH, width in 1..4_usize) {
        let from = random_words(seed, rows * width);
        let at: Vec<i64> = random_words(seed ^ 5, MAX_LENGTH / 4)
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
    fn take_and_put_of_parts_match_the_whole(
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
        let all: Vec<u8> = random_words(seed, rows * width).iter().map(|&number| number as u8).collect();
        let part = |part: usize| starts[part] as usize * width..starts[part + 1] as usize * width;
        let size = if rows == 0 { 0 } else { MAX_LENGTH / 4 };
        let at: Vec<i64> = random_words(seed ^ 5, size)
            .into_iter()
            .map(|number| (number % (2 * rows as u64)) as i64 - rows as i64)
            .collect();
        let values: Vec<u8> = random_words(seed ^ 7, size * width).iter().map(|&number| number as u8).collect();
        let given = route::RowBytes { bytes: &values, width };
        let (mut columns, mut sent) = (vec![Vec::new(); parts], vec![Vec::new(); parts]);
        let result = route::route_indices(&at, &starts, 0..parts, &mut columns, |part, first, chosen| {
            route::append_rows(&mut sent[part], given, first, chosen);
        });
        prop_assert_eq!(result, Ok(()));
        let bytes = route::position_bytes(&starts);
        let answers: Vec<Vec<u8>> = columns.iter().enumerate().map(|(number, places)| {
            let mut out = vec![0; places.len() / bytes * width];
            route::answer_requests(route::RowBytes { bytes: &all[part(number)], width }, places, bytes, &mut out);
            out
        }).collect();
        let mut out = vec![0; size * width];
        let asked = take_requests::build_requests(&at, &starts).unwrap();
        for (number, answers) in answers.iter().enumerate() {
            prop_assert_eq!(&take_requests::requested_positions(&asked, number, vec![]), &columns[number]);
            match number % 2 {
                0 => take_requests::write_received_rows(&asked, number, answers, width, &mut out),
                _ => take_requests::write_local_rows(&asked, number, route::RowBytes { bytes: &all[part(number)], width }, &mut out),
            }
        }
        let (mut written, mut own) = (all.clone(), all.clone());
        for number in 0..parts {
            let place = (starts[number] as usize, rows);
            put_received::put_rows(&mut written[part(number)], width, &columns[number], bytes, &sent[number]);
            put_received::put_local_rows(&mut own[part(number)], width, &at, place, &values);
        }
        let mut expected = all.clone();
        for (number, &index) in at.iter().enumerate() {
            let place = index.rem_euclid(rows as i64) as usize * width;
            prop_assert_eq!(&out[number * width..][..width], &all[place..][..width]);
            expected[place..][..width].copy_from_slice(&values[number * width..][..width]);
        }
        prop_assert!(written == expected && own == expected);
        let beyond = [&at[..], &[rows as i64, -1 - rows as i64]].concat();
        let result = route::route_indices(&beyond, &starts, 0..parts, &mut columns, |_, _, _| ());
        prop_assert_eq!(result, Err(route::OutOfBoundsIndex(rows as i64)));
        prop_assert!(take_requests::build_requests(&beyond, &starts).is_err());
    }

    #[test]
    fn the_first_index_out_of_bounds_is_reported(length in 1..MAX_LENGTH, bad in 0..MAX_LENGTH, more in 0..MAX_LENGTH) {
        let mut at = vec![0; bad + more + 1];
        at[bad] = length as i64;
        at[bad + more] = -(length as i64) - 1;
        let result = Err(OutOfBoundsPosition(bad));
        prop_assert_eq!(take::take(&vec![1; length], 1, &at, &mut vec![0; at.len()]), result);
        let mut target = vec![1; length];
        prop_assert_eq!(put::put(&mut target, &at, &[2]), result);
        prop_assert!(target.iter().all(|&value| value == 1));
    }

    #[test]
    fn the_last_value_wins(seed: u64, length in 1..5000_usize, count in 0..MAX_LENGTH) {
        let places = random_words(seed, count).into_iter().map(|number| number as usize % length);
        let at: Vec<i64> = places.map(|place| place as i64).collect();
        let values: Vec<usize> = (1..=count).collect();
        let mut target = vec![0; length];
        put::put(&mut target, &at, &values).unwrap();
        let mut expected = vec![0; length];
        at.iter().zip(&values).for_each(|(&place, &value)| expected[place as usize] = value);
        prop_assert_eq!(target, expected);
    }

    #[test]
    fn nonzero_is_ordered(seed: u64, length in 0..MAX_LENGTH, share in 0..101_u64) {
        let values = random_words(seed, length);
        let mask: Vec<bool> = values.iter().map(|value| value % 101 < share).collect();
        let expected: Vec<u64> = values.iter().copied().filter(|value| value % 101 < share).collect();
        prop_assert_eq!(nonzero::count_nonzero(&mask), expected.len());
        let mut places = vec![0; expected.len()];
        nonzero::nonzero(&mask, &mut places);
        let found: Vec<u64> = places.iter().map(|&place| values[place as usize]).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn merge_is_sorted_and_stable(seed: u64, one in 0..MAX_LENGTH, other in 0..MAX_LENGTH) {
        let (mut a, mut b) = (random_floats(seed, one), random_floats(seed ^ 7, other));
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
    fn argsort_is_stable(seed: u64, length in 0..MAX_LENGTH, spread: bool) {
        let values = random_floats(seed, length);
        check_argsort(&values);
        // Narrow values, with many ties or all different.
        let whole = |number: u64| if spread { number as i32 } else { (number % 7) as i32 };
        check_argsort(&random_words(seed, length).into_iter().map(whole).collect::<Vec<_>>());
    }

    #[test]
    fn select_finds_all_values_in_range(seed: u64, length in 0..MAX_LENGTH, low in -900..900, more in 0..90) {
        let values = random_floats(seed, length);
        let (low, high) = (f64::from(low), f64::from(low + more));
        let ranges = [(low, high), (f64::NEG_INFINITY, low)];
        let (selections, nans) = select::select_ranges(&values, &ranges);
        let count = |wanted: &dyn Fn(f64) -> bool| values.iter().filter(|&&one| wanted(one)).count();
        prop_assert_eq!(nans, count(&|one| one.is_nan()));
        prop_assert_eq!(nans, select::count(&values, f64::is_nan));
        for (within, (low, high)) in selections.iter().zip(ranges) {
            prop_assert_eq!(within.before, count(&|one| one < low));
            prop_assert_eq!(within.values.len(), count(&|one| low <= one && one <= high));
        }
    }

    #[test]
    fn bincount_matches_serial(seed: u64, length in 1..MAX_LENGTH, bins in 1..1000_usize) {
        let places: Vec<i64> =
            random_words(seed, length).into_iter().map(|number| (number % bins as u64) as i64 - 3).collect();
        let mut expected = vec![0; bins];
        places.iter().for_each(|&place| expected[(place + 3) as usize] += 1);
        prop_assert_eq!(bincount::bincount(&places, -3, bins), expected);
        let ends = (places.iter().min().copied().unwrap(), places.iter().max().copied().unwrap());
        prop_assert_eq!(bincount::min_max(&places), Some(ends));
    }

    #[test]
    fn histogram_matches_serial(
        seed: u64,
        length in 0..MAX_LENGTH,
        bins in 1..300_usize,
        scale in prop::sample::select(vec![1.0, 0.7123, 0.0517]),
    ) {
        // Many values on edges, few, or nearly all inside.
        let values: Vec<f64> = random_floats(seed, length).iter().map(|value| value * scale).collect();
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
