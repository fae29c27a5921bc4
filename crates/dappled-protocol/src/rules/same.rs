//! C01 and C03: what is the same on several processes.

use super::along::Along;
use super::{Check, Rule, Verdict};
use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::export::Export;
use crate::format::dtype;
use crate::value::{Buffer, Value};
use crate::version::Meaning;

/// What is the same on all processes.
pub static C01: Rule = Rule {
    id: "C01",
    text: "versions of one meaning (0.9.x; or 0.10 and later), the same dtype, number of \
           dimensions, `dist_type`, `size`, `proc_grid_size`, `block_size`, `periodic`, \
           `one_to_one` per dimension everywhere",
    check: Check::Exports(c01),
};

/// What is the same on the processes of one grid rank.
pub static C03: Rule = Rule {
    id: "C03",
    text: "all processes with the same `proc_grid_rank` in a dimension have the same dictionary \
           for it, but for the boundary entries of `padding`",
    check: Check::Along(c03),
};

/// A key, and what a dimension says of it.
type Fact = (&'static str, fn(&Dim, Meaning) -> Value);

/// What all processes say alike of a dimension. In 0.9, `'n'` is a block on a grid of 1.
const EVERYWHERE: [Fact; 6] = [
    ("dist_type", |dim, _| dim.dist_type(Meaning::Current).into()),
    ("size", |dim, _| dim.size.into()),
    ("proc_grid_size", |dim, _| dim.grid_size.into()),
    ("block_size", |dim, _| match dim.kind {
        DimKind::Cyclic { block_size } => block_size.into(),
        _ => 1u64.into(),
    }),
    ("periodic", |dim, _| dim.periodic.into()),
    ("one_to_one", |dim, _| {
        matches!(dim.kind, DimKind::Unstructured { one_to_one: true, .. }).into()
    }),
];

/// What the processes of one grid rank say alike, besides. Boundary padding is not of it.
const ON_A_GRID_RANK: [Fact; 4] = [
    ("start", |dim, meaning| Value::Int(dim.bounds(meaning).unwrap_or_default().0)),
    ("stop", |dim, meaning| Value::Int(dim.bounds(meaning).unwrap_or_default().1)),
    ("padding", |dim, _| Value::Other(format!("communication padding {:?}", dim.communication()))),
    ("indices", |dim, _| match &dim.kind {
        DimKind::Unstructured { indices, .. } => Value::Labels(indices.clone()),
        _ => Value::List(Vec::new()),
    }),
];

fn c01(exports: &[Export]) -> Verdict {
    let Some((first, others)) = exports.split_first() else { return Ok(()) };
    let others = || (1u64..).zip(others);
    others()
        .try_for_each(|(rank, other)| as_a_whole(other, first).map_err(|e| e.with_rank(rank)))?;
    first.dims.iter().enumerate().try_for_each(|(dimension, like)| {
        others().try_for_each(|(rank, other)| {
            let dims = [&other.dims[dimension], like];
            let found = compare(&C01, &EVERYWHERE, dims, (first.meaning, 0));
            found.map_err(|error| error.with_rank(rank).with_dimension(dimension))
        })
    })
}

fn as_a_whole(export: &Export, first: &Export) -> Verdict {
    let differs = |key, found: String, expected: String| {
        let error = ProtocolError::new(&C01, expected).with_key(key);
        Err(error.with_value(found))
    };
    if export.meaning != first.meaning {
        let expected = format!("a version that means the same as {} on rank 0", first.version);
        return differs("__version__", export.version.to_string(), expected);
    }
    if let (Some(found), Some(like)) = (&export.buffer, &first.buffer)
        && dtype(found) != dtype(like)
    {
        return differs("buffer", shown(found), format!("{}, as on rank 0", shown(like)));
    }
    let (found, expected) = (export.dims.len(), first.dims.len());
    if found != expected {
        let expected = format!("{expected}, as on rank 0");
        return differs("dim_data", format!("{found} dimensions"), expected);
    }
    Ok(())
}

fn shown(buffer: &Buffer) -> String {
    format!("the format '{}' of {} bytes", buffer.format, buffer.itemsize)
}

fn c03(along: &Along<'_>) -> Verdict {
    let line = along.line();
    along.places().try_for_each(|place| {
        let Some(like) = line.get(place.dim.grid_rank as usize) else { return Ok(()) };
        let (dims, meaning) = ([place.dim, like.dim], along.meaning());
        let found = compare(&C03, &ON_A_GRID_RANK, dims, (meaning, like.rank));
        found.map_err(|error| error.with_rank(place.rank))
    })
}

/// Does the dimension say what another one, that of rank `like`, does?
fn compare(
    rule: &'static Rule,
    facts: &[Fact],
    [dim, other]: [&Dim; 2],
    (meaning, like): (Meaning, u64),
) -> Verdict {
    let values = facts.iter().map(|(key, fact)| (*key, fact(dim, meaning), fact(other, meaning)));
    match values.into_iter().find(|(_, found, expected)| found != expected) {
        None => Ok(()),
        Some((key, found, expected)) => {
            let error = ProtocolError::new(rule, format!("{expected}, as on rank {like}"));
            Err(error.with_key(key).with_value(found))
        }
    }
}
