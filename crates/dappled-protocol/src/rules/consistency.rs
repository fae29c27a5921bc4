//! C01 and C03: keys that must be equal on several ranks.

use super::dimension_exports::DimensionExports;
use super::{Rule, RuleCheck, RuleResult};
use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::export::Export;
use crate::format::dtype;
use crate::value::{Buffer, Value};
use crate::version::Meaning;

/// Keys that are equal on all ranks.
pub static C01: Rule = Rule {
    id: "C01",
    text: "versions of one meaning (0.9.x; or 0.10 and later), the same dtype, number of \
           dimensions, `dist_type`, `size`, `proc_grid_size`, `block_size`, `periodic`, \
           `one_to_one` per dimension everywhere",
    check: RuleCheck::Exports(c01),
};

/// Keys that are equal on all ranks of one grid rank.
pub static C03: Rule = Rule {
    id: "C03",
    text: "all processes with the same `proc_grid_rank` in a dimension have the same dictionary \
           for it, but for the boundary entries of `padding`",
    check: RuleCheck::DimensionExports(c03),
};

/// A key, and its value for a dimension.
type ComparedKey = (&'static str, fn(&Dim, Meaning) -> Value);

/// The keys that all ranks share. In 0.9, `'n'` is a block on a grid of 1.
const GLOBAL_KEYS: [ComparedKey; 6] = [
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

/// The keys that the ranks of one grid rank share, without boundary padding.
const GRID_RANK_KEYS: [ComparedKey; 4] = [
    ("start", |dim, meaning| Value::Int(dim.bounds(meaning).unwrap_or_default().0)),
    ("stop", |dim, meaning| Value::Int(dim.bounds(meaning).unwrap_or_default().1)),
    ("padding", |dim, _| {
        Value::Other(format!("communication padding {:?}", dim.communication_padding()))
    }),
    ("indices", |dim, _| match &dim.kind {
        DimKind::Unstructured { indices, .. } => Value::Labels(indices.clone()),
        _ => Value::List(Vec::new()),
    }),
];

fn c01(exports: &[Export]) -> RuleResult {
    let Some((first, others)) = exports.split_first() else { return Ok(()) };
    let others = || (1u64..).zip(others);
    others().try_for_each(|(rank, other)| {
        compare_exports(other, first).map_err(|e| e.with_rank(rank))
    })?;
    first.dims.iter().enumerate().try_for_each(|(dimension, like)| {
        others().try_for_each(|(rank, other)| {
            let dims = [&other.dims[dimension], like];
            let value = compare_dims(&C01, &GLOBAL_KEYS, dims, (first.meaning, 0));
            value.map_err(|error| error.with_rank(rank).with_dimension(dimension))
        })
    })
}

fn compare_exports(export: &Export, first: &Export) -> RuleResult {
    let differs = |key, value: String, expected: String| {
        let error = ProtocolError::new(&C01, expected).with_key(key);
        Err(error.with_value(value))
    };
    if export.meaning != first.meaning {
        let expected = format!("a version that means the same as {} on rank 0", first.version);
        return differs("__version__", export.version.to_string(), expected);
    }
    if let (Some(value), Some(like)) = (&export.buffer, &first.buffer)
        && dtype(value) != dtype(like)
    {
        return differs(
            "buffer",
            buffer_text(value),
            format!("{}, as on rank 0", buffer_text(like)),
        );
    }
    let (value, expected) = (export.dims.len(), first.dims.len());
    if value != expected {
        let expected = format!("{expected}, as on rank 0");
        return differs("dim_data", format!("{value} dimensions"), expected);
    }
    Ok(())
}

fn buffer_text(buffer: &Buffer) -> String {
    format!("the format '{}' of {} bytes", buffer.format, buffer.itemsize)
}

fn c03(exports: &DimensionExports<'_>) -> RuleResult {
    let line = exports.grid_line();
    exports.all_ranks().try_for_each(|rank_dim| {
        let Some(like) = line.get(rank_dim.dim.grid_rank as usize) else { return Ok(()) };
        let (dims, meaning) = ([rank_dim.dim, like.dim], exports.meaning());
        let value = compare_dims(&C03, &GRID_RANK_KEYS, dims, (meaning, like.rank));
        value.map_err(|error| error.with_rank(rank_dim.rank))
    })
}

/// Compares the keys of a dimension with those of rank `like`.
fn compare_dims(
    rule: &'static Rule,
    facts: &[ComparedKey],
    [dim, other]: [&Dim; 2],
    (meaning, like): (Meaning, u64),
) -> RuleResult {
    let values = facts.iter().map(|(key, fact)| (*key, fact(dim, meaning), fact(other, meaning)));
    match values.into_iter().find(|(_, value, expected)| value != expected) {
        None => Ok(()),
        Some((key, value, expected)) => {
            let error = ProtocolError::new(rule, format!("{expected}, as on rank {like}"));
            Err(error.with_key(key).with_value(value))
        }
    }
}
