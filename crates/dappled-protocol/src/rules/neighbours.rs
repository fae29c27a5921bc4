//! C04, C05 and C08: adjacency of neighbours, and the padding between them.

use super::dimension_exports::{DimensionExports, RankDim};
use super::{Rule, RuleCheck, RuleResult};
use crate::dim::DimKind;
use crate::error::ProtocolError;
use crate::version::Meaning;

/// Neighbours are adjacent.
pub static C04: Rule = Rule {
    id: "C04",
    text: "block: neighbours are adjacent: stop of i minus its right communication padding == \
           start of i+1 plus its left communication padding (in 0.9 without the padding)",
    check: RuleCheck::DimensionExports(c04),
};

/// Padding between neighbours.
pub static C05: Rule = Rule {
    id: "C05",
    text: "communication padding: right width on i == left width on i+1, and not more than the \
           neighbour owns",
    check: RuleCheck::DimensionExports(c05),
};

/// Padding is present on all ranks or none.
pub static C08: Rule = Rule {
    id: "C08",
    text: "0.9 only: `padding` is present on all processes of a dimension or on none",
    check: RuleCheck::DimensionExports(c08),
};

fn c04(exports: &DimensionExports<'_>) -> RuleResult {
    exports.neighbours().into_iter().try_for_each(|[first, next]| {
        let (DimKind::Block { owned: before, .. }, DimKind::Block { owned: after, .. }) =
            (&first.dim.kind, &next.dim.kind)
        else {
            return Ok(());
        };
        if before.end == after.start {
            return Ok(());
        }
        let (start, _) = next.dim.bounds(exports.meaning()).unwrap_or_default();
        let right = start + i128::from(before.end) - i128::from(after.start);
        let expected = format!("{right}, as rank {} owns up to {}", first.rank, before.end);
        Err(ProtocolError::new(&C04, expected)
            .with_rank(next.rank)
            .with_key("start")
            .with_value(start))
    })
}

fn c05(exports: &DimensionExports<'_>) -> RuleResult {
    exports.neighbours().into_iter().try_for_each(|[first, next]| {
        let (right, left) = (first.dim.right_padding(), next.dim.left_padding());
        if left != right {
            let expected =
                format!("a left width of {right}, as on the right of rank {}", first.rank);
            return Err(padding_error(next, expected));
        }
        check_neighbour_owns("right", right, first, next)?;
        check_neighbour_owns("left", left, next, first)
    })
}

/// Checks that the neighbour owns the cells that the padding copies.
fn check_neighbour_owns(
    side: &str,
    width: u64,
    rank_dim: RankDim<'_>,
    neighbour: RankDim<'_>,
) -> RuleResult {
    let owned = neighbour.dim.owned();
    if width <= owned {
        return Ok(());
    }
    let expected = format!("a {side} width <= {owned}, what rank {} owns", neighbour.rank);
    Err(padding_error(rank_dim, expected))
}

fn padding_error(rank_dim: RankDim<'_>, expected: String) -> ProtocolError {
    let error = ProtocolError::new(&C05, expected).with_rank(rank_dim.rank).with_key("padding");
    error.with_value(format_args!("{:?}", rank_dim.dim.padding()))
}

fn c08(exports: &DimensionExports<'_>) -> RuleResult {
    let has_key = |rank_dim: &RankDim<'_>| {
        let export = exports.exports.get(rank_dim.rank as usize);
        export.and_then(|export| export.has_padding_key.get(exports.dimension)) == Some(&true)
    };
    let mut places = exports.all_ranks();
    let first = places.next().is_some_and(|rank_dim| has_key(&rank_dim));
    let Some(other) = places.find(|rank_dim| has_key(rank_dim) != first) else { return Ok(()) };
    if exports.meaning() == Meaning::Current {
        return Ok(());
    }
    let has = if first { "has it" } else { "does not have it" };
    let expected = format!("the key on all processes or on none, and rank 0 {has}");
    let error = ProtocolError::new(&C08, expected).with_rank(other.rank).with_key("padding");
    Err(if first { error } else { error.with_value(format_args!("{:?}", other.dim.padding())) })
}
