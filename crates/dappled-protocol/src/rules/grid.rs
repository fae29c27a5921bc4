//! C02, C06 and C07: all processes together are the grid, and hold the array.

use std::collections::HashMap;

use super::along::Along;
use super::{Check, Rule, Verdict};
use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::export::Export;

/// The process grid.
pub static C02: Rule = Rule {
    id: "C02",
    text: "the product of the `proc_grid_size`s is the number of processes; the process at grid \
           coordinates (i, j, …) is the one whose rank is their row-major index",
    check: Check::Exports(c02),
};

/// All that is structured is owned.
pub static C06: Rule = Rule {
    id: "C06",
    text: "the owned counts of a structured dimension sum to `size`",
    check: Check::Along(c06),
};

/// All that is one-to-one is owned once.
pub static C07: Rule = Rule {
    id: "C07",
    text: "unstructured with `one_to_one` True: no global index on two processes, and the \
           counts sum to `size`",
    check: Check::Along(c07),
};

fn c02(exports: &[Export]) -> Verdict {
    let Some(first) = exports.first() else {
        return Err(ProtocolError::new(&C02, "at least one process"));
    };
    // A 0-d array has no grid: each process holds the value.
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
    (0..).zip(exports).try_for_each(|(rank, export)| coordinates(rank, export, &sizes))
}

/// Are the grid ranks of a process the row-major coordinates of its rank?
fn coordinates(rank: u64, export: &Export, sizes: &[u64]) -> Verdict {
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

fn c06(along: &Along<'_>) -> Verdict {
    sums_to_size(&C06, along, |dim| !matches!(dim.kind, DimKind::Unstructured { .. }))
}

fn c07(along: &Along<'_>) -> Verdict {
    let mut owners = HashMap::new();
    for place in along.line() {
        let DimKind::Unstructured { indices, one_to_one: true } = &place.dim.kind else { continue };
        for index in indices.iter() {
            if let Some(other) = owners.insert(*index, place.rank) {
                let expected = format!("each on one process, but rank {other} has {index} too");
                let error = ProtocolError::new(&C07, expected).with_rank(place.rank);
                return Err(error.with_key("indices").with_value(index));
            }
        }
    }
    sums_to_size(&C07, along, |dim| {
        matches!(dim.kind, DimKind::Unstructured { one_to_one: true, .. })
    })
}

/// Do the grid ranks own as many elements together as there are?
fn sums_to_size(rule: &'static Rule, along: &Along<'_>, concerns: fn(&Dim) -> bool) -> Verdict {
    let line = along.line();
    let Some(first) = line.first().filter(|place| concerns(place.dim)) else { return Ok(()) };
    let sum: u128 = line.iter().map(|place| u128::from(place.dim.owned())).sum();
    if sum == u128::from(first.dim.size) {
        return Ok(());
    }
    let expected = format!("{sum}, what the grid ranks own together");
    Err(ProtocolError::new(rule, expected).with_key("size").with_value(first.dim.size))
}
