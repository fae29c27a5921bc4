//! An operand: a part of a stored array, and where its cells lie in the rank's piece of it.

use std::ops::Range;

use dappled_protocol::exchange::{self, ExchangeError};
use dappled_protocol::slice::{Key, Part};
use dappled_protocol::{AxisMap, Distribution, Region, Runs};

use super::{Cells, PlanError, Send};

/// A part of a stored array that is read: `base[key]`.
#[derive(Clone, Debug)]
pub struct Operand {
    base: Distribution,
    key: Key,
    view: Distribution,
}

/// Where an axis of the base goes: it was taken away at a position, or is a part of an axis.
enum BaseAxis {
    At(u64),
    Along { view_axis: usize, region: Region },
}

impl Operand {
    /// `base[key]`; the key must have been made for the base's shape.
    pub fn new(base: &Distribution, key: Key) -> Result<Self, PlanError> {
        let view = base.slice(&key).map_err(ExchangeError::from)?;
        Ok(Self { base: base.clone(), key, view })
    }

    /// The shape of what is read.
    pub fn shape(&self) -> Vec<u64> {
        self.view.shape()
    }

    /// The distribution of what is read: it lies where the base lies.
    pub fn view(&self) -> &Distribution {
        &self.view
    }

    /// The distribution of the array that it is a part of.
    pub fn base(&self) -> &Distribution {
        &self.base
    }

    /// The axes of the base, in order.
    fn base_axes(&self) -> Vec<BaseAxis> {
        let mut view_axis = 0;
        let mut axes = Vec::new();
        for part in self.key.parts() {
            match *part {
                Part::Index(index) => {
                    axes.push(BaseAxis::At(index));
                    continue;
                }
                Part::Region(region) => axes.push(BaseAxis::Along { view_axis, region }),
                Part::NewAxis(_) => {}
            }
            view_axis += 1;
        }
        axes
    }

    /// Is every part a straight one: do neighbours in the view lie evenly spaced in the piece?
    pub(super) fn is_straight(&self) -> bool {
        let straight = |(axis, part): (&AxisMap, BaseAxis)| match part {
            BaseAxis::At(_) => true,
            BaseAxis::Along { region, .. } => {
                matches!(axis.dist_type(), 'b' | 'n') || region.is_all(axis.size())
            }
        };
        self.base.axes().iter().zip(self.base_axes()).all(straight)
    }

    /// Cells of the rank's piece of the base, from those of its piece of the view: along each
    /// axis of the view a first cell, and how far the next one is.
    pub(super) fn piece_cells(&self, rank: u64, starts: &[u64], steps: &[u64]) -> Cells {
        let mut cells = Cells {
            start: Vec::new(),
            axes: vec![None; starts.len()],
            steps: vec![0; starts.len()],
        };
        for (number, part) in self.base_axes().into_iter().enumerate() {
            let axis = &self.base.axes()[number];
            cells.start.push(match part {
                BaseAxis::At(index) => local_of(axis, index),
                BaseAxis::Along { view_axis, region } => {
                    cells.axes[view_axis] = Some(number);
                    cells.steps[view_axis] = steps[view_axis] as i64 * region.step();
                    self.base_cell(rank, number, view_axis, region)(starts[view_axis])
                }
            });
        }
        cells
    }

    /// The box of the rank's piece of the base that the part fills, one range an axis; an empty one
    /// where it leaves gaps, or where the rank has nothing of it.
    pub(crate) fn filled_cells(&self, rank: u64) -> Vec<Range<u64>> {
        let nothing = vec![0..0; self.base.axes().len()];
        if !self.view.holds(rank) || !self.is_straight() {
            return nothing;
        }
        let owned = self.view.owned_cells(rank);
        let starts: Vec<u64> = owned.iter().map(|cells| cells.start).collect();
        let lengths: Vec<u64> = owned.iter().map(|cells| cells.end - cells.start).collect();
        if lengths.contains(&0) {
            return nothing;
        }
        self.piece_cells(rank, &starts, &vec![1; starts.len()]).filled(&lengths).unwrap_or(nothing)
    }

    /// Where the cells of the rank's piece of the view lie in its piece of the base, along an axis.
    fn base_cell(
        &self,
        rank: u64,
        base_axis: usize,
        view_axis: usize,
        region: Region,
    ) -> impl Fn(u64) -> u64 {
        let (base, view) = (&self.base.axes()[base_axis], &self.view.axes()[view_axis]);
        let at = self.view.coords(rank)[view_axis];
        move |cell| local_of(base, region.at(view.global(at, cell).unwrap_or(0) as u64))
    }

    /// The cells of a box of the view as cells of the base.
    fn sent_cells(&self, rank: u64, view_cells: &[&Runs]) -> Vec<Runs> {
        let along = |(number, part): (usize, BaseAxis)| match part {
            BaseAxis::At(index) => Runs::one(local_of(&self.base.axes()[number], index), 1),
            BaseAxis::Along { view_axis, region } => {
                let cell = self.base_cell(rank, number, view_axis, region);
                Runs::of(view_cells[view_axis].iter().map(cell).collect())
            }
        };
        self.base_axes().into_iter().enumerate().map(along).collect()
    }
}

/// Where an index lies in the piece of who owns it.
fn local_of(axis: &AxisMap, index: u64) -> u64 {
    axis.owner(index as i64).map_or(0, |(_, local)| local)
}

/// What a rank sends: a message for each box of each operand that a peer needs.
pub(super) fn sends(
    target: &Distribution,
    operands: &[Operand],
    rank: u64,
) -> Result<Vec<Send>, PlanError> {
    let mut sends = Vec::new();
    for (number, operand) in operands.iter().enumerate() {
        let parcels = exchange::sends(operand.view(), target, rank)?;
        for parcel in parcels.filter(|parcel| parcel.peer != rank) {
            sends.extend(parcel.boxes().map(|axes| {
                let cells: Vec<&Runs> = axes.iter().map(|axis| &axis.own).collect();
                let cells = operand.sent_cells(rank, &cells);
                Send { peer: parcel.peer, operand: number, cells }
            }));
        }
    }
    Ok(sends)
}
