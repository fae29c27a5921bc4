//! Matrix products on any number of ranks, compared with their definition.

use dappled::{Array, Limits, MatmulRequest, Session};
use dappled_fabric::Threads;
use dappled_kernels::DType;
use num_complex::Complex64;

use crate::reference::choices::Choices;

const RANKS: [u64; 5] = [1, 2, 3, 7, 64];
const DTYPES: [DType; 8] = [
    DType::Float64,
    DType::Float32,
    DType::Complex64,
    DType::Complex128,
    DType::Int32,
    DType::UInt8,
    DType::Bool,
    DType::Float16,
];

/// The product by its definition, of integers in floats.
fn reference(left: &[Complex64], right: &[Complex64], shapes: [&[usize]; 2]) -> Vec<Complex64> {
    let [one, other] = shapes;
    let (rows, inner) = (one[one.len() - 2], one[one.len() - 1]);
    let columns = other[other.len() - 1];
    let stacks: usize = one[..one.len() - 2].iter().product();
    // A single right matrix is used for every left one.
    let step = if other.len() == 2 { 0 } else { inner * columns };
    let element = |at: usize| -> Complex64 {
        let (stack, row, column) = (at / (rows * columns), at / columns % rows, at % columns);
        (0..inner)
            .map(|k| {
                left[(stack * rows + row) * inner + k] * right[stack * step + k * columns + column]
            })
            .sum()
    };
    (0..stacks * rows * columns).map(element).collect()
}

/// The value that an exact result has in a dtype.
fn wrapped(value: Complex64, dtype: DType) -> Complex64 {
    match dtype {
        DType::Bool => Complex64::from((value.re != 0.0) as u8 as f64),
        DType::UInt8 => Complex64::from((value.re as i64 as u8) as f64),
        _ => value,
    }
}

fn values(count: usize, dtype: DType, choices: &mut Choices) -> Vec<Complex64> {
    let is_complex = matches!(dtype, DType::Complex64 | DType::Complex128);
    let mut number = || match dtype {
        DType::Bool => choices.below(4) as f64 - 2.0,
        DType::UInt8 => choices.below(9) as f64,
        _ => choices.below(9) as f64 - 4.0,
    };
    let mut element = || {
        let value = Complex64::new(number(), if is_complex { number() } else { 0.0 });
        wrapped(value, if dtype == DType::Bool { dtype } else { DType::Float64 })
    };
    (0..count).map(|_| element()).collect()
}

/// Multiplies on so many ranks, with random distributions of the factors.
fn check(shapes: [&[usize]; 2], dtypes: [DType; 2], ranks: u64, seed: u64) {
    let mut choices = Choices(seed);
    let [left, right] =
        [0, 1].map(|at| values(shapes[at].iter().product(), dtypes[at], &mut choices));
    let dtype = dappled_kernels::promote(dtypes[0], dtypes[1]);
    let expected: Vec<Complex64> =
        reference(&left, &right, shapes).into_iter().map(|value| wrapped(value, dtype)).collect();
    let shape = [&shapes[0][..shapes[0].len() - 1], &shapes[1][shapes[1].len() - 1..]].concat();
    let all = Threads::run(ranks, |fabric| {
        let limits = Limits { replicate_below: 0, ..Limits::default() };
        let session = Session::with_limits(Box::new(fabric), limits);
        let mut choices = Choices(seed);
        let mut array = |at: usize, values: &[Complex64]| {
            let array = Array::from_slice(&session, shapes[at], values).cast(dtypes[at]).unwrap();
            match choices.one_in(6) {
                true => array,
                false => array.redistribute(&choices.distribution(shapes[at], ranks)).unwrap(),
            }
        };
        let (a, b) = (array(0, &left), array(1, &right));
        let product = a.matmul(&b, &MatmulRequest::default()).unwrap();
        let wide = product.cast(DType::Complex128).unwrap().to_vec::<Complex64>().unwrap();
        (product.shape().to_vec(), product.dtype(), wide)
    });
    for (rank, (found_shape, found_dtype, found)) in all.into_iter().enumerate() {
        // Sums of small integers are exact in every dtype.
        assert_eq!(found_shape, shape);
        assert_eq!(found_dtype, dtype);
        assert!(
            found == expected,
            "{shapes:?} {dtypes:?}: {found:?} instead of {expected:?} on rank {rank} of {ranks}, \
             seed {seed}"
        );
    }
}

