//! Each routine, compared with its definition.

use dappled_linalg::{LinalgElement, MatrixMut, MatrixRef, Routines, RustLinalg, Trans, Triangle};
use num_complex::{Complex32, Complex64};

/// A column-major matrix that owns its elements.
#[derive(Clone, Debug)]
struct Dense<T> {
    rows: usize,
    columns: usize,
    elements: Vec<T>,
}

impl<T: LinalgElement> Dense<T> {
    fn from_fn(rows: usize, columns: usize, value: impl Fn(usize, usize) -> T) -> Self {
        let elements = (0..rows * columns).map(|at| value(at % rows, at / rows)).collect();
        Self { rows, columns, elements }
    }

    fn at(&self, row: usize, column: usize) -> T {
        self.elements[row + column * self.rows]
    }

    fn view(&self) -> MatrixRef<'_, T> {
        MatrixRef::new(&self.elements, self.rows, self.columns)
    }

    fn view_mut(&mut self) -> MatrixMut<'_, T> {
        MatrixMut::new(&mut self.elements, self.rows, self.columns)
    }

    fn adjoint(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |row, column| self.at(column, row).conjugate())
    }

    fn identity(order: usize) -> Self {
        Self::from_fn(order, order, |row, column| T::from_f64((row == column) as u8 as f64))
    }

    /// The product by its definition.
    fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows);
        Self::from_fn(self.rows, other.columns, |row, column| {
            let terms = (0..self.columns).map(|at| self.at(row, at) * other.at(at, column));
            terms.fold(T::default(), |sum, term| sum + term)
        })
    }

    #[track_caller]
    fn assert_near(&self, expected: &Self) {
        assert_eq!((self.rows, self.columns), (expected.rows, expected.columns));
        let scale = expected.elements.iter().map(|value| value.magnitude()).fold(1.0, f64::max);
        let limit = 200.0 * T::EPSILON * scale * (self.rows.max(1) as f64).sqrt();
        for (at, (&one, &other)) in self.elements.iter().zip(&expected.elements).enumerate() {
            let error = (one - other).magnitude();
            assert!(error <= limit, "{one:?} instead of {other:?} at {at}: {self:?}");
        }
    }
}

