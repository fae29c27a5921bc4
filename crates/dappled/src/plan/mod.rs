//! Plans: what one rank sends, receives and computes for a distributed assignment.
//!
//! Input: an element-wise assignment `target = f(operands)`. The target and each operand are a
//! [`PlanOperand`]: the distribution of a stored array, and the view of it that is written or read.
//!
//! Output: a [`Plan`] for one rank. It lists the messages to send and to receive, and the *tiles*
//! of the rank's local piece of the target. In a tile each operand has a single source: the rank's
//! local piece, one message, or an operand that was assembled in a contiguous buffer because its
//! cells are too scattered for tiles. Tiles without messages can be computed during communication.
//!
//! Guarantees: planning is a pure function of the distributions and the views, so the sends of a
//! rank are the receives of its peers without any negotiation. The owner of an element of the
//! target computes it (owner-computes rule). The cost is proportional to the number of peers, not
//! of ranks.
//!
//! ```text
//! step               the plan and its steps
//! operand            a view of a distributed array, and the local section of one rank
//! local_cells        positions of a rank's cells of a sliced axis in its local piece
//! needs, sends       receives and sends: products over the axes of the view
//! axis_segments      one axis, split so that each operand has a single source per segment
//! cartesian_product  index tuples of a product
//! assembly           operands that are assembled, targets that are scattered
//! merge              views of one array share messages
//! tiles              the product of the segments of all axes
//! values             the values that a reduction, scan or search reads
//! reduce             reductions, scans, argmin and argmax
//! mask               selections by a mask, reductions of selected elements
//! rows               take and put of rows by index arrays
//! rounds             redistribution in rounds within a memory budget
//! estimate           messages and memory of a plan
//! explain            the text form of a plan
//! ```

pub(crate) mod assembly;
pub(crate) mod axis_segments;
pub(crate) mod cartesian_product;
pub(crate) mod estimate;
pub(crate) mod explain;
pub(crate) mod local_cells;
pub(crate) mod mask;
pub(crate) mod merge;
pub(crate) mod needs;
pub(crate) mod operand;
pub(crate) mod reduce;
pub(crate) mod rounds;
pub(crate) mod rows;
pub(crate) mod sends;
pub(crate) mod step;
pub(crate) mod tiles;
pub(crate) mod values;

pub use crate::error::PlanError;
pub use crate::plan::step::{
    AssembleStep, AssemblyPart, AssemblySource, CellCopy, Plan, PlanTile, ReceiveStep, SendStep,
    StridedCells, TileSource,
};
pub use crate::view::axis_mapping::{AxisMapping, MappedAxis};
pub use estimate::PlanEstimate;
pub use mask::{MaskPlan, MaskedCombineStep, MaskedReducePlan};
pub use operand::PlanOperand;
pub use reduce::argminmax::ArgReducePlan;
pub use reduce::distribution::reduction_distribution;
pub use reduce::pairwise::{PairwiseSum, SumShare};
pub use reduce::pipeline::RankPipeline;
pub use reduce::scan::ScanPlan;
pub use reduce::{CombineStep, ReducePlan, ResultStep};
pub use rounds::{MemoryBudget, round_steps};
pub use rows::{PutPlan, RowBlocks, TakePlan};
pub use values::{PlanValues, RankContext, ValueInput, ValuesStep};

/// Plans an assignment for one rank.
///
/// ```
/// use dappled::plan::{AxisMapping, PlanOperand, plan};
/// use dappled::protocol::Distribution;
/// use dappled::protocol::slice::{KeyItem, SliceKey};
///
/// // u[1:] = u[:-1], where u has 8 elements in blocks over 2 ranks
/// let u = Distribution::spec(&[8]).nprocs(2).build()?;
/// let slice = |start, stop| -> Result<PlanOperand, Box<dyn std::error::Error>> {
///     let key = SliceKey::new(&[KeyItem::Slice(start, stop, None)], &[8])?;
///     Ok(PlanOperand::new(&u, AxisMapping::from_key(&key))?)
/// };
/// let plan = plan(&slice(Some(1), None)?, &[slice(None, Some(-1))?], 1)?;
/// assert_eq!(plan.to_string(), "\
/// receive 1 elements of operand 0 from rank 0
/// tile (0):(1) at (0), operand 0 in message 0 at (0)
/// tile (1):(4) at (1), operand 0 in the local piece at (0)
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(target: &PlanOperand, operands: &[PlanOperand], rank: u64) -> Result<Plan, PlanError> {
    let distinct: Vec<usize> = (0..operands.len()).collect();
    plan_with_shared_bases(target, operands, &distinct, rank)
}

/// Plans an assignment in which operands may be views of one array.
///
/// `bases` has a number for each operand; operands with equal numbers are views of the same array.
/// Each peer sends the cells that they have in common once.
pub fn plan_with_shared_bases(
    target: &PlanOperand,
    operands: &[PlanOperand],
    bases: &[usize],
    rank: u64,
) -> Result<Plan, PlanError> {
    let shape = target.shape();
    for (index, operand) in operands.iter().enumerate() {
        if operand.shape() != shape {
            return Err(PlanError::Shape { operand: index, shape: operand.shape(), target: shape });
        }
    }
    let mut plan = Plan::default();
    if shape.contains(&0) {
        return Ok(plan);
    }
    for (index, operand) in operands.iter().enumerate() {
        plan.sends.extend(sends::plan_sends(target, operand, index, rank));
    }
    if let Some(piece) = target.local_section(rank).filter(|piece| !piece.lengths.contains(&0)) {
        tiles::TileBuilder::new(target, &piece, operands, rank).fill_plan(&mut plan);
    }
    merge::merge_messages(&mut plan, (target, operands), bases, rank);
    Ok(plan)
}
