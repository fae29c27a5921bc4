//! L14 to L16: cyclic dimensions.

use super::dim_draft::{DimDraft, DistType, MAX_INT};
use super::{Rule, RuleCheck, RuleResult};
use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::value::Value;

/// The block size.
pub static L14: Rule = Rule {
    id: "L14",
    text: "cyclic: `block_size` an int >= 1, absent means 1",
    check: RuleCheck::Dimension(l14),
};

/// The first index.
pub static L15: Rule = Rule {
    id: "L15",
    text: "cyclic: `start` == rank * block_size, or the size where that is past the end",
    check: RuleCheck::Dimension(l15),
};

/// The extent of a cyclic dimension.
pub static L16: Rule = Rule {
    id: "L16",
    text: "cyclic: the number of owned indices == buffer.shape[i]",
    check: RuleCheck::Dimension(l16),
};

fn l14(dim: &mut DimDraft<'_>) -> RuleResult {
    if dim.kind == DistType::Cyclic && dim.get("block_size").is_some() {
        dim.block_size = dim.int(&L14, "block_size", 1..=MAX_INT)?;
    }
    Ok(())
}

fn l15(dim: &mut DimDraft<'_>) -> RuleResult {
    let (rank, block_size) = (i128::from(dim.grid_rank), i128::from(dim.block_size));
    let (start, size) = (rank * block_size, i128::from(dim.size));
    let right = match dim.get("start") {
        Some(Value::Int(value)) => *value == start || (start > size && *value == size),
        _ => false,
    };
    if dim.kind != DistType::Cyclic || right {
        return Ok(());
    }
    let or = if start > size { format!(", or the size {size}") } else { String::new() };
    let expected = format!("rank {rank} * block_size {block_size} = {start}{or}");
    Err(dim.key_error(&L15, "start", expected))
}

fn l16(dim: &mut DimDraft<'_>) -> RuleResult {
    let DimDraft { size, grid_size, grid_rank, block_size, .. } = *dim;
    let (DistType::Cyclic, Some(extent)) = (dim.kind, dim.extent) else { return Ok(()) };
    let kind = DimKind::Cyclic { block_size };
    let owned = Dim { size, grid_size, grid_rank, periodic: false, kind }.owned();
    if owned == extent {
        return Ok(());
    }
    let expected = format!(
        "{owned}, what rank {grid_rank} of {grid_size} owns of {size} in blocks of {block_size}"
    );
    let error = ProtocolError::new(&L16, expected).with_key("buffer");
    Err(error.with_value(format_args!("the extent {extent}")))
}
