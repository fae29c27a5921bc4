//! Positions of a rank's cells of a sliced axis in its local piece of the whole axis.

use dappled_base::memory;
use dappled_protocol::{AxisMap, CellRuns, Region};

/// For each cell of a rank's part of a sliced axis, its cell in the local piece of the base axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LocalCells {
    /// Evenly spaced cells; a negative step runs backwards.
    Strided { start: u64, step: i64 },
    /// Cells in any order.
    Listed(Vec<u64>),
}

impl LocalCells {
    /// The mapping of an axis that is not sliced.
    pub const IDENTITY: Self = LocalCells::Strided { start: 0, step: 1 };

    /// Computes the mapping for one grid coordinate; `part` is the map of the `region` of `whole`.
    pub fn new(axis_map: &AxisMap, region: Region, part: &AxisMap, coord: u64) -> Self {
        if region.is_all(axis_map.size()) {
            return Self::IDENTITY;
        }
        let local_index = |position: i64| {
            let index = region.at(position as u64) as i64;
            axis_map.owner(index).map_or(0, |(_, local)| local)
        };
        if matches!(axis_map.dist_type(), 'b' | 'n') {
            let first = part.global(coord, 0).map_or(0, local_index);
            return LocalCells::Strided { start: first, step: region.step() };
        }
        let mut cells: Vec<u64> = Vec::new();
        for range in part.owned_ranges(coord) {
            // A local piece skips the cells of other ranks. If the first and the last cell are as
            // far apart as their indices, none is skipped in between.
            let (first, last) = (local_index(*range.start()), local_index(*range.end()));
            let (count, step) = (range.end() - range.start(), region.step());
            memory::reserve(&mut cells, count as usize + 1);
            match last as i64 - first as i64 == count * step {
                true => cells.extend((0..=count).map(|cell| (first as i64 + cell * step) as u64)),
                false => cells.extend(range.map(local_index)),
            }
        }
        match detect_stride(cells.iter().copied()) {
            Some((first, step)) => LocalCells::Strided { start: first, step },
            None => LocalCells::Listed(cells),
        }
    }

    fn base_cell(&self, cell: u64) -> u64 {
        match self {
            LocalCells::Strided { start: first, step } => {
                (*first as i64 + step * cell as i64) as u64
            }
            LocalCells::Listed(cells) => cells[cell as usize],
        }
    }

    /// The first cell and the step for these runs of cells, if they are evenly spaced.
    pub fn strided(&self, cells: &[CellRuns]) -> Option<(u64, i64)> {
        let span = if let [one] = cells { one.span() } else { None };
        match (self, span) {
            (LocalCells::Strided { step, .. }, Some(span)) => {
                Some((self.base_cell(span.start), step * span.step as i64))
            }
            _ => detect_stride(
                cells.iter().flat_map(CellRuns::iter).map(|cell| self.base_cell(cell)),
            ),
        }
    }

    /// Maps runs of cells, in sequence; reversed if `backwards`.
    pub fn map_runs(&self, cells: &[CellRuns], backwards: bool) -> CellRuns {
        let [run] = cells else {
            return concat_runs(cells, backwards, |cell| self.base_cell(cell));
        };
        let count = run.cells();
        match self.strided(cells) {
            _ if *self == Self::IDENTITY && !backwards => run.clone(),
            Some((first, step)) if step > 0 && !backwards => {
                strided_runs(first, step as u64, count)
            }
            Some((first, step)) if step < 0 && backwards => {
                let last = first - step.unsigned_abs() * (count - 1);
                strided_runs(last, step.unsigned_abs(), count)
            }
            _ => concat_runs(cells, backwards, |cell| self.base_cell(cell)),
        }
    }
}

/// Maps runs of cells one by one and concatenates them; reversed if `backwards`.
pub(crate) fn concat_runs(
    cells: &[CellRuns],
    backwards: bool,
    map: impl Fn(u64) -> u64,
) -> CellRuns {
    let mut mapped: Vec<u64> = memory::collect(cells.iter().flat_map(CellRuns::iter).map(map));
    if backwards {
        mapped.reverse();
    }
    CellRuns::of(mapped)
}

fn strided_runs(start: u64, step: u64, count: u64) -> CellRuns {
    match step {
        1 => CellRuns::contiguous(start, count),
        _ => CellRuns::Periodic { start, len: 1, count, period: step },
    }
}

/// The first cell and the step, if all steps are equal.
fn detect_stride(mut cells: impl Iterator<Item = u64>) -> Option<(u64, i64)> {
    let first = cells.next()?;
    let Some(second) = cells.next() else { return Some((first, 1)) };
    let step = second as i64 - first as i64;
    let mut last = second as i64;
    let has_step = |cell: u64| {
        let has_step = cell as i64 - last == step;
        last = cell as i64;
        has_step
    };
    cells.all(has_step).then_some((first, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn local_cells_match_the_elements(
            size in 1u64..30, grid in 1u64..5, block in 1u64..5, coord in 0u64..5, start in 0u64..30,
            step in prop_oneof![-4i64..0, 1i64..5], backwards: bool, cut in 0u64..30,
        ) {
            let (coord, start) = (coord % grid, start % size);
            let room = if step > 0 { size - 1 - start } else { start };
            let region = Region::new(start, step, room / step.unsigned_abs() + 1);
            for whole in [AxisMap::block(size, grid), AxisMap::block_cyclic(size, grid, block)] {
                let part = whole.slice(region).expect("no labels");
                let owned = part.owned(coord);
                let expected: Vec<u64> = (0..owned)
                    .map(|cell| region.at(part.global(coord, cell).expect("owned") as u64) as i64)
                    .map(|index| whole.owner(index).expect("inside").1)
                    .collect();
                let local_cells = LocalCells::new(&whole, region, &part, coord);
                let cut = cut.min(owned);
                for runs in [vec![CellRuns::contiguous(0, owned)], vec![CellRuns::contiguous(0, cut), CellRuns::contiguous(cut, owned - cut)]] {
                    let mut mapped: Vec<u64> = match owned {
                        0 => Vec::new(),
                        _ => local_cells.map_runs(&runs, backwards).iter().collect(),
                    };
                    if backwards {
                        mapped.reverse();
                    }
                    prop_assert_eq!(&mapped, &expected);
                }
            }
        }
    }
}
