//! Values by ranges of their order, each in the order in which they stand.

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
    /// use dappled_sort::divide::Bounds;
    /// assert_eq!(Bounds::new([(3, 13)]).counts(&[5, 1, 3, 3], 10), [2, 2]);
    /// ```
    pub fn counts<T: Key>(&self, values: &[T], first: i64) -> Vec<usize> {
        if let &[bound] = &self.0[..] {
            let high = each(values, first).map(|(_, key, number)| beyond(bound, key, number));
            let high = high.fold(0, usize::wrapping_add);
            return vec![values.len() - high, high];
        }
        let mut counts = vec![0_usize; self.0.len() + 1];
        for (_, key, number) in each(values, first) {
            let count = &mut counts[self.range(key, number)];
            *count = count.wrapping_add(1);
        }
        counts
    }

    /// Writes the values of each range, one range after the other, and how far they stand from the first.
    /// `counts` are how many each has.
    ///
    /// ```
    /// use dappled_sort::divide::Bounds;
    /// let (mut values, mut offsets) = ([0; 4], [0; 4]);
    /// Bounds::new([(3, 13)]).divide(&[5, 1, 3, 3], 10, &[2, 2], &mut values, &mut offsets);
    /// assert_eq!((values, offsets), ([1, 3, 5, 3], [1, 2, 0, 3]));
    /// ```
    pub fn divide<T: Key>(
        &self,
        values: &[T],
        first: i64,
        counts: &[usize],
        found: &mut [T],
        offsets: &mut [u32],
    ) {
        let mut write = |place: usize, value: T, number: i64| {
            (found[place], offsets[place]) = (value, number.wrapping_sub(first) as u32);
        };
        if let &[bound] = &self.0[..] {
            // Of two ranges one count says both places, and needs no memory.
            let mut high = 0_usize;
            for (at, (value, key, number)) in each(values, first).enumerate() {
                let beyond = beyond(bound, key, number);
                let places = [at.wrapping_sub(high), counts[0].wrapping_add(high)];
                write(places[beyond], value, number);
                high = high.wrapping_add(beyond);
            }
            return;
        }
        let mut places: Vec<usize> = counts
            .iter()
            .scan(0, |end, count| {
                *end += count;
                Some(*end - count)
            })
            .collect();
        for (value, key, number) in each(values, first) {
            let place = &mut places[self.range(key, number)];
            write(*place, value, number);
            *place = place.wrapping_add(1);
        }
    }

    /// How many bounds an element does not come before.
    #[inline(always)]
    fn range(&self, key: u64, number: i64) -> usize {
        self.0.iter().map(|&bound| beyond(bound, key, number)).fold(0, usize::wrapping_add)
    }
}

/// Values, with their keys and numbers.
#[inline(always)]
fn each<T: Key>(values: &[T], first: i64) -> impl Iterator<Item = (T, u64, i64)> {
    values.iter().zip(first..).map(|(&value, number)| (value, value.key(), number))
}

/// 1 for what does not come before a bound, else 0.
#[inline(always)]
fn beyond((bound, at): (u64, i64), key: u64, number: i64) -> usize {
    usize::from((key > bound) | ((key == bound) & (number >= at)))
}
