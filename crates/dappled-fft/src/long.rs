//! One long line as a matrix: its columns are transformed, turned by roots of unity, then its rows
//! (Bailey, 1990). So all threads have work, and every part of it fits into a cache.

use num_complex::Complex;

use crate::bundles::{Strides, Walk, bundles};
use crate::disjoint::Disjoint;
use crate::halves::{folded, unfold};
use crate::kernels::{Kernel, Straight};
use crate::plans::Float;
use crate::twiddles::{Twiddles, twist_line};
use crate::{Direction, Given, Lines, copied};

/// From this length on a line is cut where there are fewer lines than threads.
pub const IF_FEW: usize = 1 << 17;
/// From this one on always: the whole of it is in no cache.
pub const ALWAYS: usize = 1 << 18;

/// Complex lines, one after the other.
pub fn complex<T: Float>(
    given: Given<'_, T>,
    target: &mut [Complex<T>],
    lines: Lines,
    direction: Direction,
    scale: T,
    between: &mut [Complex<T>],
) {
    let cut = Cut::new(lines.length, direction);
    for (number, made) in target.chunks_exact_mut(lines.length).enumerate() {
        let part = number * lines.given..(number + 1) * lines.given;
        let made = Disjoint::new(made);
        match given {
            Given::Complex(source) => cut.transform(padded(&source[part]), made, scale, between),
            Given::Real(source) => {
                let read = reader(&source[part]);
                let real = |at| Complex::new(read(at), T::zero());
                cut.transform(one_by_one(real), made, scale, between);
            }
            Given::Target => {
                // SAFETY: it is written when all of it was read, and is in between.
                let read = |at, values: &mut [_]| unsafe { made.read(at, values) };
                cut.transform(read, made, scale, between);
            }
        }
    }
}

/// Lines of an even number of real values.
pub fn real_to_complex<T: Float>(
    source: &[T],
    target: &mut [Complex<T>],
    lines: Lines,
    scale: T,
    between: &mut [Complex<T>],
) {
    let half = lines.length / 2;
    let cut = Cut::new(half, Direction::Forward);
    let twiddles = Twiddles::new(lines.length, Direction::Forward);
    for (number, made) in target.chunks_exact_mut(half + 1).enumerate() {
        let read = reader(&source[number * lines.given..(number + 1) * lines.given]);
        let pair = |at| Complex::new(read(2 * at), read(2 * at + 1));
        cut.transform(one_by_one(pair), Disjoint::new(&mut made[..half]), T::one(), between);
        unfold(made, &twiddles, scale);
    }
}

/// Lines of spectra of an even number of real values.
pub fn complex_to_real<T: Float>(
    source: &[Complex<T>],
    target: &mut [T],
    lines: Lines,
    scale: T,
    between: &mut [Complex<T>],
) {
    let half = lines.length / 2;
    let cut = Cut::new(half, Direction::Inverse);
    let twiddles = Twiddles::new(lines.length, Direction::Inverse);
    for (number, made) in target.chunks_exact_mut(lines.length).enumerate() {
        let read = reader(&source[number * lines.given..(number + 1) * lines.given]);
        let ends = |at| Complex { im: T::zero(), ..read(at) };
        let pair = |at| match at {
            0 => folded(ends(0), ends(half), twiddles.at(0)),
            _ => folded(read(at), read(half - at), twiddles.at(at)),
        };
        let made = Disjoint::new(bytemuck::cast_slice_mut(made));
        cut.transform(one_by_one(pair), made, scale, between);
    }
}

/// What is given of a line, and zeros after it.
fn reader<V: Copy + Default>(given: &[V]) -> impl Fn(usize) -> V {
    |at| given.get(at).copied().unwrap_or_default()
}

/// The same for elements that follow each other.
fn padded<V: Copy + Default + Sync>(given: &[V]) -> impl Fn(usize, &mut [V]) + Sync {
    |at, values| {
        let rest = &given[at.min(given.len())..];
        let (known, beyond) = values.split_at_mut(rest.len().min(values.len()));
        known.copy_from_slice(&rest[..known.len()]);
        beyond.fill(V::default());
    }
}

/// Reads elements each by its place.
fn one_by_one<V>(read: impl Fn(usize) -> V + Sync) -> impl Fn(usize, &mut [V]) + Sync {
    move |at, values| (at..).zip(values).for_each(|(at, value)| *value = read(at))
}

/// How lines of one length are cut.
struct Cut<T> {
    rows: Straight<T>,
    columns: Straight<T>,
    twiddles: Twiddles<T>,
}

impl<T: Float> Cut<T> {
    fn new(length: usize, direction: Direction) -> Self {
        let columns = nearest_to_root(length);
        Self {
            columns: Straight::new(columns, direction),
            rows: Straight::new(length / columns, direction),
            twiddles: Twiddles::new(length, direction),
        }
    }

    fn transform(
        &self,
        read: impl Fn(usize, &mut [Complex<T>]) + Sync,
        target: Disjoint<'_, Complex<T>>,
        scale: T,
        between: &mut [Complex<T>],
    ) {
        let (height, width) = (self.columns.taken(), self.rows.taken());
        let between = &mut between[..height * width];
        let down = Strides { group: 0, line: 1, step: width };
        let first = Walk { groups: 1, lines: width, given: height, from: down, to: down };
        bundles(first, &self.columns, read, Disjoint::new(between), |column, values| {
            twist_line(values, column, 0, height * width, &self.twiddles);
        });
        let along = Strides { group: 0, line: width, step: 1 };
        let turned = Strides { group: 0, line: 1, step: height };
        let second = Walk { groups: 1, lines: height, given: width, from: along, to: turned };
        bundles(second, &self.rows, copied(between), target, |_, values| {
            self.rows.scaled(values, scale);
        });
    }
}

/// The largest divisor that is not above the square root: 1 of a prime, which then is one row.
fn nearest_to_root(length: usize) -> usize {
    (1..=length.isqrt()).rev().find(|&divisor| length.is_multiple_of(divisor)).unwrap_or(1)
}
