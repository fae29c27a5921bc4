//! An operand: a stored array seen through a view, and what one rank has of it.

use std::ops::Range;

use dappled_protocol::exchange::ExchangeError;
use dappled_protocol::{AxisMap, Distribution, Region, Runs};

use super::places::Places;
use super::{Cells, PlanError, Through};

/// A stored array, seen through a view: what is read, or written.
#[derive(Clone, Debug)]
pub struct Operand {
    base: Distribution,
    through: Through,
    /// Along each axis of the view, how it is shared among the ranks of the base.
    pub(super) axes: Vec<Axis>,
    /// Along each axis of the base, who owns the view's first element, and where it lies.
    starts: Vec<(u64, u64)>,
}

/// One axis of the view.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub map: AxisMap,
    /// The axis of the base that it runs along, and which part of it; None where it repeats.
    pub base: Option<(usize, Region)>,
}

impl Axis {
    /// Is it packed from its last element on, so that messages ascend in memory?
    pub fn is_backwards(&self) -> bool {
        self.base.is_some_and(|(_, region)| region.step() < 0)
    }
}

/// What one rank has of an operand.
#[derive(Clone, Debug)]
pub(super) struct Own {
    /// Where it stands along each axis of the view.
    pub at: Vec<u64>,
    /// Along each axis of the view, its first cell in the map, behind any padding.
    pub firsts: Vec<u64>,
    /// Along each axis of the view, how many elements.
    pub lengths: Vec<u64>,
    /// Along each axis of the view, where the cells of the map lie in the piece of the base.
    pub places: Vec<Places>,
}

impl Operand {
    /// This view of an array that is distributed so.
    pub fn new(base: &Distribution, through: Through) -> Result<Self, PlanError> {
        base.check_labels().map_err(ExchangeError::from)?;
        // Where nothing is selected, no start need be inside.
        let is_empty = through.shape().contains(&0);
        let axis = |axis| match through.region(axis) {
            Some((along, region)) if !is_empty => {
                let map = base.axes()[along].slice(region).expect("the labels were checked");
                Axis { map, base: Some((along, region)) }
            }
            _ => Axis { map: AxisMap::whole(through.axes[axis].length), base: None },
        };
        let axes = (0..through.axes.len()).map(axis).collect();
        let starts = base.axes().iter().zip(&through.starts);
        let starts = starts.map(|(map, &start)| map.owner(start as i64).unwrap_or((0, 0)));
        Ok(Self { base: base.clone(), axes, starts: starts.collect(), through })
    }

    /// All of an array that is distributed so.
    pub fn whole(base: &Distribution) -> Result<Self, PlanError> {
        Self::new(base, Through::whole(&base.shape()))
    }

    /// The shape of the view.
    pub fn shape(&self) -> Vec<u64> {
        self.through.shape()
    }

    /// How the view runs through the base.
    pub fn through(&self) -> &Through {
        &self.through
    }

    /// The distribution of the base.
    pub fn base(&self) -> &Distribution {
        &self.base
    }

    /// Is this axis of the base taken at its start alone?
    fn is_fixed(&self, base_axis: usize) -> bool {
        self.through.axes.iter().all(|along| along.base.is_none_or(|(axis, _)| axis != base_axis))
    }

    /// Where a rank stands along each axis of the view; None where it has nothing of it, because it
    /// does not stand where the axes are that are taken at one place.
    pub fn stands(&self, rank: u64) -> Option<Vec<u64>> {
        let coords = self.base.holds(rank).then(|| self.base.coords(rank))?;
        let elsewhere =
            |axis: &usize| self.is_fixed(*axis) && coords[*axis] != self.starts[*axis].0;
        let along = |axis: &Axis| axis.base.map_or(0, |(axis, _)| coords[axis]);
        match (0..coords.len()).find(elsewhere) {
            Some(_) => None,
            None => Some(self.axes.iter().map(along).collect()),
        }
    }

    /// The rank that stands there, along each axis of the view.
    pub(super) fn rank_at(&self, at: &[u64]) -> u64 {
        let mut coords: Vec<u64> = self.starts.iter().map(|&(owner, _)| owner).collect();
        for (axis, &at) in self.axes.iter().zip(at) {
            if let Some((axis, _)) = axis.base {
                coords[axis] = at;
            }
        }
        self.base.rank(&coords)
    }

