//! Making the blocks of an axis, with padding that its ranks have room for.

use super::spec::{AxisSpec, Padding};
use super::spec_axis::wrong;
use crate::axis::{AxisMap, Block, Bounds, Edges, Kind};
use crate::error::ProtocolError;
use crate::rules;

impl AxisSpec {
    pub(super) fn build_block(&self, ranks: u64) -> Result<AxisMap, ProtocolError> {
        let bounds = match &self.bounds {
            Some(bounds) => Bounds::new(bounds),
            None => Bounds::Regular { size: self.size, grid: ranks },
        };
        let edges = self.edges(&bounds)?;
        let mut block = Block::new(bounds, edges);
        block.periodic = self.periodic;
        block.undistributed = self.kind == Some('n');
        Ok(Kind::Block(block).into())
    }

    /// The padding, checked against what the ranks own.
    fn edges(&self, bounds: &Bounds) -> Result<Edges, ProtocolError> {
        let edges = match &self.padding {
            None => return Ok(Edges::Uniform(0)),
            Some(Padding::Uniform(width)) => {
                check_uniform(*width, bounds)?;
                let mut edges = 0..=bounds.grid();
                let anywhere = bounds.size() > 0 && edges.any(|edge| bounds.touches_cells(edge));
                Edges::Uniform(if anywhere { *width } else { 0 })
            }
            Some(Padding::Edges(widths)) => {
                let ranks = bounds.grid();
                if widths.len() as u64 != ranks + 1 {
                    let expected = format!("{} edge widths for {ranks} ranks", ranks + 1);
                    return wrong(&rules::L12, "padding", format!("{widths:?}"), expected);
                }
                let on_cells = |(edge, &width): (usize, &u64)| {
                    if bounds.touches_cells(edge as u64) { width } else { 0 }
                };
                let widths: Vec<u64> = widths.iter().enumerate().map(on_cells).collect();
                for edge in 0..=ranks {
                    check_edge(widths[edge as usize], edge, bounds)?;
                }
                Edges::new(&widths, bounds)
            }
        };
        check_boundaries(&edges, bounds)?;
        Ok(edges)
    }
}

/// Wide everywhere alike: only the shortest ranges need a look, and regular ones are all alike
/// but the last that is not empty.
fn check_uniform(width: u64, bounds: &Bounds) -> Result<(), ProtocolError> {
    let Bounds::Regular { size, grid } = *bounds else {
        let mut edges = (0..=bounds.grid()).filter(|&edge| bounds.touches_cells(edge));
        return edges.try_for_each(|edge| check_edge(width, edge, bounds));
    };
    let last_full = size.checked_div(size.div_ceil(grid)).unwrap_or(0);
    [1, last_full]
        .into_iter()
        .filter(|&edge| bounds.touches_cells(edge))
        .try_for_each(|edge| check_edge(width, edge, bounds))
}

/// Communication padding is a copy of cells that the neighbour owns.
fn check_edge(width: u64, edge: u64, bounds: &Bounds) -> Result<(), ProtocolError> {
    if edge == 0 || edge == bounds.grid() {
        return Ok(());
    }
    let owned = |rank: u64| bounds.range(rank).end - bounds.range(rank).start;
    let narrow = if owned(edge - 1) < owned(edge) { edge - 1 } else { edge };
    match owned(narrow) {
        most if width > most => {
            let expected =
                format!("not more than the {most} cells that rank {narrow} of the axis owns");
            wrong(&rules::C05, "padding", format!("width {width}"), expected)
        }
        _ => Ok(()),
    }
}

/// Boundary padding is a part of what the outer ranks own.
fn check_boundaries(edges: &Edges, bounds: &Bounds) -> Result<(), ProtocolError> {
    let last = bounds.grid() - 1;
    for rank in [0, last] {
        let owned = bounds.range(rank).end - bounds.range(rank).start;
        let left = if rank == 0 { edges.at(0, bounds) } else { 0 };
        let right = if rank == last { edges.at(last + 1, bounds) } else { 0 };
        if left.saturating_add(right) > owned {
            let expected = format!(
                "boundary padding of not more than the {owned} cells that rank {rank} owns"
            );
            return wrong(&rules::L12, "padding", format!("({left}, {right})"), expected);
        }
    }
    Ok(())
}
