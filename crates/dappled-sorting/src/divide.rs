//! Values by ranges of their order, each in the order in which they stand.

use crate::near::NEAR;
use crate::order::Key;

/// Where values are divided: between ranges, one more than there are bounds, of which each begins with
/// a value and the number of an element. Of equal values those with smaller numbers come first.
#[derive(Clone, Debug)]
pub struct Bounds(Vec<(u64, i64)>);

impl Bounds {
    /// Bounds in order.
    pub fn new<T: Key>(bounds: impl IntoIterator<Item = (T, i64)>) -> Self {
        Self(bounds.into_iter().map(|(value, at)| (value.key(), at)).collect())
    }

    /// How many values are in each range; the first has the number `first`.
    ///
    /// ```
    /// use dappled_sorting::divide::Bounds;
    /// assert_eq!(Bounds::new([(3, 13)]).counts(&[5, 1, 3, 3], 10), [2, 2]);
    /// ```
    pub fn counts<T: Key>(&self, values: &[T], first: i64) -> Vec<usize> {
        let mut counts = vec![0; self.0.len() + 1];
        let mut parts = [0; NEAR];
        for (block, values) in values.chunks(NEAR).enumerate() {
            self.parts_of(values, first + (block * NEAR) as i64, &mut parts);
            for (part, count) in counts.iter_mut().enumerate() {
                let inside = |&other: &u32| usize::from(other as usize == part);
                *count += parts[..values.len()].iter().map(inside).fold(0, usize::wrapping_add);
            }
        }
        counts
    }

    /// Writes the values of each range, and how far they stand from the first, where there is room for as
    /// many as there are; of a range that nobody asks for there is no room.
    ///
    /// ```
    /// use dappled_sorting::divide::Bounds;
    /// let (mut values, mut offsets) = ([0; 2], [0; 2]);
    /// let mut ranges = [(&mut [][..], &mut [][..]), (&mut values[..], &mut offsets[..])];
    /// Bounds::new([(3, 13)]).divide(&[5, 1, 3, 3], 10, &mut ranges);
    /// assert_eq!((values, offsets), ([5, 3], [0, 3]));
    /// ```
    pub fn divide<T: Key>(&self, values: &[T], first: i64, ranges: &mut [(&mut [T], &mut [u32])]) {
        let (mut parts, mut chosen) = ([0; NEAR], [0; NEAR]);
        let mut filled = vec![0; ranges.len()];
        for (block, values) in values.chunks(NEAR).enumerate() {
            let before = block * NEAR;
            self.parts_of(values, first + before as i64, &mut parts);
            for (part, (found, offsets)) in ranges.iter_mut().enumerate() {
                if found.is_empty() {
                    continue;
                }
                let mut count = 0_usize;
                for (at, &other) in parts[..values.len()].iter().enumerate() {
                    chosen[count % NEAR] = at as u8;
                    count = count.wrapping_add(usize::from(other as usize == part));
                }
                let slots = filled[part]..filled[part] + count;
                let slots = found[slots.clone()].iter_mut().zip(&mut offsets[slots]);
                for ((value, offset), &at) in slots.zip(&chosen) {
                    *value = values[usize::from(at)];
                    *offset = before.wrapping_add(at.into()) as u32;
                }
                filled[part] += count;
            }
        }
    }

    /// A range: where it begins and where it ends, unless it is the first or the last.
    pub(crate) fn range(&self, number: usize) -> [Option<(u64, i64)>; 2] {
        [number.checked_sub(1).and_then(|before| self.0.get(before)), self.0.get(number)]
            .map(|bound| bound.copied())
    }

    /// In which range each of a few values is: how many bounds it does not come before.
    fn parts_of<T: Key>(&self, values: &[T], first: i64, parts: &mut [u32; NEAR]) {
        for (at, (part, value)) in parts.iter_mut().zip(values).enumerate() {
            let (key, number) = (value.key(), first.wrapping_add(at as i64));
            let beyond = |&(bound, at): &(u64, i64)| {
                u32::from((key > bound) | ((key == bound) & (number >= at)))
            };
            *part = self.0.iter().map(beyond).fold(0, u32::wrapping_add);
        }
    }
}
