//! Plans as text.

use std::fmt;

use dappled_protocol::{Distribution, Held};

use super::step::{
    AssembleStep, AssemblySource, CellCopy, Plan, PlanTile, StridedCells, TileSource,
};

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for send in &self.sends {
            let (count, operand) = (send.count(), send.operand);
            writeln!(out, "send {count} elements of operand {operand} to rank {}", send.peer)?;
        }
        for receive in &self.receives {
            let (count, operand) = (receive.count(), receive.operand);
            writeln!(
                out,
                "receive {count} elements of operand {operand} from rank {}",
                receive.peer
            )?;
        }
        self.assemblies.iter().try_for_each(|step| writeln!(out, "{step}"))?;
        self.tiles.iter().try_for_each(|tile| writeln!(out, "{tile}"))?;
        self.scatter.iter().try_for_each(|copy| writeln!(out, "scatter {}", shape(copy)))
    }
}

/// The shape of the scattered cells, along the axes of the target's base.
fn shape(copy: &CellCopy) -> String {
    tuple(&copy.to.iter().map(|cells| cells.cells()).collect::<Vec<_>>())
}

impl fmt::Display for AssembleStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "assemble operand {} as {}", self.operand, tuple(&self.shape))?;
        self.parts.iter().try_for_each(|part| match part.source {
            AssemblySource::LocalPiece => {
                write!(out, ", {} from the local piece", part.copy.count())
            }
            AssemblySource::Message(index) => {
                write!(out, ", {} from message {index}", part.copy.count())
            }
        })
    }
}

impl fmt::Display for PlanTile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stop: Vec<u64> =
            self.start.iter().zip(&self.shape).map(|(start, len)| start + len).collect();
        write!(out, "tile {}:{} at {}", tuple(&self.start), tuple(&stop), self.target)?;
        let mut sources = self.sources.iter().enumerate();
        sources.try_for_each(|(operand, source)| write!(out, ", operand {operand} {source}"))
    }
}

impl fmt::Display for TileSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileSource::LocalPiece(cells) => write!(out, "in the local piece at {cells}"),
            TileSource::Message(index, cells) => write!(out, "in message {index} at {cells}"),
            TileSource::Assembled(_, cells) => write!(out, "assembled at {cells}"),
        }
    }
}

/// Writes the start, the axes if they are permuted, and the steps if they are not all 1.
impl fmt::Display for StridedCells {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", tuple(&self.start))?;
        let axes: Vec<usize> = self.axes.iter().flatten().copied().collect();
        if !axes.is_sorted() {
            write!(out, " axes {}", tuple(&axes))?;
        }
        match self.steps.iter().all(|&step| step == 1) {
            true => Ok(()),
            false => write!(out, " step {}", tuple(&self.steps)),
        }
    }
}

pub(crate) fn tuple<T: fmt::Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    format!("({})", items.join(", "))
}

/// The kinds of axes, the number of ranks and the process grid of a distribution.
pub(crate) fn describe_distribution(distribution: &Distribution) -> String {
    match distribution.held() {
        Held::All => "replicated on every rank".to_string(),
        Held::One(rank) => format!("on rank {rank}"),
        Held::Grid => format!(
            "'{}' over {} ranks as {:?}",
            distribution.dist(),
            distribution.nprocs(),
            distribution.grid_shape()
        ),
    }
}
