//! Redistribution in rounds, each of which needs a bounded amount of temporary memory.

use dappled_protocol::{AxisMap, Distribution, Held};

/// The temporary memory that a redistribution may use.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBudget {
    /// The number of bytes of an element.
    pub itemsize: usize,
    /// The number of bytes per rank, for packed, received and reordered elements.
    pub bytes: u64,
}

/// Returns the step between the elements that move in one round, along each axis.
///
/// A round moves every `step`-th element, so that all ranks take part in each round. The product of
/// the steps is the number of rounds.
///
/// ```
/// use dappled::plan::{MemoryBudget, round_steps};
/// use dappled::protocol::Distribution;
/// let rows = Distribution::spec(&[64, 8]).grid_shape(&[4, 1]).build()?;
/// let columns = Distribution::spec(&[64, 8]).grid_shape(&[1, 4]).build()?;
/// let steps = |bytes| round_steps(&rows, &columns, MemoryBudget { itemsize: 8, bytes });
/// assert_eq!(steps(1 << 20), [1, 1]);
/// assert_eq!(steps(1 << 10), [3, 1]); // 16 rows sent, 64 partial rows received and ordered
/// # Ok::<(), dappled::protocol::ProtocolError>(())
/// ```
pub fn round_steps(from: &Distribution, to: &Distribution, budget: MemoryBudget) -> Vec<u64> {
    let shape = to.shape();
    // Replicated elements are reordered but not sent; a replicated result is sent to every rank.
    let copies = match (from.held(), to.held()) {
        (Held::All, _) => 0,
        (_, Held::All) => to.nprocs() - 1,
        _ => 1,
    };
    let sent = largest_piece(from).saturating_mul(copies);
    let balanced = sent.saturating_add(2 * largest_piece(to));
    // A stride selects different shares of an index list on different ranks.
    let is_listed = [from, to].iter().any(|distribution| distribution.dist().contains('u'));
    let cells = if is_listed { balanced.saturating_mul(2) } else { balanced };
    let bytes = cells.saturating_mul(budget.itemsize as u64);
    split_into_rounds(&shape, bytes.div_ceil(budget.bytes.max(1)))
}

/// An upper bound for the elements of the largest local piece: the product of the largest lengths.
fn largest_piece(distribution: &Distribution) -> u64 {
    let longest = |map: &AxisMap| (0..map.grid()).map(|coord| map.owned(coord)).max().unwrap_or(0);
    distribution.axes().iter().map(longest).fold(1, u64::saturating_mul)
}

/// Splits the first axes first, to keep rows contiguous.
fn split_into_rounds(shape: &[u64], rounds: u64) -> Vec<u64> {
    let mut rest = rounds.max(1);
    let step = |&length: &u64| {
        let step = rest.min(length.max(1));
        rest = rest.div_ceil(step);
        step
    };
    shape.iter().map(step).collect()
}
