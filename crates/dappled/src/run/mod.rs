//! Execution: walks a plan once, and evaluates deferred nodes.
//!
//! Input: a fused program, and either local memory or a [`Plan`] with this rank's local pieces of
//! the operands and of the targets. Output: the values in memory, and the floating-point flags that
//! were raised.
//!
//! Guarantees: each step of a plan runs once. Tiles that need no message are computed while
//! messages are in flight. Messages are packed before the target is written if both share memory.
//!
//! ```text
//! access       values of arrays: elements, gathered copies, loans of memory
//! assign       writes: in place, copy-on-write, deferred
//! evaluate     materialises deferred nodes: fuses, plans, runs
//! sync         evaluates pending arrays
//! distributed  programs whose operands are distributed
//! complement   the next version of an array, without the elements that are written
//! reduce       reductions and scans
//! argminmax    argmin and argmax
//! reindex      views that do not follow the axes of a distributed array
//! reshape      reshape of distributed nodes
//! mask         elements that a mask selects
//! take_rows    gather of rows in rounds, overlapped with communication
//! put_rows     scatter of rows
//! fingerprint  hashes and descriptions of programs
//! caches       plans that loops use again
//! collective   collectives of elements, for distributed algorithms
//! routing      rows sent to the ranks that own them, and replies
//! in_place     plans that overwrite the memory they read
//! halo         halo exchange: updates the padding of an array
//! piece        the local piece of an array
//! copy         copies of cells: packing, assembling, scattering
//! ```

pub(crate) mod access;
pub(crate) mod argminmax;
pub(crate) mod assign;
pub(crate) mod caches;
pub(crate) mod collective;
pub(crate) mod complement;
pub(crate) mod copy;
pub(crate) mod distributed;
pub(crate) mod evaluate;
pub(crate) mod fingerprint;
pub(crate) mod halo;
pub(crate) mod in_place;
pub(crate) mod mask;
pub(crate) mod piece;
pub(crate) mod put_rows;
pub(crate) mod reduce;
pub(crate) mod reindex;
pub(crate) mod reshape;
pub(crate) mod routing;
pub(crate) mod sync;
pub(crate) mod take_rows;

use std::collections::HashSet;

use dappled_fabric::{ExchangeRequest, Fabric, Tag, keep};
use dappled_kernels::{Buffer, BufferView, Engine, Error as KernelError, StepFlags, View};

pub use crate::error::RunError;
pub use crate::run::in_place::{can_run_in_place, run_plan_in_place};
pub use halo::HaloExchange;
pub use piece::LocalPiece;

use crate::plan::step::{
    AssembleStep, AssemblySource, CellCopy, Plan, PlanTile, ReceiveStep, SendStep, TileSource,
};
use copy::{copy_cells, pack_cells, share_or_pack};
use piece::c_order_view;

/// Runs a plan: `targets = engine(operands)`.
///
/// All targets have the same distribution and are written at the same cells.
pub fn run_plan(
    fabric: &dyn Fabric,
    tag: Tag,
    plan: &Plan,
    engine: &dyn Engine,
    operands: &[&LocalPiece],
    targets: &[&LocalPiece],
) -> Result<StepFlags, RunError> {
    let mut pending = start_messages(fabric, tag, plan, operands, targets);
    let outputs = output_pieces(plan, targets);
    let mut run = PlanRun::new(plan, engine, operands, &outputs);
    run.assemble_local()?;
    run.compute_local_tiles(&mut pending)?;
    run.accept_messages(pending.wait()?)?;
    run.compute_remaining_tiles()?;
    let raised = std::mem::take(&mut run.raised);
    run.recycle();
    if let Some(copy) = &plan.scatter {
        outputs
            .iter()
            .zip(targets)
            .try_for_each(|(from, to)| copy_between_pieces(from, to, copy))?;
        outputs.into_iter().for_each(LocalPiece::recycle);
    }
    Ok(raised)
}

/// Starts the exchange of all messages of a plan.
fn start_messages(
    fabric: &dyn Fabric,
    tag: Tag,
    plan: &Plan,
    operands: &[&LocalPiece],
    targets: &[&LocalPiece],
) -> ExchangeRequest {
    let payload = |send: &SendStep| {
        let from = operands[send.operand];
        let is_written = |target: &&LocalPiece| target.buffer.is_same(&from.buffer);
        // Foreign memory may alias a target even if the buffers differ.
        match from.buffer.is_foreign() || targets.iter().any(is_written) {
            true => pack_cells(from, &send.cells).into(),
            false => share_or_pack(from, &send.cells),
        }
    };
    let length = |receive: &ReceiveStep| {
        receive.count() as usize * operands[receive.operand].view.dtype.itemsize()
    };
    let sends = plan.sends.iter().map(|send| (send.peer, payload(send)));
    let awaited = plan.receives.iter().map(|receive| (receive.peer, Some(length(receive))));
    fabric.start_exchange(tag, sends.collect(), awaited.collect())
}

/// The pieces that tiles are written to: the targets, or buffers that are scattered at the end.
fn output_pieces(plan: &Plan, targets: &[&LocalPiece]) -> Vec<LocalPiece> {
    let memory = |target: &&LocalPiece| match &plan.scatter {
        None => (*target).clone(),
        Some(copy) => {
            let shape: Vec<u64> = copy.from.iter().map(|cells| cells.cells()).collect();
            LocalPiece::from_message_pool(target.view.dtype, &shape)
        }
    };
    targets.iter().map(memory).collect()
}

