//! From what is needed to what one rank does: a pure function, the same on every rank.
//!
//! In comes an assignment `target = f(operands)`, element by element: for the target and each
//! operand where its base lies, and how the view that is written or read runs through it. Out comes
//! a [`Plan`]: what the rank sends and receives, and the *tiles* of its piece of the target, in each
//! of which every operand lies in one place: in the rank's own memory, as it is, or in one message.
//! So nothing is copied that need not be, and tiles that need no message can be computed while
//! messages travel. An operand that lies too scattered for tiles is *moved* first, into memory laid
//! out as the rank's piece of the target; a target that lies scattered is computed in such memory.
//!
//! The owner of a piece of the target computes it. Everything follows from the distributions
//! alone: what one rank plans to send, its peer plans to receive, without a word.
//!
//! ```text
//! through        how the axes of a view run through its base
//! places         where a rank's cells of a part of an axis lie in its piece
//! operand        a base and a view of it; what one rank has of it
//! needs, sends   who needs what from whom: a product over the axes of the view
//! axis           one axis, cut so that along each cut every operand lies in one place
//! copies         what is moved, what is scattered
//! merge          views of one array share messages
//! tiles          the product of the cuts
//! steps          what comes out; `explain` writes it as text
//! reduce         where an array has to lie to be reduced without a change of order
//! rounds         moves within a budget of memory
//! estimate       what one of many ranks would send, receive and hold
//! ```

mod axis;
mod copies;
mod estimate;
mod explain;
mod merge;
mod needs;
mod operand;
mod places;
mod product;
mod reduce;
mod rounds;
mod sends;
mod steps;
mod through;
mod tiles;

use dappled_protocol::exchange::ExchangeError;

pub use estimate::Estimate;
pub use operand::Operand;
pub use reduce::for_reduction;
pub use rounds::{Budget, round_steps};
pub use steps::{CellCopy, Cells, Move, Origin, Part, Plan, Receive, Send, Source, Tile};
pub use through::{Along, Through};

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// An operand of another shape than the target.
    #[error("operand {operand} has the shape {found:?}, the target {target:?}")]
    Shape {
        /// Which operand.
        operand: usize,
        /// Its shape.
        found: Vec<u64>,
        /// The target's.
        target: Vec<u64>,
    },
    /// An operand or target that can't be exchanged.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
}

/// The plan of one rank.
///
/// ```
/// use dappled::plan::{Operand, Through, plan};
/// use dappled::protocol::Distribution;
/// use dappled::protocol::slice::{Item, Key};
///
/// // u[1:] = u[:-1], u of 8 elements in blocks over 2 ranks
/// let u = Distribution::spec(&[8]).nprocs(2).build()?;
/// let part = |start, stop| -> Result<Operand, Box<dyn std::error::Error>> {
///     let key = Key::new(&[Item::Slice(start, stop, None)], &[8])?;
///     Ok(Operand::new(&u, Through::of_key(&key))?)
/// };
/// let plan = plan(&part(Some(1), None)?, &[part(None, Some(-1))?], 1)?;
/// assert_eq!(plan.to_string(), "\
/// receive 1 of operand 0 from rank 0
/// tile (0):(1) at (0), operand 0 in message 0 at (0)
/// tile (1):(4) at (1), operand 0 in the piece at (0)
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(target: &Operand, operands: &[Operand], rank: u64) -> Result<Plan, PlanError> {
    let distinct: Vec<usize> = (0..operands.len()).collect();
    plan_sharing(target, operands, &distinct, rank)
}

/// The same where some operands are views of the same array, each said by a number: what they need
/// of a peer comes once.
pub fn plan_sharing(
    target: &Operand,
    operands: &[Operand],
    bases: &[usize],
    rank: u64,
) -> Result<Plan, PlanError> {
    let shape = target.shape();
    for (number, operand) in operands.iter().enumerate() {
        if operand.shape() != shape {
            return Err(PlanError::Shape {
                operand: number,
                found: operand.shape(),
                target: shape,
            });
        }
    }
    let mut plan = Plan::default();
    if shape.contains(&0) {
        return Ok(plan);
    }
    for (number, operand) in operands.iter().enumerate() {
        plan.sends.extend(sends::sends(target, operand, number, rank));
    }
    if let Some(piece) = target.own(rank).filter(|piece| !piece.lengths.contains(&0)) {
        tiles::Tiles::new(target, &piece, operands, rank).fill(&mut plan);
    }
    merge::merge(&mut plan, (target, operands), bases, rank);
    Ok(plan)
}
