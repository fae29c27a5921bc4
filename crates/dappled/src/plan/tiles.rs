//! The tiles of a rank's piece of the target: the product of the cuts along the axes.

use std::collections::HashMap;

use dappled_protocol::exchange;
use dappled_protocol::{Distribution, Held};

use super::axis::{Stretch, refined, stretches};
use super::{Cells, Operand, PlanError, Receive, Source, Tile};

/// What tiles are made of.
pub(super) struct Tiles<'a> {
    target: &'a Operand,
    operands: &'a [Operand],
    rank: u64,
    /// Per axis, per operand, the stretches; all operands are cut alike.
    axes: Vec<Vec<Vec<Stretch>>>,
    pub receives: Vec<Receive>,
    /// Which message holds a box: by operand, peer and the transfers that the box is made of.
    messages: HashMap<(usize, u64, Vec<usize>), usize>,
    /// The cells of the piece, to cut by where there are no operands; None where the rank has no
    /// piece.
    owned: Option<Vec<Stretch>>,
}

impl<'a> Tiles<'a> {
    pub fn new(target: &'a Operand, operands: &'a [Operand], rank: u64) -> Result<Self, PlanError> {
        let view = target.view();
        let mut tiles = Tiles {
            target,
            operands,
            rank,
            axes: Vec::new(),
            receives: Vec::new(),
            messages: HashMap::new(),
            owned: owned_stretches(view, rank),
        };
        let coords = view.coords(rank);
        for (axis, (map, &at)) in view.axes().iter().zip(&coords).enumerate() {
            let cut = |(number, operand): (usize, &Operand)| {
                let view = &operand.view().axes()[axis];
                stretches(map, view, at).ok_or(PlanError::Scattered(number))
            };
            let cut = operands.iter().enumerate().map(cut).collect::<Result<Vec<_>, _>>()?;
            tiles.axes.push(refined(&cut));
        }
        tiles.number_messages(view)?;
        Ok(tiles)
    }

    /// Numbers the messages in the order in which they are sent.
    fn number_messages(&mut self, target: &Distribution) -> Result<(), PlanError> {
        for (number, operand) in self.operands.iter().enumerate() {
            if !operand.is_straight() {
                return Err(PlanError::Scattered(number));
            }
            let parcels = exchange::receives(operand.view(), target, self.rank)?;
            for parcel in parcels.filter(|parcel| parcel.peer != self.rank) {
                for (chosen, axes) in parcel.numbered_boxes() {
                    let shape = axes.iter().map(|axis| axis.own.cells()).collect();
                    self.messages.insert((number, parcel.peer, chosen), self.receives.len());
                    self.receives.push(Receive { peer: parcel.peer, operand: number, shape });
                }
            }
        }
        Ok(())
    }

    /// All tiles, in row-major order.
    pub fn all(&self) -> Vec<Tile> {
        let mut chosen: Vec<Vec<usize>> = self.owned.iter().map(|_| Vec::new()).collect();
        for axis in 0..self.axes.len() {
            let count = self.along(axis).len();
            chosen = chosen
                .into_iter()
                .flat_map(|head| (0..count).map(move |at| [&head[..], &[at]].concat()))
                .collect();
        }
        chosen.iter().map(|chosen| self.tile(chosen)).collect()
    }

    /// The cuts along an axis, by the cells of the target.
    fn along(&self, axis: usize) -> &[Stretch] {
        match (self.axes[axis].first(), &self.owned) {
            (Some(stretches), _) => stretches,
            (None, Some(owned)) if owned[axis].len > 0 => std::slice::from_ref(&owned[axis]),
            _ => &[],
        }
    }

    fn tile(&self, chosen: &[usize]) -> Tile {
        let cuts = chosen.iter().enumerate().map(|(axis, &at)| &self.along(axis)[at]);
        let (start, shape): (Vec<u64>, Vec<u64>) = cuts.map(|cut| (cut.start, cut.len)).unzip();
        let target = self.target.piece_cells(self.rank, &start, &vec![1; start.len()]);
        let sources = (0..self.operands.len()).map(|number| self.source(number, chosen)).collect();
        Tile { start, shape, target, sources }
    }

    fn source(&self, number: usize, chosen: &[usize]) -> Source {
        let operand = &self.operands[number];
        let cuts: Vec<&Stretch> =
            chosen.iter().enumerate().map(|(axis, &at)| &self.axes[axis][number][at]).collect();
        let coords: Vec<u64> = cuts.iter().map(|cut| cut.peer).collect();
        let peer = match operand.view().held() {
            Held::All => self.rank,
            _ => operand.view().rank(&coords),
        };
        if peer == self.rank {
            let starts: Vec<u64> = cuts.iter().map(|cut| cut.cell).collect();
            let steps: Vec<u64> = cuts.iter().map(|cut| cut.step).collect();
            return Source::Piece(operand.piece_cells(self.rank, &starts, &steps));
        }
        let transfers = cuts.iter().map(|cut| cut.transfer).collect();
        let message = self.messages[&(number, peer, transfers)];
        Source::Message(message, message_cells(&cuts))
    }
}

/// A message is packed in the order of its box: the next cell is the next one.
fn message_cells(cuts: &[&Stretch]) -> Cells {
    Cells {
        start: cuts.iter().map(|cut| cut.before).collect(),
        axes: (0..cuts.len()).map(Some).collect(),
        steps: vec![1; cuts.len()],
    }
}

fn owned_stretches(target: &Distribution, rank: u64) -> Option<Vec<Stretch>> {
    let stretch = |cells: std::ops::Range<u64>| Stretch {
        start: cells.start,
        len: cells.end - cells.start,
        peer: 0,
        transfer: 0,
        before: 0,
        cell: 0,
        step: 1,
    };
    target.holds(rank).then(|| target.owned_cells(rank).into_iter().map(stretch).collect())
}