fn copy_between_pieces(
    from: &LocalPiece,
    to: &LocalPiece,
    copy: &CellCopy,
) -> Result<(), RunError> {
    copy_cells((&from.buffer.read()?, &from.view), (&mut to.buffer.write()?, &to.view), copy);
    Ok(())
}

/// A plan in execution.
struct PlanRun<'a> {
    plan: &'a Plan,
    engine: &'a dyn Engine,
    operands: &'a [&'a LocalPiece],
    targets: &'a [LocalPiece],
    /// The messages that tiles read directly, by index in [`Plan::receives`].
    messages: Vec<Option<LocalPiece>>,
    assembled: Vec<LocalPiece>,
    /// The floating-point flags that the program raised.
    raised: StepFlags,
}

impl<'a> PlanRun<'a> {
    fn new(
        plan: &'a Plan,
        engine: &'a dyn Engine,
        operands: &'a [&'a LocalPiece],
        targets: &'a [LocalPiece],
    ) -> Self {
        let (messages, assembled, raised) = (Vec::new(), Vec::new(), StepFlags::default());
        Self { plan, engine, operands, targets, messages, assembled, raised }
    }

    /// Copies the parts of assembled operands that are in local pieces.
    fn assemble_local(&mut self) -> Result<(), RunError> {
        for step in &self.plan.assemblies {
            let local = self.operands[step.operand];
            let piece = LocalPiece::from_message_pool(local.view.dtype, &step.shape);
            let parts = step.parts.iter().filter(|part| part.source == AssemblySource::LocalPiece);
            parts
                .into_iter()
                .try_for_each(|part| copy_between_pieces(local, &piece, &part.copy))?;
            self.assembled.push(piece);
        }
        Ok(())
    }

    /// Computes the tiles without messages; polls the exchange after each tile.
    fn compute_local_tiles(&mut self, pending: &mut ExchangeRequest) -> Result<(), RunError> {
        let plan = self.plan;
        for tile in plan.tiles.iter().filter(|tile| plan.is_local(tile)) {
            self.compute_tile(tile)?;
            pending.poll()?;
        }
        Ok(())
    }

    /// Computes the tiles that read messages.
    fn compute_remaining_tiles(&mut self) -> Result<(), RunError> {
        let plan = self.plan;
        let mut others = plan.tiles.iter().filter(|tile| !plan.is_local(tile));
        others.try_for_each(|tile| self.compute_tile(tile))
    }

    /// Copies messages into assembled operands, and keeps those that tiles read directly.
    fn accept_messages(&mut self, messages: Vec<Vec<u8>>) -> Result<(), RunError> {
        for (step, piece) in self.plan.assemblies.iter().zip(&self.assembled) {
            self.copy_from_messages(step, piece, &messages)?;
        }
        let read: HashSet<usize> = self.plan.messages_read().collect();
        let message = |(index, (receive, bytes)): (usize, (&ReceiveStep, Vec<u8>))| {
            let view = c_order_view(self.operands[receive.operand].view.dtype, &receive.shape);
            if !read.contains(&index) {
                keep(bytes);
                return None;
            }
            Some(LocalPiece { buffer: Buffer::from_vec(bytes, view.dtype.itemsize()), view })
        };
        let messages = self.plan.receives.iter().zip(messages).enumerate();
        self.messages = messages.map(message).collect();
        Ok(())
    }

    /// Copies the parts of an assembled operand that are in messages.
    fn copy_from_messages(
        &self,
        step: &AssembleStep,
        piece: &LocalPiece,
        messages: &[Vec<u8>],
    ) -> Result<(), RunError> {
        let mut memory = piece.buffer.write()?;
        for part in &step.parts {
            if let AssemblySource::Message(index) = part.source {
                let view = c_order_view(piece.view.dtype, &self.plan.receives[index].shape);
                copy_cells((&messages[index], &view), (&mut memory, &piece.view), &part.copy);
            }
        }
        Ok(())
    }

    /// Returns the memory of messages and assembled operands to the message pool.
    fn recycle(self) {
        self.messages.into_iter().flatten().chain(self.assembled).for_each(LocalPiece::recycle);
    }

    /// The memory of a tile's operands and targets.
    fn tile_memory(&self, tile: &PlanTile) -> (Vec<OwnedOperand>, Vec<OwnedOperand>) {
        let operand_memory = |(source, local): (&TileSource, &&LocalPiece)| {
            let (piece, cells) = match source {
                TileSource::LocalPiece(cells) => (*local, cells),
                TileSource::Message(index, cells) => (
                    self.messages[*index].as_ref().expect("messages that tiles read are kept"),
                    cells,
                ),
                TileSource::Assembled(index, cells) => (&self.assembled[*index], cells),
            };
            (piece.buffer.clone(), piece.cells_view(cells, &tile.shape))
        };
        let inputs = tile.sources.iter().zip(self.operands).map(operand_memory).collect();
        let outputs = self.targets.iter();
        let outputs = outputs
            .map(|piece| (piece.buffer.clone(), piece.cells_view(&tile.target, &tile.shape)));
        (inputs, outputs.collect())
    }

    fn compute_tile(&mut self, tile: &PlanTile) -> Result<(), RunError> {
        let (inputs, outputs) = self.tile_memory(tile);
        let raised = self.engine.run(&kernel_operands(&inputs)?, &kernel_operands(&outputs)?)?;
        self.raised = std::mem::take(&mut self.raised).join(raised);
        Ok(())
    }
}

/// A buffer and a view of it, kept alive while a tile runs.
type OwnedOperand = (Buffer, View);

fn kernel_operands(views: &[OwnedOperand]) -> Result<Vec<BufferView<'_>>, KernelError> {
    views.iter().map(|(buffer, view)| BufferView::new(buffer, view)).collect()
}
