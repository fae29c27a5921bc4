//! Advanced indexing of distributed arrays, compared with its definition.

use dappled::protocol::Distribution;
use dappled::protocol::slice::KeyItem;
use dappled::view::IndexItem;
use dappled::{Array, IndexKey, Limits, RowValues, Session};
use dappled_fabric::Threads;
use dappled_kernels::{Bool, Element};

use crate::reference::choices::Choices;

const RANKS: [u64; 5] = [1, 2, 3, 7, 64];

/// The shape and the elements of an array in one memory. A mask has ones and zeros.
type Local = (Vec<usize>, Vec<i64>);

/// One group of axes of the result: its shape, and the offset of each of its elements in the array.
type Group = (Vec<usize>, Vec<i64>);

/// The shape of a selection and the offsets of its elements, by the definition of NumPy's manual;
/// None if NumPy rejects the key.
fn reference(shape: &[usize], items: &[IndexItem<Local>]) -> Option<(Vec<usize>, Vec<usize>)> {
    let is_advanced = items.iter().any(|item| !item.is_basic());
    let used: usize = items
        .iter()
        .map(|item| match item {
            IndexItem::Basic(KeyItem::NewAxis | KeyItem::Ellipsis) | IndexItem::Bool(_) => 0,
            IndexItem::Mask((shape, _)) => shape.len(),
            _ => 1,
        })
        .sum();
    let mut expanded: Vec<Option<IndexItem<Local>>> = Vec::new();
    let full = || Some(IndexItem::Basic(KeyItem::Slice(None, None, None)));
    for item in items {
        match item {
            // The marker separates index arrays, whether or not it stands for an axis.
            IndexItem::Basic(KeyItem::Ellipsis) => {
                expanded.push(None);
                expanded.extend((used..shape.len()).map(|_| full()));
            }
            item => expanded.push(Some(item.clone())),
        }
    }
    if expanded.iter().all(Option::is_some) {
        expanded.extend((used..shape.len()).map(|_| full()));
    }
    let stride = |axis: usize| shape[axis + 1..].iter().product::<usize>() as i64;
    let (mut axis, mut start) = (0, 0);
    let (mut others, mut arrays): (Vec<Group>, Vec<Group>) = (Vec::new(), Vec::new());
    let (mut places, mut before) = (Vec::new(), 0);
    for (position, item) in expanded.iter().enumerate() {
        let mut array = |group: Group, others: usize| {
            if places.is_empty() {
                before = others;
            }
            places.push(position);
            arrays.push(group);
        };
        match item {
            None => continue,
            Some(IndexItem::Basic(KeyItem::NewAxis)) => others.push((vec![1], vec![0])),
            Some(IndexItem::Basic(KeyItem::Slice(first, last, step))) => {
                let along = slice_positions(shape[axis], (*first, *last, *step));
                let offsets: Vec<i64> = along.iter().map(|&at| at * stride(axis)).collect();
                others.push((vec![offsets.len()], offsets));
                axis += 1;
            }
            Some(IndexItem::Basic(KeyItem::Index(index))) => {
                let offset = in_bounds(*index, shape[axis])? * stride(axis);
                match is_advanced {
                    true => array((vec![], vec![offset]), others.len()),
                    false => start += offset,
                }
                axis += 1;
            }
            Some(IndexItem::Basic(KeyItem::Ellipsis)) => unreachable!("it is expanded"),
            Some(IndexItem::Bool(value)) => {
                let count = usize::from(*value);
                array((vec![count], vec![0; count]), others.len());
            }
            Some(IndexItem::Indices((lengths, indices))) => {
                let offsets: Option<Vec<i64>> = indices
                    .iter()
                    .map(|&at| Some(in_bounds(at, shape[axis])? * stride(axis)))
                    .collect();
                array((lengths.clone(), offsets?), others.len());
                axis += 1;
            }
            Some(IndexItem::Mask((lengths, mask))) => {
                let step = stride(axis + lengths.len() - 1);
                let offsets: Vec<i64> =
                    (0..).zip(mask).filter(|(_, is)| **is != 0).map(|(at, _)| at * step).collect();
                array((vec![offsets.len()], offsets), others.len());
                axis += lengths.len();
            }
        }
    }
    let mut groups = others;
    if is_advanced {
        let is_adjacent = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
        groups.insert(if is_adjacent { before } else { 0 }, broadcast_sum(&arrays)?);
    }
    let (mut result, mut offsets) = (Vec::new(), vec![start]);
    for (lengths, group) in groups {
        result.extend(lengths);
        offsets =
            offsets.iter().flat_map(|&outer| group.iter().map(move |&at| outer + at)).collect();
    }
    Some((result, offsets.into_iter().map(|at| at as usize).collect()))
}

