//! A plan whose target lies in the memory that it reads, a little aside: `u[1:-1] = f(u)` in place,
//! in one pass over memory.
//!
//! One tile is most of it and needs no message: it is written over what it reads, a few rows behind.
//! What the others, at the edges, read there is copied before.

use dappled_fabric::{Fabric, Tag};
use dappled_kernels::{
    Buffer, Engine, Interpreter, Operand, Program, Raised, View, execute, lies_over,
};

use super::{Piece, RunError, Walk, memories, post};
use crate::plan::{Cells, Plan, Source, Tile};

/// So many times as large as the others together must the one tile be.
const WORTH: u64 = 8;

/// Can the target be written over the memory that is read?
pub fn fits_over(
    plan: &Plan,
    code: &Interpreter,
    operands: &[&Piece],
    target: &Piece,
) -> Result<bool, RunError> {
    let Some(main) = main_tile(plan) else { return Ok(false) };
    let targets = std::slice::from_ref(target);
    let (inputs, outputs) = Walk::new(plan, code, operands, targets).places(&plan.tiles[main]);
    Ok(lies_over(&memories(&inputs)?, &memories(&outputs)?[0]))
}

/// Carries out a plan that [`fits_over`] the memory of its target.
pub fn run_over(
    fabric: &dyn Fabric,
    tag: Tag,
    plan: &Plan,
    code: &Interpreter,
    operands: &[&Piece],
    target: &Piece,
) -> Result<Raised, RunError> {
    let mut pending = post(fabric, tag, plan, operands, &[target]);
    let mut walk = Walk::new(plan, code, operands, std::slice::from_ref(target));
    let main = main_tile(plan).expect("it fits");
    let others = plan.tiles.iter().enumerate().filter(|&(at, _)| at != main);
    let others = others.map(|(_, tile)| walk.copied(tile)).collect::<Result<Vec<Tile>, _>>()?;
    walk.compute_over(code, &plan.tiles[main])?;
    pending.poll()?;
    walk.take(pending.wait()?)?;
    others.iter().try_for_each(|tile| walk.compute(tile))?;
    let raised = std::mem::take(&mut walk.raised);
    walk.give_back();
    Ok(raised)
}

/// The tile that is most of a plan, and needs no message.
fn main_tile(plan: &Plan) -> Option<usize> {
    let cells = |tile: &Tile| tile.shape.iter().product::<u64>();
    let local = plan.tiles.iter().enumerate().filter(|(_, tile)| plan.is_local(tile));
    let (at, main) = local.max_by_key(|(_, tile)| cells(tile))?;
    let others = plan.tiles.iter().map(cells).sum::<u64>() - cells(main);
    let in_place = plan.moves.is_empty() && plan.scatter.is_none();
    (in_place && others <= cells(main) / WORTH).then_some(at)
}

impl Walk<'_> {
    /// A tile whose operands are not where it is written: those are copied.
    fn copied(&mut self, tile: &Tile) -> Result<Tile, RunError> {
        let mut tile = tile.clone();
        for (source, own) in tile.sources.iter_mut().zip(self.operands) {
            if let Source::Piece(cells) = source
                && own.buffer.is_same(&self.targets[0].buffer)
            {
                let copy = Piece::room(own.view.dtype, &tile.shape);
                let from = own.cells(cells, &tile.shape);
                copied((&own.buffer, &from), (&copy.buffer, &copy.view))?;
                *source = Source::Moved(self.moved.len(), Cells::same(&vec![0; tile.shape.len()]));
                self.moved.push(copy);
            }
        }
        Ok(tile)
    }

    /// Computes a tile over the memory that it reads; where that is not worth while, beside it.
    fn compute_over(&mut self, code: &Interpreter, tile: &Tile) -> Result<(), RunError> {
        let (inputs, outputs) = self.places(tile);
        let (inputs, (buffer, view)) = (memories(&inputs)?, &outputs[0]);
        let raised = match code.run_over(&inputs, &Operand::new(buffer, view)?)? {
            Some(raised) => raised,
            None => {
                let beside = Piece::room(view.dtype, &tile.shape);
                let raised = code.run(&inputs, &[Operand::new(&beside.buffer, &beside.view)?])?;
                copied((&beside.buffer, &beside.view), (buffer, view))?;
                beside.give_back();
                raised
            }
        };
        self.raised = std::mem::take(&mut self.raised).join(raised);
        Ok(())
    }
}

/// Copies elements from one view to another.
fn copied(from: (&Buffer, &View), to: (&Buffer, &View)) -> Result<(), RunError> {
    let mut copy = Program::new(vec![from.1.dtype], Vec::new());
    copy.outputs.push(copy.input(0));
    execute(&copy, &[Operand::new(from.0, from.1)?], &[Operand::new(to.0, to.1)?])?;
    Ok(())
}
