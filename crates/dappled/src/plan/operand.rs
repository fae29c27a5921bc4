//! Operands of a plan: a view of a distributed array, and the local section of one rank.

use std::ops::Range;

use dappled_protocol::exchange::ExchangeError;
use dappled_protocol::{AxisMap, CellRuns, Distribution, Region};

use super::PlanError;
use super::local_cells::LocalCells;
use super::step::StridedCells;
use crate::view::axis_mapping::AxisMapping;

/// A view of a distributed array: an operand or the target of an assignment.
#[derive(Clone, Debug)]
pub struct PlanOperand {
    base: Distribution,
    mapping: AxisMapping,
    /// The distribution of each axis of the view over the ranks of the base.
    pub(crate) axes: Vec<OperandAxis>,
    /// For each axis of the base, the grid coordinate and the local index of the view's first
    /// element.
    base_starts: Vec<(u64, u64)>,
}

/// One axis of an operand's view.
#[derive(Clone, Debug)]
pub(crate) struct OperandAxis {
    pub map: AxisMap,
    /// The axis of the base that this axis runs along, and the region of it; `None` if it is
    /// broadcast.
    pub base: Option<(usize, Region)>,
}

impl OperandAxis {
    /// Returns true if messages are packed from the last element on, to ascend in memory.
    pub fn is_backwards(&self) -> bool {
        self.base.is_some_and(|(_, region)| region.step() < 0)
    }
}

/// The elements of an operand's view that one rank owns.
#[derive(Clone, Debug)]
pub(crate) struct LocalSection {
    /// The grid coordinate along each axis of the view.
    pub coords: Vec<u64>,
    /// Along each axis of the view, the first cell in the axis map after any padding.
    pub first_cells: Vec<u64>,
    /// The number of elements along each axis of the view.
    pub lengths: Vec<u64>,
    /// Along each axis of the view, the positions of its cells in the local piece of the base.
    pub local_cells: Vec<LocalCells>,
}

impl PlanOperand {
    /// Creates an operand from the distribution of the base and the view's mapping of axes.
    pub fn new(base: &Distribution, mapping: AxisMapping) -> Result<Self, PlanError> {
        base.check_labels().map_err(ExchangeError::from)?;
        // An empty view may start outside the array.
        let is_empty = mapping.shape().contains(&0);
        let axis = |axis| match mapping.region(axis) {
            Some((along, region)) if !is_empty => {
                let map = base.axes()[along].slice(region).expect("the labels were checked");
                OperandAxis { map, base: Some((along, region)) }
            }
            _ => OperandAxis { map: AxisMap::whole(mapping.axes[axis].length), base: None },
        };
        let axes = (0..mapping.axes.len()).map(axis).collect();
        let starts = base.axes().iter().zip(&mapping.starts);
        let starts = starts.map(|(map, &start)| map.owner(start as i64).unwrap_or((0, 0)));
        Ok(Self { base: base.clone(), axes, base_starts: starts.collect(), mapping })
    }

    /// Creates an operand that reads all elements of an array.
    pub fn full_view(base: &Distribution) -> Result<Self, PlanError> {
        Self::new(base, AxisMapping::identity(&base.shape()))
    }

    /// The shape of the view.
    pub fn shape(&self) -> Vec<u64> {
        self.mapping.shape()
    }

    /// The mapping from the axes of the view to the axes of the base.
    pub fn mapping(&self) -> &AxisMapping {
        &self.mapping
    }

    /// The distribution of the base.
    pub fn base(&self) -> &Distribution {
        &self.base
    }

    /// Returns true if the view takes a single index of this axis of the base.
    fn is_fixed(&self, base_axis: usize) -> bool {
        self.mapping
            .axes
            .iter()
            .all(|along| along.base_axis.is_none_or(|(axis, _)| axis != base_axis))
    }

    /// The grid coordinate of a rank along each axis of the view.
    ///
    /// Returns `None` if the rank owns no element of the view because it is not at the grid
    /// coordinate of an axis that is taken at a single index.
    pub fn grid_coords(&self, rank: u64) -> Option<Vec<u64>> {
        let coords = self.base.holds(rank).then(|| self.base.coords(rank))?;
        let elsewhere =
            |axis: &usize| self.is_fixed(*axis) && coords[*axis] != self.base_starts[*axis].0;
        let along = |axis: &OperandAxis| axis.base.map_or(0, |(axis, _)| coords[axis]);
        match (0..coords.len()).find(elsewhere) {
            Some(_) => None,
            None => Some(self.axes.iter().map(along).collect()),
        }
    }

    /// The rank at a grid coordinate along each axis of the view.
    pub(crate) fn rank_at(&self, view_coords: &[u64]) -> u64 {
        let mut coords: Vec<u64> = self.base_starts.iter().map(|&(owner, _)| owner).collect();
        for (axis, &coord) in self.axes.iter().zip(view_coords) {
            if let Some((axis, _)) = axis.base {
                coords[axis] = coord;
            }
        }
        self.base.rank(&coords)
    }

