//! Walks a plan once: sends and receives, and runs a kernel on each tile.
//!
//! In comes a [`Plan`], a fused program, this rank's pieces of the operands and of the target. Tiles
//! that need no message are computed while messages travel; nothing calls back up.

mod pack;

use dappled_fabric::{Fabric, FabricError, Tag};
use dappled_kernels::{Buffer, DType, Engine, Error as KernelError, Operand, Scalar, View};

use crate::plan::{Cells, Plan, Receive, Source, Tile};
use pack::packed;

/// This rank's piece of an array: memory in C order, padding included.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The memory.
    pub buffer: Buffer,
    /// How it is laid out.
    pub view: View,
}

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

impl Piece {
    /// A piece of this shape, filled with zeros.
    pub fn zeros(dtype: DType, shape: &[u64]) -> Self {
        let view = c_order(dtype, shape);
        Self { buffer: Buffer::zeroed(view.len() * dtype.itemsize()), view }
    }

    /// A piece of this shape, filled with a value.
    pub fn full(value: Scalar, shape: &[u64]) -> Self {
        let view = c_order(value.dtype(), shape);
        Self { buffer: Buffer::full(value, view.len()), view }
    }

    /// The cells of a tile.
    fn cells(&self, cells: &Cells, shape: &[u64]) -> View {
        let along = cells.axes.iter().zip(&cells.steps);
        let stride = |(axis, &step): (&Option<usize>, &i64)| {
            axis.map_or(0, |axis| self.view.strides[axis] * step as isize)
        };
        let starts = cells.start.iter().zip(&self.view.strides);
        let offset: isize = starts.map(|(&start, &stride)| start as isize * stride).sum();
        View {
            dtype: self.view.dtype,
            offset: (self.view.offset as isize + offset) as usize,
            shape: shape.iter().map(|&length| length as usize).collect(),
            strides: along.map(stride).collect(),
        }
    }
}

fn c_order(dtype: DType, shape: &[u64]) -> View {
    let shape: Vec<usize> = shape.iter().map(|&length| length as usize).collect();
    View::c_order(dtype, &shape)
}

/// Carries out a plan: `target = engine(operands)`.
pub fn run(
    fabric: &dyn Fabric,
    tag: Tag,
    plan: &Plan,
    engine: &dyn Engine,
    operands: &[&Piece],
    target: &Piece,
) -> Result<(), RunError> {
    let sends =
        plan.sends.iter().map(|send| (send.peer, packed(operands[send.operand], &send.cells)));
    let length = |receive: &Receive| {
        let cells: u64 = receive.shape.iter().product();
        cells as usize * operands[receive.operand].view.dtype.itemsize()
    };
    let awaited = plan.receives.iter().map(|receive| (receive.peer, length(receive)));
    let pending = fabric.post(tag, sends.collect(), awaited.collect());
    let (local, others): (Vec<&Tile>, Vec<&Tile>) =
        plan.tiles.iter().partition(|tile| tile.is_local());
    for tile in local {
        compute(engine, tile, operands, &[], target)?;
    }
    let messages = pending.wait()?;
    let message = |(receive, bytes): (&Receive, Vec<u8>)| Piece {
        buffer: Buffer::from_slice(&bytes),
        view: c_order(operands[receive.operand].view.dtype, &receive.shape),
    };
    let messages: Vec<Piece> = plan.receives.iter().zip(messages).map(message).collect();
    others.into_iter().try_for_each(|tile| compute(engine, tile, operands, &messages, target))
}

fn compute(
    engine: &dyn Engine,
    tile: &Tile,
    operands: &[&Piece],
    messages: &[Piece],
    target: &Piece,
) -> Result<(), RunError> {
    let place = |(source, own): (&Source, &&Piece)| match source {
        Source::Piece(cells) => (own.buffer.clone(), own.cells(cells, &tile.shape)),
        Source::Message(number, cells) => {
            let message = &messages[*number];
            (message.buffer.clone(), message.cells(cells, &tile.shape))
        }
    };
    let places: Vec<(Buffer, View)> = tile.sources.iter().zip(operands).map(place).collect();
    let inputs = places.iter().map(|(buffer, view)| Operand::new(buffer, view));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let written = target.cells(&tile.target, &tile.shape);
    engine.run(&inputs, &[Operand::new(&target.buffer, &written)?])?;
    Ok(())
}
