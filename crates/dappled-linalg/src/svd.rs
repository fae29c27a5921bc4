//! Singular value decomposition by one-sided Jacobi rotations (Hestenes, 1958).

use dappled_base::memory;

use crate::config::MAX_JACOBI_SWEEPS;
use crate::element::{inner_product, subtract_multiple};
use crate::{LinalgElement, MatrixMut};

/// A singular value decomposition `U diag(s) V^H` of an m x n matrix with m >= n.
#[derive(Clone, Debug)]
pub struct Svd<T> {
    /// The left singular vectors: m x n, column by column.
    pub u: Vec<T>,
    /// The singular values, from the largest.
    pub values: Vec<f64>,
    /// The right singular vectors, one in each column: n x n, column by column.
    pub v: Vec<T>,
}

/// Rotates pairs of columns until all are orthogonal.
pub(crate) fn decompose<T: LinalgElement>(mut a: MatrixMut<'_, T>) -> Option<Svd<T>> {
    let (m, n) = (a.rows(), a.columns());
    assert!(m >= n, "at least as many rows as columns");
    let mut v = memory::filled(T::default(), n * n);
    (0..n).for_each(|at| v[at * n + at] = T::from_f64(1.0));
    let mut v = MatrixMut::new(&mut v, n, n);
    // Scaling avoids overflow of the squares.
    let scale = (0..n).flat_map(|at| a.as_ref().column(at)).map(|value| value.magnitude());
    let scale =
        scale.fold(0.0, |most: f64, size| if size > most || size.is_nan() { size } else { most });
    if !scale.is_finite() {
        return None;
    }
    if scale > 0.0 {
        for at in 0..n {
            let inverse = T::from_f64(scale);
            a.column_mut(at).iter_mut().for_each(|value| *value = *value / inverse);
        }
    }
    let mut sweeps = 0;
    while sweep(&mut a, &mut v) {
        sweeps += 1;
        if sweeps == MAX_JACOBI_SWEEPS {
            return None;
        }
    }
    Some(sorted(a, v, scale))
}

/// Rotates every pair of columns; returns true if one was not orthogonal.
fn sweep<T: LinalgElement>(a: &mut MatrixMut<'_, T>, v: &mut MatrixMut<'_, T>) -> bool {
    let (m, n) = (a.rows(), a.columns());
    let tolerance = T::EPSILON * (m as f64).sqrt();
    let mut rotated = false;
    for first in 0..n {
        for second in first + 1..n {
            let (one, other) = pair(a, first, second);
            let squares = |column: &[T]| column.iter().map(|value| value.norm_squared()).sum();
            let (alpha, beta): (f64, f64) = (squares(one), squares(other));
            let product = inner_product(one, other);
            let size = product.magnitude();
            if size == 0.0 || size <= tolerance * alpha.sqrt() * beta.sqrt() {
                continue;
            }
            rotated = true;
            let zeta = (beta - alpha) / (2.0 * size);
            let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let phase = product.conjugate() * T::from_f64(1.0 / size);
            let angle = [T::from_f64(cosine), T::from_f64(cosine * tangent)];
            rotate(one, other, angle, phase);
            let (one, other) = pair(v, first, second);
            rotate(one, other, angle, phase);
        }
    }
    rotated
}

/// Two columns of a matrix.
fn pair<'a, T>(
    matrix: &'a mut MatrixMut<'_, T>,
    first: usize,
    second: usize,
) -> (&'a mut [T], &'a mut [T]) {
    let (rows, stride) = (matrix.rows(), matrix.stride());
    let (left, right) = matrix.elements_mut().split_at_mut(second * stride);
    (&mut left[first * stride..][..rows], &mut right[..rows])
}

/// Multiplies the second column by the phase and rotates both.
fn rotate<T: LinalgElement>(one: &mut [T], other: &mut [T], [cosine, sine]: [T; 2], phase: T) {
    for (x, y) in one.iter_mut().zip(other) {
        let turned = *y * phase;
        (*x, *y) = (cosine * *x - sine * turned, sine * *x + cosine * turned);
    }
}

/// Normalises the orthogonal columns and sorts them by their norms.
fn sorted<T: LinalgElement>(a: MatrixMut<'_, T>, v: MatrixMut<'_, T>, scale: f64) -> Svd<T> {
    let (m, n) = (a.rows(), a.columns());
    let norm =
        |at: usize| a.as_ref().column(at).iter().map(|x| x.norm_squared()).sum::<f64>().sqrt();
    let norms: Vec<f64> = memory::collect((0..n).map(norm));
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&one, &other| norms[other].total_cmp(&norms[one]));
    let (mut u, mut right) = (memory::with_capacity(m * n), memory::with_capacity(n * n));
    let least = norms.iter().fold(0.0, |most: f64, &norm| most.max(norm)) * T::EPSILON * T::EPSILON;
    for &at in &order {
        right.extend_from_slice(v.as_ref().column(at));
        let column = a.as_ref();
        let column = column.column(at);
        match norms[at] > least {
            true => u.extend(column.iter().map(|&value| value * T::from_f64(1.0 / norms[at]))),
            false => append_orthogonal(&mut u, m),
        }
    }
    Svd { u, values: memory::collect(order.iter().map(|&at| norms[at] * scale)), v: right }
}

/// Appends a unit vector that is orthogonal to all columns.
fn append_orthogonal<T: LinalgElement>(columns: &mut Vec<T>, rows: usize) {
    let count = columns.len() / rows;
    for unit in 0..rows {
        let mut vector = memory::filled(T::default(), rows);
        vector[unit] = T::from_f64(1.0);
        // Twice is enough (Kahan).
        for column in (0..2).flat_map(|_| 0..count) {
            let column = &columns[column * rows..][..rows];
            let factor = inner_product(column, &vector);
            subtract_multiple(&mut vector, factor, column);
        }
        let norm = vector.iter().map(|value| value.norm_squared()).sum::<f64>().sqrt();
        // Some unit vector keeps at least this much.
        if norm >= 0.5 / (rows as f64).sqrt() {
            let inverse = T::from_f64(1.0 / norm);
            columns.extend(vector.into_iter().map(|value| value * inverse));
            return;
        }
    }
    columns.extend(std::iter::repeat_n(T::default(), rows));
}
