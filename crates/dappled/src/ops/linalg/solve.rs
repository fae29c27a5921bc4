//! Linear systems, inverses and determinants, by the LU factorisation.

use dappled_base::{interrupt, memory};
use dappled_kernels::{DType, DTypeKind, Scalar};
use dappled_linalg::{LinalgElement, MatrixMut, MatrixRef, Routines, Trans, Triangle};
use num_complex::Complex64;

use super::block_cyclic::{PanelBroadcast, PanelLayout};
use super::lu::factor;
use super::{
    LapackField, LocalColumns, OPERATION, check_square, column_blocks, dimensions, result_dtype,
    routines, with_field,
};
use crate::array::Array;
use crate::error::{LinalgError, Result};
use crate::run::collective::{allgather, allreduce, broadcast};
use crate::session::Session;

/// A determinant as a sign and the logarithm of its absolute value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDeterminant {
    /// A number of absolute value 1, or 0 for a singular matrix.
    pub sign: Complex64,
    /// The natural logarithm; -inf for a singular matrix.
    pub logarithm: f64,
    /// The dtype of the determinant.
    pub dtype: DType,
}

impl LogDeterminant {
    /// Whether the determinant is complex.
    pub fn is_complex(&self) -> bool {
        self.dtype.kind() == DTypeKind::Complex
    }

    /// The determinant.
    pub fn value(&self) -> Complex64 {
        // A real product: an infinite factor would make the imaginary part NaN.
        match !self.is_complex() {
            true => (self.sign.re * self.logarithm.exp()).into(),
            false => self.sign * self.logarithm.exp(),
        }
    }
}

impl Array {
    /// Solves `a x = b` for a square matrix and a matrix of right-hand sides. Collective.
    ///
    /// Fails if the matrix is singular.
    pub fn solve(&self, sides: &Array) -> Result<Array> {
        let order = check_square(self)?;
        let dtype = result_dtype(&[self, sides]);
        match *sides.shape() {
            [rows, _] if rows == order => {}
            _ => return Err(LinalgError::Sides { order, shape: sides.shape().to_vec() }.into()),
        }
        if sides.view().is_empty() {
            return Ok(Array::filled(self.session(), sides.shape(), Scalar::new(0u8).cast(dtype)));
        }
        with_field!(dtype, T => {
            let distribution = column_blocks(self.session(), dimensions(sides));
            let columns = LocalColumns::<T>::copy(sides, distribution)?;
            solve_columns(self, columns, sides.shape()[1], dtype)
        })
    }

    /// The inverse of a square matrix. Collective.
    ///
    /// Fails if the matrix is singular.
    pub fn inv(&self) -> Result<Array> {
        let (session, dtype, order) = (self.session(), result_dtype(&[self]), check_square(self)?);
        if order == 0 {
            return Ok(Array::filled(session, &[0, 0], Scalar::new(0u8).cast(dtype)));
        }
        let distribution = column_blocks(session, [order; 2]);
        let first = distribution.global(session.fabric().rank(), &[0, 0]);
        with_field!(dtype, T => {
            let columns = LocalColumns::<T>::zeros(session, distribution)?;
            columns.with_elements(|elements| {
                let first = first.map_or(0, |index| index[0] as usize);
                let diagonal = elements.iter_mut().skip(first).step_by(order + 1);
                diagonal.for_each(|element| *element = T::from_f64(1.0));
                Ok(())
            })?;
            solve_columns(self, columns, order, dtype)
        })
    }

    /// The determinant of a square matrix, as a sign and a logarithm. Collective.
    pub fn slogdet(&self) -> Result<LogDeterminant> {
        let (session, dtype) = (self.session(), result_dtype(&[self]));
        check_square(self)?;
        let layout = PanelLayout::new(session, dimensions(self));
        with_field!(dtype, T => {
            let columns = LocalColumns::<T>::copy(self, layout.distribution())?;
            let (swaps, diagonal) = columns.with_elements(|elements| {
                let mut matrix = layout.matrix(elements);
                let swaps = factor(session, &layout, matrix.reborrow(), None)?;
                Ok((swaps, local_diagonal(&layout, matrix.as_ref())))
            })?;
            let local = diagonal.into_iter().map(|value| Complex64::new(value.real(), value.imaginary()));
            log_determinant(session, local, swaps, dtype)
        })
    }
}

/// Combines the diagonal elements of all ranks into a determinant. Collective.
fn log_determinant(
    session: &Session,
    diagonal: impl Iterator<Item = Complex64>,
    swaps: usize,
    dtype: DType,
) -> Result<LogDeterminant> {
    let one = Complex64::new(if swaps.is_multiple_of(2) { 1.0 } else { -1.0 }, 0.0);
    let (mut sign, mut logarithm) = (Complex64::new(1.0, 0.0), 0.0);
    for value in diagonal {
        let size = value.norm();
        sign = if size == 0.0 { Complex64::default() } else { sign * (value / size) };
        logarithm += size.ln();
    }
    let parts = allgather(session, OPERATION, &[sign, logarithm.into()])?;
    let sign = parts.iter().fold(one, |sign, part| sign * part[0]);
    let logarithm = parts.iter().map(|part| part[1].re).sum();
    let is_singular = sign == Complex64::default();
    let logarithm = if is_singular { f64::NEG_INFINITY } else { logarithm };
    Ok(LogDeterminant { sign, logarithm, dtype })
}

