//! Compares every transform with the sum that defines it.

use std::f64::consts::TAU;

use dappled_fft::parts::{
    ColumnBlock, MatrixPart, StackedParts, transform_columns, transform_rows,
};
use dappled_fft::{
    Direction, Float, Lines, TransformInput, complex, complex_to_real, real_to_complex,
};
use num_complex::Complex;
use proptest::prelude::*;

type Values = Vec<Complex<f64>>;

/// Returns reproducible pseudo-random numbers.
fn random_numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    (0..count).map(next).collect()
}

fn complex_numbers(count: usize, seed: u64) -> Values {
    random_numbers(2 * count, seed).chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
}

/// Transforms one line by definition. Reduces exponents modulo n, so that long lines are precise.
fn by_definition(line: &[Complex<f64>], n: usize, sign: f64) -> Values {
    let root = |m: usize| Complex::cis(sign * TAU * ((m % n) as f64 / n as f64));
    let term = |k: usize, j: usize| line[j] * root(j * k);
    (0..n).map(|k| (0..n.min(line.len())).map(|j| term(k, j)).sum()).collect()
}

/// Transforms all lines by definition and keeps `keep` elements of each.
fn expected(source: &[Complex<f64>], lines: Lines, sign: f64, keep: usize) -> Values {
    let mut output = vec![Complex::default(); lines.groups * keep * lines.inner];
    for group in 0..lines.groups {
        for place in 0..lines.inner {
            let at = |length: usize, j: usize| (group * length + j) * lines.inner + place;
            let line: Values =
                (0..lines.input_length).map(|j| source[at(lines.input_length, j)]).collect();
            let values = by_definition(&line, lines.length, sign);
            (0..keep).for_each(|k| output[at(keep, k)] = values[k]);
        }
    }
    output
}

/// Completes a half spectrum by its conjugate mirror image.
fn mirrored(half: &[Complex<f64>], lines: Lines) -> (Values, Lines) {
    let n = lines.length;
    let mut whole = vec![Complex::default(); lines.groups * n * lines.inner];
    for group in 0..lines.groups {
        for place in 0..lines.inner {
            for k in 0..(n / 2 + 1).min(lines.input_length) {
                let mut value = half[(group * lines.input_length + k) * lines.inner + place];
                if k == 0 || 2 * k == n {
                    value.im = 0.0;
                }
                whole[(group * n + (n - k) % n) * lines.inner + place] = value.conj();
                whole[(group * n + k) * lines.inner + place] = value;
            }
        }
    }
    (whole, Lines { input_length: n, ..lines })
}

/// The error of an FFT grows with the logarithm of the length.
fn assert_close(actual: &[Complex<f64>], reference: &[Complex<f64>], epsilon: f64, n: usize) {
    assert_eq!(actual.len(), reference.len());
    let size = reference.iter().map(|value| value.norm()).fold(1.0, f64::max);
    let bound = 8.0 * epsilon * size * (n as f64).log2().max(1.0);
    for (k, (one, other)) in actual.iter().zip(reference).enumerate() {
        assert!((one - other).norm() <= bound, "{k}: {one} is not {other}, n = {n}");
    }
}

fn check_complex(lines: Lines, direction: Direction, seed: u64) {
    let sign = if direction == Direction::Forward { -1.0 } else { 1.0 };
    let source = complex_numbers(lines.groups * lines.input_length * lines.inner, seed);
    let reference = expected(&source, lines, sign, lines.length);
    let mut actual = vec![Complex::default(); reference.len()];
    complex(
        TransformInput::Complex(&source),
        &mut actual,
        lines,
        direction,
        1.0,
        &mut between(lines),
    );
    assert_close(&actual, &reference, f64::EPSILON, lines.length);
    if lines.input_length == lines.length {
        actual.copy_from_slice(&source);
        complex(TransformInput::InPlace, &mut actual, lines, direction, 1.0, &mut between(lines));
        assert_close(&actual, &reference, f64::EPSILON, lines.length);
    }
    let narrow: Vec<_> = source.iter().map(|v| Complex::new(v.re as f32, v.im as f32)).collect();
    let mut actual = vec![Complex::default(); reference.len()];
    complex(
        TransformInput::Complex(&narrow),
        &mut actual,
        lines,
        direction,
        1.0,
        &mut between(lines),
    );
    assert_close(&widened(&actual), &reference, f64::from(f32::EPSILON), lines.length);
}

