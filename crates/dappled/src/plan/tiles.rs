//! The tiles of a rank's piece of the target: the product of the cuts along the axes.

use super::axis::{Stretch, cuts, further, refined, stretches};
use super::copies::{Messages, moved, scattered};
use super::needs::Needs;
use super::operand::Own;
use super::product::product;
use super::{Cells, Operand, Plan, Source, Tile};

/// More tiles than this are not worth cutting: an operand that would make more is moved.
const MOST: usize = 1024;

/// What tiles are made of.
pub(super) struct Tiles<'a> {
    target: &'a Operand,
    piece: &'a Own,
    /// Where the piece's cells lie along each axis, if they are evenly spaced.
    straight: Option<Vec<(u64, i64)>>,
    rank: u64,
    needs: Vec<Needs<'a>>,
    messages: Messages,
    /// For each operand and axis the stretches; None where it is moved.
    stretches: Vec<Option<Vec<Vec<Stretch>>>>,
    /// Along each axis, where the tiles end.
    cuts: Vec<Vec<u64>>,
}

impl<'a> Tiles<'a> {
    pub fn new(target: &'a Operand, piece: &'a Own, operands: &'a [Operand], rank: u64) -> Self {
        let needs = operands.iter().map(|operand| Needs::new(target, piece, operand, rank));
        let mut tiles = Tiles {
            target,
            piece,
            straight: piece.straight(),
            rank,
            needs: needs.collect(),
            messages: Messages::new(),
            stretches: Vec::new(),
            cuts: piece.lengths.iter().map(|&length| vec![length]).collect(),
        };
        for number in 0..operands.len() {
            let cut = tiles.cut(number);
            tiles.stretches.push(cut);
        }
        tiles
    }

    /// Cuts the tiles where an operand is cut, if it is one that need not be moved.
    fn cut(&mut self, number: usize) -> Option<Vec<Vec<Stretch>>> {
        let lengths = self.piece.lengths.iter().enumerate();
        let along = |(axis, &length)| stretches(&self.needs[number], axis, length);
        let found: Vec<Vec<Stretch>> = lengths.map(along).collect::<Option<_>>()?;
        let both = found.iter().zip(&self.cuts).map(|(found, before)| cuts(found, before));
        let both: Vec<Vec<u64>> = both.collect();
        let count = both.iter().try_fold(1usize, |count, cuts| count.checked_mul(cuts.len()))?;
        (count <= MOST || both == self.cuts).then(|| self.cuts = both)?;
        Some(found)
    }

    /// All that the rank does but to send.
    pub fn fill(mut self, plan: &mut Plan) {
        for (number, needs) in self.needs.iter().enumerate() {
            for receive in needs.receives(number) {
                self.messages.insert((number, receive.peer), plan.receives.len());
                plan.receives.push(receive);
            }
        }
        for (number, needs) in self.needs.iter().enumerate() {
            if self.stretches[number].is_none() {
                let moved = moved(needs, number, self.rank, &self.piece.lengths, &self.messages);
                plan.moves.push(moved);
            }
        }
        if self.straight.is_none() {
            plan.scatter = Some(scattered(self.target, self.piece));
        }
        plan.tiles = self.all(plan);
    }

    /// All tiles, in row-major order.
    fn all(&self, plan: &Plan) -> Vec<Tile> {
        let cut = |operand: &Option<Vec<Vec<Stretch>>>| {
            let axes = operand.as_ref()?.iter().zip(&self.cuts);
            Some(axes.map(|(stretches, cuts)| refined(stretches, cuts)).collect())
        };
        let operands: Vec<Option<Vec<Vec<Stretch>>>> = self.stretches.iter().map(cut).collect();
        let counts: Vec<usize> = self.cuts.iter().map(Vec::len).collect();
        product(&counts).map(|chosen| self.tile(&chosen, &operands, plan)).collect()
    }

    fn tile(&self, chosen: &[usize], operands: &[Option<Vec<Vec<Stretch>>>], plan: &Plan) -> Tile {
        let start = |(&at, cuts): (&usize, &Vec<u64>)| at.checked_sub(1).map_or(0, |at| cuts[at]);
        let start: Vec<u64> = chosen.iter().zip(&self.cuts).map(start).collect();
        let ends = chosen.iter().zip(&self.cuts).map(|(&at, cuts)| cuts[at]);
        let shape = ends.zip(&start).map(|(end, start)| end - start).collect();
        let source = |(number, operand): (usize, &Option<Vec<Vec<Stretch>>>)| match operand {
            Some(axes) => {
                let along = axes.iter().zip(chosen).map(|(axis, &at)| axis[at]);
                self.source(number, &along.collect::<Vec<_>>())
            }
            None => self.moved_source(number, &start, plan),
        };
        let sources = operands.iter().enumerate().map(source).collect();
        Tile { target: self.target_cells(&start), sources, start, shape }
    }

    /// In the piece, or in the memory that will be scattered.
    fn target_cells(&self, start: &[u64]) -> Cells {
        match &self.straight {
            Some(along) => {
                let along = along.iter().zip(start).map(|(&along, &start)| further(along, start));
                self.target.piece_cells(&along.collect::<Vec<_>>())
            }
            None => Cells::same(start),
        }
    }

    fn source(&self, number: usize, cuts: &[Stretch]) -> Source {
        let needs = &self.needs[number];
        let at: Vec<u64> = cuts.iter().map(|cut| cut.at).collect();
        let along = |place: fn(&Stretch) -> (u64, i64)| -> Vec<(u64, i64)> {
            cuts.iter().map(place).collect()
        };
        match needs.peer(&at) {
            peer if peer == self.rank => {
                Source::Piece(needs.operand.piece_cells(&along(|cut| cut.piece)))
            }
            peer => {
                let cells = needs.operand.message_cells(&along(|cut| cut.message));
                Source::Message(self.messages[&(number, peer)], cells)
            }
        }
    }

    fn moved_source(&self, number: usize, start: &[u64], plan: &Plan) -> Source {
        let at = plan.moves.iter().position(|moved| moved.operand == number).unwrap_or(0);
        let mut cells = Cells::same(start);
        for (axis, along) in self.needs[number].operand.axes.iter().enumerate() {
            if along.base.is_none() {
                (cells.start[axis], cells.axes[axis], cells.steps[axis]) = (0, None, 0);
            }
        }
        Source::Moved(at, cells)
    }
}
