//! L05 to L08: keys that every dimension dictionary has.

use std::borrow::Cow;

use super::dim_draft::{DimDraft, DistType, MAX_INT};
use super::{Rule, RuleCheck, RuleResult};
use crate::error::ProtocolError;
use crate::value::{Dict, Value};
use crate::version::Meaning;

/// The empty dictionary.
pub static L05: Rule = Rule {
    id: "L05",
    text: "an empty dict (not in 0.9) means block, grid size 1, rank 0, start 0, \
           stop = size = buffer.shape[i]",
    check: RuleCheck::Dimension(l05),
};

/// The `dist_type`.
pub static L06: Rule = Rule {
    id: "L06",
    text: "`dist_type` is one of b, c, u (and n when the version is 0.9)",
    check: RuleCheck::Dimension(l06),
};

/// The size.
pub static L07: Rule =
    Rule { id: "L07", text: "`size` is an int >= 0", check: RuleCheck::Dimension(l07) };

/// The process grid.
pub static L08: Rule = Rule {
    id: "L08",
    text: "`proc_grid_size` is an int >= 1; `proc_grid_rank` an int, 0 <= rank < size of grid",
    check: RuleCheck::Dimension(l08),
};

/// The dist_types; `'n'` is last because only 0.9 has it.
const DIST_TYPES: [(&str, DistType); 4] = [
    ("b", DistType::Block),
    ("c", DistType::Cyclic),
    ("u", DistType::Unstructured),
    ("n", DistType::Undistributed),
];

/// Expands the empty dictionary for the following rules.
fn l05(dim: &mut DimDraft<'_>) -> RuleResult {
    if dim.meaning == Meaning::V09 || !dim.dict.is_empty() {
        return Ok(());
    }
    let expected = "an extent, to know the size of {}";
    let extent = dim.extent.ok_or_else(|| ProtocolError::new(&L05, expected))?;
    dim.dict = Cow::Owned(undistributed_dict(extent));
    Ok(())
}

fn undistributed_dict(extent: u64) -> Dict {
    let numbers = [
        ("size", extent),
        ("proc_grid_size", 1),
        ("proc_grid_rank", 0),
        ("start", 0),
        ("stop", extent),
    ];
    let entries = numbers.map(|(key, number)| (key.to_owned(), Value::from(number)));
    let mut dict = Dict { entries: entries.into(), non_text_keys: Vec::new() };
    dict.entries.insert("dist_type".to_owned(), Value::from("b"));
    dict
}

fn l06(dim: &mut DimDraft<'_>) -> RuleResult {
    let (known, expected) = match dim.meaning {
        Meaning::Current => (&DIST_TYPES[..3], "'b', 'c' or 'u' ('n' in 0.9 only)"),
        Meaning::V09 if dim.dict.is_empty() => {
            (&DIST_TYPES[..], "'b', 'c', 'u' or 'n': {} is not 0.9")
        }
        Meaning::V09 => (&DIST_TYPES[..], "'b', 'c', 'u' or 'n'"),
    };
    let dist_type = match dim.get("dist_type") {
        Some(Value::Text(text)) => known.iter().find(|(name, _)| name == text),
        _ => None,
    };
    let (_, kind) = dist_type.ok_or_else(|| dim.key_error(&L06, "dist_type", expected))?;
    dim.kind = *kind;
    Ok(())
}

fn l07(dim: &mut DimDraft<'_>) -> RuleResult {
    dim.size = dim.int(&L07, "size", 0..=MAX_INT)?;
    // An undistributed dimension has no other key; a block reads its own `stop`.
    dim.stop = dim.size;
    Ok(())
}

fn l08(dim: &mut DimDraft<'_>) -> RuleResult {
    if dim.kind != DistType::Undistributed {
        dim.grid_size = dim.int(&L08, "proc_grid_size", 1..=MAX_INT)?;
        dim.grid_rank = dim.int(&L08, "proc_grid_rank", 0..=dim.grid_size - 1)?;
    }
    Ok(())
}