fn in_bounds(index: i64, length: usize) -> Option<i64> {
    let at = if index < 0 { index + length as i64 } else { index };
    (0..length as i64).contains(&at).then_some(at)
}

fn slice_positions(length: usize, slice: (Option<i64>, Option<i64>, Option<i64>)) -> Vec<i64> {
    let (length, step) = (length as i64, slice.2.unwrap_or(1));
    let bound = |bound: i64| if bound < 0 { bound + length } else { bound };
    let mut at = slice.0.map_or(if step > 0 { 0 } else { length - 1 }, bound);
    let stop = slice.1.map_or(if step > 0 { length } else { -1 }, bound);
    let mut positions = Vec::new();
    while (step > 0 && at < stop.min(length)) || (step < 0 && at > stop) {
        positions.push(at);
        at += step;
    }
    positions
}

/// The sum of arrays, broadcast to one shape; None if they do not broadcast.
fn broadcast_sum(arrays: &[Group]) -> Option<Group> {
    let shapes: Vec<&[usize]> = arrays.iter().map(|(shape, _)| &shape[..]).collect();
    let shape = dappled::view::broadcast_shapes(&shapes).ok()?;
    let count: usize = shape.iter().product();
    let mut sum = vec![0; count];
    for (own, values) in arrays {
        for (flat, sum) in sum.iter_mut().enumerate() {
            let (mut rest, mut at, mut step) = (flat, 0, 1);
            for axis in (0..shape.len()).rev() {
                let index = rest % shape[axis];
                rest /= shape[axis];
                if let Some(axis) = (axis + own.len()).checked_sub(shape.len()) {
                    at += if own[axis] == 1 { 0 } else { index * step };
                    step *= own[axis];
                }
            }
            *sum += values[at];
        }
    }
    Some((shape, sum))
}

/// A random key for an array of this shape; rarely one that NumPy rejects.
fn random_key(choices: &mut Choices, shape: &[usize]) -> Vec<IndexItem<Local>> {
    let mut items: Vec<IndexItem<Local>> = Vec::new();
    let mut common: Vec<usize> = (0..choices.below(3)).map(|_| 1 + choices.below(4)).collect();
    let (mut axis, mut has_ellipsis, mut has_mask) = (0, false, false);
    while axis < shape.len() && !choices.one_in(8) {
        match choices.below(16) {
            0 => items.push(IndexItem::Basic(KeyItem::NewAxis)),
            1 => items.push(IndexItem::Bool(!choices.one_in(4))),
            2 if !has_ellipsis => {
                items.push(IndexItem::Basic(KeyItem::Ellipsis));
                has_ellipsis = true;
                axis += choices.below(shape.len() - axis + 1);
            }
            3..=5 if !has_mask && axis < shape.len() => {
                let axes = 1 + choices.below(shape.len() - axis);
                let lengths = shape[axis..axis + axes].to_vec();
                let mask: Vec<i64> =
                    (0..lengths.iter().product()).map(|_| i64::from(choices.one_in(3))).collect();
                common = vec![mask.iter().sum::<i64>() as usize];
                (has_mask, axis) = (true, axis + axes);
                items.push(IndexItem::Mask((lengths, mask)));
            }
            6..=11 if shape[axis] > 0 => {
                let skipped = choices.below(common.len() + 1);
                let lengths: Vec<usize> = common[skipped..]
                    .iter()
                    .map(|&length| if choices.one_in(4) { 1 } else { length })
                    .collect();
                let (length, excess) = (shape[axis], usize::from(choices.one_in(200)));
                let mut index = |_| choices.below(2 * length + excess) as i64 - length as i64;
                let indices = (0..lengths.iter().product()).map(&mut index).collect();
                items.push(IndexItem::Indices((lengths, indices)));
                axis += 1;
            }
            _ => {
                items.extend(
                    choices.items(&shape[axis..axis + 1]).into_iter().map(IndexItem::Basic),
                );
                axis += 1;
            }
        }
    }
    items
}

