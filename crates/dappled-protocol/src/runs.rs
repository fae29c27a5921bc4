//! Cells of a piece along one axis, as periodic runs where possible.

use std::sync::Arc;

use crate::config::MAX_SPLIT_RUNS;

/// Local positions along one axis, in sending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellRuns {
    /// `count` runs of `len` contiguous cells, whose starts are `period` apart.
    Periodic {
        /// The first cell.
        start: u64,
        /// The number of cells in a run.
        len: u64,
        /// The number of runs.
        count: u64,
        /// The distance between the starts of consecutive runs.
        period: u64,
    },
    /// Cells without a pattern.
    Listed(Arc<[u64]>),
}

/// A non-empty range with a step: `start`, `start + step`, … below `stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first cell.
    pub start: u64,
    /// One more than the last cell.
    pub stop: u64,
    /// The distance between consecutive cells.
    pub step: u64,
}

/// A transfer between two pieces along one axis: cell `i` of `own` and cell `i` of `other` hold the
/// same element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Cells in the piece of the rank itself.
    pub own: CellRuns,
    /// Cells in the piece of its peer.
    pub other: CellRuns,
}

impl CellRuns {
    /// Creates a single run.
    pub fn contiguous(start: u64, len: u64) -> Self {
        CellRuns::Periodic { start, len, count: 1, period: len }
    }

    /// Creates runs from a list of cells, periodic if these are ascending and evenly spaced.
    pub fn of(cells: Vec<u64>) -> Self {
        let Some(&start) = cells.first() else { return CellRuns::Listed([].into()) };
        let count = cells.len() as u64;
        let period = cells.get(1).map_or(Some(1), |second| second.checked_sub(start));
        let even = period.filter(|&period| {
            period > 0 && cells.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(period))
        });
        match even {
            Some(1) => CellRuns::contiguous(start, count),
            Some(period) => CellRuns::Periodic { start, len: 1, count, period },
            None => CellRuns::Listed(cells.into()),
        }
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> u64 {
        match self {
            CellRuns::Periodic { len, count, .. } => len * count,
            CellRuns::Listed(cells) => cells.len() as u64,
        }
    }

    /// Iterates over the cells.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.cells()).map(move |cell| match self {
            CellRuns::Periodic { start, len, period, .. } => {
                start + cell / len * period + cell % len
            }
            CellRuns::Listed(cells) => cells[cell as usize],
        })
    }

    /// Returns the cells as one range with a step, if possible.
    pub fn span(&self) -> Option<Span> {
        let &CellRuns::Periodic { start, len, count, period } = self else { return None };
        match (len, count) {
            (1, 2..) => Some(Span { start, stop: start + (count - 1) * period + 1, step: period }),
            _ if count == 1 || period == len => {
                Some(Span { start, stop: start + len * count, step: 1 })
            }
            _ => None,
        }
    }

    /// Returns the cells moved by an offset.
    pub fn shifted(&self, by: u64) -> Self {
        match self {
            &CellRuns::Periodic { start, len, count, period } => {
                CellRuns::Periodic { start: start + by, len, count, period }
            }
            CellRuns::Listed(cells) => {
                CellRuns::Listed(cells.iter().map(|cell| cell + by).collect())
            }
        }
    }

    /// Returns one of the runs.
    fn run(&self, index: u64) -> Self {
        let &CellRuns::Periodic { start, len, period, .. } = self else { return self.clone() };
        CellRuns::contiguous(start + index * period, len)
    }

    /// Returns cell `index` of every run.
    fn strided_cells(&self, index: u64) -> Self {
        let &CellRuns::Periodic { start, count, period, .. } = self else { return self.clone() };
        CellRuns::Periodic { start: start + index, len: 1, count, period }
    }

    /// Returns this run extended by `next`, if that starts at its end.
    fn extended(&self, next: &CellRuns) -> Option<CellRuns> {
        let &CellRuns::Periodic { start, len, count: 1, .. } = self else { return None };
        let &CellRuns::Periodic { start: next, len: more, count: 1, .. } = next else {
            return None;
        };
        (next == start + len).then(|| CellRuns::contiguous(start, len + more))
    }

    /// Returns the runs with `next` appended, if that has the same length and distance.
    fn with_next_run(&self, next: &CellRuns) -> Option<CellRuns> {
        let &CellRuns::Periodic { start, len, count, period } = self else { return None };
        let &CellRuns::Periodic { start: next, len: next_len, count: 1, .. } = next else {
            return None;
        };
        let apart = next.checked_sub(start)?;
        let period = if count == 1 { apart } else { period };
        let fits = next_len == len && period >= len && apart == count * period;
        fits.then_some(CellRuns::Periodic { start, len, count: count + 1, period })
    }
}

impl Transfer {
    /// Splits the transfer into few transfers whose sides are both ranges with a step. Returns the
    /// transfer itself if many would be needed.
    pub fn spans(&self) -> Vec<Transfer> {
        let &CellRuns::Periodic { len, count, .. } = &self.own else { return vec![self.clone()] };
        let are_spans = self.own.span().is_some() && self.other.span().is_some();
        if are_spans || len.min(count) > MAX_SPLIT_RUNS {
            return vec![self.clone()];
        }
        let both = |part: &dyn Fn(&CellRuns) -> CellRuns| Transfer {
            own: part(&self.own),
            other: part(&self.other),
        };
        match count <= len {
            true => (0..count).map(|index| both(&|runs| runs.run(index))).collect(),
            false => (0..len).map(|index| both(&|runs| runs.strided_cells(index))).collect(),
        }
    }

    /// Appends `next` if both sides are still periodic runs of the same shape.
    pub(crate) fn joined(&self, next: &Transfer) -> Option<Transfer> {
        let both = |join: fn(&CellRuns, &CellRuns) -> Option<CellRuns>| {
            Some(Transfer {
                own: join(&self.own, &next.own)?,
                other: join(&self.other, &next.other)?,
            })
        };
        both(CellRuns::extended).or_else(|| both(CellRuns::with_next_run))
    }

    /// Returns the transfer as the peer sees it.
    pub(crate) fn reversed(self) -> Transfer {
        Transfer { own: self.other, other: self.own }
    }
}
