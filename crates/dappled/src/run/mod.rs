//! Walks a plan once: sends and receives, moves what must be moved, and runs a kernel on each tile.
//!
//! In comes a [`Plan`], a fused program, this rank's pieces of the operands and of the targets.
//! Tiles that need no message are computed while messages travel; nothing calls back up.

mod copy;
mod halo;
mod over;
mod piece;

use std::collections::HashSet;

use dappled_fabric::{Fabric, FabricError, Pending, Tag, keep};
use dappled_kernels::{Buffer, Engine, Error as KernelError, Operand, Raised, View};

pub use halo::Halo;
pub use over::{fits_over, run_over};
pub use piece::Piece;

use crate::plan::{CellCopy, Move, Origin, Plan, Receive, Send, Source, Tile};
use copy::{copy_cells, kept, packed};
use piece::c_order;

/// Why a plan could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Messages did not come or go.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// A kernel refused its operands: the plan and the program do not belong together.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Carries out a plan: `targets = engine(operands)`. All targets are distributed alike, and written
/// at the same cells.
pub fn run(
    fabric: &dyn Fabric,
    tag: Tag,
    plan: &Plan,
    engine: &dyn Engine,
    operands: &[&Piece],
    targets: &[&Piece],
) -> Result<Raised, RunError> {
    let mut pending = post(fabric, tag, plan, operands, targets);
    let written = written(plan, targets);
    let mut walk = Walk::new(plan, engine, operands, &written);
    walk.prepare()?;
    walk.compute_local(&mut pending)?;
    walk.take(pending.wait()?)?;
    walk.compute_others()?;
    let raised = std::mem::take(&mut walk.raised);
    walk.give_back();
    if let Some(copy) = &plan.scatter {
        written.iter().zip(targets).try_for_each(|(from, to)| copied(from, to, copy))?;
        written.into_iter().for_each(Piece::give_back);
    }
    Ok(raised)
}

fn post(
    fabric: &dyn Fabric,
    tag: Tag,
    plan: &Plan,
    operands: &[&Piece],
    targets: &[&Piece],
) -> Pending {
    let payload = |send: &Send| {
        let from = operands[send.operand];
        let is_written = |target: &&Piece| target.buffer.is_same(&from.buffer);
        // Memory of others may be that of a target too, under another name.
        match from.buffer.is_foreign() || targets.iter().any(is_written) {
            true => packed(from, &send.cells).into(),
            false => kept(from, &send.cells),
        }
    };
    let length = |receive: &Receive| {
        receive.count() as usize * operands[receive.operand].view.dtype.itemsize()
    };
    let sends = plan.sends.iter().map(|send| (send.peer, payload(send)));
    let awaited = plan.receives.iter().map(|receive| (receive.peer, Some(length(receive))));
    fabric.start(tag, sends.collect(), awaited.collect())
}

/// What tiles are written to: the targets, or memory that is scattered into them at the end.
fn written(plan: &Plan, targets: &[&Piece]) -> Vec<Piece> {
    let memory = |target: &&Piece| match &plan.scatter {
        None => (*target).clone(),
        Some(copy) => {
            let shape: Vec<u64> = copy.from.iter().map(|cells| cells.cells()).collect();
            Piece::room(target.view.dtype, &shape)
        }
    };
    targets.iter().map(memory).collect()
}

fn copied(from: &Piece, to: &Piece, copy: &CellCopy) -> Result<(), RunError> {
    copy_cells((&from.buffer.read()?, &from.view), (&mut to.buffer.write()?, &to.view), copy);
    Ok(())
}

/// A plan that is being carried out.
struct Walk<'a> {
    plan: &'a Plan,
    engine: &'a dyn Engine,
    operands: &'a [&'a Piece],
    targets: &'a [Piece],
    /// What came, where tiles read it as it is.
    messages: Vec<Option<Piece>>,
    moved: Vec<Piece>,
    /// What the program signalled.
    raised: Raised,
}

