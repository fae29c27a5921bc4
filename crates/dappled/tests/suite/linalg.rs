//! Linear algebra on any number of ranks, checked by the equations that define its results.

use dappled::error::LinalgError;
use dappled::{Array, Error, Limits, Session};
use dappled_fabric::Threads;
use dappled_kernels::DType;
use num_complex::Complex64;

use crate::reference::choices::Choices;

const RANKS: [u64; 5] = [1, 2, 3, 7, 64];
const DTYPES: [DType; 4] = [DType::Float64, DType::Complex128, DType::Float32, DType::Complex64];
const SIZES: [usize; 6] = [0, 1, 2, 5, 17, 70];

/// A matrix in C order that is held by every rank of a test.
#[derive(Clone, Debug)]
struct Matrix {
    rows: usize,
    columns: usize,
    elements: Vec<Complex64>,
}

impl Matrix {
    fn from_fn(rows: usize, columns: usize, value: impl Fn(usize, usize) -> Complex64) -> Self {
        let elements = (0..rows * columns).map(|at| value(at / columns, at % columns)).collect();
        Self { rows, columns, elements }
    }

    /// Integers without a pattern, so that they are the same in every dtype.
    fn random(rows: usize, columns: usize, dtype: DType, seed: u64) -> Self {
        let mut choices = Choices(seed);
        let is_complex = matches!(dtype, DType::Complex64 | DType::Complex128);
        let mut number = || choices.below(19) as f64 - 9.0;
        let elements = (0..rows * columns)
            .map(|_| Complex64::new(number(), if is_complex { number() } else { 0.0 }))
            .collect();
        Self { rows, columns, elements }
    }

    /// A random matrix with a large diagonal in permuted rows: well conditioned, with row swaps.
    fn regular(order: usize, dtype: DType, seed: u64) -> Self {
        let mut matrix = Self::random(order, order, dtype, seed);
        for (column, row) in Choices(seed).shuffled(order).into_iter().enumerate() {
            matrix.elements[row * order + column] += (12.0 * (order as f64).sqrt()).round();
        }
        matrix
    }

    fn identity(order: usize) -> Self {
        Self::from_fn(order, order, |row, column| Complex64::from((row == column) as u8 as f64))
    }

    fn at(&self, row: usize, column: usize) -> Complex64 {
        self.elements[row * self.columns + column]
    }

    fn adjoint(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |row, column| self.at(column, row).conj())
    }

    fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows);
        Self::from_fn(self.rows, other.columns, |row, column| {
            (0..self.columns).map(|at| self.at(row, at) * other.at(at, column)).sum()
        })
    }

    /// A distributed array with these elements: replicated, or in a random distribution.
    fn array(&self, session: &Session, dtype: DType, seed: u64) -> Array {
        let shape = [self.rows, self.columns];
        let array = Array::from_slice(session, &shape, &self.elements).cast(dtype).unwrap();
        let mut choices = Choices(seed);
        match choices.one_in(5) {
            true => array,
            false => {
                let ranks = session.fabric().size();
                array.redistribute(&choices.distribution(&shape, ranks)).unwrap()
            }
        }
    }

    fn of(array: &Array) -> Self {
        let elements = array.cast(DType::Complex128).unwrap().to_vec::<Complex64>().unwrap();
        let shape = array.shape();
        Self { rows: shape[0], columns: shape[1], elements }
    }

    #[track_caller]
    fn assert_near(&self, expected: &Self, dtype: DType, about: &str) {
        assert_eq!((self.rows, self.columns), (expected.rows, expected.columns), "{about}");
        let is_single = matches!(dtype, DType::Float32 | DType::Complex64);
        let epsilon = if is_single { f32::EPSILON as f64 } else { f64::EPSILON };
        let scale = expected.elements.iter().map(|value| value.norm()).fold(1.0, f64::max);
        let limit = 300.0 * epsilon * scale * (expected.rows.max(1) as f64).sqrt();
        for (at, (one, other)) in self.elements.iter().zip(&expected.elements).enumerate() {
            assert!(
                (one - other).norm() <= limit,
                "{about}: {one} instead of {other} at {at}, {dtype:?}"
            );
        }
    }
}

