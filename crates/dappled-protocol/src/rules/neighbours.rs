//! C04, C05 and C08: neighbours, and the padding between them.

use super::along::{Along, Place};
use super::{Check, Rule, Verdict};
use crate::dim::DimKind;
use crate::error::ProtocolError;
use crate::version::Meaning;

/// Neighbours touch.
pub static C04: Rule = Rule {
    id: "C04",
    text: "block: neighbours are adjacent: stop of i minus its right communication padding == \
           start of i+1 plus its left communication padding (in 0.9 without the padding)",
    check: Check::Along(c04),
};

/// Padding between neighbours.
pub static C05: Rule = Rule {
    id: "C05",
    text: "communication padding: right width on i == left width on i+1, and not more than the \
           neighbour owns",
    check: Check::Along(c05),
};

/// Padding is for all or none.
pub static C08: Rule = Rule {
    id: "C08",
    text: "0.9 only: `padding` is present on all processes of a dimension or on none",
    check: Check::Along(c08),
};

fn c04(along: &Along<'_>) -> Verdict {
    along.neighbours().into_iter().try_for_each(|[here, next]| {
        let (DimKind::Block { owned: before, .. }, DimKind::Block { owned: after, .. }) =
            (&here.dim.kind, &next.dim.kind)
        else {
            return Ok(());
        };
        if before.end == after.start {
            return Ok(());
        }
        let (start, _) = next.dim.bounds(along.meaning()).unwrap_or_default();
        let right = start + i128::from(before.end) - i128::from(after.start);
        let expected = format!("{right}, as rank {} owns up to {}", here.rank, before.end);
        Err(ProtocolError::new(&C04, expected)
            .with_rank(next.rank)
            .with_key("start")
            .with_value(start))
    })
}

fn c05(along: &Along<'_>) -> Verdict {
    along.neighbours().into_iter().try_for_each(|[here, next]| {
        let (right, left) = (here.dim.right_padding(), next.dim.left_padding());
        if left != right {
            let expected =
                format!("a left width of {right}, as on the right of rank {}", here.rank);
            return Err(bad_padding(next, expected));
        }
        covered("right", right, here, next)?;
        covered("left", left, next, here)
    })
}

/// Does the neighbour own what the padding copies?
fn covered(side: &str, width: u64, place: Place<'_>, neighbour: Place<'_>) -> Verdict {
    let owned = neighbour.dim.owned();
    if width <= owned {
        return Ok(());
    }
    let expected = format!("a {side} width <= {owned}, what rank {} owns", neighbour.rank);
    Err(bad_padding(place, expected))
}

fn bad_padding(place: Place<'_>, expected: String) -> ProtocolError {
    let error = ProtocolError::new(&C05, expected).with_rank(place.rank).with_key("padding");
    error.with_value(format_args!("{:?}", place.dim.padding()))
}

fn c08(along: &Along<'_>) -> Verdict {
    let given = |place: &Place<'_>| {
        let export = along.exports.get(place.rank as usize);
        export.and_then(|export| export.padding_given.get(along.dimension)) == Some(&true)
    };
    let mut places = along.places();
    let first = places.next().is_some_and(|place| given(&place));
    let Some(other) = places.find(|place| given(place) != first) else { return Ok(()) };
    if along.meaning() == Meaning::Current {
        return Ok(());
    }
    let has = if first { "has it" } else { "does not have it" };
    let expected = format!("the key on all processes or on none, and rank 0 {has}");
    let error = ProtocolError::new(&C08, expected).with_rank(other.rank).with_key("padding");
    Err(if first { error } else { error.with_value(format_args!("{:?}", other.dim.padding())) })
}
