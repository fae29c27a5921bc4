//! QR factorisation by Householder reflections, with the signs of LAPACK.

use dappled_base::memory;

use crate::element::{inner_product, subtract_multiple};
use crate::{LinalgElement, MatrixMut};

/// Replaces the first columns by Q, and returns R column by column.
pub(crate) fn factor<T: LinalgElement>(mut a: MatrixMut<'_, T>) -> Vec<T> {
    let (rows, columns) = (a.rows(), a.columns());
    let count = rows.min(columns);
    let mut taus = memory::filled(T::default(), count);
    for (at, tau) in taus.iter_mut().enumerate() {
        let (mut done, mut rest) = a.split_columns(at + 1);
        let column = &mut done.column_mut(at)[at..];
        *tau = reflector(column);
        let diagonal = std::mem::replace(&mut column[0], T::from_f64(1.0));
        for later in 0..rest.columns() {
            reflect(column, tau.conjugate(), &mut rest.column_mut(later)[at..]);
        }
        column[0] = diagonal;
    }
    let mut r = memory::filled(T::default(), count * columns);
    for at in 0..columns {
        let length = count.min(at + 1);
        r[at * count..][..length].copy_from_slice(&a.column_mut(at)[..length]);
    }
    form_q(a, &taus);
    r
}

/// Makes the reflector `1 - tau v v^H` that maps a column to a multiple of its first unit vector.
///
/// The first element becomes that multiple; v is 1 followed by the other elements.
fn reflector<T: LinalgElement>(column: &mut [T]) -> T {
    let (alpha, below) = (column[0], norm(&column[1..]));
    if below == 0.0 && alpha.imaginary() == 0.0 {
        return T::default();
    }
    let beta = T::from_f64(-alpha.magnitude().hypot(below).copysign(alpha.real()));
    let scale = alpha - beta;
    column[1..].iter_mut().for_each(|value| *value = *value / scale);
    column[0] = beta;
    (beta - alpha) / beta
}

/// The norm of a vector, without overflow of the squares.
fn norm<T: LinalgElement>(vector: &[T]) -> f64 {
    let largest = vector.iter().map(|value| value.magnitude()).fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_finite() {
        // A NaN is not larger than anything.
        return vector.iter().map(|value| value.magnitude()).fold(largest, |sum, size| sum + size);
    }
    let scaled = vector.iter().map(|value| value.magnitude() / largest);
    largest * scaled.map(|size| size * size).sum::<f64>().sqrt()
}

/// Applies the reflector `1 - tau v v^H` to a vector.
fn reflect<T: LinalgElement>(v: &[T], tau: T, vector: &mut [T]) {
    if tau != T::default() {
        let factor = tau * inner_product(v, vector);
        subtract_multiple(vector, factor, v);
    }
}

/// Multiplies the reflectors below the diagonal into Q, from the last to the first.
fn form_q<T: LinalgElement>(mut a: MatrixMut<'_, T>, taus: &[T]) {
    for at in (0..taus.len()).rev() {
        let (mut done, mut rest) = a.split_columns(at + 1);
        let column = done.column_mut(at);
        column[at] = T::from_f64(1.0);
        for later in 0..rest.columns().min(taus.len() - at - 1) {
            reflect(&column[at..], taus[at], &mut rest.column_mut(later)[at..]);
        }
        column[..at].fill(T::default());
        for value in &mut column[at..] {
            *value = -taus[at] * *value;
        }
        column[at] += T::from_f64(1.0);
    }
}