/// Numbers without a pattern.
fn number<T: ImaginaryUnit>(row: usize, column: usize) -> T {
    let value = |seed: usize| {
        let hash = (row * 7919 + column * 104_729 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((hash >> 40) % 2001) as f64 / 1000.0 - 1.0
    };
    T::imaginary_unit() * T::from_f64(value(1)) + T::from_f64(value(2))
}

/// The imaginary unit of complex types, and 0 of real ones.
trait ImaginaryUnit: LinalgElement {
    fn imaginary_unit() -> Self;
}

macro_rules! imaginary_units {
    ($($T:ty => $unit:expr),*) => {$(
        impl ImaginaryUnit for $T {
            fn imaginary_unit() -> Self {
                $unit
            }
        }
    )*};
}

imaginary_units! { f32 => 0.0, f64 => 0.0, Complex32 => Complex32::I, Complex64 => Complex64::I }

fn random<T: ImaginaryUnit>(rows: usize, columns: usize) -> Dense<T> {
    Dense::from_fn(rows, columns, number)
}

/// Runs a generic test for each element type.
macro_rules! for_each_element {
    ($($name:ident => $check:ident)*) => {$(
        #[test]
        fn $name() {
            $check::<f32>();
            $check::<f64>();
            $check::<Complex32>();
            $check::<Complex64>();
        }
    )*};
}

for_each_element! {
    products => check_products
    triangular_systems => check_triangular_systems
    lu_factors => check_lu
    cholesky_factors => check_cholesky
    qr_factors => check_qr
    singular_values => check_svd
    rank_deficient_singular_values => check_rank_deficient_svd
}

const SIZES: [usize; 6] = [0, 1, 2, 5, 17, 40];

fn check_products<T: ImaginaryUnit>() {
    for (m, k, n) in [(0, 2, 3), (2, 0, 3), (1, 1, 1), (5, 3, 4), (40, 33, 47), (70, 64, 65)] {
        let (a, b, c) = (random::<T>(m, k), random::<T>(k, n), random::<T>(m, n));
        let (alpha, beta) = (T::from_f64(-2.0), T::from_f64(0.5));
        let product = a.times(&b);
        let expected = Dense::from_fn(m, n, |i, j| alpha * product.at(i, j) + beta * c.at(i, j));
        let adjoint = [a.adjoint(), b.adjoint()];
        for (left, right) in [
            ((Trans::None, a.view()), (Trans::None, b.view())),
            ((Trans::Adjoint, adjoint[0].view()), (Trans::None, b.view())),
            ((Trans::None, a.view()), (Trans::Adjoint, adjoint[1].view())),
        ] {
            let mut found = c.clone();
            RustLinalg.gemm(alpha, left, right, beta, found.view_mut());
            found.assert_near(&expected);
        }
        let mut unread = Dense::from_fn(m, n, |_, _| T::from_f64(f64::NAN));
        let (left, right) = ((Trans::None, a.view()), (Trans::None, b.view()));
        RustLinalg.gemm(T::from_f64(1.0), left, right, T::default(), unread.view_mut());
        unread.assert_near(&product);
    }
}

fn check_triangular_systems<T: ImaginaryUnit>() {
    for n in SIZES {
        let a = Dense::<T>::from_fn(n, n, |i, j| match i == j {
            true => T::from_f64(4.0) + number(i, j),
            false => number::<T>(i, j) * T::from_f64(1.0 / n as f64),
        });
        let unit_lower = Dense::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal => T::from_f64(1.0),
            std::cmp::Ordering::Greater => a.at(i, j),
            std::cmp::Ordering::Less => T::default(),
        });
        let lower = Dense::from_fn(n, n, |i, j| if i >= j { a.at(i, j) } else { T::default() });
        let upper = Dense::from_fn(n, n, |i, j| if i <= j { a.at(i, j) } else { T::default() });
        let x = random::<T>(n, 7);
        for (triangle, factor) in [(Triangle::UnitLower, unit_lower), (Triangle::Upper, upper)] {
            let mut found = factor.times(&x);
            RustLinalg.trsm(triangle, a.view(), found.view_mut());
            found.assert_near(&x);
        }
        let x = random::<T>(9, n);
        let mut found = x.times(&lower.adjoint());
        RustLinalg.trsm(Triangle::RightLowerAdjoint, a.view(), found.view_mut());
        found.assert_near(&x);
    }
}

fn check_lu<T: ImaginaryUnit>() {
    for (m, n) in [(0, 3), (3, 0), (1, 1), (5, 5), (40, 17), (17, 40), (64, 64)] {
        let a = random::<T>(m, n);
        let (mut factored, count) = (a.clone(), m.min(n));
        let mut pivots = vec![0; count];
        RustLinalg.getrf(factored.view_mut(), &mut pivots);
        let mut swapped = a.clone();
        swapped.view_mut().apply_pivots(&pivots);
        let lower = Dense::from_fn(m, count, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal => T::from_f64(1.0),
            std::cmp::Ordering::Greater => factored.at(i, j),
            std::cmp::Ordering::Less => T::default(),
        });
        assert!(lower.elements.iter().all(|value| value.magnitude() < 1.5));
        let upper =
            Dense::from_fn(count, n, |i, j| if i <= j { factored.at(i, j) } else { T::default() });
        lower.times(&upper).assert_near(&swapped);
    }
    let mut singular = Dense::<T>::from_fn(3, 3, |_, _| T::from_f64(1.0));
    RustLinalg.getrf(singular.view_mut(), &mut [0; 3]);
    assert_eq!(singular.at(1, 1), T::default());
}

fn check_cholesky<T: ImaginaryUnit>() {
    for n in SIZES {
        let a = random::<T>(n, n);
        let mut definite = a.times(&a.adjoint());
        (0..n).for_each(|at| definite.elements[at + at * n] += T::from_f64(n as f64));
        let mut factored = definite.clone();
        // Only the lower triangle is read.
        for column in 1..n {
            factored.elements[column * n..][..column].fill(T::from_f64(f64::NAN));
        }
        assert!(RustLinalg.potrf(factored.view_mut()));
        let lower =
            Dense::from_fn(n, n, |i, j| if i >= j { factored.at(i, j) } else { T::default() });
        lower.times(&lower.adjoint()).assert_near(&definite);
        if n > 0 {
            definite.elements[n * n - 1] = T::from_f64(-1.0);
            assert!(!RustLinalg.potrf(definite.view_mut()));
        }
    }
}

