//! LU factorisation with partial pivoting of a distributed matrix.
//!
//! The rank that owns a panel factors it: it has whole columns, so all pivot candidates. The others
//! receive the panel and its row swaps, and update their columns of the matrix and of the right-hand
//! sides while the next panel is on its way. The factor L is never stored.

use dappled_base::{interrupt, memory};
use dappled_linalg::{MatrixMut, MatrixRef, Routines, Trans, Triangle};

use super::block_cyclic::{FactoredPanel, PanelBroadcast, PanelLayout};
use super::{LapackField, routines};
use crate::error::Result;
use crate::session::Session;

/// Reduces a matrix to U, and applies the same operations to right-hand sides. Collective.
///
/// Returns the number of row swaps.
pub(super) fn factor<T: LapackField>(
    session: &Session,
    layout: &PanelLayout,
    mut matrix: MatrixMut<'_, T>,
    mut sides: Option<MatrixMut<'_, T>>,
) -> Result<usize> {
    let routines = routines::<T>(session);
    let (rows, mut swaps) = (layout.rows(), 0);
    let mut pending = match layout.panels() {
        0 => None,
        _ => Some(broadcast_factored(session, layout, &mut matrix, 0)?),
    };
    for panel in 0..layout.panels() {
        interrupt::poll();
        let Some(sent) = pending.take() else { break };
        let (factored, start) = (sent.wait()?, layout.range(panel).start);
        swaps += (0..).zip(&factored.integers).filter(|(row, pivot)| row != *pivot).count();
        let pivots = pivots_of(&factored);
        let update = |columns: MatrixMut<'_, T>| {
            apply_panel(routines, factored.matrix(layout.range(panel).len()), &pivots, columns)
        };
        let next = panel + 1;
        if next < layout.panels() {
            // The next panel first, so that its broadcast overlaps with the other updates.
            if layout.owns(next) {
                update(matrix.block(start..rows, layout.local_range(next)));
            }
            pending = Some(broadcast_factored(session, layout, &mut matrix, next)?);
            let columns = matrix.columns();
            update(matrix.block(start..rows, layout.local_end(next)..columns));
        }
        if let Some(sides) = &mut sides {
            let columns = sides.columns();
            update(sides.block(start..rows, 0..columns));
        }
    }
    Ok(swaps)
}

fn pivots_of<T>(panel: &FactoredPanel<T>) -> Vec<usize> {
    memory::collect(panel.integers.iter().map(|&pivot| pivot as usize))
}

/// Factors a panel on its owner, and starts its broadcast. Collective.
fn broadcast_factored<T: LapackField>(
    session: &Session,
    layout: &PanelLayout,
    matrix: &mut MatrixMut<'_, T>,
    panel: usize,
) -> Result<PanelBroadcast<T>> {
    let factored = layout.owns(panel).then(|| {
        let rows = layout.range(panel).start..layout.rows();
        let mut pivots = vec![0; layout.range(panel).len().min(rows.len())];
        let mut columns = matrix.block(rows, layout.local_range(panel));
        routines::<T>(session).getrf(columns.reborrow(), &mut pivots);
        (pivots.into_iter().map(|pivot| pivot as u64).collect(), columns.as_ref().to_vec())
    });
    PanelBroadcast::start(session, layout.owner(panel), factored)
}

/// Updates columns with a factored panel: swaps rows, solves with L, and subtracts L U.
fn apply_panel<T: LapackField>(
    routines: &dyn Routines<T>,
    panel: MatrixRef<'_, T>,
    pivots: &[usize],
    mut columns: MatrixMut<'_, T>,
) {
    let (rows, width, count) = (columns.rows(), pivots.len(), columns.columns());
    if count == 0 {
        return;
    }
    columns.apply_pivots(pivots);
    let corner = panel.block(0..width, 0..width);
    routines.trsm(Triangle::UnitLower, corner, columns.block(0..width, 0..count));
    let top = columns.as_ref().block(0..width, 0..count).to_vec();
    let top = (Trans::None, MatrixRef::new(&top, width, count));
    let below = (Trans::None, panel.block(width..rows, 0..width));
    let one = T::from_f64(1.0);
    routines.gemm(-one, below, top, one, columns.block(width..rows, 0..count));
}
