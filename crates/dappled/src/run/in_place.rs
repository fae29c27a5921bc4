//! Plans whose target overlaps the memory they read, such as `u[1:-1] = f(u)`, in one pass.
//!
//! One tile without messages must be most of the work. It overwrites the cells that it reads a few
//! rows later. Cells that the other tiles, at the edges, read from the target are copied before.

use dappled_fabric::{Fabric, Tag};
use dappled_kernels::{Buffer, BufferView, Engine, Interpreter, Program, StepFlags, View, execute};

use super::piece::LocalPiece;
use super::{PlanRun, RunError, kernel_operands, start_messages};
use crate::config::MIN_MAIN_TILE_RATIO;
use crate::plan::step::{Plan, PlanTile, StridedCells, TileSource};

/// Returns true if the target can be written over the memory that is read.
pub fn can_run_in_place(
    plan: &Plan,
    interpreter: &Interpreter,
    operands: &[&LocalPiece],
    target: &LocalPiece,
) -> Result<bool, RunError> {
    let Some(main) = main_tile(plan) else { return Ok(false) };
    let targets = std::slice::from_ref(target);
    let (inputs, outputs) =
        PlanRun::new(plan, interpreter, operands, targets).tile_memory(&plan.tiles[main]);
    Ok(dappled_kernels::can_run_in_place(
        &kernel_operands(&inputs)?,
        &kernel_operands(&outputs)?[0],
    ))
}

/// Runs a plan for which [`can_run_in_place`] is true.
pub fn run_plan_in_place(
    fabric: &dyn Fabric,
    tag: Tag,
    plan: &Plan,
    interpreter: &Interpreter,
    operands: &[&LocalPiece],
    target: &LocalPiece,
) -> Result<StepFlags, RunError> {
    let mut pending = start_messages(fabric, tag, plan, operands, &[target]);
    let mut run = PlanRun::new(plan, interpreter, operands, std::slice::from_ref(target));
    let main = main_tile(plan).expect("the plan has a main tile");
    let others = plan.tiles.iter().enumerate().filter(|&(index, _)| index != main);
    let others = others
        .map(|(_, tile)| run.copy_overlapping_operands(tile))
        .collect::<Result<Vec<PlanTile>, _>>()?;
    run.compute_tile_in_place(interpreter, &plan.tiles[main])?;
    pending.poll()?;
    run.accept_messages(pending.wait()?)?;
    others.iter().try_for_each(|tile| run.compute_tile(tile))?;
    let raised = std::mem::take(&mut run.raised);
    run.recycle();
    Ok(raised)
}

/// The index of the tile that is most of a plan and needs no message.
fn main_tile(plan: &Plan) -> Option<usize> {
    let cells = |tile: &PlanTile| tile.shape.iter().product::<u64>();
    let local = plan.tiles.iter().enumerate().filter(|(_, tile)| plan.is_local(tile));
    let (index, main) = local.max_by_key(|(_, tile)| cells(tile))?;
    let others = plan.tiles.iter().map(cells).sum::<u64>() - cells(main);
    let in_place = plan.assemblies.is_empty() && plan.scatter.is_none();
    (in_place && others <= cells(main) / MIN_MAIN_TILE_RATIO).then_some(index)
}

impl PlanRun<'_> {
    /// Copies the operands of a tile that are in the target's memory, and returns the tile that
    /// reads the copies.
    fn copy_overlapping_operands(&mut self, tile: &PlanTile) -> Result<PlanTile, RunError> {
        let mut tile = tile.clone();
        for (source, local) in tile.sources.iter_mut().zip(self.operands) {
            if let TileSource::LocalPiece(cells) = source
                && local.buffer.is_same(&self.targets[0].buffer)
            {
                let copy = LocalPiece::from_message_pool(local.view.dtype, &tile.shape);
                let from = local.cells_view(cells, &tile.shape);
                copy_view((&local.buffer, &from), (&copy.buffer, &copy.view))?;
                *source = TileSource::Assembled(
                    self.assembled.len(),
                    StridedCells::contiguous(&vec![0; tile.shape.len()]),
                );
                self.assembled.push(copy);
            }
        }
        Ok(tile)
    }

    /// Computes a tile over the memory that it reads; through a temporary if that is not
    /// worthwhile.
    fn compute_tile_in_place(
        &mut self,
        interpreter: &Interpreter,
        tile: &PlanTile,
    ) -> Result<(), RunError> {
        let (inputs, outputs) = self.tile_memory(tile);
        let (inputs, (buffer, view)) = (kernel_operands(&inputs)?, &outputs[0]);
        let raised = match interpreter.run_in_place(&inputs, &BufferView::new(buffer, view)?)? {
            Some(raised) => raised,
            None => {
                let temporary = LocalPiece::from_message_pool(view.dtype, &tile.shape);
                let raised = interpreter
                    .run(&inputs, &[BufferView::new(&temporary.buffer, &temporary.view)?])?;
                copy_view((&temporary.buffer, &temporary.view), (buffer, view))?;
                temporary.recycle();
                raised
            }
        };
        self.raised = std::mem::take(&mut self.raised).join(raised);
        Ok(())
    }
}

/// Copies the elements of one view to another.
fn copy_view(from: (&Buffer, &View), to: (&Buffer, &View)) -> Result<(), RunError> {
    let mut copy = Program::new(vec![from.1.dtype], Vec::new());
    copy.outputs.push(copy.input(0));
    execute(&copy, &[BufferView::new(from.0, from.1)?], &[BufferView::new(to.0, to.1)?])?;
    Ok(())
}
