//! L09 to L13: block dimensions, their padding, and `periodic`.

use super::dim_draft::{DimDraft, DistType, MAX_INT};
use super::{Rule, RuleCheck, RuleResult};
use crate::value::Value;
use crate::version::Meaning;

/// The range of a block.
pub static L09: Rule = Rule {
    id: "L09",
    text: "block: `start`, `stop` ints, 0 <= start <= stop <= size",
    check: RuleCheck::Dimension(l09),
};

/// The ends of the array.
pub static L10: Rule = Rule {
    id: "L10",
    text: "block: start == 0 where rank is 0; stop == size where rank is the last",
    check: RuleCheck::Dimension(l10),
};

/// The extent of a block.
pub static L11: Rule = Rule {
    id: "L11",
    text: "block: stop - start (in 0.9 plus communication padding) == buffer.shape[i]",
    check: RuleCheck::Dimension(l11),
};

/// The padding.
pub static L12: Rule = Rule {
    id: "L12",
    text: "`padding`: two ints >= 0, together not more than the extent",
    check: RuleCheck::Dimension(l12),
};

/// The period.
pub static L13: Rule = Rule {
    id: "L13",
    text: "`periodic`: a bool, on block only (any dimension when the version is 0.9)",
    check: RuleCheck::Dimension(l13),
};

fn l09(dim: &mut DimDraft<'_>) -> RuleResult {
    if dim.kind == DistType::Block {
        dim.start = dim.int(&L09, "start", 0..=dim.size)?;
        dim.stop = dim.int(&L09, "stop", dim.start..=dim.size)?;
    }
    Ok(())
}

fn l10(dim: &mut DimDraft<'_>) -> RuleResult {
    if dim.kind != DistType::Block {
        return Ok(());
    }
    if dim.grid_rank == 0 && dim.start != 0 {
        return Err(dim.key_error(&L10, "start", "0 on grid rank 0"));
    }
    if dim.grid_rank + 1 == dim.grid_size && dim.stop != dim.size {
        let expected = format!("the size {} on the last grid rank", dim.size);
        return Err(dim.key_error(&L10, "stop", expected));
    }
    Ok(())
}

fn l11(dim: &mut DimDraft<'_>) -> RuleResult {
    // Unreadable `padding` or `periodic` is reported by L12 or L13.
    let (Some(extent), Some(outside)) = (dim.extent, outside_cells(dim)) else { return Ok(()) };
    let (start, stop) = (i128::from(dim.start), i128::from(dim.stop));
    let right = (start + i128::from(extent)).saturating_sub(outside);
    if !dim.is_block() || stop == right {
        return Ok(());
    }
    let less = match dim.meaning {
        Meaning::Current => String::new(),
        Meaning::V09 => format!(" - communication padding {outside}"),
    };
    let (key, from) = match dim.kind {
        DistType::Undistributed => ("size", String::new()),
        _ => ("stop", format!("start {start} + ")),
    };
    Err(dim.key_error(&L11, key, format!("{from}extent {extent}{less} = {right}")))
}

fn l12(dim: &mut DimDraft<'_>) -> RuleResult {
    if !dim.is_block() {
        return Ok(());
    }
    let (padding, extent) = (padding(dim), extent(dim));
    let fits = |padding: &(u64, u64)| {
        extent.is_none_or(|extent| total_width(*padding) <= extent && extent <= MAX_INT.into())
    };
    dim.padding = padding.filter(fits).ok_or_else(|| {
        let expected = match extent {
            None => "two ints >= 0".to_owned(),
            Some(large) if large > MAX_INT.into() => "two ints >= 0, for an extent < 2**63".into(),
            Some(extent) => format!("two ints >= 0, together not more than the extent {extent}"),
        };
        dim.key_error(&L12, "padding", expected)
    })?;
    Ok(())
}

fn l13(dim: &mut DimDraft<'_>) -> RuleResult {
    let allowed = dim.is_block() || dim.meaning == Meaning::V09;
    if !allowed && dim.get("periodic").is_some() {
        let expected = "no such key: only a block dimension is periodic (any in 0.9)";
        return Err(dim.key_error(&L13, "periodic", expected));
    }
    dim.periodic = dim.flag(&L13, "periodic")?;
    Ok(())
}

/// Returns the extent of the buffer, or the one that the dictionary implies.
fn extent(dim: &DimDraft<'_>) -> Option<i128> {
    let implied = || i128::from(dim.stop - dim.start).checked_add(outside_cells(dim)?);
    dim.extent.map(i128::from).or_else(implied)
}

/// Returns the number of cells outside start and stop: in 0.9, the communication padding.
fn outside_cells(dim: &DimDraft<'_>) -> Option<i128> {
    if dim.meaning == Meaning::Current {
        return Some(0);
    }
    let periodic = dim.flag(&L13, "periodic").ok()?;
    let (left, right) = dim.communication_padding(padding_widths(dim)?, periodic);
    left.checked_add(right)
}

/// Returns the padding if both widths are valid.
fn padding(dim: &DimDraft<'_>) -> Option<(u64, u64)> {
    let (left, right) = padding_widths(dim)?;
    let natural = |width: i128| u64::try_from(width).ok().filter(|width| *width <= MAX_INT);
    Some((natural(left)?, natural(right)?))
}

/// Returns the padding widths: two ints >= 0, of any size.
fn padding_widths(dim: &DimDraft<'_>) -> Option<(i128, i128)> {
    let pair: Vec<Value> = match dim.get("padding") {
        None => return Some((0, 0)),
        Some(Value::List(items)) => items.iter().take(3).cloned().collect(),
        Some(Value::Labels(labels)) => labels.iter().take(3).map(|width| (*width).into()).collect(),
        Some(_) => return None,
    };
    match pair[..] {
        [Value::Int(left @ 0..), Value::Int(right @ 0..)] => Some((left, right)),
        _ => None,
    }
}

fn total_width((left, right): (u64, u64)) -> i128 {
    i128::from(left) + i128::from(right)
}
