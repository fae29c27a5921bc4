//! Plans as text.

use std::fmt;

use super::{Cells, Plan, Source, Tile};

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for send in &self.sends {
            let count: u64 = send.cells.iter().map(|cells| cells.cells()).product();
            writeln!(out, "send {count} of operand {} to rank {}", send.operand, send.peer)?;
        }
        for receive in &self.receives {
            let count: u64 = receive.shape.iter().product();
            writeln!(
                out,
                "receive {count} of operand {} from rank {}",
                receive.operand, receive.peer
            )?;
        }
        self.tiles.iter().try_for_each(|tile| writeln!(out, "{tile}"))
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stop: Vec<u64> =
            self.start.iter().zip(&self.shape).map(|(start, len)| start + len).collect();
        write!(out, "tile {}:{} at {}", tuple(&self.start), tuple(&stop), self.target)?;
        let sources = self.sources.iter().enumerate();
        let texts: Vec<String> =
            sources.map(|(number, source)| format!(", operand {number} {source}")).collect();
        write!(out, "{}", texts.concat())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Piece(cells) => write!(out, "in the piece at {cells}"),
            Source::Message(number, cells) => write!(out, "in message {number} at {cells}"),
        }
    }
}

/// Where it starts, and the steps where they are not 1.
impl fmt::Display for Cells {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", tuple(&self.start))?;
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
