//! Where a rank's cells of a part of an axis lie in its piece of the whole axis.

use dappled_base::memory;
use dappled_protocol::{AxisMap, Region, Runs};

/// The cells of a rank's piece of an axis, one for each cell of its piece of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// Evenly spaced, backwards if the step is negative.
    Even { first: u64, step: i64 },
    /// In no simple order.
    Listed(Vec<u64>),
}

impl Places {
    /// Every cell where it is.
    pub const SAME: Self = Places::Even { first: 0, step: 1 };

    /// Of the rank that stands `at` the grid's axis; `part` is the map of the region of `whole`.
    pub fn new(whole: &AxisMap, region: Region, part: &AxisMap, at: u64) -> Self {
        if region.is_all(whole.size()) {
            return Self::SAME;
        }
        let place = |position: i64| {
            let index = region.at(position as u64) as i64;
            whole.owner(index).map_or(0, |(_, local)| local)
        };
        if matches!(whole.dist_type(), 'b' | 'n') {
            let first = part.global(at, 0).map_or(0, place);
            return Places::Even { first, step: region.step() };
        }
        let mut cells: Vec<u64> = Vec::new();
        for range in part.owned_ranges(at) {
            // A piece leaves out what others own: as far apart as the indices, none is left out.
            let (first, last) = (place(*range.start()), place(*range.end()));
            let (count, step) = (range.end() - range.start(), region.step());
            memory::reserve(&mut cells, count as usize + 1);
            match last as i64 - first as i64 == count * step {
                true => cells.extend((0..=count).map(|cell| (first as i64 + cell * step) as u64)),
                false => cells.extend(range.map(place)),
            }
        }
        match even(cells.iter().copied()) {
            Some((first, step)) => Places::Even { first, step },
            None => Places::Listed(cells),
        }
    }

    fn at(&self, cell: u64) -> u64 {
        match self {
            Places::Even { first, step } => (*first as i64 + step * cell as i64) as u64,
            Places::Listed(cells) => cells[cell as usize],
        }
    }

    /// The place of the first of these cells, one run behind the other, and how far the next one
    /// is, if that is always the same.
    pub fn evenly(&self, cells: &[Runs]) -> Option<(u64, i64)> {
        let span = if let [one] = cells { one.span() } else { None };
        match (self, span) {
            (Places::Even { step, .. }, Some(span)) => {
                Some((self.at(span.start), step * span.step as i64))
            }
            _ => even(cells.iter().flat_map(Runs::iter).map(|cell| self.at(cell))),
        }
    }

    /// The places of these cells, one run behind the other; the last first if `backwards`.
    pub fn of(&self, cells: &[Runs], backwards: bool) -> Runs {
        let [one] = cells else { return chained(cells, backwards, |cell| self.at(cell)) };
        let count = one.cells();
        match self.evenly(cells) {
            _ if *self == Self::SAME && !backwards => one.clone(),
            Some((first, step)) if step > 0 && !backwards => ascending(first, step as u64, count),
            Some((first, step)) if step < 0 && backwards => {
                let last = first - step.unsigned_abs() * (count - 1);
                ascending(last, step.unsigned_abs(), count)
            }
            _ => chained(cells, backwards, |cell| self.at(cell)),
        }
    }
}

/// Cells one run behind the other; the last first if `backwards`.
pub(super) fn chained(cells: &[Runs], backwards: bool, place: impl Fn(u64) -> u64) -> Runs {
    let mut all: Vec<u64> = memory::collected(cells.iter().flat_map(Runs::iter).map(place));
    if backwards {
        all.reverse();
    }
    Runs::of(all)
}

fn ascending(start: u64, step: u64, count: u64) -> Runs {
    match step {
        1 => Runs::one(start, count),
        _ => Runs::Periodic { start, len: 1, count, period: step },
    }
}

/// The first and the step, if all steps are equal.
fn even(mut cells: impl Iterator<Item = u64>) -> Option<(u64, i64)> {
    let first = cells.next()?;
    let Some(second) = cells.next() else { return Some((first, 1)) };
    let step = second as i64 - first as i64;
    let mut last = second as i64;
    let fits = |cell: u64| {
        let fits = cell as i64 - last == step;
        last = cell as i64;
        fits
    };
    cells.all(fits).then_some((first, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_those_of_the_elements(
            size in 1u64..30, grid in 1u64..5, block in 1u64..5, at in 0u64..5, start in 0u64..30,
            step in prop_oneof![-4i64..0, 1i64..5], backwards: bool, cut in 0u64..30,
        ) {
            let (at, start) = (at % grid, start % size);
            let room = if step > 0 { size - 1 - start } else { start };
            let region = Region::new(start, step, room / step.unsigned_abs() + 1);
            for whole in [AxisMap::block(size, grid), AxisMap::block_cyclic(size, grid, block)] {
                let part = whole.slice(region).expect("no labels");
                let owned = part.owned(at);
                let wanted: Vec<u64> = (0..owned)
                    .map(|cell| region.at(part.global(at, cell).expect("owned") as u64) as i64)
                    .map(|index| whole.owner(index).expect("inside").1)
                    .collect();
                let places = Places::new(&whole, region, &part, at);
                let cut = cut.min(owned);
                for runs in [vec![Runs::one(0, owned)], vec![Runs::one(0, cut), Runs::one(cut, owned - cut)]] {
                    let mut found: Vec<u64> = match owned {
                        0 => Vec::new(),
                        _ => places.of(&runs, backwards).iter().collect(),
                    };
                    if backwards {
                        found.reverse();
                    }
                    prop_assert_eq!(&found, &wanted);
                }
            }
        }
    }
}