/// Runs a test on every number of ranks, with each size, dtype and some distributions.
fn on_ranks(check: impl Fn(&Session, usize, DType, u64, &str) + Sync) {
    for ranks in RANKS {
        // Many ranks take long to start.
        let sizes = if ranks > 7 { &SIZES[3..] } else { &SIZES };
        for &size in sizes {
            Threads::run(ranks, |fabric| {
                let limits = Limits { replicate_below: 0, ..Limits::default() };
                let session = Session::with_limits(Box::new(fabric), limits);
                let seeds = if ranks > 7 { 1 } else { 4 };
                for seed in 0..seeds {
                    let dtype = DTYPES[(size + seed as usize) % DTYPES.len()];
                    let about = format!("order {size}, {dtype:?}, {ranks} ranks, seed {seed}");
                    check(&session, size, dtype, seed, &about);
                }
            });
        }
    }
}

#[test]
fn systems_are_solved() {
    on_ranks(|session, order, dtype, seed, about| {
        let matrix = Matrix::regular(order, dtype, seed);
        let array = matrix.array(session, dtype, seed);
        for count in [1, 3, order + 90] {
            let sides = Matrix::random(order, count, dtype, seed + 1);
            let solution = array.solve(&sides.array(session, dtype, seed + 2)).unwrap();
            assert_eq!(solution.dtype(), dtype, "{about}");
            matrix.times(&Matrix::of(&solution)).assert_near(&sides, dtype, about);
        }
        assert_eq!(Matrix::of(&array).elements, matrix.elements, "the argument is unchanged");
    });
}

#[test]
fn inverses() {
    on_ranks(|session, order, dtype, seed, about| {
        let matrix = Matrix::regular(order, dtype, seed);
        let inverse = matrix.array(session, dtype, seed).inv().unwrap();
        assert_eq!(inverse.dtype(), dtype, "{about}");
        matrix.times(&Matrix::of(&inverse)).assert_near(&Matrix::identity(order), dtype, about);
    });
}

/// The determinant by elimination in one memory.
fn determinant(matrix: &Matrix) -> Complex64 {
    let (mut rest, order) = (matrix.clone(), matrix.rows);
    let mut product = Complex64::from(1.0);
    for at in 0..order {
        let pivot = (at..order)
            .max_by(|&one, &other| rest.at(one, at).norm().total_cmp(&rest.at(other, at).norm()));
        let pivot = pivot.unwrap();
        if pivot != at {
            product = -product;
            (0..order).for_each(|column| {
                rest.elements.swap(at * order + column, pivot * order + column);
            });
        }
        product *= rest.at(at, at);
        for row in at + 1..order {
            let factor = rest.at(row, at) / rest.at(at, at);
            for column in at..order {
                let value = factor * rest.at(at, column);
                rest.elements[row * order + column] -= value;
            }
        }
    }
    product
}

#[test]
fn determinants() {
    on_ranks(|session, order, dtype, seed, about| {
        let matrix = Matrix::regular(order, dtype, seed);
        let found = matrix.array(session, dtype, seed).slogdet().unwrap();
        let expected = determinant(&matrix);
        assert!((found.sign - expected / expected.norm()).norm() < 1e-9, "{about}");
        assert!((found.logarithm - expected.norm().ln()).abs() < 1e-9, "{about}");
        if order < 6 {
            assert!((found.value() - expected).norm() < 1e-9 * expected.norm(), "{about}");
        }
    });
}

