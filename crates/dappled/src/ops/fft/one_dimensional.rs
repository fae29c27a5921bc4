//! Transforms of lines that are distributed over all ranks.
//!
//! A line is transformed as a matrix by the four-step algorithm, real values with half of the work.
//! A length without a suitable matrix, such as a prime, uses Bluestein's algorithm (1970).

use std::f64::consts::PI;

use dappled_fft::Direction;
use dappled_kernels::element::typed_mut;
use dappled_kernels::{DType, Op, Scalar, View};
use dappled_protocol::slice::KeyItem;
use num_complex::Complex64;

use super::four_step::LineMatrix;
use super::{FftKind, FftStep, block_ranges, with_dtype};
use crate::array::Array;
use crate::dispatch::ufunc;
use crate::error::Result;
use crate::error::RunError;
use crate::session::Session;
use crate::view::memory_order::inverse_permutation;

/// Transforms an array along an axis, one line after another. Collective.
pub(super) fn transform_lines(array: &Array, step: &FftStep) -> Result<Array> {
    let (session, ndim) = (array.session(), array.shape().len());
    if ndim == 1 {
        return transform_line(array, step)?.in_default_distribution();
    }
    let order: Vec<usize> =
        (0..ndim).filter(|&axis| axis != step.axis).chain([step.axis]).collect();
    let last = array.transposed(&order);
    let (outer, length) = (&last.shape()[..ndim - 1], last.shape()[ndim - 1]);
    let count = outer.iter().product();
    let lines = last.reshaped_copy(&[count, length])?;
    let dtype = step.output_dtype(array.dtype());
    let result = zeros(session, &[count, step.output_length()], dtype);
    for index in 0..count as i64 {
        let line = transform_line(&lines.slice(&[KeyItem::Index(index)])?, step)?;
        result.slice(&[KeyItem::Index(index)])?.assign(&line)?;
    }
    let shape = [outer, &[step.output_length()]].concat();
    result.reshaped_copy(&shape)?.transposed(&inverse_permutation(&order)).cast_copy(dtype)
}

fn zeros(session: &Session, shape: &[usize], dtype: DType) -> Array {
    Array::filled(session, shape, Scalar::new(0.0).cast(dtype))
}

/// A slice of a line.
fn slice(line: &Array, start: usize, stop: usize) -> Result<Array> {
    line.slice(&[KeyItem::Slice(Some(start as i64), Some(stop as i64), None)])
}

/// The elements of a line in reverse order.
fn reverse(line: &Array) -> Result<Array> {
    line.slice(&[KeyItem::Slice(None, None, Some(-1))])
}

fn conjugate(line: &Array) -> Result<Array> {
    ufunc(line.session(), Op::Conjugate, &[line.into()])
}

/// Transforms one line, truncated or zero-padded to its length.
fn transform_line(line: &Array, step: &FftStep) -> Result<Array> {
    let dtype = step.output_dtype(line.dtype());
    let ranks = line.session().fabric().size() as usize;
    if step.kind == FftKind::HalfToReal {
        let spectrum = full_spectrum(line, step.length)?;
        return complex_transform(&spectrum, step.direction, step.scale)?.cast(dtype);
    }
    let line = resize(line, step.length)?;
    match step.kind {
        FftKind::RealToHalf if row_count(step.length, ranks) >= ranks.max(2) => {
            half_spectrum(&line, step.scale)
        }
        _ => {
            let spectrum = complex_transform(&line, step.direction, step.scale)?;
            slice(&spectrum, 0, step.output_length())?.cast_copy(dtype)
        }
    }
}

/// Truncates or zero-pads a line.
fn resize(line: &Array, length: usize) -> Result<Array> {
    let given = line.shape()[0];
    if given >= length {
        return if given == length { Ok(line.clone()) } else { slice(line, 0, length) };
    }
    let result = zeros(line.session(), &[length], line.dtype());
    slice(&result, 0, given)?.assign(line)?;
    Ok(result)
}

/// The full spectrum of real values from its first half.
///
/// The imaginary parts of the first and, for an even length, last element are ignored.
fn full_spectrum(half: &Array, length: usize) -> Result<Array> {
    let half = resize(half, length / 2 + 1)?;
    let result = zeros(half.session(), &[length], half.dtype());
    slice(&result, 0, length / 2 + 1)?.assign(&half)?;
    let mirrored = slice(&half, 1, length.div_ceil(2))?;
    slice(&result, length / 2 + 1, length)?.assign(&conjugate(&reverse(&mirrored)?)?)?;
    let mut real_elements = vec![0];
    real_elements.extend(length.is_multiple_of(2).then_some(length / 2));
    for at in real_elements {
        let real = slice(&half, at, at + 1)?.cast(half.dtype().real())?;
        slice(&result, at, at + 1)?.assign(&real)?;
    }
    Ok(result)
}

