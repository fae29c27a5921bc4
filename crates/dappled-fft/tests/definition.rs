//! Every transform against the sum that defines it.

use std::f64::consts::TAU;

use dappled_fft::parts::{Columns, Part, Stack, columns, rows};
use dappled_fft::{Direction, Float, Given, Lines, complex, complex_to_real, real_to_complex};
use num_complex::Complex;
use proptest::prelude::*;

type Values = Vec<Complex<f64>>;

/// Numbers that look random, the same in every run.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
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
    numbers(2 * count, seed).chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
}

/// One line by definition; roots by the remainder, so that long lines are precise.
fn by_definition(line: &[Complex<f64>], n: usize, sign: f64) -> Values {
    let root = |m: usize| Complex::cis(sign * TAU * ((m % n) as f64 / n as f64));
    let term = |k: usize, j: usize| line[j] * root(j * k);
    (0..n).map(|k| (0..n.min(line.len())).map(|j| term(k, j)).sum()).collect()
}

/// All lines by definition, `keep` elements of each.
fn expected(source: &[Complex<f64>], lines: Lines, sign: f64, keep: usize) -> Values {
    let mut made = vec![Complex::default(); lines.groups * keep * lines.inner];
    for group in 0..lines.groups {
        for place in 0..lines.inner {
            let at = |length: usize, j: usize| (group * length + j) * lines.inner + place;
            let line: Values = (0..lines.given).map(|j| source[at(lines.given, j)]).collect();
            let values = by_definition(&line, lines.length, sign);
            (0..keep).for_each(|k| made[at(keep, k)] = values[k]);
        }
    }
    made
}

/// The spectrum that has only one half of it: the other is its mirror image.
fn mirrored(half: &[Complex<f64>], lines: Lines) -> (Values, Lines) {
    let n = lines.length;
    let mut whole = vec![Complex::default(); lines.groups * n * lines.inner];
    for group in 0..lines.groups {
        for place in 0..lines.inner {
            for k in 0..(n / 2 + 1).min(lines.given) {
                let mut value = half[(group * lines.given + k) * lines.inner + place];
                if k == 0 || 2 * k == n {
                    value.im = 0.0;
                }
                whole[(group * n + (n - k) % n) * lines.inner + place] = value.conj();
                whole[(group * n + k) * lines.inner + place] = value;
            }
        }
    }
    (whole, Lines { given: n, ..lines })
}

/// The error of a transform grows with the logarithm of the length: a few roundings for each step.
fn assert_close(found: &[Complex<f64>], wanted: &[Complex<f64>], epsilon: f64, n: usize) {
    assert_eq!(found.len(), wanted.len());
    let size = wanted.iter().map(|value| value.norm()).fold(1.0, f64::max);
    let bound = 8.0 * epsilon * size * (n as f64).log2().max(1.0);
    for (k, (one, other)) in found.iter().zip(wanted).enumerate() {
        assert!((one - other).norm() <= bound, "{k}: {one} is not {other}, n = {n}");
    }
}

fn check_complex(lines: Lines, direction: Direction, seed: u64) {
    let sign = if direction == Direction::Forward { -1.0 } else { 1.0 };
    let source = complex_numbers(lines.groups * lines.given * lines.inner, seed);
    let wanted = expected(&source, lines, sign, lines.length);
    let mut found = vec![Complex::default(); wanted.len()];
    complex(Given::Complex(&source), &mut found, lines, direction, 1.0, &mut between(lines));
    assert_close(&found, &wanted, f64::EPSILON, lines.length);
    if lines.given == lines.length {
        found.copy_from_slice(&source);
        complex(Given::Target, &mut found, lines, direction, 1.0, &mut between(lines));
        assert_close(&found, &wanted, f64::EPSILON, lines.length);
    }
    let narrow: Vec<_> = source.iter().map(|v| Complex::new(v.re as f32, v.im as f32)).collect();
    let mut found = vec![Complex::default(); wanted.len()];
    complex(Given::Complex(&narrow), &mut found, lines, direction, 1.0, &mut between(lines));
    assert_close(&widened(&found), &wanted, f64::from(f32::EPSILON), lines.length);
}

fn between<T: Float>(lines: Lines) -> Vec<Complex<T>> {
    vec![Complex::default(); lines.between()]
}

fn widened<T: Float + Into<f64>>(values: &[Complex<T>]) -> Values {
    values.iter().map(|value| Complex::new(value.re.into(), value.im.into())).collect()
}

fn check_real(lines: Lines, seed: u64) {
    let source = numbers(lines.groups * lines.given * lines.inner, seed);
    let as_complex: Values = source.iter().map(|&re| Complex::new(re, 0.0)).collect();
    let whole = expected(&as_complex, lines, -1.0, lines.length);
    let mut found = vec![Complex::default(); whole.len()];
    complex(Given::Real(&source), &mut found, lines, Direction::Forward, 1.0, &mut between(lines));
    assert_close(&found, &whole, f64::EPSILON, lines.length);
    let wanted = expected(&as_complex, lines, -1.0, lines.length / 2 + 1);
    let mut found = vec![Complex::default(); wanted.len()];
    real_to_complex(&source, &mut found, lines, 1.0, &mut between(lines));
    assert_close(&found, &wanted, f64::EPSILON, lines.length);
}

fn check_to_real(lines: Lines, seed: u64) {
    let source = complex_numbers(lines.groups * lines.given * lines.inner, seed);
    let (whole, all) = mirrored(&source, lines);
    let wanted = expected(&whole, all, 1.0, lines.length);
    let mut found = vec![0.0; wanted.len()];
    complex_to_real(&source, &mut found, lines, 1.0, &mut between(lines));
    let found: Values = found.iter().map(|&re| Complex::new(re, 0.0)).collect();
    assert_close(&found, &wanted, f64::EPSILON, lines.length);
}

