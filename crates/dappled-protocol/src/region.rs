//! Regions of one axis: `len` indices from `start` on, with a step of either sign.

use std::ops::Range;

/// The indices `start`, `start + step`, …, `len` of them.
///
/// Equal sets of indices have equal regions: an empty one is `(0, 1, 0)`, and a single index has
/// the step 1.
///
/// ```
/// use dappled_protocol::Region;
/// let odd = Region::new(1, 2, 4); // 1 3 5 7
/// let last_first = Region::new(3, -1, 4);
/// assert_eq!(odd.then(last_first), Region::new(7, -2, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Region {
    start: u64,
    step: i64,
    len: u64,
}

impl Region {
    /// Creates a region. The caller guarantees that all indices are in `0..=i64::MAX`.
    pub fn new(start: u64, step: i64, len: u64) -> Self {
        match len {
            0 => Self { start: 0, step: 1, len: 0 },
            1 => Self { start, step: 1, len: 1 },
            _ => Self { start, step, len },
        }
    }

    /// Returns the region of all indices of an axis.
    pub fn all(size: u64) -> Self {
        Self { start: 0, step: 1, len: size }
    }

    /// Returns the first index.
    pub fn start(self) -> u64 {
        self.start
    }

    /// Returns the difference of consecutive indices; never 0.
    pub fn step(self) -> i64 {
        self.step
    }

    /// Returns the number of indices.
    pub fn len(self) -> u64 {
        self.len
    }

    /// Returns whether the region is empty.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns whether the region is all indices of an axis of this size, in order.
    pub fn is_all(self, size: u64) -> bool {
        self == Self::all(size)
    }

    /// Returns the index at a position, which must be below `len`.
    pub fn at(self, position: u64) -> u64 {
        debug_assert!(position < self.len);
        (self.start as i64 + self.step * position as i64) as u64
    }

    /// Composes two regions: `inner` selects positions of this one.
    pub fn then(self, inner: Region) -> Region {
        if inner.is_empty() {
            return inner;
        }
        // A single position gets the step 1, so that no product overflows.
        let step = if inner.len == 1 { 1 } else { self.step * inner.step };
        Region::new(self.at(inner.start), step, inner.len)
    }

    /// Returns the positions whose indices are in `range`; they are contiguous.
    pub fn positions(self, range: Range<u64>) -> Range<u64> {
        let (start, step) = (i128::from(self.start), i128::from(self.step));
        let first_at = |bound: u64| match step > 0 {
            true => -(start - i128::from(bound)).div_euclid(step),
            false => (start - i128::from(bound)).div_euclid(-step) + 1,
        };
        let clamp = |position: i128| position.clamp(0, self.len.into()) as u64;
        let (low, high) = (clamp(first_at(range.start)), clamp(first_at(range.end)));
        if step > 0 { low..high.max(low) } else { high..low.max(high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listed(region: Region) -> Vec<u64> {
        (0..region.len()).map(|position| region.at(position)).collect()
    }

    prop_compose! {
        fn region()(size in 1u64..30)(start in 0..size, step in prop_oneof![-9i64..0, 1i64..9],
                                      size in Just(size), part in 0.0..1.0f64) -> Region {
            let room = if step > 0 { size - 1 - start } else { start };
            let most = room / step.unsigned_abs() + 1;
            Region::new(start, step, (most as f64 * part).round() as u64)
        }
    }

    proptest! {
        #[test]
        fn a_region_of_a_region_is_one_region(outer in region(), inner in region()) {
            prop_assume!(listed(inner).iter().all(|&index| index < outer.len()));
            let both: Vec<u64> = listed(inner).into_iter().map(|at| outer.at(at)).collect();
            prop_assert_eq!(listed(outer.then(inner)), both);
        }

        #[test]
        fn positions_are_those_whose_index_is_in_range(region in region(), a in 0u64..32, b in 0u64..32) {
            let range = a.min(b)..a.max(b);
            let found: Vec<u64> = region.positions(range.clone()).collect();
            let wanted: Vec<u64> =
                (0..region.len()).filter(|&at| range.contains(&region.at(at))).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