fn complex_transform(line: &Array, direction: Direction, scale: f64) -> Result<Array> {
    let (length, ranks) = (line.shape()[0], line.session().fabric().size() as usize);
    let rows = row_count(length, ranks);
    // A small length has no matrix with a row for every rank.
    if rows < ranks && length > 4 * ranks * ranks {
        return bluestein(line, direction, scale);
    }
    let matrix =
        LineMatrix { rows, columns: length / rows, computed_rows: rows, output_length: length };
    matrix.transform(line, direction, scale)
}

/// The first half of the spectrum of real values, with half of the work.
///
/// Half of the spectrum of each real column is computed. The rows then contain elements of both
/// halves of the result, and an element of the second half is the conjugate of one of the first.
fn half_spectrum(line: &Array, scale: f64) -> Result<Array> {
    let (length, ranks) = (line.shape()[0], line.session().fabric().size() as usize);
    let rows = row_count(length, ranks);
    // Real columns of even length take half of the time.
    let rows = if rows.is_multiple_of(2) { rows } else { length / rows };
    let matrix = LineMatrix {
        rows,
        columns: length / rows,
        computed_rows: rows / 2 + 1,
        output_length: length / 2 + 1,
    };
    matrix.transform(line, Direction::Forward, scale)
}

/// The rows of the matrix of a line: the largest divisor up to the square root.
///
/// Prefers a divisor that is a multiple of 8 and whose cofactor is one, too.
fn row_count(length: usize, ranks: usize) -> usize {
    let root = length.isqrt();
    let least = (root / 4).max(ranks);
    let divisors = || (1..=root).rev().filter(|size| length.is_multiple_of(*size));
    let is_aligned = |size: &usize| size.is_multiple_of(8) && (length / size).is_multiple_of(8);
    let aligned = divisors().take_while(|&size| size >= least).find(is_aligned);
    aligned.or_else(|| divisors().next()).unwrap_or(1)
}

/// Transforms a line of any length by a convolution whose length is a power of two.
fn bluestein(line: &Array, direction: Direction, scale: f64) -> Result<Array> {
    let (session, length) = (line.session(), line.shape()[0]);
    let padded = (2 * length - 1).next_power_of_two();
    let chirp = chirp(session, length, direction)?;
    let inverse_chirp = conjugate(&chirp)?;
    let signal = zeros(session, &[padded], DType::Complex128);
    slice(&signal, 0, length)?.assign(&line.multiply(&chirp)?)?;
    let kernel = zeros(session, &[padded], DType::Complex128);
    slice(&kernel, 0, length)?.assign(&inverse_chirp)?;
    let mirrored = reverse(&slice(&inverse_chirp, 1, length)?)?;
    slice(&kernel, padded - length + 1, padded)?.assign(&mirrored)?;
    let product = complex_transform(&signal, Direction::Forward, 1.0)?
        .multiply(&complex_transform(&kernel, Direction::Forward, 1.0)?)?;
    let convolution = complex_transform(&product, Direction::Inverse, scale / padded as f64)?;
    let spectrum = slice(&convolution, 0, length)?.multiply(&chirp)?;
    with_dtype(&spectrum, super::float_dtype(super::is_single(line.dtype()), true))
}

/// The chirp of Bluestein's algorithm, `exp(∓πi k²/n)`; each rank computes its block.
fn chirp(session: &Session, length: usize, direction: Direction) -> Result<Array> {
    let range = block_ranges(session, length)[session.fabric().rank() as usize].clone();
    let view = View::c_order(DType::Complex128, &[range.len()]);
    let buffer = session.buffer_pool().allocate(range.len() * 16, &view);
    let mut bytes = buffer.write().map_err(RunError::from)?;
    let sign = if direction == Direction::Forward { -PI } else { PI };
    let period = 2 * length as u128;
    for (value, at) in typed_mut::<Complex64>(&mut bytes[..range.len() * 16]).iter_mut().zip(range)
    {
        let turns = (at as u128 * at as u128 % period) as f64 / length as f64;
        *value = Complex64::cis(sign * turns);
    }
    drop(bytes);
    Ok(Array::from_owned_piece(session, session.block_distribution(&[length]), buffer, view))
}
