//! Routing: rows are sent to the ranks that own them, and replies return in the order of the rows.

use dappled_base::memory;

use crate::error::Result;
use crate::session::Session;

/// The rows of this rank, grouped by the rank that each is sent to.
pub struct Routing {
    name: String,
    /// The rows of each rank in turn.
    order: Vec<usize>,
    /// The number of rows for each rank.
    counts: Vec<usize>,
}

impl Routing {
    /// Groups rows by their owners, which are below `ranks`. `name` describes the messages.
    pub fn new(name: &str, owners: &[usize], ranks: usize) -> Self {
        let mut counts = vec![0; ranks];
        owners.iter().for_each(|&owner| counts[owner] += 1);
        let mut next = Vec::with_capacity(ranks);
        let mut total = 0;
        for count in &counts {
            next.push(total);
            total += count;
        }
        let mut order = memory::filled(0, owners.len());
        for (row, &owner) in owners.iter().enumerate() {
            order[next[owner]] = row;
            next[owner] += 1;
        }
        Self { name: name.to_string(), order, counts }
    }

    /// Sends rows of `width` bytes; returns the bytes that each rank sent here. Collective.
    pub fn send(&self, session: &Session, rows: &[u8], width: usize) -> Result<Vec<Vec<u8>>> {
        let mut order = self.order.iter();
        let part = |&count: &usize| {
            let mut part = memory::with_capacity(count * width);
            for row in order.by_ref().take(count) {
                part.extend_from_slice(&rows[row * width..(row + 1) * width]);
            }
            part
        };
        session.all_to_all(&self.name, self.counts.iter().map(part).collect())
    }

    /// Replies to each received row with `width` bytes; returns the replies to this rank's rows.
    /// Collective.
    ///
    /// `replies` has one part for each rank, in the order of the rows that it sent.
    pub fn reply(&self, session: &Session, replies: Vec<Vec<u8>>, width: usize) -> Result<Vec<u8>> {
        let received = session.all_to_all(&self.name, replies)?;
        let mut output = memory::filled(0, self.order.len() * width);
        let replies = received.iter().flat_map(|part| part.chunks_exact(width.max(1)));
        for (row, reply) in self.order.iter().zip(replies) {
            output[row * width..(row + 1) * width].copy_from_slice(reply);
        }
        Ok(output)
    }
}