fn check_qr<T: ImaginaryUnit>() {
    for (m, n) in [(0, 2), (2, 0), (1, 1), (5, 5), (40, 17), (6, 9)] {
        let a = random::<T>(m, n);
        let (mut factored, count) = (a.clone(), m.min(n));
        let r = RustLinalg.qr(factored.view_mut());
        let r = Dense { rows: count, columns: n, elements: r };
        let q = Dense::from_fn(m, count, |i, j| factored.at(i, j));
        q.times(&r).assert_near(&a);
        q.adjoint().times(&q).assert_near(&Dense::identity(count));
        for column in 0..n {
            assert!((column + 1..count).all(|row| r.at(row, column) == T::default()));
        }
        // The signs of LAPACK: the first column is reflected to the opposite side.
        if m > 1 && n > 0 {
            assert!(r.at(0, 0).real() * a.at(0, 0).real() <= 0.0 && r.at(0, 0).imaginary() == 0.0);
        }
    }
}

fn check_svd<T: ImaginaryUnit>() {
    for (m, n) in [(0, 0), (3, 0), (1, 1), (5, 5), (20, 13), (13, 13)] {
        let a = random::<T>(m, n);
        check_singular_values(&a, n);
    }
    let mut wrong = random::<T>(3, 3);
    wrong.elements[4] = T::from_f64(f64::NAN);
    assert!(RustLinalg.svd(wrong.view_mut()).is_none());
}

fn check_rank_deficient_svd<T: ImaginaryUnit>() {
    for rank in 0..4 {
        let a = random::<T>(8, rank).times(&random::<T>(rank, 5));
        check_singular_values(&a, rank);
    }
}

/// Checks the decomposition of a matrix of known rank.
fn check_singular_values<T: ImaginaryUnit>(a: &Dense<T>, rank: usize) {
    let (m, n) = (a.rows, a.columns);
    let svd = RustLinalg.svd(a.clone().view_mut()).unwrap();
    let u = Dense { rows: m, columns: n, elements: svd.u };
    let v = Dense { rows: n, columns: n, elements: svd.v };
    assert!(svd.values.is_sorted_by(|one, other| one >= other));
    let largest = svd.values.first().copied().unwrap_or(0.0);
    let is_zero = |value: &f64| *value <= 100.0 * T::EPSILON * largest;
    assert_eq!(svd.values.iter().filter(|value| !is_zero(value)).count(), rank);
    let scaled = Dense::from_fn(m, n, |i, j| u.at(i, j) * T::from_f64(svd.values[j]));
    scaled.times(&v.adjoint()).assert_near(a);
    v.adjoint().times(&v).assert_near(&Dense::identity(n));
    u.adjoint().times(&u).assert_near(&Dense::identity(n));
}

#[test]
fn products_of_integers_wrap() {
    for (m, k, n) in [(0, 1, 1), (1, 0, 2), (3, 4, 5), (90, 100, 33)] {
        let left: Vec<i8> = (0..m * k).map(|at| (at * 37 % 251) as i8).collect();
        let right: Vec<i8> = (0..k * n).map(|at| (at * 91 % 253) as i8).collect();
        let mut found = vec![1i8; m * n];
        let multiply_add = |sum: i8, a: i8, b: i8| sum.wrapping_add(a.wrapping_mul(b));
        dappled_linalg::multiply_rows([m, k, n], &left, &right, &mut found, multiply_add);
        for (at, &found) in found.iter().enumerate() {
            let terms = (0..k).map(|i| left[at / n * k + i] as i64 * right[i * n + at % n] as i64);
            assert_eq!(found, (1 + terms.sum::<i64>()) as i8);
        }
    }
}

#[test]
fn blocks_share_the_memory_of_their_matrix() {
    let mut elements: Vec<f64> = (0..12).map(|value| value as f64).collect();
    let mut matrix = MatrixMut::new(&mut elements, 4, 3);
    assert_eq!(matrix.as_ref().block(1..3, 1..3).to_vec(), [5.0, 6.0, 9.0, 10.0]);
    let (mut left, right) = matrix.split_columns(1);
    left.block(2..4, 0..1).copy_from(right.as_ref().block(0..2, 1..2));
    left.swap_rows(0, 3);
    assert_eq!(elements[..4], [9.0, 1.0, 8.0, 0.0]);
}