impl<'a> Walk<'a> {
    fn new(
        plan: &'a Plan,
        engine: &'a dyn Engine,
        operands: &'a [&'a Piece],
        targets: &'a [Piece],
    ) -> Self {
        let (messages, moved, raised) = (Vec::new(), Vec::new(), Raised::default());
        Self { plan, engine, operands, targets, messages, moved, raised }
    }

    /// Moves what this rank has itself.
    fn prepare(&mut self) -> Result<(), RunError> {
        for moved in &self.plan.moves {
            let own = self.operands[moved.operand];
            let piece = Piece::room(own.view.dtype, &moved.shape);
            let parts = moved.parts.iter().filter(|part| part.origin == Origin::Piece);
            parts.into_iter().try_for_each(|part| copied(own, &piece, &part.copy))?;
            self.moved.push(piece);
        }
        Ok(())
    }

    /// Messages move on between tiles.
    fn compute_local(&mut self, pending: &mut Pending) -> Result<(), RunError> {
        let plan = self.plan;
        for tile in plan.tiles.iter().filter(|tile| plan.is_local(tile)) {
            self.compute(tile)?;
            pending.poll()?;
        }
        Ok(())
    }

    fn compute_others(&mut self) -> Result<(), RunError> {
        let plan = self.plan;
        let mut others = plan.tiles.iter().filter(|tile| !plan.is_local(tile));
        others.try_for_each(|tile| self.compute(tile))
    }

    /// Takes what came: to be moved, or to be read as it is.
    fn take(&mut self, messages: Vec<Vec<u8>>) -> Result<(), RunError> {
        for (moved, piece) in self.plan.moves.iter().zip(&self.moved) {
            self.unpack(moved, piece, &messages)?;
        }
        let read: HashSet<usize> = self.plan.messages_read().collect();
        let message = |(number, (receive, bytes)): (usize, (&Receive, Vec<u8>))| {
            let view = c_order(self.operands[receive.operand].view.dtype, &receive.shape);
            if !read.contains(&number) {
                keep(bytes);
                return None;
            }
            Some(Piece { buffer: Buffer::from_vec(bytes, view.dtype.itemsize()), view })
        };
        let messages = self.plan.receives.iter().zip(messages).enumerate();
        self.messages = messages.map(message).collect();
        Ok(())
    }

    fn unpack(&self, moved: &Move, piece: &Piece, messages: &[Vec<u8>]) -> Result<(), RunError> {
        let mut memory = piece.buffer.write()?;
        for part in &moved.parts {
            if let Origin::Message(number) = part.origin {
                let view = c_order(piece.view.dtype, &self.plan.receives[number].shape);
                copy_cells((&messages[number], &view), (&mut memory, &piece.view), &part.copy);
            }
        }
        Ok(())
    }

    /// What came has been read, and what was moved.
    fn give_back(self) {
        self.messages.into_iter().flatten().chain(self.moved).for_each(Piece::give_back);
    }

    /// Where the operands of a tile are, and its part of the targets.
    fn places(&self, tile: &Tile) -> (Vec<Place>, Vec<Place>) {
        let place = |(source, own): (&Source, &&Piece)| {
            let (piece, cells) = match source {
                Source::Piece(cells) => (*own, cells),
                Source::Message(number, cells) => {
                    (self.messages[*number].as_ref().expect("it stays as it is"), cells)
                }
                Source::Moved(number, cells) => (&self.moved[*number], cells),
            };
            (piece.buffer.clone(), piece.cells(cells, &tile.shape))
        };
        let inputs = tile.sources.iter().zip(self.operands).map(place).collect();
        let outputs = self.targets.iter();
        let outputs =
            outputs.map(|piece| (piece.buffer.clone(), piece.cells(&tile.target, &tile.shape)));
        (inputs, outputs.collect())
    }

    fn compute(&mut self, tile: &Tile) -> Result<(), RunError> {
        let (inputs, outputs) = self.places(tile);
        let raised = self.engine.run(&memories(&inputs)?, &memories(&outputs)?)?;
        self.raised = std::mem::take(&mut self.raised).join(raised);
        Ok(())
    }
}

/// A view of some memory.
type Place = (Buffer, View);

fn memories(places: &[Place]) -> Result<Vec<Operand<'_>>, KernelError> {
    places.iter().map(|(buffer, view)| Operand::new(buffer, view)).collect()
}
