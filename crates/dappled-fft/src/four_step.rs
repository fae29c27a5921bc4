//! Four-step FFT of long lines (Bailey, 1990): column transforms, twiddle factors, row transforms.
//!
//! The line is treated as a matrix, so all threads have work and every piece of it fits into a
//! cache.

use num_complex::Complex;

use crate::batched::{LineGrid, LineStrides, transform_batches};
use crate::disjoint_slice::DisjointSlice;
use crate::plan_cache::Float;
use crate::real_packing::{pack_element, unpack_spectrum};
use crate::transforms::{ComplexTransform, LineTransform};
use crate::twiddles::{Twiddles, apply_twiddles};
use crate::{Direction, Lines, TransformInput, read_slice};

/// Transforms complex lines one after the other.
pub fn complex<T: Float>(
    input: TransformInput<'_, T>,
    target: &mut [Complex<T>],
    lines: Lines,
    direction: Direction,
    scale: T,
    workspace: &mut [Complex<T>],
) {
    let four_step = FourStep::new(lines.length, direction);
    for (index, output) in target.chunks_exact_mut(lines.length).enumerate() {
        let input_range = index * lines.input_length..(index + 1) * lines.input_length;
        let output = DisjointSlice::new(output);
        match input {
            TransformInput::Complex(source) => four_step.transform(
                read_zero_padded(&source[input_range]),
                output,
                scale,
                workspace,
            ),
            TransformInput::Real(source) => {
                let read = zero_padded(&source[input_range]);
                let real = |at| Complex::new(read(at), T::zero());
                four_step.transform(read_by_element(real), output, scale, workspace);
            }
            TransformInput::InPlace => {
                // SAFETY: the target is written only after all of it was read into the workspace.
                let read = |at, values: &mut [_]| unsafe { output.read(at, values) };
                four_step.transform(read, output, scale, workspace);
            }
        }
    }
}

/// Transforms lines with an even number of real values.
pub fn real_to_complex<T: Float>(
    source: &[T],
    target: &mut [Complex<T>],
    lines: Lines,
    scale: T,
    workspace: &mut [Complex<T>],
) {
    let half = lines.length / 2;
    let four_step = FourStep::new(half, Direction::Forward);
    let twiddles = Twiddles::new(lines.length, Direction::Forward);
    for (index, output) in target.chunks_exact_mut(half + 1).enumerate() {
        let read =
            zero_padded(&source[index * lines.input_length..(index + 1) * lines.input_length]);
        let packed = |at| Complex::new(read(2 * at), read(2 * at + 1));
        four_step.transform(
            read_by_element(packed),
            DisjointSlice::new(&mut output[..half]),
            T::one(),
            workspace,
        );
        unpack_spectrum(output, &twiddles, scale);
    }
}

/// Transforms half spectra into lines with an even number of real values.
pub fn complex_to_real<T: Float>(
    source: &[Complex<T>],
    target: &mut [T],
    lines: Lines,
    scale: T,
    workspace: &mut [Complex<T>],
) {
    let half = lines.length / 2;
    let four_step = FourStep::new(half, Direction::Inverse);
    let twiddles = Twiddles::new(lines.length, Direction::Inverse);
    for (index, output) in target.chunks_exact_mut(lines.length).enumerate() {
        let read =
            zero_padded(&source[index * lines.input_length..(index + 1) * lines.input_length]);
        let ends = |at| Complex { im: T::zero(), ..read(at) };
        let packed = |at| match at {
            0 => pack_element(ends(0), ends(half), twiddles.at(0)),
            _ => pack_element(read(at), read(half - at), twiddles.at(at)),
        };
        let output = DisjointSlice::new(bytemuck::cast_slice_mut(output));
        four_step.transform(read_by_element(packed), output, scale, workspace);
    }
}

/// Returns a function that reads an element, or zero behind the end.
fn zero_padded<V: Copy + Default>(input: &[V]) -> impl Fn(usize) -> V {
    |at| input.get(at).copied().unwrap_or_default()
}

/// Returns a function that reads consecutive elements, with zeros behind the end.
fn read_zero_padded<V: Copy + Default + Sync>(input: &[V]) -> impl Fn(usize, &mut [V]) + Sync {
    |at, values| {
        let rest = &input[at.min(input.len())..];
        let (known, beyond) = values.split_at_mut(rest.len().min(values.len()));
        known.copy_from_slice(&rest[..known.len()]);
        beyond.fill(V::default());
    }
}

/// Returns a function that reads consecutive elements one by one.
fn read_by_element<V>(read: impl Fn(usize) -> V + Sync) -> impl Fn(usize, &mut [V]) + Sync {
    move |at, values| (at..).zip(values).for_each(|(at, value)| *value = read(at))
}

/// The row and column transforms of lines of one length.
struct FourStep<T> {
    rows: ComplexTransform<T>,
    columns: ComplexTransform<T>,
    twiddles: Twiddles<T>,
}

impl<T: Float> FourStep<T> {
    fn new(length: usize, direction: Direction) -> Self {
        let columns = largest_divisor_to_sqrt(length);
        Self {
            columns: ComplexTransform::new(columns, direction),
            rows: ComplexTransform::new(length / columns, direction),
            twiddles: Twiddles::new(length, direction),
        }
    }

    fn transform(
        &self,
        read: impl Fn(usize, &mut [Complex<T>]) + Sync,
        target: DisjointSlice<'_, Complex<T>>,
        scale: T,
        workspace: &mut [Complex<T>],
    ) {
        let (height, width) = (self.columns.input_len(), self.rows.input_len());
        let workspace = &mut workspace[..height * width];
        let down = LineStrides { group: 0, line: 1, step: width };
        let first =
            LineGrid { groups: 1, lines: width, input_length: height, from: down, to: down };
        transform_batches(
            first,
            &self.columns,
            read,
            DisjointSlice::new(workspace),
            |column, values| {
                apply_twiddles(values, column, 0, height * width, &self.twiddles);
            },
        );
        let along = LineStrides { group: 0, line: width, step: 1 };
        let transposed = LineStrides { group: 0, line: 1, step: height };
        let second =
            LineGrid { groups: 1, lines: height, input_length: width, from: along, to: transposed };
        transform_batches(second, &self.rows, read_slice(workspace), target, |_, values| {
            self.rows.scale(values, scale);
        });
    }
}

/// Returns the largest divisor up to the square root; 1 for a prime, which becomes one row.
fn largest_divisor_to_sqrt(length: usize) -> usize {
    (1..=length.isqrt()).rev().find(|&divisor| length.is_multiple_of(divisor)).unwrap_or(1)
}