#[test]
fn singular_matrices_have_no_solution() {
    for ranks in [1, 2, 3, 7] {
        Threads::run(ranks, |fabric| {
            let limits = Limits { replicate_below: 0, ..Limits::default() };
            let session = Session::with_limits(Box::new(fabric), limits);
            let singular = Matrix::from_fn(9, 9, |_, column| Complex64::from(column as f64));
            let array = singular.array(&session, DType::Float64, 3);
            let is_singular = |error| matches!(error, Error::Linalg(LinalgError::Singular));
            assert!(is_singular(array.solve(&array).err().unwrap()));
            assert!(is_singular(array.inv().err().unwrap()));
            let determinant = array.slogdet().unwrap();
            assert_eq!((determinant.sign.re, determinant.logarithm), (0.0, f64::NEG_INFINITY));
            assert_eq!(determinant.value().re, 0.0);
            let wide =
                array.slice(&[dappled::protocol::slice::KeyItem::Slice(Some(2), None, None)]);
            let error = wide.unwrap().inv().err().unwrap();
            assert!(matches!(error, Error::Linalg(LinalgError::NotSquare)));
        });
    }
}

#[test]
fn cholesky_factors() {
    on_ranks(|session, order, dtype, seed, about| {
        let part = Matrix::random(order, order, dtype, seed);
        let mut definite = part.times(&part.adjoint());
        (0..order).for_each(|at| definite.elements[at * order + at] += order as f64);
        let mut given = definite.clone();
        // Only the lower triangle is read.
        (0..order).for_each(|row| given.elements[row * order..][row + 1..order].fill(7e7.into()));
        let lower = given.array(session, dtype, seed).cholesky().unwrap();
        assert_eq!(lower.dtype(), dtype, "{about}");
        let lower = Matrix::of(&lower);
        lower.times(&lower.adjoint()).assert_near(&definite, dtype, about);
        for row in 0..order {
            assert!((row + 1..order).all(|column| lower.at(row, column) == 0.0.into()), "{about}");
        }
        if order > 0 {
            definite.elements[order * order - 1] = (-1.0).into();
            let error = definite.array(session, dtype, seed).cholesky().err().unwrap();
            assert!(matches!(error, Error::Linalg(LinalgError::NotPositiveDefinite)), "{about}");
        }
    });
}

#[test]
fn qr_factors() {
    on_ranks(|session, order, dtype, seed, about| {
        let ranks = session.fabric().size() as usize;
        // As tall as possible, less so, and wide.
        let shapes = [(order * ranks + 3, order), (2 * order + 1, order), (order, order + 3)];
        for (rows, columns) in shapes {
            if columns == 0 || columns > 20 {
                continue;
            }
            let matrix = Matrix::random(rows, columns, dtype, seed);
            let [q, r] = matrix.array(session, dtype, seed).qr().unwrap();
            assert_eq!((q.dtype(), r.dtype()), (dtype, dtype), "{about}");
            let ([q, r], count) = ([Matrix::of(&q), Matrix::of(&r)], rows.min(columns));
            q.times(&r).assert_near(&matrix, dtype, about);
            q.adjoint().times(&q).assert_near(&Matrix::identity(count), dtype, about);
            for row in 0..count {
                assert!((0..row).all(|column| r.at(row, column) == 0.0.into()), "{about}");
            }
            // The first reflection is to the side opposite to the first element.
            if rows > 1 {
                assert!(r.at(0, 0).re * matrix.at(0, 0).re <= 0.0, "{about}");
            }
        }
    });
}

/// The signs of a distributed factorisation are those on one rank.
#[test]
fn qr_has_the_same_signs_on_any_number_of_ranks() {
    let matrix = Matrix::random(200, 3, DType::Complex128, 5);
    let factors = |ranks| {
        let all = Threads::run(ranks, |fabric| {
            let session = Session::new(Box::new(fabric));
            let [_, r] = matrix.array(&session, DType::Complex128, 1).qr().unwrap();
            Matrix::of(&r)
        });
        all[0].clone()
    };
    let expected = factors(1);
    for ranks in [2, 3, 7, 64] {
        factors(ranks).assert_near(&expected, DType::Complex128, &format!("{ranks} ranks"));
    }
}