    /// What a rank has; None where it stands outside.
    pub(super) fn own(&self, rank: u64) -> Option<Own> {
        let at = self.stands(rank)?;
        let owned = self.base.owned_cells(rank);
        let first = |axis: &Axis| match axis.base {
            Some((base, region)) if region.is_all(self.base.axes()[base].size()) => {
                owned[base].start
            }
            _ => 0,
        };
        let place = |(axis, &at): (&Axis, &u64)| match axis.base {
            Some((base, region)) => Places::new(&self.base.axes()[base], region, &axis.map, at),
            None => Places::Even { first: 0, step: 0 },
        };
        let length = |(axis, &at): (&Axis, &u64)| axis.map.owned(at);
        Some(Own {
            firsts: self.axes.iter().map(first).collect(),
            lengths: self.axes.iter().zip(&at).map(length).collect(),
            places: self.axes.iter().zip(&at).map(place).collect(),
            at,
        })
    }

    /// Cells of the rank's piece of the base: along each axis of the view the first, and how far
    /// the next one is.
    pub(super) fn piece_cells(&self, along: &[(u64, i64)]) -> Cells {
        self.cells(self.starts.iter().map(|&(_, cell)| cell).collect(), along)
    }

    /// Cells of a message, which has the axes of the base.
    pub(super) fn message_cells(&self, along: &[(u64, i64)]) -> Cells {
        self.cells(vec![0; self.starts.len()], along)
    }

    fn cells(&self, mut start: Vec<u64>, along: &[(u64, i64)]) -> Cells {
        for (axis, &(cell, _)) in self.axes.iter().zip(along) {
            if let Some((axis, _)) = axis.base {
                start[axis] = cell;
            }
        }
        let axes = self.axes.iter().map(|axis| axis.base.map(|(axis, _)| axis)).collect();
        Cells { start, axes, steps: along.iter().map(|&(_, step)| step).collect() }
    }

    /// Along each axis of the base its cells in a piece, given those along the axes of the view.
    pub(super) fn piece_runs(&self, along: &[Runs]) -> Vec<Runs> {
        self.by_base(along, |axis| Runs::one(self.starts[axis].1, 1))
    }

    /// Along each axis of the base something of the axis of the view that runs along it.
    pub(super) fn by_base<T: Clone>(&self, along: &[T], fixed: impl Fn(usize) -> T) -> Vec<T> {
        let mut found: Vec<T> = (0..self.starts.len()).map(fixed).collect();
        for (axis, along) in self.axes.iter().zip(along) {
            if let Some((axis, _)) = axis.base {
                found[axis] = along.clone();
            }
        }
        found
    }

    /// Where the view's elements lie in the rank's piece of the base, and how many there are along
    /// each axis; None where they are not evenly spaced, or the rank has none.
    pub(crate) fn straight_cells(&self, rank: u64) -> Option<(Cells, Vec<u64>)> {
        let own = self.own(rank)?;
        Some((self.piece_cells(&own.straight()?), own.lengths))
    }

    /// The box of the rank's piece of the base that the view fills, one range an axis; an empty one
    /// where it leaves gaps, or where the rank has nothing of it.
    pub(crate) fn filled_cells(&self, rank: u64) -> Vec<Range<u64>> {
        let nothing = || vec![0..0; self.base.axes().len()];
        let has_some = |own: &Own| !own.lengths.contains(&0);
        let Some(own) = self.own(rank).filter(has_some) else { return nothing() };
        let cells = own.straight().map(|along| self.piece_cells(&along));
        cells.and_then(|cells| cells.filled(&own.lengths)).unwrap_or_else(nothing)
    }
}

impl Own {
    /// Along each axis its cells in the map.
    pub fn cells(&self) -> Vec<Runs> {
        let along = |(&first, &length): (&u64, &u64)| Runs::one(first, length);
        self.firsts.iter().zip(&self.lengths).map(along).collect()
    }

    /// Along each axis the place of the first cell and how far the next one is; None unless all are
    /// evenly spaced.
    pub fn straight(&self) -> Option<Vec<(u64, i64)>> {
        self.places
            .iter()
            .zip(self.cells())
            .map(|(places, cells)| places.evenly(&[cells]))
            .collect()
    }
}
