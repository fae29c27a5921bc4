//! Building of block axes, with padding that the ranks have room for.

use super::spec::{AxisSpec, Padding};
use super::spec_checks::rule_error;
use crate::axis::{AxisKind, AxisMap, BlockBounds, BlockMap, EdgePadding};
use crate::error::ProtocolError;
use crate::rules;

impl AxisSpec {
    pub(super) fn build_block(&self, ranks: u64) -> Result<AxisMap, ProtocolError> {
        let bounds = match &self.bounds {
            Some(bounds) => BlockBounds::new(bounds),
            None => BlockBounds::Regular { size: self.size, grid: ranks },
        };
        let edges = self.edge_padding(&bounds)?;
        let mut block = BlockMap::new(bounds, edges);
        block.periodic = self.periodic;
        block.undistributed = self.kind == Some('n');
        Ok(AxisKind::Block(block).into())
    }

    /// Returns the padding, checked against the owned ranges.
    fn edge_padding(&self, bounds: &BlockBounds) -> Result<EdgePadding, ProtocolError> {
        let edges = match &self.padding {
            None => return Ok(EdgePadding::Uniform(0)),
            Some(Padding::Uniform(width)) => {
                check_uniform(*width, bounds)?;
                let mut edges = 0..=bounds.grid();
                let anywhere = bounds.size() > 0 && edges.any(|edge| bounds.touches_cells(edge));
                EdgePadding::Uniform(if anywhere { *width } else { 0 })
            }
            Some(Padding::Edges(widths)) => {
                let ranks = bounds.grid();
                if widths.len() as u64 != ranks + 1 {
                    let expected = format!("{} edge widths for {ranks} ranks", ranks + 1);
                    return rule_error(&rules::L12, "padding", format!("{widths:?}"), expected);
                }
                let on_cells = |(edge, &width): (usize, &u64)| {
                    if bounds.touches_cells(edge as u64) { width } else { 0 }
                };
                let widths: Vec<u64> = widths.iter().enumerate().map(on_cells).collect();
                for edge in 0..=ranks {
                    check_edge(widths[edge as usize], edge, bounds)?;
                }
                EdgePadding::new(&widths, bounds)
            }
        };
        check_boundaries(&edges, bounds)?;
        Ok(edges)
    }
}

/// Checks a uniform width. Of regular ranges only the first and the last non-empty one can differ.
fn check_uniform(width: u64, bounds: &BlockBounds) -> Result<(), ProtocolError> {
    let BlockBounds::Regular { size, grid } = *bounds else {
        let mut edges = (0..=bounds.grid()).filter(|&edge| bounds.touches_cells(edge));
        return edges.try_for_each(|edge| check_edge(width, edge, bounds));
    };
    let last_full = size.checked_div(size.div_ceil(grid)).unwrap_or(0);
    [1, last_full]
        .into_iter()
        .filter(|&edge| bounds.touches_cells(edge))
        .try_for_each(|edge| check_edge(width, edge, bounds))
}

/// Checks that the neighbours own the cells that communication padding copies.
fn check_edge(width: u64, edge: u64, bounds: &BlockBounds) -> Result<(), ProtocolError> {
    if edge == 0 || edge == bounds.grid() {
        return Ok(());
    }
    let owned = |rank: u64| bounds.range(rank).end - bounds.range(rank).start;
    let narrow = if owned(edge - 1) < owned(edge) { edge - 1 } else { edge };
    match owned(narrow) {
        most if width > most => {
            let expected =
                format!("not more than the {most} cells that rank {narrow} of the axis owns");
            rule_error(&rules::C05, "padding", format!("width {width}"), expected)
        }
        _ => Ok(()),
    }
}

/// Checks that the outer ranks own the cells of their boundary padding.
fn check_boundaries(edges: &EdgePadding, bounds: &BlockBounds) -> Result<(), ProtocolError> {
    let last = bounds.grid() - 1;
    for rank in [0, last] {
        let owned = bounds.range(rank).end - bounds.range(rank).start;
        let left = if rank == 0 { edges.at(0, bounds) } else { 0 };
        let right = if rank == last { edges.at(last + 1, bounds) } else { 0 };
        if left.saturating_add(right) > owned {
            let expected = format!(
                "boundary padding of not more than the {owned} cells that rank {rank} owns"
            );
            return rule_error(&rules::L12, "padding", format!("({left}, {right})"), expected);
        }
    }
    Ok(())
}