fn any_lines() -> impl Strategy<Value = Lines> {
    (1..4usize, 1..70usize, 1..70usize, 1..12usize, any::<bool>()).prop_map(
        |(groups, given, length, inner, same)| {
            let given = if same { length } else { given };
            Lines { groups, given, length, inner }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_lines_are_transformed(lines in any_lines(), inverse: bool, seed: u64) {
        let direction = if inverse { Direction::Inverse } else { Direction::Forward };
        check_complex(lines, direction, seed);
        check_real(lines, seed);
        check_to_real(lines, seed);
    }

    #[test]
    fn a_scale_multiplies(length in 1..50usize, scale in 0.1..3.0) {
        let lines = Lines { groups: 1, given: length, length, inner: 1 };
        let source = complex_numbers(length, 1);
        let mut found = vec![Complex::default(); length];
        complex(Given::Complex(&source), &mut found, lines, Direction::Forward, scale, &mut between(lines));
        let wanted = expected(&source, lines, -1.0, length);
        let wanted: Values = wanted.iter().map(|value| value * scale).collect();
        assert_close(&found, &wanted, f64::EPSILON, length);
    }

    /// A line as a matrix in parts: its rows cut for the first step, its columns for the second.
    #[test]
    fn parts_are_transformed_as_the_whole(
        height in 1..13usize,
        width in 1..40usize,
        cut in any::<prop::sample::Index>(),
        inverse in any::<bool>(),
    ) {
        let (n, direction) = (height * width, [Direction::Forward, Direction::Inverse][usize::from(inverse)]);
        let source = complex_numbers(n, 5);
        let upper = cut.index(height + 1) * width;
        let part = |values, first| Part { values, stride: width, first };
        let parts = |first| Stack::Complex(vec![part(&source[..upper], first), part(&source[upper..], first)]);
        let left = cut.index(width + 1);
        let halves = [(0, left), (left, width - left)].map(|(first, count)| {
            let mut made = vec![Complex::default(); height * count];
            if count > 0 {
                columns(&parts(first), &mut made, Columns { width: count, height, first, order: n }, direction);
            }
            (made, count)
        });
        let mut found = vec![Complex::default(); n];
        rows(&halves.each_ref().map(|(made, count)| (&made[..], *count)), &mut found, direction, 1.0);
        let sign = if inverse { 1.0 } else { -1.0 };
        assert_close(&found, &by_definition(&source, n, sign), f64::EPSILON, n);
    }

    /// Columns of real numbers: all of their spectrum, or half of it.
    #[test]
    fn real_parts_are_transformed_as_complex_ones(height in 1..13usize, width in 1..40usize, cut in 0..13usize) {
        let source = numbers(height * width, 3);
        let wide: Values = source.iter().map(|&value| value.into()).collect();
        let (which, at) = (Columns { width, height, first: 7, order: 1000 }, cut.min(height) * width);
        let mut wanted = vec![Complex::default(); height * width];
        let whole = Part { values: &wide[..], stride: width, first: 0 };
        columns(&Stack::Complex(vec![whole]), &mut wanted, which, Direction::Forward);
        let part = |values| Part { values, stride: width, first: 0 };
        let parts = Stack::Real(vec![part(&source[..at]), part(&source[at..])]);
        for kept in [height, height / 2 + 1] {
            let mut found = vec![Complex::default(); kept * width];
            columns(&parts, &mut found, which, Direction::Forward);
            assert_close(&found, &wanted[..kept * width], f64::EPSILON, height);
        }
    }
}

/// Lengths that are cut into many short lines: with many divisors, with few, and prime. Whole lines
/// are too long for the definition, so that single frequencies are looked for.
#[test]
fn long_lines_have_the_right_frequencies() {
    for length in [1 << 18, 540_000, 2 * 131_101, 3 * 87_403, 262_147] {
        for frequency in [0, 1, 77, length / 2, length - 1] {
            let root = |j: usize| {
                let turn = (j as u128 * frequency as u128 % length as u128) as f64 / length as f64;
                Complex::cis(TAU * turn)
            };
            let source: Values = (0..length).map(root).collect();
            let lines = Lines { groups: 1, given: length, length, inner: 1 };
            let mut found = vec![Complex::default(); length];
            complex(
                Given::Complex(&source),
                &mut found,
                lines,
                Direction::Forward,
                1.0,
                &mut between(lines),
            );
            let mut wanted = vec![Complex::default(); length];
            wanted[frequency].re = length as f64;
            assert_close(&found, &wanted, f64::EPSILON, length);
        }
    }
}

/// Long lines forward and back, cut and filled up, are what the short way gives for the same values.
#[test]
fn long_real_lines_agree_with_complex_ones() {
    for (length, given) in [(1 << 19, 1 << 19), (1_080_000, 1_000_003), (540_002, 600_000)] {
        let source = numbers(given, 7);
        let lines = Lines { groups: 1, given, length, inner: 1 };
        let mut whole = vec![Complex::default(); length];
        complex(
            Given::Real(&source),
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
        let lines = Lines { given: length / 2 + 1, ..lines };
        complex_to_real(&half, &mut back, lines, 1.0 / length as f64, &mut between(lines));
        let padded = (0..length).map(|j| source.get(j).copied().unwrap_or_default());
        assert!(padded.zip(&back).all(|(one, other)| (one - other).abs() < 1e-14));
    }
}
