//! Cholesky factorisation of a distributed matrix.
//!
//! Right-looking: the owner of a panel factors and broadcasts it, and each rank updates its columns
//! to the right; the next panel first, so that its broadcast overlaps with the other updates.

use dappled_base::interrupt;
use dappled_linalg::{MatrixMut, MatrixRef, Routines, Trans, Triangle};

use super::block_cyclic::{PanelBroadcast, PanelLayout};
use super::{
    LapackField, LocalColumns, check_square, dimensions, result_dtype, routines, with_field,
};
use crate::array::Array;
use crate::error::{LinalgError, Result};
use crate::session::Session;

impl Array {
    /// The lower triangle L, where L times its conjugate transpose is the matrix. Collective.
    ///
    /// Reads only the lower triangle. Fails if the matrix is not positive definite.
    pub fn cholesky(&self) -> Result<Array> {
        let (session, dtype) = (self.session(), result_dtype(&[self]));
        check_square(self)?;
        let layout = PanelLayout::new(session, dimensions(self));
        with_field!(dtype, T => {
            let columns = LocalColumns::<T>::copy(self, layout.distribution())?;
            columns.with_elements(|elements| {
                let mut matrix = layout.matrix(elements);
                factor(session, &layout, matrix.reborrow())?;
                clear_upper(&layout, matrix);
                Ok(())
            })?;
            columns.into_array(session, dtype)
        })
    }
}

/// Factors the lower triangle. Collective.
fn factor<T: LapackField>(
    session: &Session,
    layout: &PanelLayout,
    mut matrix: MatrixMut<'_, T>,
) -> Result<()> {
    let mut pending = None;
    for panel in 0..layout.panels() {
        interrupt::poll();
        let sent = match pending.take() {
            Some(sent) => sent,
            None => broadcast_factored(session, layout, &mut matrix, panel)?,
        };
        let factored = sent.wait()?;
        if factored.integers != [1] {
            return Err(LinalgError::NotPositiveDefinite.into());
        }
        let (start, next) = (layout.range(panel).start, panel + 1);
        let factored = factored.matrix(layout.range(panel).len());
        let update = |matrix: &mut MatrixMut<'_, T>, later: usize| {
            let range = layout.range(later);
            let rows = factored.block(range.start - start..factored.rows(), 0..factored.columns());
            let columns = matrix.block(range.start..layout.rows(), layout.local_range(later));
            subtract_product(routines::<T>(session), rows, columns);
        };
        if next < layout.panels() {
            if layout.owns(next) {
                update(&mut matrix, next);
            }
            pending = Some(broadcast_factored(session, layout, &mut matrix, next)?);
            layout.local_panels().filter(|&later| later > next).for_each(|later| {
                update(&mut matrix, later);
            });
        }
    }
    Ok(())
}

/// Factors a panel on its owner, and starts the broadcast of it or of the failure. Collective.
fn broadcast_factored<T: LapackField>(
    session: &Session,
    layout: &PanelLayout,
    matrix: &mut MatrixMut<'_, T>,
    panel: usize,
) -> Result<PanelBroadcast<T>> {
    let factored = layout.owns(panel).then(|| {
        let (rows, width) = (layout.range(panel).start..layout.rows(), layout.range(panel).len());
        let mut columns = matrix.block(rows, layout.local_range(panel));
        let is_definite = factor_panel(routines::<T>(session), columns.reborrow(), width);
        (vec![u64::from(is_definite)], columns.as_ref().to_vec())
    });
    PanelBroadcast::start(session, layout.owner(panel), factored)
}

/// Factors a panel from the diagonal down; returns whether its corner is positive definite.
fn factor_panel<T: LapackField>(
    routines: &dyn Routines<T>,
    mut panel: MatrixMut<'_, T>,
    width: usize,
) -> bool {
    let rows = panel.rows();
    if !routines.potrf(panel.block(0..width, 0..width)) {
        return false;
    }
    let corner = panel.as_ref().block(0..width, 0..width).to_vec();
    let corner = MatrixRef::new(&corner, width, width);
    routines.trsm(Triangle::RightLowerAdjoint, corner, panel.block(width..rows, 0..width));
    true
}

/// Subtracts `P Q^H` from columns: P is the panel, Q its first rows, one for each column.
fn subtract_product<T: LapackField>(
    routines: &dyn Routines<T>,
    panel: MatrixRef<'_, T>,
    columns: MatrixMut<'_, T>,
) {
    let top = panel.block(0..columns.columns(), 0..panel.columns());
    let one = T::from_f64(1.0);
    routines.gemm(-one, (Trans::None, panel), (Trans::Adjoint, top), one, columns);
}

/// Writes zeros above the diagonal.
fn clear_upper<T: LapackField>(layout: &PanelLayout, mut matrix: MatrixMut<'_, T>) {
    for panel in layout.local_panels() {
        for (row, column) in layout.range(panel).zip(layout.local_range(panel)) {
            matrix.column_mut(column)[..row].fill(T::default());
        }
    }
}