#[test]
fn products_of_matrices() {
    let shapes = [
        [[1, 1], [1, 1]],
        [[5, 3], [3, 4]],
        [[13, 8], [8, 1]],
        [[1, 40], [40, 2]],
        [[2, 150], [150, 3]],
        [[30, 7], [7, 20]],
        [[0, 3], [3, 4]],
        [[3, 0], [0, 4]],
        [[9, 9], [9, 9]],
    ];
    for ranks in RANKS {
        // Many ranks take long to start.
        let seeds = if ranks > 7 { 1 } else { 4 };
        for (at, [one, other]) in shapes.iter().enumerate() {
            for seed in 0..seeds {
                let dtype = DTYPES[(at + seed as usize) % DTYPES.len()];
                check([one, other], [dtype; 2], ranks, seed);
            }
        }
    }
}

#[test]
fn products_of_every_dtype() {
    for (at, &one) in DTYPES.iter().enumerate() {
        for &other in &DTYPES {
            check([&[7, 6], &[6, 5]], [one, other], 3, at as u64);
        }
    }
}

#[test]
fn products_of_stacks() {
    for ranks in RANKS {
        for seed in 0..3 {
            let dtype = DTYPES[seed as usize];
            check([&[9, 3, 4], &[9, 4, 2]], [dtype; 2], ranks, seed);
            check([&[2, 3, 4], &[4, 5]], [dtype; 2], ranks, seed);
            check([&[5, 2, 3, 4], &[5, 2, 4, 1]], [dtype; 2], ranks, seed);
        }
    }
}

/// Panels: an inner axis that is longer than one.
#[test]
fn products_of_several_panels() {
    let (rows, inner) = (800, 2800);
    for ranks in [2, 3] {
        let all = Threads::run(ranks, |fabric| {
            let session = Session::new(Box::new(fabric));
            let ones = Array::full(&session, &[rows, inner], 1.0);
            let product = ones.matmul(&ones.transposed(&[1, 0]), &MatmulRequest::default());
            product.unwrap().to_vec::<f64>().unwrap()
        });
        assert!(all.iter().flatten().all(|&value| value == inner as f64));
    }
}

#[test]
fn vectors_drop_their_axis() {
    for ranks in [1, 2, 7] {
        Threads::run(ranks, |fabric| {
            let limits = Limits { replicate_below: 0, ..Limits::default() };
            let session = Session::with_limits(Box::new(fabric), limits);
            let numbers: Vec<f64> = (0..12).map(|value| value as f64).collect();
            let distributed = |shape: &[usize]| {
                let array = Array::from_slice(&session, shape, &numbers);
                array.redistribute(&session.block_distribution(shape)).unwrap()
            };
            let (matrix, vector) = (distributed(&[3, 4]), distributed(&[12]));
            let four =
                vector.slice(&[dappled::protocol::slice::KeyItem::Slice(None, Some(4), None)]);
            let four = four.unwrap();
            let matmul = |a: &Array, b: &Array| a.matmul(b, &MatmulRequest::default()).unwrap();
            let column = matmul(&matrix, &four);
            assert_eq!(column.shape(), [3]);
            assert_eq!(column.to_vec::<f64>().unwrap(), [14.0, 38.0, 62.0]);
            let row = matmul(&four, &matrix.transposed(&[1, 0]));
            assert_eq!(row.to_vec::<f64>().unwrap(), [14.0, 38.0, 62.0]);
            let both = matmul(&vector, &vector);
            assert_eq!((both.shape().len(), both.to_vec::<f64>().unwrap()), (0, vec![506.0]));
        });
    }
}

#[test]
fn overflow_is_reported_with_the_name_of_the_function() {
    let reported = Threads::run(2, |fabric| {
        let limits = Limits { replicate_below: 0, ..Limits::default() };
        let session = Session::with_limits(Box::new(fabric), limits);
        let large = Array::full(&session, &[4, 4], 1e300);
        let request = MatmulRequest { name: "dot", shares_flags: true, ..Default::default() };
        large.matmul(&large, &request).unwrap();
        let warnings = session.take_fp_warnings();
        warnings.iter().map(|warning| warning.operation).collect::<Vec<_>>()
    });
    assert_eq!(reported, [["dot"], ["dot"]]);
}

/// A replicated factor whose elements are not in C order.
#[test]
fn a_transposed_replicated_factor_is_not_sent() {
    for ranks in [2, 3] {
        Threads::run(ranks, |fabric| {
            let limits = Limits { replicate_below: 0, ..Limits::default() };
            let session = Session::with_limits(Box::new(fabric), limits);
            let numbers: Vec<f64> = (0..12).map(|value| value as f64).collect();
            let left = Array::from_slice(&session, &[4, 3], &numbers).transposed(&[1, 0]);
            let right = Array::full(&session, &[4, 5], 1.0);
            let product = left.matmul(&right, &MatmulRequest::default()).unwrap();
            let expected: Vec<f64> =
                [18.0, 22.0, 26.0].into_iter().flat_map(|sum| [sum; 5]).collect();
            assert_eq!(product.to_vec::<f64>().unwrap(), expected);
        });
    }
}
