//! Plans of gather and scatter of rows by index arrays (take and put).
//!
//! The rank that has an index sends the position of the row to its owner. For a take the owner
//! answers with the row; for a put the row is sent with the position. The sizes of the messages
//! depend on the indices: plans have their bounds.

use std::fmt;

use dappled_protocol::Distribution;

use super::values::RankContext;
use crate::config::INDICES_PER_RANK_AND_ROUND;

/// The rows of an array in blocks, as plans of takes and puts see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowBlocks {
    /// The first row of each rank, and the number of rows.
    pub starts: Vec<u64>,
    /// The number of bytes of a row.
    pub width: usize,
    /// The number of bytes of a position in a message.
    pub position_bytes: usize,
}

/// The steps by which one rank gathers rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakePlan {
    /// The rows.
    pub rows: RowBlocks,
    /// The number of indices of this rank.
    pub count: usize,
    /// The number of indices of one round.
    pub round_size: usize,
    /// The number of rounds: that of the rank with the most indices.
    pub rounds: usize,
    /// The rank that the plan is for.
    pub context: RankContext,
}

/// The steps by which one rank scatters rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutPlan {
    /// The rows.
    pub rows: RowBlocks,
    /// The number of indices of this rank.
    pub count: usize,
    /// Whether each index has its own row; otherwise every rank has the one row.
    pub sends_rows: bool,
    /// The rank that the plan is for.
    pub context: RankContext,
}

impl RowBlocks {
    /// The rows of a block distribution, `width` bytes each.
    pub fn new(rows: &Distribution, width: usize) -> Self {
        let lengths = (0..rows.nprocs()).map(|rank| rows.local_shape(rank)[0]);
        let ends = lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let starts: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let position_bytes = dappled_sort::route::position_bytes(&starts);
        Self { starts, width, position_bytes }
    }

    fn write_head(
        &self,
        out: &mut fmt::Formatter<'_>,
        name: &str,
        count: usize,
        context: &RankContext,
    ) -> fmt::Result {
        let Self { starts, width, .. } = self;
        let total = starts[starts.len() - 1];
        writeln!(out, "{name} of {count} rows of {width} bytes, {context}")?;
        let own = &starts[context.rank as usize..][..2];
        writeln!(out, "own rows {}:{} of {total}", own[0], own[1])
    }
}

impl TakePlan {
    /// Plans a take of `count` rows, given the largest number of rows that a rank takes.
    pub fn new(rows: RowBlocks, count: usize, max_count: usize, context: RankContext) -> Self {
        let round_size = INDICES_PER_RANK_AND_ROUND * (rows.starts.len() - 1);
        let rounds = max_count.div_ceil(round_size);
        Self { rows, count, round_size, rounds, context }
    }
}

impl fmt::Display for TakePlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, count, round_size, rounds, context } = self;
        rows.write_head(out, "take", *count, context)?;
        writeln!(out, "{rounds} rounds of at most {round_size} indices; in each of them:")?;
        let (count, peers) = ((*count).min(*round_size), context.ranks - 1);
        let (positions, bytes) = (count * rows.position_bytes, count * rows.width);
        writeln!(
            out,
            "all-to-all of positions to {peers} ranks, by value, at most {positions} bytes"
        )?;
        writeln!(out, "copy own rows")?;
        writeln!(out, "all-to-all of rows, by value, at most {bytes} bytes received")
    }
}

impl fmt::Display for PutPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, count, sends_rows, context } = self;
        rows.write_head(out, "put", *count, context)?;
        let (positions, bytes) = (count * rows.position_bytes, count * rows.width);
        let peers = context.ranks - 1;
        writeln!(
            out,
            "all-to-all of positions to {peers} ranks, by value, at most {positions} bytes"
        )?;
        if *sends_rows {
            writeln!(out, "all-to-all of rows to {peers} ranks, by value, at most {bytes} bytes")?;
        }
        writeln!(out, "write the rows of all ranks in rank order")
    }
}
