//! L17 and L18: unstructured dimensions.

use std::sync::Arc;

use super::dim_draft::{DimDraft, DistType};
use super::{Rule, RuleCheck, RuleResult};
use crate::value::{Buffer, Value};

/// The labels.
pub static L17: Rule = Rule {
    id: "L17",
    text: "unstructured: `indices` is a 1-D integer buffer or sequence, locally unique, \
           len == buffer.shape[i], none if size == 0",
    check: RuleCheck::Dimension(l17),
};

/// The guarantee that every label is on one rank only.
pub static L18: Rule =
    Rule { id: "L18", text: "`one_to_one`: a bool", check: RuleCheck::Dimension(l18) };

fn l17(dim: &mut DimDraft<'_>) -> RuleResult {
    if dim.kind != DistType::Unstructured {
        return Ok(());
    }
    let wrong = |expected: String| dim.key_error(&L17, "indices", expected);
    let indices = match (dim.get("indices"), dim.extent) {
        (Some(Value::WrongLength(_)), Some(extent)) => {
            Err(format!("as many as the extent {extent}"))
        }
        (value, _) => {
            let labels = value.and_then(labels);
            labels.ok_or_else(|| "a 1-D buffer or sequence of ints".to_owned())
        }
    };
    let indices = indices.map_err(wrong)?;
    if let Some(index) = first_repeated(&indices) {
        return Err(wrong(format!("each index once, not {index} again")));
    }
    let count = indices.len() as u64;
    if let Some(extent) = dim.extent.filter(|extent| *extent != count) {
        return Err(wrong(format!("as many as the extent {extent}, not {count}")));
    }
    if dim.size == 0 && count != 0 {
        return Err(wrong("none, for the size is 0".to_owned()));
    }
    dim.indices = indices;
    Ok(())
}

fn l18(dim: &mut DimDraft<'_>) -> RuleResult {
    if dim.kind == DistType::Unstructured {
        dim.one_to_one = dim.flag(&L18, "one_to_one")?;
    }
    Ok(())
}

/// Reads labels; an empty buffer is accepted whatever its element type.
fn labels(value: &Value) -> Option<Arc<[i64]>> {
    match value {
        Value::Labels(labels) => Some(labels.clone()),
        Value::List(items) => items.iter().map(label).collect(),
        Value::Buffer(Buffer { shape, .. }) if shape == &[0] => Some(Arc::new([])),
        _ => None,
    }
}

fn label(value: &Value) -> Option<i64> {
    match value {
        Value::Int(label) => i64::try_from(*label).ok(),
        _ => None,
    }
}

/// Returns the smallest label that occurs more than once.
fn first_repeated(labels: &[i64]) -> Option<i64> {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    sorted.array_windows().find(|[one, next]| one == next).map(|[one, _]| *one)
}