fn distribution(choices: &mut Choices, shape: &[usize], ranks: u64) -> Distribution {
    if ranks < 64 {
        return choices.distribution(shape, ranks);
    }
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let kinds: String = lengths.iter().map(|_| choices.of(&['b', 'c'])).collect();
    Distribution::spec(&lengths).dist(&kinds).nprocs(ranks).build().unwrap()
}

/// An array with these elements in a random distribution, or replicated.
fn array<T: Element>(
    session: &Session,
    choices: &mut Choices,
    shape: &[usize],
    all: &[T],
) -> Array {
    let array = Array::from_slice(session, shape, all);
    if shape.is_empty() || choices.one_in(4) {
        return array;
    }
    let ranks = session.fabric().size();
    array.redistribute(&distribution(choices, shape, ranks)).unwrap()
}

fn key(session: &Session, choices: &mut Choices, items: &[IndexItem<Local>]) -> IndexKey {
    let convert = |item: &IndexItem<Local>| match item {
        IndexItem::Basic(item) => IndexItem::Basic(*item),
        IndexItem::Bool(value) => IndexItem::Bool(*value),
        IndexItem::Mask((shape, mask)) => {
            let mask: Vec<Bool> = mask.iter().map(|&is| Bool::from(is != 0)).collect();
            IndexItem::Mask(array(session, choices, shape, &mask))
        }
        IndexItem::Indices((shape, indices)) => {
            let small: Vec<i16> = indices.iter().map(|&index| index as i16).collect();
            IndexItem::Indices(match choices.one_in(3) {
                true => array(session, choices, shape, &small),
                false => array(session, choices, shape, indices),
            })
        }
    };
    IndexKey::new(items.iter().map(convert).collect())
}

/// A random view of a random array, and its elements.
fn target(session: &Session, choices: &mut Choices) -> (Array, Array, Vec<i64>) {
    let size = choices.of(&[0, 12, 24, 60, 64]);
    let shape = choices.shape(size);
    let elements: Vec<i64> = (0..size as i64).collect();
    let base = array(session, choices, &shape, &elements);
    let axes = choices.shuffled(shape.len());
    let view = if choices.one_in(3) { base.transposed(&axes) } else { base.clone() };
    let elements = view.to_vec().unwrap();
    (base, view, elements)
}

fn on_ranks(test: impl Fn(&Session, &mut Choices) + Sync) {
    for ranks in RANKS {
        let cases = if ranks > 7 { 30 } else { 150 };
        Threads::run(ranks, |fabric| {
            let limits = Limits { replicate_below: 64, ..Limits::default() };
            let session = Session::with_limits(Box::new(fabric), limits);
            for seed in 0..cases {
                test(&session, &mut Choices(seed));
            }
        });
    }
}

#[test]
fn reads_select_the_elements_of_the_definition() {
    on_ranks(|session, choices| {
        let (_, view, elements) = target(session, choices);
        let items = random_key(choices, view.shape());
        let taken = view.index(&key(session, choices, &items));
        let Some((shape, offsets)) = reference(view.shape(), &items) else {
            assert!(taken.is_err(), "{:?}{items:?}", view.shape());
            return;
        };
        let expected: Vec<i64> = offsets.iter().map(|&at| elements[at]).collect();
        let taken = taken.unwrap_or_else(|error| panic!("{:?}{items:?}: {error}", view.shape()));
        assert_eq!(taken.shape(), shape, "{:?}{items:?}", view.shape());
        assert_eq!(taken.to_vec::<i64>().unwrap(), expected, "{:?}{items:?}", view.shape());
    });
}