#[test]
fn singular_values() {
    on_ranks(|session, order, dtype, seed, about| {
        if order == 0 || order > 20 {
            return;
        }
        let rows = order * session.fabric().size() as usize + 1;
        let matrix = Matrix::random(rows, order, dtype, seed);
        let array = matrix.array(session, dtype, seed);
        let svd = array.svd().unwrap();
        let values = svd.values.cast(DType::Float64).unwrap().to_vec::<f64>().unwrap();
        let alone = array.singular_values().unwrap().cast(DType::Float64).unwrap();
        assert_eq!(alone.to_vec::<f64>().unwrap(), values, "{about}");
        assert!(values.is_sorted_by(|one, other| one >= other), "{about}");
        let (u, vh) = (Matrix::of(&svd.u), Matrix::of(&svd.vh));
        let scaled = Matrix::from_fn(rows, order, |row, column| u.at(row, column) * values[column]);
        scaled.times(&vh).assert_near(&matrix, dtype, about);
        vh.times(&vh.adjoint()).assert_near(&Matrix::identity(order), dtype, about);
        u.adjoint().times(&u).assert_near(&Matrix::identity(order), dtype, about);
    });
}

#[test]
fn least_squares() {
    on_ranks(|session, order, dtype, seed, about| {
        if order == 0 || order > 20 {
            return;
        }
        let rows = order * session.fabric().size() as usize + 2;
        let matrix = Matrix::random(rows, order, dtype, seed);
        let sides = Matrix::random(rows, 2, dtype, seed + 1);
        let array = matrix.array(session, dtype, seed);
        let sides_array = sides.array(session, dtype, seed + 2);
        let found = array.lstsq(&sides_array, 1e-10).unwrap();
        assert_eq!(found.rank, order, "{about}");
        let solution = Matrix::of(&found.solution);
        let left = matrix.times(&solution);
        let left =
            Matrix::from_fn(rows, 2, |row, column| sides.at(row, column) - left.at(row, column));
        // The residuals are orthogonal to the columns.
        let zero = Matrix::from_fn(order, 2, |_, _| 0.0.into());
        let normal = matrix.adjoint().times(&left);
        let scale = 1.0 / (10.0 * rows as f64);
        let normal = Matrix::from_fn(order, 2, |row, column| normal.at(row, column) * scale);
        normal.assert_near(&zero, dtype, about);
        let residuals = found.residuals.cast(DType::Float64).unwrap().to_vec::<f64>().unwrap();
        for (column, residual) in residuals.into_iter().enumerate() {
            let expected: f64 = (0..rows).map(|row| left.at(row, column).norm_sqr()).sum();
            assert!((residual - expected).abs() <= 1e-4 * (1.0 + expected), "{about}");
        }
        // A column of zeros: the solution of the smallest norm does not use it.
        let mut deficient = matrix.clone();
        (0..rows).for_each(|row| deficient.elements[row * order] = 0.0.into());
        let array = deficient.array(session, dtype, seed);
        let found = array.lstsq(&sides_array, 1e-10).unwrap();
        assert_eq!(found.rank, order - 1, "{about}");
        assert!(Matrix::of(&found.solution).at(0, 0).norm() < 1e-5, "{about}");
    });
}

#[test]
fn nan_does_not_converge() {
    Threads::run(2, |fabric| {
        let session = Session::new(Box::new(fabric));
        let mut wrong = Matrix::random(9, 2, DType::Float64, 1);
        wrong.elements[5] = f64::NAN.into();
        let array = wrong.array(&session, DType::Float64, 1);
        let error = array.svd().err().unwrap();
        assert!(matches!(error, Error::Linalg(LinalgError::Svd)));
        let error = array.lstsq(&array, 1e-10).err().unwrap();
        assert!(matches!(error, Error::Linalg(LinalgError::LeastSquares)));
    });
}
