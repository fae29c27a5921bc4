//! Composition of keys, and distributions of slices, compared with an indexed array.

use crate::strategies::{distribution, indices, item, shape, signed};
use dappled_protocol::slice::{KeyItem, KeyPart, SliceKey};
use dappled_protocol::{Distribution, Held};
use proptest::collection::vec;
use proptest::prelude::*;

/// Returns the base index of each selected element, in row-major order.
fn selected(key: &SliceKey) -> Vec<Vec<u64>> {
    indices(&key.shape()).into_iter().map(|index| base_index(key, &index)).collect()
}

fn base_index(key: &SliceKey, index: &[u64]) -> Vec<u64> {
    let mut index = index.iter();
    let mut base = Vec::new();
    for part in key.parts() {
        match part {
            KeyPart::Index(at) => base.push(*at),
            KeyPart::Region(region) => base.push(region.at(*index.next().unwrap())),
            KeyPart::NewAxis(_) => _ = index.next(),
        }
    }
    base
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_key_of_a_key_is_one_key(shape in shape(), first in vec(item(), 0..4), second in vec(item(), 0..4)) {
        let Ok(outer) = SliceKey::new(&first, &shape) else { return Ok(()) };
        let Ok(inner) = SliceKey::new(&second, &outer.shape()) else {
            prop_assert!(outer.then(&second).is_err());
            return Ok(());
        };
        let both = outer.then(&second).unwrap();
        prop_assert_eq!(both.shape(), inner.shape());
        let wanted: Vec<_> = selected(&inner).iter().map(|index| base_index(&outer, index)).collect();
        prop_assert_eq!(selected(&both), wanted);
    }

    #[test]
    fn a_part_lies_where_it_lay(base in distribution(), items in vec(item(), 0..5), more in vec(item(), 0..3)) {
        let Ok(key) = SliceKey::new(&items, &base.shape()) else { return Ok(()) };
        let Ok(both) = key.then(&more) else { return Ok(()) };
        let twice = SliceKey::new(&more, &key.shape()).unwrap();
        check_part(&base, &key, &base.slice(&key).unwrap());
        check_part(&base, &both, &base.slice(&key).unwrap().slice(&twice).unwrap());
    }
}

fn check_part(base: &Distribution, key: &SliceKey, part: &Distribution) {
    assert_eq!(part.shape(), key.shape());
    assert_eq!(part.nprocs(), base.nprocs());
    if part.held() == Held::Grid {
        assert_eq!(part.grid_shape().iter().product::<u64>(), part.nprocs());
    }
    for index in indices(&key.shape()) {
        let ranks = |index: &[u64], of: &Distribution| {
            of.owners(&signed(index)).map(|(rank, _)| rank).collect::<Vec<_>>()
        };
        let wanted = ranks(&base_index(key, &index), base);
        assert_eq!(ranks(&index, part), wanted, "{index:?} of {part:?}");
    }
}

#[test]
fn bad_keys_have_numpys_texts() {
    let message = |items: &[KeyItem]| SliceKey::new(items, &[5, 9]).unwrap_err().to_string();
    let full = KeyItem::Slice(None, None, None);
    assert_eq!(
        message(&[KeyItem::Index(0); 3]),
        "too many indices for array: array is 2-dimensional, but 3 were indexed"
    );
    assert_eq!(
        message(&[full, KeyItem::Index(9)]),
        "index 9 is out of bounds for axis 1 with size 9"
    );
    assert_eq!(message(&[KeyItem::Index(-6)]), "index -6 is out of bounds for axis 0 with size 5");
    assert_eq!(
        message(&[KeyItem::Ellipsis, KeyItem::Ellipsis]),
        "an index can only have a single ellipsis ('...')"
    );
    assert_eq!(message(&[KeyItem::Slice(None, None, Some(0))]), "slice step cannot be zero");
}

/// The kinds and grids of slices of axes.
#[test]
fn kinds_of_parts() {
    let slice = |start, stop, step| KeyItem::Slice(start, stop, Some(step));
    let full = slice(None, None, 1);
    type Row<'a> = (&'a str, &'a [u64], &'a [KeyItem], &'a str, &'a [u64]);
    let table: [Row; 9] = [
        ("bb", &[2, 2], &[slice(Some(1), Some(4), 2), full], "bb", &[2, 2]),
        ("bb", &[2, 2], &[slice(None, None, -1), full], "ub", &[2, 2]),
        ("bc", &[2, 2], &[full, slice(Some(1), None, 1)], "bu", &[2, 2]),
        ("bc", &[2, 2], &[full, slice(Some(2), None, 1)], "bc", &[2, 2]),
        ("bc", &[2, 2], &[KeyItem::Index(4)], "u", &[4]),
        ("bc", &[2, 2], &[full, KeyItem::Index(4)], "b", &[4]),
        ("bb", &[2, 2], &[KeyItem::NewAxis, full], "bbb", &[1, 2, 2]),
        ("nb", &[1, 4], &[slice(None, None, -2)], "nb", &[1, 4]),
        ("bb", &[4, 1], &[slice(Some(3), Some(2), -1)], "bb", &[4, 1]),
    ];
    for (dist, grid, items, wanted, wanted_grid) in table {
        let base = Distribution::spec(&[5, 9]).dist(dist).grid_shape(grid).build().unwrap();
        let part = base.slice(&SliceKey::new(items, &[5, 9]).unwrap()).unwrap();
        assert_eq!(
            (part.dist().as_str(), &part.grid_shape()[..]),
            (wanted, wanted_grid),
            "{items:?}"
        );
    }
}
