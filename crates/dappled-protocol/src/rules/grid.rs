//! C02, C06 and C07: the process grid, and ownership of all elements.

use std::collections::HashMap;

use super::dimension_exports::DimensionExports;
use super::{Rule, RuleCheck, RuleResult};
use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::export::Export;

/// The process grid.
pub static C02: Rule = Rule {
    id: "C02",
    text: "the product of the `proc_grid_size`s is the number of processes; the process at grid \
           coordinates (i, j, …) is the one whose rank is their row-major index",
    check: RuleCheck::Exports(c02),
};

/// Every element of a structured dimension is owned.
pub static C06: Rule = Rule {
    id: "C06",
    text: "the owned counts of a structured dimension sum to `size`",
    check: RuleCheck::DimensionExports(c06),
};

/// Every label of a one-to-one dimension is owned once.
pub static C07: Rule = Rule {
    id: "C07",
    text: "unstructured with `one_to_one` True: no global index on two processes, and the \
           counts sum to `size`",
    check: RuleCheck::DimensionExports(c07),
};

fn c02(exports: &[Export]) -> RuleResult {
    let Some(first) = exports.first() else {
        return Err(ProtocolError::new(&C02, "at least one process"));
    };
    // A 0-d array has no grid: every rank holds the value.
    if first.dims.is_empty() {
        return Ok(());
    }
    let processes = exports.len() as u64;
    let sizes: Vec<u64> = first.dims.iter().map(|dim| dim.grid_size).collect();
    let product = sizes.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
    if product != Some(processes) {
        let expected = format!("grid sizes with the product {processes}, the number of processes");
        return Err(ProtocolError::new(&C02, expected)
            .with_key("proc_grid_size")
            .with_value(format_args!("{sizes:?}")));
    }
    (0..).zip(exports).try_for_each(|(rank, export)| check_coordinates(rank, export, &sizes))
}

/// Checks that the grid ranks are the row-major coordinates of the rank.
fn check_coordinates(rank: u64, export: &Export, sizes: &[u64]) -> RuleResult {
    let mut stride: u64 = sizes.iter().product();
    for (dimension, (dim, size)) in export.dims.iter().zip(sizes).enumerate() {
        stride /= size;
        let coordinate = rank / stride % size;
        if dim.grid_rank != coordinate {
            let expected = format!("{coordinate}, its row-major coordinate in the grid {sizes:?}");
            let error = ProtocolError::new(&C02, expected).with_rank(rank);
            let error = error.with_dimension(dimension).with_key("proc_grid_rank");
            return Err(error.with_value(dim.grid_rank));
        }
    }
    Ok(())
}

fn c06(exports: &DimensionExports<'_>) -> RuleResult {
    check_owned_sum(&C06, exports, |dim| !matches!(dim.kind, DimKind::Unstructured { .. }))
}

fn c07(exports: &DimensionExports<'_>) -> RuleResult {
    let mut owners = HashMap::new();
    for rank_dim in exports.grid_line() {
        let DimKind::Unstructured { indices, one_to_one: true } = &rank_dim.dim.kind else {
            continue;
        };
        for index in indices.iter() {
            if let Some(other) = owners.insert(*index, rank_dim.rank) {
                let expected = format!("each on one process, but rank {other} has {index} too");
                let error = ProtocolError::new(&C07, expected).with_rank(rank_dim.rank);
                return Err(error.with_key("indices").with_value(index));
            }
        }
    }
    check_owned_sum(&C07, exports, |dim| {
        matches!(dim.kind, DimKind::Unstructured { one_to_one: true, .. })
    })
}

/// Checks that the grid ranks together own `size` elements.
fn check_owned_sum(
    rule: &'static Rule,
    exports: &DimensionExports<'_>,
    concerns: fn(&Dim) -> bool,
) -> RuleResult {
    let line = exports.grid_line();
    let Some(first) = line.first().filter(|rank_dim| concerns(rank_dim.dim)) else { return Ok(()) };
    let sum: u128 = line.iter().map(|rank_dim| u128::from(rank_dim.dim.owned())).sum();
    if sum == u128::from(first.dim.size) {
        return Ok(());
    }
    let expected = format!("{sum}, what the grid ranks own together");
    Err(ProtocolError::new(rule, expected).with_key("size").with_value(first.dim.size))
}
