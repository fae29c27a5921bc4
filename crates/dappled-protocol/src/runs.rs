//! Cells of a piece along one axis, as periodic runs where a rule says them.

use std::sync::Arc;

/// Local positions along one axis, in the order in which they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// `count` runs of `len` neighbouring cells, their starts `period` apart.
    Periodic {
        /// The first cell.
        start: u64,
        /// The cells of one run.
        len: u64,
        /// The number of runs.
        count: u64,
        /// From the start of one run to that of the next.
        period: u64,
    },
    /// These cells.
    Listed(Arc<[u64]>),
}

/// A range with a step, never empty: `start`, `start + step`, … below `stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first cell.
    pub start: u64,
    /// One more than the last cell.
    pub stop: u64,
    /// From one cell to the next.
    pub step: u64,
}

/// What moves between two pieces along one axis: cell `i` of `own` and cell `i` of `other`
/// hold the same element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// In the piece of the rank that was asked for.
    pub own: Runs,
    /// In the piece of its peer.
    pub other: Runs,
}

impl Runs {
    /// One run.
    pub fn one(start: u64, len: u64) -> Self {
        Runs::Periodic { start, len, count: 1, period: len }
    }

    /// These cells, as runs if they are evenly spaced and ascending.
    pub fn of(cells: Vec<u64>) -> Self {
        let Some(&start) = cells.first() else { return Runs::Listed([].into()) };
        let count = cells.len() as u64;
        let period = cells.get(1).map_or(Some(1), |second| second.checked_sub(start));
        let even = period.filter(|&period| {
            period > 0 && cells.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(period))
        });
        match even {
            Some(1) => Runs::one(start, count),
            Some(period) => Runs::Periodic { start, len: 1, count, period },
            None => Runs::Listed(cells.into()),
        }
    }

    /// The number of cells.
    pub fn cells(&self) -> u64 {
        match self {
            Runs::Periodic { len, count, .. } => len * count,
            Runs::Listed(cells) => cells.len() as u64,
        }
    }

    /// The cells, one by one.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.cells()).map(move |cell| match self {
            Runs::Periodic { start, len, period, .. } => start + cell / len * period + cell % len,
            Runs::Listed(cells) => cells[cell as usize],
        })
    }

    /// The cells as one range with a step, if they are one.
    pub fn span(&self) -> Option<Span> {
        let &Runs::Periodic { start, len, count, period } = self else { return None };
        match (len, count) {
            (1, 2..) => Some(Span { start, stop: start + (count - 1) * period + 1, step: period }),
            _ if count == 1 || period == len => {
                Some(Span { start, stop: start + len * count, step: 1 })
            }
            _ => None,
        }
    }

    /// The cells so much further on.
    pub fn shifted(&self, by: u64) -> Self {
        match self {
            &Runs::Periodic { start, len, count, period } => {
                Runs::Periodic { start: start + by, len, count, period }
            }
            Runs::Listed(cells) => Runs::Listed(cells.iter().map(|cell| cell + by).collect()),
        }
    }

    /// Run `index` alone.
    fn run(&self, index: u64) -> Self {
        let &Runs::Periodic { start, len, period, .. } = self else { return self.clone() };
        Runs::one(start + index * period, len)
    }

    /// Cell `index` of every run.
    fn comb(&self, index: u64) -> Self {
        let &Runs::Periodic { start, count, period, .. } = self else { return self.clone() };
        Runs::Periodic { start: start + index, len: 1, count, period }
    }

    /// The run that goes on in `next`, which begins where this one ends.
    fn longer(&self, next: &Runs) -> Option<Runs> {
        let &Runs::Periodic { start, len, count: 1, .. } = self else { return None };
        let &Runs::Periodic { start: next, len: more, count: 1, .. } = next else { return None };
        (next == start + len).then(|| Runs::one(start, len + more))
    }

    /// The runs with one more, `next`, which is as long and as far away as the others.
    fn one_more(&self, next: &Runs) -> Option<Runs> {
        let &Runs::Periodic { start, len, count, period } = self else { return None };
        let &Runs::Periodic { start: next, len: next_len, count: 1, .. } = next else {
            return None;
        };
        let apart = next.checked_sub(start)?;
        let period = if count == 1 { apart } else { period };
        let fits = next_len == len && period >= len && apart == count * period;
        fits.then_some(Runs::Periodic { start, len, count: count + 1, period })
    }
}

impl Transfer {
    /// As few transfers as will do whose two sides are both ranges with a step; where that
    /// would be many, the transfer itself, whose cells can then only be listed.
    pub fn spans(&self) -> Vec<Transfer> {
        const MANY: u64 = 4;
        let &Runs::Periodic { len, count, .. } = &self.own else { return vec![self.clone()] };
        let are_spans = self.own.span().is_some() && self.other.span().is_some();
        if are_spans || len.min(count) > MANY {
            return vec![self.clone()];
        }
        let both = |part: &dyn Fn(&Runs) -> Runs| Transfer {
            own: part(&self.own),
            other: part(&self.other),
        };
        match count <= len {
            true => (0..count).map(|index| both(&|runs| runs.run(index))).collect(),
            false => (0..len).map(|index| both(&|runs| runs.comb(index))).collect(),
        }
    }

    /// Takes `next` in if both sides are then still periodic runs of the same shape.
    pub(crate) fn joined(&self, next: &Transfer) -> Option<Transfer> {
        let both = |join: fn(&Runs, &Runs) -> Option<Runs>| {
            Some(Transfer {
                own: join(&self.own, &next.own)?,
                other: join(&self.other, &next.other)?,
            })
        };
        both(Runs::longer).or_else(|| both(Runs::one_more))
    }

    /// The same, seen by the peer.
    pub(crate) fn turned(self) -> Transfer {
        Transfer { own: self.other, other: self.own }
    }
}
