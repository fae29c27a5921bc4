//! Plans as text.

use std::fmt;

use super::{CellCopy, Cells, Move, Origin, Plan, Source, Tile};

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for send in &self.sends {
            let (count, operand) = (send.count(), send.operand);
            writeln!(out, "send {count} of operand {operand} to rank {}", send.peer)?;
        }
        for receive in &self.receives {
            let (count, operand) = (receive.count(), receive.operand);
            writeln!(out, "receive {count} of operand {operand} from rank {}", receive.peer)?;
        }
        self.moves.iter().try_for_each(|moved| writeln!(out, "{moved}"))?;
        self.tiles.iter().try_for_each(|tile| writeln!(out, "{tile}"))?;
        self.scatter.iter().try_for_each(|copy| writeln!(out, "scatter {}", shape(copy)))
    }
}

/// What is scattered, along the axes of the target's base.
fn shape(copy: &CellCopy) -> String {
    tuple(&copy.to.iter().map(|cells| cells.cells()).collect::<Vec<_>>())
}

impl fmt::Display for Move {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "move operand {} into {}", self.operand, tuple(&self.shape))?;
        self.parts.iter().try_for_each(|part| match part.origin {
            Origin::Piece => write!(out, ", {} from the piece", part.copy.count()),
            Origin::Message(number) => {
                write!(out, ", {} from message {number}", part.copy.count())
            }
        })
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stop: Vec<u64> =
            self.start.iter().zip(&self.shape).map(|(start, len)| start + len).collect();
        write!(out, "tile {}:{} at {}", tuple(&self.start), tuple(&stop), self.target)?;
        let mut sources = self.sources.iter().enumerate();
        sources.try_for_each(|(number, source)| write!(out, ", operand {number} {source}"))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Piece(cells) => write!(out, "in the piece at {cells}"),
            Source::Message(number, cells) => write!(out, "in message {number} at {cells}"),
            Source::Moved(number, cells) => write!(out, "in move {number} at {cells}"),
        }
    }
}

/// Where it starts, the axes where they are not in order, and the steps where they are not 1.
impl fmt::Display for Cells {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", tuple(&self.start))?;
        let named: Vec<usize> = self.axes.iter().flatten().copied().collect();
        if !named.is_sorted() {
            write!(out, " along {}", tuple(&named))?;
        }
        match self.steps.iter().all(|&step| step == 1) {
            true => Ok(()),
            false => write!(out, " by {}", tuple(&self.steps)),
        }
    }
}

fn tuple<T: fmt::Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    format!("({})", items.join(", "))
}