#[test]
fn writes_keep_the_last_value_of_an_element() {
    on_ranks(|session, choices| {
        let (base, view, mut elements) = target(session, choices);
        let items = random_key(choices, view.shape());
        let Some((shape, offsets)) = reference(view.shape(), &items) else { return };
        let is_full_mask =
            matches!(&items[..], [IndexItem::Mask((mask, _))] if *mask == view.shape());
        let first = if is_full_mask { shape.len() - 1 } else { 0 };
        let skipped = first + choices.below(shape.len() - first + 1);
        let lengths: Vec<usize> = shape[skipped..]
            .iter()
            .map(|&length| if choices.one_in(4) { 1 } else { length })
            .collect();
        let values: Vec<i64> =
            (0..lengths.iter().product::<usize>() as i64).map(|at| 1000 + at).collect();
        let zeros = (shape.clone(), vec![0; shape.iter().product()]);
        let (_, expanded) = broadcast_sum(&[zeros, (lengths.clone(), values.clone())]).unwrap();
        offsets.iter().zip(expanded).for_each(|(&at, value)| elements[at] = value);
        let snapshot = base.copy().unwrap();
        let before = snapshot.to_vec::<i64>().unwrap();
        let value = array(session, choices, &lengths, &values);
        view.assign_index(&key(session, choices, &items), &value)
            .unwrap_or_else(|error| panic!("{:?}{items:?} = {lengths:?}: {error}", view.shape()));
        assert_eq!(
            view.to_vec::<i64>().unwrap(),
            elements,
            "{:?}{items:?} = {lengths:?}",
            view.shape()
        );
        assert_eq!(snapshot.to_vec::<i64>().unwrap(), before, "a copy has the old values");
    });
}

#[test]
fn a_value_that_reads_the_array_is_read_before_the_write() {
    on_ranks(|session, choices| {
        let size = 24;
        let elements: Vec<i64> = (0..size).collect();
        let a = array(session, choices, &[size as usize], &elements);
        let order: Vec<i64> = choices.shuffled(size as usize).iter().map(|&at| at as i64).collect();
        let at = array(session, choices, &[size as usize], &order);
        a.assign_index(&IndexKey::new(vec![IndexItem::Indices(at)]), &a).unwrap();
        let mut expected = elements.clone();
        order.iter().zip(&elements).for_each(|(&at, &value)| expected[at as usize] = value);
        assert_eq!(a.to_vec::<i64>().unwrap(), expected);
        // The indices are the array itself.
        a.assign_index(&IndexKey::new(vec![IndexItem::Indices(a.clone())]), &a.copy().unwrap())
            .unwrap();
        assert_eq!(a.to_vec::<i64>().unwrap(), elements);
    });
}

#[test]
fn errors_are_those_of_numpy_on_every_rank() {
    on_ranks(|session, choices| {
        let a = array(session, choices, &[3, 4], &[0i64; 12]);
        let mut key_of = |items: &[IndexItem<Local>]| key(session, choices, items);
        let indices = |all: &[i64]| IndexItem::Indices((vec![all.len()], all.to_vec()));
        let fails = |key: &IndexKey, text: &str| {
            assert_eq!(a.index(key).err().expect(text).to_string(), text);
            let value = Array::from_slice(session, &[], &[7i64]);
            assert_eq!(a.assign_index(key, &value).unwrap_err().to_string(), text);
            assert_eq!(a.to_vec::<i64>().unwrap(), [0; 12]);
        };
        fails(&key_of(&[indices(&[0, 3, 5])]), "index 3 is out of bounds for axis 0 with size 3");
        fails(
            &key_of(&[indices(&[0, 1, 2]), indices(&[0, 4, -5])]),
            "index 4 is out of bounds for axis 1 with size 4",
        );
        fails(
            &key_of(&[indices(&[0, 1]), indices(&[0, 1, 2])]),
            "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,) ",
        );
        fails(
            &key_of(&[IndexItem::Mask((vec![2], vec![1, 1]))]),
            "boolean index did not match indexed array along axis 0; size of axis is 3 but size of \
             corresponding boolean axis is 2",
        );
        fails(
            &key_of(&[indices(&[0]), indices(&[0]), indices(&[0])]),
            "too many indices for array: array is 2-dimensional, but 3 were indexed",
        );
        let ellipsis = IndexItem::Basic(KeyItem::Ellipsis);
        fails(
            &key_of(&[ellipsis.clone(), ellipsis, indices(&[0])]),
            "an index can only have a single ellipsis ('...')",
        );
        let assign = |key: &IndexKey, shape: &[usize], text: &str| {
            let value = Array::full(session, shape, 7i64);
            assert_eq!(a.assign_index(key, &value).unwrap_err().to_string(), text);
        };
        assign(
            &key_of(&[indices(&[0, 1])]),
            &[3],
            "shape mismatch: value array of shape (3,) could not be broadcast to indexing result of \
             shape (2,4)",
        );
        let mut mask = vec![0; 12];
        mask[1..6].fill(1);
        let full = key_of(&[IndexItem::Mask((vec![3, 4], mask))]);
        assign(
            &full,
            &[3],
            "NumPy boolean array indexing assignment cannot assign 3 input values to the 5 output \
             values where the mask is true",
        );
        assign(
            &full,
            &[1, 5],
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has \
             2 dimensions",
        );
    });
}