/// The elements of this rank's panels on the diagonal.
fn local_diagonal<T: LapackField>(layout: &PanelLayout, matrix: MatrixRef<'_, T>) -> Vec<T> {
    let panels =
        layout.local_panels().map(|panel| (layout.range(panel), layout.local_range(panel)));
    let diagonal = panels.flat_map(|(rows, columns)| rows.zip(columns));
    memory::collect(diagonal.map(|(row, column)| matrix.column(column)[row]))
}

/// Solves for this rank's columns of right-hand sides. Collective.
fn solve_columns<T: LapackField>(
    matrix: &Array,
    sides: LocalColumns<T>,
    count: usize,
    dtype: DType,
) -> Result<Array> {
    let session = matrix.session();
    let layout = PanelLayout::new(session, dimensions(matrix));
    let columns = LocalColumns::<T>::copy(matrix, layout.distribution())?;
    let local = sides.columns();
    columns.with_elements(|elements| {
        let mut matrix = layout.matrix(elements);
        sides.with_elements(|sides| {
            let mut sides = MatrixMut::new(sides, layout.rows(), local);
            factor(session, &layout, matrix.reborrow(), Some(sides.reborrow()))?;
            let matrix = matrix.as_ref();
            let is_zero = local_diagonal(&layout, matrix).contains(&T::default());
            if allreduce(session, OPERATION, &[u8::from(is_zero)], u8::max)? != [0] {
                return Err(LinalgError::Singular.into());
            }
            match count <= layout.width() {
                true => solve_on_owners(session, &layout, matrix, sides),
                false => solve_by_panels(session, &layout, matrix, sides),
            }
        })
    })?;
    sides.into_array(session, dtype)
}

/// Back substitution for few right-hand sides, which travel to the owners of the panels. Collective.
fn solve_on_owners<T: LapackField>(
    session: &Session,
    layout: &PanelLayout,
    matrix: MatrixRef<'_, T>,
    mut sides: MatrixMut<'_, T>,
) -> Result<()> {
    let (rank, rows) = (session.fabric().rank() as usize, layout.rows());
    let parts = allgather(session, OPERATION, &sides.as_ref().to_vec())?;
    let first = parts[..rank].iter().map(Vec::len).sum::<usize>() / rows;
    let mut all = memory::with_capacity(parts.iter().map(Vec::len).sum());
    parts.iter().for_each(|part| all.extend_from_slice(part));
    let count = all.len() / rows;
    let mut all = MatrixMut::new(&mut all, rows, count);
    for panel in (0..layout.panels()).rev() {
        interrupt::poll();
        let stop = layout.range(panel).end;
        let mut solved = Vec::new();
        if layout.owns(panel) {
            let columns = matrix.block(0..stop, layout.local_range(panel));
            solve_panel(routines::<T>(session), columns, all.block(0..stop, 0..count));
            solved = all.as_ref().block(0..stop, 0..count).to_vec();
        }
        let solved = broadcast(session, OPERATION, layout.owner(panel), solved)?;
        all.block(0..stop, 0..count).copy_from(MatrixRef::new(&solved, stop, count));
    }
    let columns = sides.columns();
    sides.copy_from(all.as_ref().block(0..rows, first..first + columns));
    Ok(())
}

/// Back substitution for many right-hand sides, to which panels are broadcast. Collective.
fn solve_by_panels<T: LapackField>(
    session: &Session,
    layout: &PanelLayout,
    matrix: MatrixRef<'_, T>,
    mut sides: MatrixMut<'_, T>,
) -> Result<()> {
    let start = |panel: usize| {
        let columns = |panel| matrix.block(0..layout.range(panel).end, layout.local_range(panel));
        let own = layout.owns(panel).then(|| (Vec::new(), columns(panel).to_vec()));
        PanelBroadcast::start(session, layout.owner(panel), own)
    };
    let mut pending = None;
    for panel in (0..layout.panels()).rev() {
        interrupt::poll();
        let sent = match pending.take() {
            Some(sent) => sent,
            None => start(panel)?,
        };
        if panel > 0 {
            pending = Some(start(panel - 1)?);
        }
        let (received, range) = (sent.wait()?, layout.range(panel));
        let columns = sides.columns();
        if columns > 0 {
            let panel = received.matrix(range.len());
            solve_panel(routines::<T>(session), panel, sides.block(0..range.end, 0..columns));
        }
    }
    Ok(())
}

/// Solves with the diagonal block of a panel of U, and updates the right-hand sides above it.
fn solve_panel<T: LapackField>(
    routines: &dyn Routines<T>,
    panel: MatrixRef<'_, T>,
    mut sides: MatrixMut<'_, T>,
) {
    let (stop, width, count) = (panel.rows(), panel.columns(), sides.columns());
    let start = stop - width;
    let corner = panel.block(start..stop, 0..width);
    routines.trsm(Triangle::Upper, corner, sides.block(start..stop, 0..count));
    let solved = sides.as_ref().block(start..stop, 0..count).to_vec();
    let solved = (Trans::None, MatrixRef::new(&solved, width, count));
    let above = (Trans::None, panel.block(0..start, 0..width));
    let one = T::from_f64(1.0);
    routines.gemm(-one, above, solved, one, sides.block(0..start, 0..count));
}
