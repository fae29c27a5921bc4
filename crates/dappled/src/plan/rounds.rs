//! Moves in rounds, each of which needs a bounded amount of memory beside the arrays.

use dappled_protocol::{AxisMap, Distribution, Held};

/// What is moved, and how much memory may be used beside it.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes of an element.
    pub itemsize: usize,
    /// Bytes on each rank, for what is packed, received and put in order.
    pub bytes: u64,
}

/// How far apart, along each axis, the elements are that move in one round. Every so many-th moves,
/// so that all ranks have a share in every round; the product is the number of rounds.
///
/// ```
/// use dappled::plan::{Budget, round_steps};
/// use dappled::protocol::Distribution;
/// let rows = Distribution::spec(&[64, 8]).grid_shape(&[4, 1]).build()?;
/// let columns = Distribution::spec(&[64, 8]).grid_shape(&[1, 4]).build()?;
/// let steps = |bytes| round_steps(&rows, &columns, Budget { itemsize: 8, bytes });
/// assert_eq!(steps(1 << 20), [1, 1]);
/// assert_eq!(steps(1 << 10), [3, 1]); // 16 rows sent, 64 parts of rows received and ordered
/// # Ok::<(), dappled::protocol::ProtocolError>(())
/// ```
pub fn round_steps(from: &Distribution, to: &Distribution, budget: Budget) -> Vec<u64> {
    let shape = to.shape();
    // What every rank has need not be sent, only put in order; what every rank gets is sent to each.
    let copies = match (from.held(), to.held()) {
        (Held::All, _) => 0,
        (_, Held::All) => to.nprocs() - 1,
        _ => 1,
    };
    let sent = largest_piece(from).saturating_mul(copies);
    let even = sent.saturating_add(2 * largest_piece(to));
    // Of lists of indices, every so many-th is not the same part on every rank.
    let is_listed = [from, to].iter().any(|one| one.dist().contains('u'));
    let cells = if is_listed { even.saturating_mul(2) } else { even };
    let bytes = cells.saturating_mul(budget.itemsize as u64);
    steps(&shape, bytes.div_ceil(budget.bytes.max(1)))
}

/// Elements of the largest piece, and perhaps more: the longest along each axis.
fn largest_piece(distribution: &Distribution) -> u64 {
    let longest = |map: &AxisMap| (0..map.grid()).map(|at| map.owned(at)).max().unwrap_or(0);
    distribution.axes().iter().map(longest).fold(1, u64::saturating_mul)
}

/// The first axes are cut first: rows stay whole.
fn steps(shape: &[u64], rounds: u64) -> Vec<u64> {
    let mut rest = rounds.max(1);
    let step = |&length: &u64| {
        let step = rest.min(length.max(1));
        rest = rest.div_ceil(step);
        step
    };
    shape.iter().map(step).collect()
}