#[test]
fn a_mask_without_elements_may_have_other_lengths() {
    on_ranks(|session, choices| {
        let a = array(session, choices, &[3, 4], &[1i64; 12]);
        let key = key(session, choices, &[IndexItem::Mask((vec![0, 4], vec![]))]);
        assert_eq!(a.index(&key).unwrap().shape(), [0]);
        a.assign_index(&key, &Array::from_slice(session, &[], &[7i64])).unwrap();
        assert_eq!(a.to_vec::<i64>().unwrap(), [1; 12]);
    });
}

#[test]
fn changes_of_rows_arrive_at_their_owners_in_order() {
    on_ranks(|session, choices| {
        let length = 1 + choices.below(40);
        let a = array(session, choices, &[length], &vec![0i64; length]);
        let count = choices.below(60);
        let indices: Vec<i64> =
            (0..count).map(|_| choices.below(2 * length) as i64 - length as i64).collect();
        let values: Vec<i64> = (0..count as i64).collect();
        let item = IndexItem::Indices((vec![count], indices.clone()));
        let key = key(session, choices, &[item]);
        let value = array(session, choices, &[count], &values);
        let routed = a.route_index(&key, Some((&value, 0))).unwrap().unwrap();
        let blocks = session.block_distribution(&[length]);
        let rank = session.fabric().rank();
        let start: u64 = (0..rank).map(|lower| blocks.local_shape(lower)[0]).sum();
        let own = start as i64..(start + blocks.local_shape(rank)[0]) as i64;
        let (mut positions, mut expected) = (Vec::new(), Vec::new());
        for (&index, &value) in indices.iter().zip(&values) {
            let index = in_bounds(index, length).unwrap();
            if own.contains(&index) {
                positions.push(index - own.start);
                expected.push(value);
            }
        }
        assert_eq!(routed.positions, positions);
        let RowValues::PerChange { memory, view } = routed.values else { panic!("a row for each") };
        assert_eq!(view.shape[..], [expected.len()]);
        assert_eq!(memory.to_vec::<i64>(), expected);
        assert_eq!(routed.rows.to_vec::<i64>().unwrap(), vec![0; length]);
    });
}

#[test]
fn positions_of_elements_that_are_not_zero() {
    on_ranks(|session, choices| {
        let size = choices.of(&[0, 1, 12, 60]);
        let shape = choices.shape(size);
        let elements: Vec<f64> =
            (0..size).map(|_| choices.of(&[0.0, -0.0, 2.5, f64::NAN])).collect();
        let a = array(session, choices, &shape, &elements);
        let flat: Vec<i64> =
            (0..).zip(&elements).filter(|(_, value)| **value != 0.0).map(|(at, _)| at).collect();
        assert_eq!(a.flatnonzero().unwrap().to_vec::<i64>().unwrap(), flat);
        let rows = a.argwhere().unwrap();
        assert_eq!(rows.shape(), [flat.len(), shape.len()]);
        let found = rows.to_vec::<i64>().unwrap();
        let mut expected = Vec::new();
        for at in flat {
            let stride = |axis: usize| shape[axis + 1..].iter().product::<usize>() as i64;
            expected.extend((0..shape.len()).map(|axis| at / stride(axis) % shape[axis] as i64));
        }
        assert_eq!(found, expected);
    });
}