fn between<T: Float>(lines: Lines) -> Vec<Complex<T>> {
    vec![Complex::default(); lines.workspace_len()]
}

fn widened<T: Float + Into<f64>>(values: &[Complex<T>]) -> Values {
    values.iter().map(|value| Complex::new(value.re.into(), value.im.into())).collect()
}

fn check_real(lines: Lines, seed: u64) {
    let source = random_numbers(lines.groups * lines.input_length * lines.inner, seed);
    let as_complex: Values = source.iter().map(|&re| Complex::new(re, 0.0)).collect();
    let whole = expected(&as_complex, lines, -1.0, lines.length);
    let mut actual = vec![Complex::default(); whole.len()];
    complex(
        TransformInput::Real(&source),
        &mut actual,
        lines,
        Direction::Forward,
        1.0,
        &mut between(lines),
    );
    assert_close(&actual, &whole, f64::EPSILON, lines.length);
    let reference = expected(&as_complex, lines, -1.0, lines.length / 2 + 1);
    let mut actual = vec![Complex::default(); reference.len()];
    real_to_complex(&source, &mut actual, lines, 1.0, &mut between(lines));
    assert_close(&actual, &reference, f64::EPSILON, lines.length);
}

fn check_to_real(lines: Lines, seed: u64) {
    let source = complex_numbers(lines.groups * lines.input_length * lines.inner, seed);
    let (whole, all) = mirrored(&source, lines);
    let reference = expected(&whole, all, 1.0, lines.length);
    let mut actual = vec![0.0; reference.len()];
    complex_to_real(&source, &mut actual, lines, 1.0, &mut between(lines));
    let actual: Values = actual.iter().map(|&re| Complex::new(re, 0.0)).collect();
    assert_close(&actual, &reference, f64::EPSILON, lines.length);
}

