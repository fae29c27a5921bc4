//! Range partition: splits values by splitters into ranges, stable within each range.

use crate::numpy_order::NumpyOrder;

/// Splitters that divide values into ranges, one more than there are splitters. A splitter is a
/// value and a global index; ties are ordered by index.
#[derive(Clone, Debug)]
pub struct Splitters(Vec<(u64, i64)>);

impl Splitters {
    /// Creates splitters from ascending (value, index) pairs.
    pub fn new<T: NumpyOrder>(bounds: impl IntoIterator<Item = (T, i64)>) -> Self {
        Self(bounds.into_iter().map(|(value, at)| (value.key(), at)).collect())
    }

    /// Counts the values in each range.
    ///
    /// `first` is the global index of the first value.
    ///
    /// ```
    /// use dappled_sort::range_partition::Splitters;
    /// assert_eq!(Splitters::new([(3, 13)]).counts(&[5, 1, 3, 3], 10), [2, 2]);
    /// ```
    pub fn counts<T: NumpyOrder>(&self, values: &[T], first: i64) -> Vec<usize> {
        if let &[bound] = &self.0[..] {
            let high =
                keyed_values(values, first).map(|(_, key, index)| not_before(bound, key, index));
            let high = high.fold(0, usize::wrapping_add);
            return vec![values.len() - high, high];
        }
        let mut counts = vec![0_usize; self.0.len() + 1];
        for (_, key, index) in keyed_values(values, first) {
            let count = &mut counts[self.range_of(key, index)];
            *count = count.wrapping_add(1);
        }
        counts
    }

    /// Writes the values grouped by range, with their offsets from the first value.
    ///
    /// `counts` is the result of [`Self::counts`].
    ///
    /// ```
    /// use dappled_sort::range_partition::Splitters;
    /// let (mut grouped, mut offsets) = ([0; 4], [0; 4]);
    /// let splitters = Splitters::new([(3, 13)]);
    /// splitters.partition(&[5, 1, 3, 3], 10, &[2, 2], &mut grouped, &mut offsets);
    /// assert_eq!((grouped, offsets), ([1, 3, 5, 3], [1, 2, 0, 3]));
    /// ```
    pub fn partition<T: NumpyOrder>(
        &self,
        values: &[T],
        first: i64,
        counts: &[usize],
        out: &mut [T],
        offsets: &mut [u32],
    ) {
        let mut write = |position: usize, value: T, index: i64| {
            (out[position], offsets[position]) = (value, index.wrapping_sub(first) as u32);
        };
        if let &[bound] = &self.0[..] {
            // With two ranges one counter determines both positions.
            let mut high = 0_usize;
            for (at, (value, key, index)) in keyed_values(values, first).enumerate() {
                let range = not_before(bound, key, index);
                let positions = [at.wrapping_sub(high), counts[0].wrapping_add(high)];
                write(positions[range], value, index);
                high = high.wrapping_add(range);
            }
            return;
        }
        let mut positions: Vec<usize> = counts
            .iter()
            .scan(0, |end, count| {
                *end += count;
                Some(*end - count)
            })
            .collect();
        for (value, key, index) in keyed_values(values, first) {
            let position = &mut positions[self.range_of(key, index)];
            write(*position, value, index);
            *position = position.wrapping_add(1);
        }
    }

    /// Returns the number of splitters that an element is not before.
    #[inline(always)]
    fn range_of(&self, key: u64, index: i64) -> usize {
        self.0.iter().map(|&bound| not_before(bound, key, index)).fold(0, usize::wrapping_add)
    }
}

/// Yields values with their keys and global indices.
#[inline(always)]
fn keyed_values<T: NumpyOrder>(values: &[T], first: i64) -> impl Iterator<Item = (T, u64, i64)> {
    values.iter().zip(first..).map(|(&value, index)| (value, value.key(), index))
}

/// Returns 1 if an element is not before a splitter, else 0, without a branch.
#[inline(always)]
fn not_before((bound, at): (u64, i64), key: u64, index: i64) -> usize {
    usize::from((key > bound) | ((key == bound) & (index >= at)))
}