    /// The elements that a rank owns; `None` if it is outside the grid of the view.
    pub(crate) fn local_section(&self, rank: u64) -> Option<LocalSection> {
        let coords = self.grid_coords(rank)?;
        let owned = self.base.owned_cells(rank);
        let first = |axis: &OperandAxis| match axis.base {
            Some((base, region)) if region.is_all(self.base.axes()[base].size()) => {
                owned[base].start
            }
            _ => 0,
        };
        let local_cells = |(axis, &coord): (&OperandAxis, &u64)| match axis.base {
            Some((base, region)) => {
                LocalCells::new(&self.base.axes()[base], region, &axis.map, coord)
            }
            None => LocalCells::Strided { start: 0, step: 0 },
        };
        let length = |(axis, &coord): (&OperandAxis, &u64)| axis.map.owned(coord);
        Some(LocalSection {
            first_cells: self.axes.iter().map(first).collect(),
            lengths: self.axes.iter().zip(&coords).map(length).collect(),
            local_cells: self.axes.iter().zip(&coords).map(local_cells).collect(),
            coords,
        })
    }

    /// Cells of the local piece of the base, given the first cell and the step along each axis of
    /// the view.
    pub(crate) fn piece_cells(&self, along: &[(u64, i64)]) -> StridedCells {
        self.cells(self.base_starts.iter().map(|&(_, cell)| cell).collect(), along)
    }

    /// Cells of a message, which has the axes of the base.
    pub(crate) fn message_cells(&self, along: &[(u64, i64)]) -> StridedCells {
        self.cells(vec![0; self.base_starts.len()], along)
    }

    fn cells(&self, mut start: Vec<u64>, along: &[(u64, i64)]) -> StridedCells {
        for (axis, &(cell, _)) in self.axes.iter().zip(along) {
            if let Some((axis, _)) = axis.base {
                start[axis] = cell;
            }
        }
        let axes = self.axes.iter().map(|axis| axis.base.map(|(axis, _)| axis)).collect();
        StridedCells { start, axes, steps: along.iter().map(|&(_, step)| step).collect() }
    }

    /// The cells along each axis of the base, given those along each axis of the view.
    pub(crate) fn piece_runs(&self, along: &[CellRuns]) -> Vec<CellRuns> {
        self.per_base_axis(along, |axis| CellRuns::contiguous(self.base_starts[axis].1, 1))
    }

    /// Reorders values for the axes of the view to the axes of the base; `fixed` supplies the
    /// others.
    pub(crate) fn per_base_axis<T: Clone>(
        &self,
        along: &[T],
        fixed: impl Fn(usize) -> T,
    ) -> Vec<T> {
        let mut values: Vec<T> = (0..self.base_starts.len()).map(fixed).collect();
        for (axis, along) in self.axes.iter().zip(along) {
            if let Some((axis, _)) = axis.base {
                values[axis] = along.clone();
            }
        }
        values
    }

    /// The cells of a rank's view in its local piece of the base, and its shape.
    ///
    /// Returns `None` if the cells are not evenly spaced or the rank owns none.
    pub(crate) fn strided_cells(&self, rank: u64) -> Option<(StridedCells, Vec<u64>)> {
        let section = self.local_section(rank)?;
        Some((self.piece_cells(&section.strides()?), section.lengths))
    }

    /// The box of the local piece of the base that the view covers, as a range per axis.
    ///
    /// The box is empty if the view leaves gaps or the rank owns no element of it.
    pub(crate) fn covered_box(&self, rank: u64) -> Vec<Range<u64>> {
        let empty = || vec![0..0; self.base.axes().len()];
        let has_some = |section: &LocalSection| !section.lengths.contains(&0);
        let Some(section) = self.local_section(rank).filter(has_some) else { return empty() };
        let cells = section.strides().map(|along| self.piece_cells(&along));
        cells.and_then(|cells| cells.covered_box(&section.lengths)).unwrap_or_else(empty)
    }
}

impl LocalSection {
    /// The cells along each axis, as positions in the axis map.
    pub fn cells(&self) -> Vec<CellRuns> {
        let along = |(&first, &length): (&u64, &u64)| CellRuns::contiguous(first, length);
        self.first_cells.iter().zip(&self.lengths).map(along).collect()
    }

    /// The first cell and the step along each axis; `None` unless all are evenly spaced.
    pub fn strides(&self) -> Option<Vec<(u64, i64)>> {
        self.local_cells
            .iter()
            .zip(self.cells())
            .map(|(positions, cells)| positions.strided(&[cells]))
            .collect()
    }
}