fn any_lines() -> impl Strategy<Value = Lines> {
    (1..4usize, 1..70usize, 1..70usize, 1..12usize, any::<bool>()).prop_map(
        |(groups, given, length, inner, same)| {
            let given = if same { length } else { given };
            Lines { groups, input_length: given, length, inner }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn transforms_match_the_definition(lines in any_lines(), inverse: bool, seed: u64) {
        let direction = if inverse { Direction::Inverse } else { Direction::Forward };
        check_complex(lines, direction, seed);
        check_real(lines, seed);
        check_to_real(lines, seed);
    }

    #[test]
    fn the_scale_multiplies(length in 1..50usize, scale in 0.1..3.0) {
        let lines = Lines { groups: 1, input_length: length, length, inner: 1 };
        let source = complex_numbers(length, 1);
        let mut actual = vec![Complex::default(); length];
        complex(TransformInput::Complex(&source), &mut actual, lines, Direction::Forward, scale, &mut between(lines));
        let reference = expected(&source, lines, -1.0, length);
        let reference: Values = reference.iter().map(|value| value * scale).collect();
        assert_close(&actual, &reference, f64::EPSILON, length);
    }

    /// A line as a matrix in parts: rows split for the first pass, columns for the second.
    #[test]
    fn distributed_passes_match_the_whole(
        height in 1..13usize,
        width in 1..40usize,
        cut in any::<prop::sample::Index>(),
        inverse in any::<bool>(),
    ) {
        let (n, direction) = (height * width, [Direction::Forward, Direction::Inverse][usize::from(inverse)]);
        let source = complex_numbers(n, 5);
        let upper = cut.index(height + 1) * width;
        let part = |values, first_column| MatrixPart { values, stride: width, first_column };
        let parts = |first| StackedParts::Complex(vec![part(&source[..upper], first), part(&source[upper..], first)]);
        let left = cut.index(width + 1);
        let halves = [(0, left), (left, width - left)].map(|(first, count)| {
            let mut output = vec![Complex::default(); height * count];
            if count > 0 {
                transform_columns(&parts(first), &mut output, ColumnBlock { width: count, height, first, line_length: n }, direction);
            }
            (output, count)
        });
        let mut actual = vec![Complex::default(); n];
        transform_rows(&halves.each_ref().map(|(output, count)| (&output[..], *count)), &mut actual, direction, 1.0);
        let sign = if inverse { 1.0 } else { -1.0 };
        assert_close(&actual, &by_definition(&source, n, sign), f64::EPSILON, n);
    }

    /// Columns of real numbers: full spectrum and half spectrum.
    #[test]
    fn real_columns_match_complex_columns(height in 1..13usize, width in 1..40usize, cut in 0..13usize) {
        let source = random_numbers(height * width, 3);
        let wide: Values = source.iter().map(|&value| value.into()).collect();
        let (which, at) = (ColumnBlock { width, height, first: 7, line_length: 1000 }, cut.min(height) * width);
        let mut reference = vec![Complex::default(); height * width];
        let whole = MatrixPart { values: &wide[..], stride: width, first_column: 0 };
        transform_columns(&StackedParts::Complex(vec![whole]), &mut reference, which, Direction::Forward);
        let part = |values| MatrixPart { values, stride: width, first_column: 0 };
        let parts = StackedParts::Real(vec![part(&source[..at]), part(&source[at..])]);
        for kept in [height, height / 2 + 1] {
            let mut actual = vec![Complex::default(); kept * width];
            transform_columns(&parts, &mut actual, which, Direction::Forward);
            assert_close(&actual, &reference[..kept * width], f64::EPSILON, height);
        }
    }
}

/// Lengths for the four-step algorithm: many divisors, few divisors, and prime. The definition is
/// too slow for them, so the test transforms single frequencies.
#[test]
fn long_lines_have_the_right_frequencies() {
    for length in [1 << 18, 540_000, 2 * 131_101, 3 * 87_403, 262_147] {
        for frequency in [0, 1, 77, length / 2, length - 1] {
            let root = |j: usize| {
                let turn = (j as u128 * frequency as u128 % length as u128) as f64 / length as f64;
                Complex::cis(TAU * turn)
            };
            let source: Values = (0..length).map(root).collect();
            let lines = Lines { groups: 1, input_length: length, length, inner: 1 };
            let mut actual = vec![Complex::default(); length];
            complex(
                TransformInput::Complex(&source),
                &mut actual,
                lines,
                Direction::Forward,
                1.0,
                &mut between(lines),
            );
            let mut reference = vec![Complex::default(); length];
            reference[frequency].re = length as f64;
            assert_close(&actual, &reference, f64::EPSILON, length);
        }
    }
}

/// Long real lines, truncated and zero-padded, give the same as complex lines.
#[test]
fn long_real_lines_match_complex_lines() {
    for (length, given) in [(1 << 19, 1 << 19), (1_080_000, 1_000_003), (540_002, 600_000)] {
        let source = random_numbers(given, 7);
        let lines = Lines { groups: 1, input_length: given, length, inner: 1 };
        let mut whole = vec![Complex::default(); length];
        complex(
            TransformInput::Real(&source),
            &mut whole,
            lines,
            Direction::Forward,
            1.0,
            &mut between(lines),
        );
        let mut half = vec![Complex::default(); length / 2 + 1];
        real_to_complex(&source, &mut half, lines, 1.0, &mut between(lines));
        assert_close(&half, &whole[..=length / 2], f64::EPSILON, length);
        let mut back = vec![0.0; length];
        let lines = Lines { input_length: length / 2 + 1, ..lines };
        complex_to_real(&half, &mut back, lines, 1.0 / length as f64, &mut between(lines));
        let padded = (0..length).map(|j| source.get(j).copied().unwrap_or_default());
        assert!(padded.zip(&back).all(|(one, other)| (one - other).abs() < 1e-14));
    }
}
