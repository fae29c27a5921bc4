//! Tiles: the product of the segments along the axes of a rank's local section of the target.

use super::assembly::{MessageIndex, assemble_step, scatter_copy};
use super::axis_segments::{AxisSegment, advance, axis_segments, merge_cuts, split_at_cuts};
use super::cartesian_product::cartesian_product;
use super::needs::OperandNeeds;
use super::operand::LocalSection;
use super::operand::PlanOperand;
use super::step::{Plan, PlanTile, StridedCells, TileSource};
use crate::config::MAX_TILES;

/// Builds the receives, assemblies and tiles of a plan.
pub(crate) struct TileBuilder<'a> {
    target: &'a PlanOperand,
    piece: &'a LocalSection,
    /// The first cell and the step of the target along each axis, if its cells are evenly spaced.
    target_strides: Option<Vec<(u64, i64)>>,
    rank: u64,
    needs: Vec<OperandNeeds<'a>>,
    messages: MessageIndex,
    /// The segments of each operand along each axis; `None` for an operand that is assembled.
    segments: Vec<Option<Vec<Vec<AxisSegment>>>>,
    /// The ends of the tiles along each axis.
    cuts: Vec<Vec<u64>>,
}

impl<'a> TileBuilder<'a> {
    pub fn new(
        target: &'a PlanOperand,
        piece: &'a LocalSection,
        operands: &'a [PlanOperand],
        rank: u64,
    ) -> Self {
        let needs = operands.iter().map(|operand| OperandNeeds::new(target, piece, operand, rank));
        let mut tiles = TileBuilder {
            target,
            piece,
            target_strides: piece.strides(),
            rank,
            needs: needs.collect(),
            messages: MessageIndex::new(),
            segments: Vec::new(),
            cuts: piece.lengths.iter().map(|&length| vec![length]).collect(),
        };
        for index in 0..operands.len() {
            let segments = tiles.split_along(index);
            tiles.segments.push(segments);
        }
        tiles
    }

    /// Splits the tiles at the segment ends of an operand, unless the operand must be assembled.
    fn split_along(&mut self, operand: usize) -> Option<Vec<Vec<AxisSegment>>> {
        let lengths = self.piece.lengths.iter().enumerate();
        let along = |(axis, &length)| axis_segments(&self.needs[operand], axis, length);
        let segments: Vec<Vec<AxisSegment>> = lengths.map(along).collect::<Option<_>>()?;
        let new_cuts =
            segments.iter().zip(&self.cuts).map(|(segments, before)| merge_cuts(segments, before));
        let new_cuts: Vec<Vec<u64>> = new_cuts.collect();
        let count =
            new_cuts.iter().try_fold(1usize, |count, cuts| count.checked_mul(cuts.len()))?;
        (count <= MAX_TILES || new_cuts == self.cuts).then(|| self.cuts = new_cuts)?;
        Some(segments)
    }

    /// Adds all steps but the sends to a plan.
    pub fn fill_plan(mut self, plan: &mut Plan) {
        for (operand, needs) in self.needs.iter().enumerate() {
            for receive in needs.receives(operand) {
                self.messages.insert((operand, receive.peer), plan.receives.len());
                plan.receives.push(receive);
            }
        }
        for (operand, needs) in self.needs.iter().enumerate() {
            if self.segments[operand].is_none() {
                let step =
                    assemble_step(needs, operand, self.rank, &self.piece.lengths, &self.messages);
                plan.assemblies.push(step);
            }
        }
        if self.target_strides.is_none() {
            plan.scatter = Some(scatter_copy(self.target, self.piece));
        }
        plan.tiles = self.build_tiles(plan);
    }

    /// Builds all tiles, in row-major order.
    fn build_tiles(&self, plan: &Plan) -> Vec<PlanTile> {
        let split = |operand: &Option<Vec<Vec<AxisSegment>>>| {
            let axes = operand.as_ref()?.iter().zip(&self.cuts);
            Some(axes.map(|(segments, cuts)| split_at_cuts(segments, cuts)).collect())
        };
        let operands: Vec<Option<Vec<Vec<AxisSegment>>>> =
            self.segments.iter().map(split).collect();
        let counts: Vec<usize> = self.cuts.iter().map(Vec::len).collect();
        cartesian_product(&counts)
            .map(|position| self.build_tile(&position, &operands, plan))
            .collect()
    }

    fn build_tile(
        &self,
        position: &[usize],
        operands: &[Option<Vec<Vec<AxisSegment>>>],
        plan: &Plan,
    ) -> PlanTile {
        let start = |(&index, cuts): (&usize, &Vec<u64>)| {
            index.checked_sub(1).map_or(0, |index| cuts[index])
        };
        let start: Vec<u64> = position.iter().zip(&self.cuts).map(start).collect();
        let ends = position.iter().zip(&self.cuts).map(|(&index, cuts)| cuts[index]);
        let shape = ends.zip(&start).map(|(end, start)| end - start).collect();
        let source =
            |(operand_index, operand): (usize, &Option<Vec<Vec<AxisSegment>>>)| match operand {
                Some(axes) => {
                    let along = axes.iter().zip(position).map(|(axis, &index)| axis[index]);
                    self.tile_source(operand_index, &along.collect::<Vec<_>>())
                }
                None => self.assembled_source(operand_index, &start, plan),
            };
        let sources = operands.iter().enumerate().map(source).collect();
        PlanTile { target: self.target_cells(&start), sources, start, shape }
    }

    /// The cells that a tile writes: in the local piece, or in the buffer that is scattered.
    fn target_cells(&self, start: &[u64]) -> StridedCells {
        match &self.target_strides {
            Some(along) => {
                let along = along.iter().zip(start).map(|(&along, &start)| advance(along, start));
                self.target.piece_cells(&along.collect::<Vec<_>>())
            }
            None => StridedCells::contiguous(start),
        }
    }

    fn tile_source(&self, operand: usize, segments: &[AxisSegment]) -> TileSource {
        let needs = &self.needs[operand];
        let coords: Vec<u64> = segments.iter().map(|segment| segment.coord).collect();
        let along = |position: fn(&AxisSegment) -> (u64, i64)| -> Vec<(u64, i64)> {
            segments.iter().map(position).collect()
        };
        match needs.owner_at(&coords) {
            peer if peer == self.rank => {
                TileSource::LocalPiece(needs.operand.piece_cells(&along(|segment| segment.piece)))
            }
            peer => {
                let cells = needs.operand.message_cells(&along(|segment| segment.message));
                TileSource::Message(self.messages[&(operand, peer)], cells)
            }
        }
    }

    fn assembled_source(&self, operand: usize, start: &[u64], plan: &Plan) -> TileSource {
        let index = plan.assemblies.iter().position(|step| step.operand == operand).unwrap_or(0);
        let mut cells = StridedCells::contiguous(start);
        for (axis, along) in self.needs[operand].operand.axes.iter().enumerate() {
            if along.base.is_none() {
                (cells.start[axis], cells.axes[axis], cells.steps[axis]) = (0, None, 0);
            }
        }
        TileSource::Assembled(index, cells)
    }
}
