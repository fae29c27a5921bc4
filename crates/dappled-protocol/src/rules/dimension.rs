//! L05 to L08: what every dimension dictionary says.

use std::borrow::Cow;

use super::draft::{Draft, Kind, LARGEST};
use super::{Check, Rule, Verdict};
use crate::error::ProtocolError;
use crate::value::{Dict, Value};
use crate::version::Meaning;

/// The empty dictionary.
pub static L05: Rule = Rule {
    id: "L05",
    text: "an empty dict (not in 0.9) means block, grid size 1, rank 0, start 0, \
           stop = size = buffer.shape[i]",
    check: Check::Dimension(l05),
};

/// The type of the distribution.
pub static L06: Rule = Rule {
    id: "L06",
    text: "`dist_type` is one of b, c, u (and n when the version is 0.9)",
    check: Check::Dimension(l06),
};

/// The size.
pub static L07: Rule =
    Rule { id: "L07", text: "`size` is an int >= 0", check: Check::Dimension(l07) };

/// The process grid.
pub static L08: Rule = Rule {
    id: "L08",
    text: "`proc_grid_size` is an int >= 1; `proc_grid_rank` an int, 0 <= rank < size of grid",
    check: Check::Dimension(l08),
};

/// The dist_types; `'n'` comes last, for only 0.9 has it.
const TYPES: [(&str, Kind); 4] = [
    ("b", Kind::Block),
    ("c", Kind::Cyclic),
    ("u", Kind::Unstructured),
    ("n", Kind::Undistributed),
];

/// The alias is written out, and the other rules read that.
fn l05(dim: &mut Draft<'_>) -> Verdict {
    if dim.meaning == Meaning::V09 || !dim.dict.is_empty() {
        return Ok(());
    }
    let expected = "an extent, to know the size of {}";
    let extent = dim.extent.ok_or_else(|| ProtocolError::new(&L05, expected))?;
    dim.dict = Cow::Owned(whole(extent));
    Ok(())
}

fn whole(extent: u64) -> Dict {
    let numbers = [
        ("size", extent),
        ("proc_grid_size", 1),
        ("proc_grid_rank", 0),
        ("start", 0),
        ("stop", extent),
    ];
    let entries = numbers.map(|(key, number)| (key.to_owned(), Value::from(number)));
    let mut dict = Dict { entries: entries.into(), strange_keys: Vec::new() };
    dict.entries.insert("dist_type".to_owned(), Value::from("b"));
    dict
}

fn l06(dim: &mut Draft<'_>) -> Verdict {
    let (known, expected) = match dim.meaning {
        Meaning::Current => (&TYPES[..3], "'b', 'c' or 'u' ('n' in 0.9 only)"),
        Meaning::V09 if dim.dict.is_empty() => (&TYPES[..], "'b', 'c', 'u' or 'n': {} is not 0.9"),
        Meaning::V09 => (&TYPES[..], "'b', 'c', 'u' or 'n'"),
    };
    let found = match dim.get("dist_type") {
        Some(Value::Text(text)) => known.iter().find(|(name, _)| name == text),
        _ => None,
    };
    let (_, kind) = found.ok_or_else(|| dim.wrong(&L06, "dist_type", expected))?;
    dim.kind = *kind;
    Ok(())
}

fn l07(dim: &mut Draft<'_>) -> Verdict {
    dim.size = dim.int(&L07, "size", 0..=LARGEST)?;
    // An undistributed dimension says no more; a block will say its own.
    dim.stop = dim.size;
    Ok(())
}

fn l08(dim: &mut Draft<'_>) -> Verdict {
    if dim.kind != Kind::Undistributed {
        dim.grid_size = dim.int(&L08, "proc_grid_size", 1..=LARGEST)?;
        dim.grid_rank = dim.int(&L08, "proc_grid_rank", 0..=dim.grid_size - 1)?;
    }
    Ok(())
}
