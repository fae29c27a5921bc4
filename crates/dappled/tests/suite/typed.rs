//! The typed API on the thread fabric: tables of dtypes, operations, shapes and distributions.

use std::fmt::Debug;

use dappled::prelude::*;

const RANKS: [u64; 4] = [1, 2, 3, 7];
const LIMITS: [Limits; 2] = [
    // Everything is distributed and deferred.
    Limits { replicate_below: 0, eager_max: 0 },
    // Everything is replicated and eager.
    Limits { replicate_below: 1 << 17, eager_max: 1 << 14 },
];

/// Runs a program with each number of ranks; all ranks must return equal values.
fn on_ranks<R: PartialEq + Debug + Send>(program: impl Fn(&Context) -> R + Sync) -> R {
    let mut expected = None;
    for ranks in RANKS {
        for limits in LIMITS {
            let found = Threads::run(ranks, |fabric| {
                program(&Context::with_fabric(Box::new(fabric), limits))
            });
            for result in found {
                match &expected {
                    None => expected = Some(result),
                    Some(expected) => assert_eq!(&result, expected, "{ranks} ranks, {limits:?}"),
                }
            }
        }
    }
    expected.expect("there is a rank")
}

/// The bytes of an array, which compare equal for equal NaNs.
fn bits<T: ArrayElement>(array: Array<T>) -> (Vec<usize>, Vec<u8>) {
    let elements = array.to_vec().unwrap();
    let bytes = dappled_kernels::element::bytes_of(&elements).to_vec();
    (array.shape().to_vec(), bytes)
}

/// The kinds of distribution of an array, if it is distributed.
fn distributed<T: ArrayElement>(cx: &Context, array: &Array<T>) -> Vec<Array<T>> {
    let kinds = ["bbb", "ccc", "nnb", "bnn", "nnn"].map(|kinds| &kinds[..array.ndim().min(3)]);
    let redistribute = |kinds: &&str| {
        let distribution = cx.distribution(array.shape(), kinds).unwrap();
        array.redistribute(&distribution).unwrap()
    };
    kinds.iter().map(redistribute).collect()
}

/// Tests operators for types whose Rust operators agree with NumPy for small values.
macro_rules! operators {
    ($($name:ident $T:ty;)*) => {$(
        #[test]
        fn $name() {
            on_ranks(|cx| {
                let (xs, ys): (Vec<$T>, Vec<$T>) =
                    (1..=12).map(|at| ((at + 20) as $T, at as $T)).unzip();
                let a = Array::from_slice(cx, [3, 4], &xs).unwrap();
                let b = Array::from_slice(cx, [3, 4], &ys).unwrap();
                let row = b.slice(s![0]);
                let two = 2 as $T;
                let with = |op: fn($T, $T) -> $T, other: &dyn Fn(usize) -> $T| -> Vec<$T> {
                    xs.iter().enumerate().map(|(at, &x)| op(x, other(at))).collect()
                };
                let pairs = |at: usize| ys[at];
                assert_eq!((&a + &b).to_vec().unwrap(), with(|x, y| x + y, &pairs));
                assert_eq!((a.clone() - b.clone()).to_vec().unwrap(), with(|x, y| x - y, &pairs));
                assert_eq!((&a - b.clone()).to_vec().unwrap(), with(|x, y| x - y, &pairs));
                assert_eq!((a.clone() % &b).to_vec().unwrap(), with(|x, y| x % y, &pairs));
                assert_eq!((&a + &row).to_vec().unwrap(), with(|x, y| x + y, &|at| ys[at % 4]));
                assert_eq!((&a * two).to_vec().unwrap(), with(|x, y| x * y, &|_| two));
                assert_eq!((two * &a).to_vec().unwrap(), with(|x, y| x * y, &|_| two));
                assert_eq!((two + a.clone()).to_vec().unwrap(), with(|x, y| x + y, &|_| two));
                let quotients: Vec<_> = xs.iter().map(|&x| x as f64 / 2.0).collect();
                assert_eq!((&a / two).cast::<f64>().to_vec().unwrap(), quotients);
                let hundred = (100 as $T - &a).to_vec().unwrap();
                assert_eq!(hundred, with(|x, y| y - x, &|_| 100 as $T));
                let mut c = a.copy().unwrap();
                c += &b;
                c -= two;
                c *= two;
                assert_eq!(c.to_vec().unwrap(), ((&a + &b - two) * two).to_vec().unwrap());
                assert_eq!(a.to_vec().unwrap(), xs, "a copy was updated");
                let less = a.less(&(&b * two)).to_bools().unwrap();
                assert!(less.iter().zip(&xs).zip(&ys).all(|((&less, x), y)| less == (*x < 2 as $T * *y)));
            });
        }
    )*};
}

operators! {
    operators_of_i8 i8; operators_of_i16 i16; operators_of_i32 i32; operators_of_i64 i64;
    operators_of_u8 u8; operators_of_u16 u16; operators_of_u32 u32; operators_of_u64 u64;
    operators_of_f32 f32; operators_of_f64 f64;
}

#[test]
fn operators_of_bits_and_complex_numbers() {
    on_ranks(|cx| {
        let m = Mask::from_bools(cx, [4], &[true, true, false, false]).unwrap();
        let n = Mask::from_bools(cx, [4], &[true, false, true, false]).unwrap();
        assert_eq!((&m & &n).to_bools().unwrap(), [true, false, false, false]);
        assert_eq!((m.clone() | &n).to_bools().unwrap(), [true, true, true, false]);
        assert_eq!((&m ^ Bool(1)).to_bools().unwrap(), (!&m).to_bools().unwrap());
        let a = Array::from_slice(cx, [3], &[1u8, 6, 255]).unwrap();
        assert_eq!((&a << 1).to_vec().unwrap(), [2, 12, 254]);
        assert_eq!((!&a >> 1).to_vec().unwrap(), [127, 124, 0]);
        assert_eq!((7 & &a).to_vec().unwrap(), [1, 6, 7]);
        let i = Complex64::new(0.0, 1.0);
        let z = Array::from_slice(cx, [2], &[i, Complex64::new(3.0, 4.0)]).unwrap();
        assert_eq!((&z * i + i).to_vec().unwrap(), [i * i + i, Complex64::new(-4.0, 4.0)]);
        assert_eq!((i - &z).to_vec().unwrap(), [i - i, Complex64::new(-3.0, -3.0)]);
        assert_eq!(z.absolute().to_vec().unwrap(), [1.0, 5.0]);
        assert_eq!((-&z).imag().to_vec().unwrap(), [-1.0, -4.0]);
    });
}

/// The name of a method, with the shape and the bytes of its result.
type NamedBits = (&'static str, (Vec<usize>, Vec<u8>));

/// Calls methods of an array, for which the types of results are checked, and returns all bits.
macro_rules! call_all {
    ($array:expr; $($method:ident)*) => { vec![$((stringify!($method), bits($array.$method()))),*] };
    ($array:expr, $other:expr; $($method:ident)*) => {
        vec![$((stringify!($method), bits($array.$method($other)))),*]
    };
}

fn functions_of_all<T: ArrayElement>(a: &Array<T>) -> Vec<NamedBits> {
    let mut found = call_all!(a; absolute sqrt rint logical_not isnan isinf isfinite);
    found.extend(call_all!(a, a; equal not_equal less less_equal greater greater_equal
        logical_and logical_or logical_xor minimum maximum fmin fmax));
    found
}

fn functions_of_numbers<T: NumberElement>(a: &Array<T>) -> Vec<NamedBits> {
    call_all!(a; negative positive sign square reciprocal conjugate)
}

fn functions_of_reals<T: RealElement>(a: &Array<T>) -> Vec<NamedBits> {
    let mut found = call_all!(a; fabs cbrt signbit floor ceil trunc spacing deg2rad rad2deg exp exp2
        expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh
        arctanh);
    found.extend(call_all!(a, a; floor_divide remainder fmod power copysign nextafter heaviside
        hypot arctan2 logaddexp logaddexp2));
    found
}

/// Each method has the type that NumPy gives its result, and bits that do not depend on the ranks.
#[test]
fn functions_of_every_element_type() {
    on_ranks(|cx| {
        let ones = |count: usize| vec![1u8; count];
        let base = Array::from_slice(cx, [6], &ones(6)).unwrap();
        let mut found = functions_of_all(&base.cast::<Bool>());
        found.extend(bits_of_bools(cx));
        macro_rules! each {
            ($($T:ty)*) => {$(
                let a = base.cast::<$T>();
                found.extend(functions_of_all(&a));
                found.extend(functions_of_numbers(&a));
                found.extend(functions_of_reals(&a));
            )*};
        }
        each! { i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 }
        macro_rules! complex {
            ($($T:ty)*) => {$(
                let a = base.cast::<$T>();
                found.extend(functions_of_all(&a));
                found.extend(functions_of_numbers(&a));
                found.extend(call_all!(a; real imag));
            )*};
        }
        complex! { Complex32 Complex64 }
        macro_rules! integers {
            ($($T:ty)*) => {$(
                let a = base.cast::<$T>();
                found.extend(call_all!(a; invert bitwise_count));
                found.extend(call_all!(a, &a; gcd lcm));
            )*};
        }
        integers! { i8 i16 i32 i64 u8 u16 u32 u64 }
        found
    });
}

fn bits_of_bools(cx: &Context) -> Vec<NamedBits> {
    let mask = Mask::from_bools(cx, [2], &[true, false]).unwrap();
    call_all!(mask; invert)
}

#[test]
fn functions_have_the_values_of_the_standard_library() {
    on_ranks(|cx| {
        let xs = [0.25, 0.5, 1.0];
        let a = Array::from_slice(cx, [3], &xs).unwrap();
        let close = |found: Array<f64>, expected: fn(f64) -> f64| {
            for (found, x) in found.to_vec().unwrap().into_iter().zip(xs) {
                assert!((found - expected(x)).abs() <= 1e-15 * expected(x).abs().max(1.0));
            }
        };
        close(a.exp(), f64::exp);
        close(a.log(), f64::ln);
        close(a.sin(), f64::sin);
        close(a.arctan(), f64::atan);
        close(a.sqrt(), f64::sqrt);
        close(a.power(3.0), |x| x * x * x);
        close(a.hypot(2.0), |x| x.hypot(2.0));
    });
}

/// The operation table has no entry without a method.
#[test]
fn every_operation_has_a_method() {
    let functions = include_str!("../../src/typed/functions.rs");
    let operators = include_str!("../../src/typed/operators.rs");
    let is_internal = |op: &Op| format!("{op:?}").starts_with("Unfused") || *op == Op::FloatPower;
    for op in Op::ALL_BUT_CAST.into_iter().filter(|op| !is_internal(op)) {
        let is_function = functions.contains(&format!(" {op:?} ->"));
        let is_operator = operators.contains(&format!(", {op:?}, "));
        assert!(is_function || is_operator || op == Op::Select, "{op:?}");
    }
}

/// The indices that Python's `range(*slice(start, stop, step).indices(length))` yields.
fn python_slice(length: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<usize> {
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let clip = |at: i64| (if at < 0 { at + length } else { at }).clamp(low, high);
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (start, stop) = (start.map_or(first, clip), stop.map_or(last, clip));
    let mut found = Vec::new();
    let mut at = start;
    while if step > 0 { at < stop } else { at > stop } {
        found.push(at as usize);
        at += step;
    }
    found
}

#[test]
fn slices_select_what_python_selects() {
    on_ranks(|cx| {
        let row = Array::<i64>::arange(cx, 0, 5, 1);
        let check = |slice: Array<i64>, expected: Vec<usize>| {
            let expected: Vec<i64> = expected.into_iter().map(|at| at as i64).collect();
            assert_eq!(slice.to_vec().unwrap(), expected);
        };
        for step in [1i64, 2, 3, -1, -2, -7] {
            check(row.slice(s![..;step]), python_slice(5, None, None, step));
            for start in -7i64..8 {
                check(row.slice(s![start..;step]), python_slice(5, Some(start), None, step));
                check(row.slice(s![..start;step]), python_slice(5, None, Some(start), step));
                for stop in [-6i64, -2, 0, 1, 4, 9] {
                    let expected = python_slice(5, Some(start), Some(stop), step);
                    check(row.slice(s![start..stop;step]), expected);
                }
            }
        }
        check(row.slice(s![1..=3]), vec![1, 2, 3]);
        check(row.slice(s![..=-1]), vec![0, 1, 2, 3, 4]);
        check(row.slice(s![..=-2]), vec![0, 1, 2, 3]);
    });
}

#[test]
fn keys_have_numpys_shapes() {
    on_ranks(|cx| {
        let a = Array::from_fn(cx, [2, 3, 4], |at| (at[0] * 100 + at[1] * 10 + at[2]) as i32);
        assert_eq!(a.slice(s![]).shape(), [2, 3, 4]);
        assert_eq!(a.slice(s![1, .., -1]).to_vec().unwrap(), [103, 113, 123]);
        assert_eq!(a.slice(s![Ellipsis, 0]).to_vec().unwrap(), [0, 10, 20, 100, 110, 120]);
        assert_eq!(a.slice(s![0, NewAxis, Ellipsis, NewAxis]).shape(), [1, 3, 4, 1]);
        assert_eq!(a.slice(s![-1, -1, -1]).item().unwrap(), 123);
        assert_eq!((a.get([1, 2, 0]).unwrap(), a.get([-1, -1, -4]).unwrap()), (120, 120));
        a.slice(s![.., 1..;-1, ..2]).assign(Array::<i32>::ones(cx, [2])).unwrap();
        a.set([0, 0, 0], 7).unwrap();
        assert_eq!(a.sum_axis(0).unwrap().slice(s![.., 0]).to_vec().unwrap(), [8, 2, 140]);
    });
}

const SHAPES: [&[usize]; 8] = [&[], &[0], &[1], &[7], &[0, 3], &[3, 0], &[5, 6], &[2, 3, 4]];

/// Values with ties and negative numbers, which sums represent exactly.
fn numbers(count: usize) -> Vec<i64> {
    (0..count as i64).map(|at| (at * 7 + 3) % 11 - 5).collect()
}

/// Reduces plain vectors along an axis.
fn reduce_plain(
    shape: &[usize],
    values: &[i64],
    axis: usize,
    f: &dyn Fn(&[i64]) -> f64,
) -> Vec<f64> {
    let (outer, inner): (usize, usize) =
        (shape[..axis].iter().product(), shape[axis + 1..].iter().product());
    let lane = |at: usize, last: usize| -> Vec<i64> {
        (0..shape[axis]).map(|step| values[(at * shape[axis] + step) * inner + last]).collect()
    };
    (0..outer)
        .flat_map(|at| (0..inner).map(move |last| (at, last)))
        .map(|(at, last)| f(&lane(at, last)))
        .collect()
}

fn mean(values: &[i64]) -> f64 {
    values.iter().sum::<i64>() as f64 / values.len() as f64
}

fn variance(values: &[i64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|&value| (value as f64 - mean).powi(2)).sum::<f64>() / values.len() as f64
}

fn assert_close(found: &[f64], expected: &[f64], place: &str) {
    assert_eq!(found.len(), expected.len(), "{place}");
    for (found, expected) in found.iter().zip(expected) {
        let is_close = (found - expected).abs() <= 1e-12 * expected.abs().max(1.0);
        assert!(is_close || (found.is_nan() && expected.is_nan()), "{place}: {found} {expected}");
    }
}

fn check_reductions<T: NumberElement>(cx: &Context, shape: &[usize]) {
    let values = numbers(shape.iter().product());
    let base = Array::from_slice(cx, shape, &values).unwrap().cast::<T>();
    for (kind, a) in distributed(cx, &base).into_iter().enumerate() {
        let place = format!("{:?} of {shape:?}, distribution {kind}", T::DTYPE);
        let floats = |array: Array<f64>| array.to_vec().unwrap();
        assert_eq!(cast(a.sum().unwrap()), values.iter().sum::<i64>() as f64, "{place}");
        assert_close(&[cast(a.mean().unwrap())], &[mean(&values)], &place);
        assert_close(&[cast(a.var(0).unwrap())], &[variance(&values)], &place);
        assert_close(&[cast(a.std(0).unwrap())], &[variance(&values).sqrt()], &place);
        let extreme = |best: Option<&i64>| best.map(|&best| (best as f64, position(&values, best)));
        let (min, max) = (extreme(values.iter().min()), extreme(values.iter().max()));
        assert_eq!(a.min().ok().map(cast).zip(a.argmin().ok()), min, "{place}");
        assert_eq!(a.max().ok().map(cast).zip(a.argmax().ok()), max, "{place}");
        let sums = values.iter().scan(0, |sum, value| {
            *sum += value;
            Some(*sum as f64)
        });
        assert_eq!(floats(a.cumsum().unwrap().cast()), sums.collect::<Vec<_>>(), "{place}");
        for axis in 0..shape.len() {
            let place = format!("axis {axis}, {place}");
            let along = |f: &dyn Fn(&[i64]) -> f64| reduce_plain(shape, &values, axis, f);
            let at = axis as isize - shape.len() as isize;
            let sum = |lane: &[i64]| lane.iter().sum::<i64>() as f64;
            assert_eq!(floats(a.sum_axis(at).unwrap().cast()), along(&sum), "{place}");
            assert_close(&floats(a.mean_axis(at).unwrap().cast()), &along(&mean), &place);
            assert_close(&floats(a.var_axis(at, 0).unwrap().cast()), &along(&variance), &place);
            if shape[axis] == 0 {
                let has_results = shape.iter().filter(|&&length| length == 0).count() == 1;
                assert_eq!(a.min_axis(at).is_err(), has_results, "{place}");
                assert!(a.argmax_axis(at).is_err(), "{place}");
                continue;
            }
            let min = |lane: &[i64]| *lane.iter().min().unwrap() as f64;
            let last = |lane: &[i64]| position(lane, *lane.iter().max().unwrap()) as f64;
            assert_eq!(floats(a.min_axis(at).unwrap().cast()), along(&min), "{place}");
            assert_eq!(floats(a.argmax_axis(at).unwrap().cast()), along(&last), "{place}");
            let scanned = a.cumsum_axis(at).unwrap();
            assert_eq!(scanned.shape(), shape);
            let ends = scanned.t().slice(s![]).t().cast::<f64>().max_axis(at).unwrap();
            assert_eq!(ends.shape(), a.max_axis(at).unwrap().shape(), "{place}");
        }
    }
}

/// The real value of an element.
fn cast<T: ArrayElement>(value: T) -> f64 {
    let scalar = dappled_kernels::Scalar::new(value).cast(DType::Float64);
    scalar.get().unwrap()
}

fn position(values: &[i64], value: i64) -> usize {
    values.iter().position(|&other| other == value).unwrap()
}

#[test]
fn reductions_of_integers() {
    on_ranks(|cx| SHAPES.iter().for_each(|shape| check_reductions::<i32>(cx, shape)));
}

#[test]
fn reductions_of_floats() {
    on_ranks(|cx| SHAPES.iter().for_each(|shape| check_reductions::<f64>(cx, shape)));
}

#[test]
fn reductions_of_complex_numbers() {
    on_ranks(|cx| SHAPES.iter().for_each(|shape| check_reductions::<Complex64>(cx, shape)));
}

#[test]
fn moments_of_narrow_types() {
    on_ranks(|cx| {
        let mask = Mask::from_bools(cx, [4], &[true, false, false, true]).unwrap();
        assert_eq!(
            (mask.sum().unwrap(), mask.mean().unwrap(), mask.var(0).unwrap()),
            (2, 0.5, 0.25)
        );
        assert_eq!((mask.any().unwrap(), mask.all().unwrap()), (Bool(1), Bool(0)));
        let half = Array::from_slice(cx, [2, 2], &[1.0, 2.0, 3.0, 6.0]).unwrap().cast::<f16>();
        assert_eq!(half.mean().unwrap(), f16::from_f32(3.0));
        assert_eq!(half.mean_axis(0).unwrap().to_vec().unwrap(), [2.0, 4.0].map(f16::from_f32));
        assert_eq!(half.var_axis(1, 1).unwrap().to_vec().unwrap(), [0.5, 4.5].map(f16::from_f32));
        let z = Array::from_slice(cx, [2], &[Complex32::new(0.0, 1.0), Complex32::new(0.0, 3.0)]);
        let z = z.unwrap();
        assert_eq!((z.mean().unwrap(), z.std(0).unwrap()), (Complex32::new(0.0, 2.0), 1.0));
        assert_eq!(Array::<u8>::full(cx, [300], 255).sum().unwrap(), 76500);
        assert_eq!(
            Array::<i8>::full(cx, [2, 3], 2).prod_axis(1).unwrap().to_vec().unwrap(),
            [8, 8]
        );
    });
}

/// The texts are NumPy's.
#[test]
fn errors_have_numpys_texts() {
    let texts = on_ranks(|cx| {
        let text = |error: Error| error.to_string();
        let a = Array::<f64>::zeros(cx, [2, 3]);
        let four = Array::<f64>::zeros(cx, [4]);
        let empty = Array::<f64>::zeros(cx, [0]);
        let five = Array::from_slice(cx, [1], &[5i64]).unwrap();
        vec![
            text(a.try_add(&four).unwrap_err()),
            text(a.assign(&four).unwrap_err()),
            text(a.try_slice(s![2]).unwrap_err()),
            text(a.try_slice(s![0, 0, 0]).unwrap_err()),
            text(a.sum_axis(2).unwrap_err()),
            text(a.reshape([4, -1]).unwrap_err()),
            text(a.transpose([0]).unwrap_err()),
            text(empty.max().unwrap_err()),
            text(empty.argmax().unwrap_err()),
            text(Array::concatenate(&[&a, &a.t()], 0).unwrap_err()),
            text(Array::concatenate(&[&a, &four], 0).unwrap_err()),
            text(a.matmul(&four).unwrap_err()),
            text(a.take(&five).unwrap_err()),
            text(a.put(&five, 1.0).unwrap_err()),
            text(a.masked(&four.less(0.0)).unwrap_err()),
            text(Array::from_slice(cx, [2, 2], &[1.0]).unwrap_err()),
        ]
    });
    let expected = [
        "operands could not be broadcast together with shapes (2,3) (4,) ",
        "could not broadcast input array from shape (4,) into shape (2,3)",
        "index 2 is out of bounds for axis 0 with size 2",
        "too many indices for array: array is 2-dimensional, but 3 were indexed",
        "axis 2 is out of bounds for array of dimension 2",
        "cannot reshape array of size 6 into shape (4,newaxis)",
        "axes don't match array",
        "zero-size array to reduction operation maximum which has no identity",
        "attempt to get argmax of an empty sequence",
        "all the input array dimensions except for the concatenation axis must match exactly, but along \
         dimension 1, the array at index 0 has size 3 and the array at index 1 has size 2",
        "all the input array dimensions must match exactly, but the array at index 0 has 2 dimension(s) \
         and the array at index 1 has 1 dimension(s)",
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature \
         (n?,k),(k,m?)->(n?,m?) (size 4 is different from 3)",
        "index 5 is out of bounds for axis 0 with size 2",
        "index 5 is out of bounds for axis 0 with size 2",
        "boolean index did not match indexed array along axis 0; size of axis is 2 but size of \
         corresponding boolean axis is 4",
        "cannot reshape array of size 1 into shape (2,2)",
    ];
    assert_eq!(texts, expected);
}

#[test]
#[should_panic(expected = "operands could not be broadcast together with shapes (2,) (3,)")]
fn operators_panic_with_the_error() {
    Threads::run(2, |fabric| {
        let cx = Context::with_fabric(Box::new(fabric), LIMITS[0]);
        let _ = Array::<f64>::zeros(&cx, [2]) + Array::<f64>::zeros(&cx, [3]);
    });
}

#[test]
#[should_panic(expected = "non-broadcastable output operand with shape (3,) doesn't match")]
fn updates_keep_the_shape() {
    Threads::run(1, |fabric| {
        let cx = Context::with_fabric(Box::new(fabric), LIMITS[1]);
        let mut a = Array::<f64>::zeros(&cx, [3]);
        a += &Array::<f64>::zeros(&cx, [2, 3]);
    });
}

#[test]
fn elements_by_mask_and_index() {
    on_ranks(|cx| {
        for shape in [&[0][..], &[1], &[13], &[5, 4], &[0, 2], &[3, 2, 2]] {
            let values = numbers(shape.iter().product());
            let width: usize = shape[1..].iter().product();
            let base = Array::from_slice(cx, shape, &values).unwrap();
            for a in distributed(cx, &base) {
                let selected: Vec<i64> =
                    values.iter().copied().filter(|&value| value > 0).collect();
                assert_eq!(a.masked(&a.greater(0)).unwrap().to_vec().unwrap(), selected);
                let clipped: Vec<i64> = values.iter().map(|&value| value.max(0)).collect();
                let b = a.copy().unwrap();
                b.assign_where(&b.less(0), 0).unwrap();
                assert_eq!(b.to_vec().unwrap(), clipped);
                let positive = (0i64..).zip(&values).filter(|(_, value)| **value > 0);
                let positive: Vec<i64> = positive.map(|(at, _)| at).collect();
                assert_eq!(a.greater(0).flatnonzero().unwrap().to_vec().unwrap(), positive);
                let none = Array::<i64>::zeros(cx, [0]);
                assert_eq!(a.take(&none).unwrap().len(), 0);
                if shape[0] == 0 {
                    continue;
                }
                let count = shape[0] as i64;
                let at = [0, count - 1, -count, -1, 0, count / 2];
                let rows: Vec<usize> = at.iter().map(|at| at.rem_euclid(count) as usize).collect();
                let indices = Array::from_slice(cx, [2, 3], &at).unwrap();
                let taken = a.take(&indices).unwrap();
                assert_eq!(taken.shape(), [&[2, 3], &shape[1..]].concat());
                let expected: Vec<i64> =
                    rows.iter().flat_map(|row| &values[row * width..][..width]).copied().collect();
                assert_eq!(taken.to_vec().unwrap(), expected);
                let last = a.take_axis(&indices, 0).unwrap();
                assert_eq!(last.to_vec().unwrap(), expected);
                let (mut put, c) = (values.clone(), a.copy().unwrap());
                let new = (&taken * 10).copy().unwrap();
                for (&row, value) in rows.iter().zip(expected.chunks(width)) {
                    for (to, from) in put[row * width..][..width].iter_mut().zip(value) {
                        *to = from * 10;
                    }
                }
                c.put(&indices, &new).unwrap();
                assert_eq!(c.to_vec().unwrap(), put);
                c.put(&indices, 1).unwrap();
                assert_eq!(c.slice(s![-1]).min().unwrap(), 1);
                assert_eq!(a.to_vec().unwrap(), values, "a copy was written");
            }
        }
        let a = Array::from_fn(cx, [2, 5, 3], |at| (at[0] * 100 + at[1] * 10 + at[2]) as i64);
        let rows = Mask::from_bools(
            cx,
            [2, 5],
            &[0usize, 3, 9].iter().fold([false; 10], |mut mask, &at| {
                mask[at] = true;
                mask
            }),
        );
        let selected = a.masked(&rows.unwrap()).unwrap();
        assert_eq!(selected.to_vec().unwrap(), [0, 1, 2, 30, 31, 32, 140, 141, 142]);
        let at = Array::from_slice(cx, [2, 1], &[4, -5]).unwrap();
        let taken = a.take_axis(&at, 1).unwrap();
        assert_eq!(taken.shape(), [2, 2, 1, 3]);
        assert_eq!(taken.to_vec().unwrap(), [40, 41, 42, 0, 1, 2, 140, 141, 142, 100, 101, 102]);
    });
}

#[test]
fn shapes_and_concatenation() {
    on_ranks(|cx| {
        let values = numbers(24);
        let base = Array::from_slice(cx, [4, 6], &values).unwrap();
        for a in distributed(cx, &base) {
            for shape in [&[24][..], &[2, 12], &[-1, 3], &[2, 3, 4], &[24, 1], &[1, 24]] {
                assert_eq!(a.reshape(shape).unwrap().to_vec().unwrap(), values, "{shape:?}");
            }
            let transposed: Vec<i64> = (0..24).map(|at| values[(at % 4) * 6 + at / 4]).collect();
            assert_eq!(a.t().to_vec().unwrap(), transposed);
            assert_eq!(a.t().reshape([-1]).unwrap().to_vec().unwrap(), transposed);
            assert_eq!(a.transpose([-1, 0]).unwrap().to_vec().unwrap(), transposed);
            let (top, rest) = (a.slice(s![..1]), a.slice(s![1..]));
            let joined = Array::concatenate(&[&top, &rest, &a.slice(s![..0])], 0).unwrap();
            assert_eq!(joined.to_vec().unwrap(), values);
            let halves = [&a.slice(s![.., ..2]), &a.slice(s![.., 2..])];
            assert_eq!(Array::concatenate(&halves, -1).unwrap().to_vec().unwrap(), values);
            let stacked = Array::stack(&[&a, &(&a + 1)], -1).unwrap();
            assert_eq!(stacked.shape(), [4, 6, 2]);
            assert_eq!(stacked.slice(s![.., .., 1]).sum().unwrap(), a.sum().unwrap() + 24);
            let wide = a.slice(s![0]).broadcast_to([3, 6]).unwrap();
            assert_eq!(
                wide.sum_axis(0).unwrap().to_vec().unwrap(),
                (a.slice(s![0]) * 3).to_vec().unwrap()
            );
        }
    });
}

#[test]
fn creation() {
    on_ranks(|cx| {
        assert_eq!(Array::<u8>::arange(cx, 250, 255, 2).to_vec().unwrap(), [250, 252, 254]);
        assert_eq!(Array::<i32>::arange(cx, 3, -4, -3).to_vec().unwrap(), [3, 0, -3]);
        assert!(Array::<i64>::arange(cx, 5, 5, 1).is_empty());
        assert_eq!(Array::linspace(cx, 0.0, 1.0, 5).to_vec().unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(Array::linspace(cx, 2.0, 3.0, 1).to_vec().unwrap(), [2.0]);
        assert!(Array::linspace(cx, 2.0, 3.0, 0).is_empty());
        let scalar = Array::from_fn(cx, [], |_| 4.5);
        assert_eq!(
            (scalar.ndim(), scalar.item().unwrap(), (&scalar + 1.0).sum().unwrap()),
            (0, 4.5, 5.5)
        );
        assert_eq!(Array::from_fn(cx, [3, 0], |_| 1i8).shape(), [3, 0]);
        let complex = Array::<Complex64>::ones(cx, [2]);
        assert_eq!(complex.sum().unwrap(), Complex64::new(2.0, 0.0));
        assert_eq!(complex.real().cast::<i16>().to_vec().unwrap(), [1, 1]);
    });
}

#[test]
fn random_numbers_do_not_depend_on_ranks() {
    on_ranks(|cx| {
        let mut random = ParallelGenerator::new(cx, 5);
        let (a, b) = (random.uniform([3, 5]), random.uniform([3, 5]));
        assert!(a.not_equal(&b).all().unwrap().is_true());
        let dice = random.integers(1..7, [100]);
        assert_eq!((dice.min().unwrap(), dice.max().unwrap()), (1, 6));
        let normal = bits(random.normal(1.0, 2.0, [7]));
        (
            bits(a),
            bits(b),
            bits(dice),
            normal,
            bits(random.uniform_f32([4])),
            bits(random.exponential(2.0, [4])),
        )
    });
}

#[test]
fn matrix_products() {
    on_ranks(|cx| {
        for [rows, inner, columns] in
            [[1, 1, 1], [2, 3, 4], [5, 1, 3], [70, 65, 3], [3, 0, 2], [0, 2, 2]]
        {
            let (left, right) = (numbers(rows * inner), numbers(inner * columns));
            let a = Array::from_slice(cx, [rows, inner], &left).unwrap();
            let b = Array::from_slice(cx, [inner, columns], &right).unwrap();
            let element = |at: usize| -> i64 {
                let (row, column) = (at / columns, at % columns);
                (0..inner).map(|k| left[row * inner + k] * right[k * columns + column]).sum()
            };
            let expected: Vec<i64> = (0..rows * columns).map(element).collect();
            assert_eq!(a.matmul(&b).unwrap().to_vec().unwrap(), expected);
            let (x, y) = (a.cast::<f64>(), b.cast::<f32>());
            assert_eq!(x.matmul(&b.cast()).unwrap().cast::<i64>().to_vec().unwrap(), expected);
            assert_eq!(a.cast().matmul(&y).unwrap().cast::<i64>().to_vec().unwrap(), expected);
            let turned = y.t().matmul(&a.cast::<f32>().t()).unwrap();
            assert_eq!(turned.t().cast::<i64>().to_vec().unwrap(), expected);
            if columns > 0 && rows > 0 {
                let column = a.matmul(&b.slice(s![.., 0])).unwrap();
                assert_eq!(
                    column.to_vec().unwrap(),
                    a.matmul(&b).unwrap().slice(s![.., 0]).to_vec().unwrap()
                );
                let row = a.slice(s![0]).matmul(&b).unwrap();
                assert_eq!(row.to_vec().unwrap(), expected[..columns]);
                let dot = a.slice(s![0]).dot(&b.slice(s![.., 0])).unwrap();
                assert_eq!(dot.item().unwrap(), expected[0]);
            }
        }
    });
}

#[test]
fn local_pieces_are_snapshots() {
    on_ranks(|cx| {
        let a = Array::<i64>::arange(cx, 0, 40, 1).reshape([8, 5]).unwrap();
        for b in distributed(cx, &a.slice(s![.., ..;-1])) {
            let piece = b.local().unwrap();
            let own: i64 = piece.as_slice().iter().sum();
            let (distribution, rank) = (b.distribution().unwrap(), cx.rank() as u64);
            if distribution.holds(rank) {
                let lengths = distribution.local_shape(rank);
                assert!(piece.shape().iter().map(|&length| length as u64).eq(lengths));
            }
            b.fill(0).unwrap();
            assert_eq!(piece.as_slice().iter().sum::<i64>(), own);
            assert_eq!(b.sum().unwrap(), 0);
            assert_eq!(piece.shape().iter().product::<usize>(), piece.as_slice().len());
            #[cfg(feature = "ndarray")]
            assert_eq!(piece.view().sum(), own);
        }
    });
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray_in_and_out() {
    on_ranks(|cx| {
        let local = ndarray::Array::from_shape_fn((3, 4), |(i, j)| (i * 10 + j) as f32);
        let a = Array::from_ndarray(cx, &local.slice(ndarray::s![.., ..;-1])).unwrap();
        let back = (&a + 1.0).t().to_ndarray().unwrap();
        assert_eq!(back, (local.slice(ndarray::s![.., ..;-1]).to_owned() + 1.0).t().into_dyn());
        let scalar = Array::from_ndarray(cx, &ndarray::arr0(2.5)).unwrap();
        assert_eq!(scalar.to_ndarray().unwrap(), ndarray::arr0(2.5).into_dyn());
    });
}

/// An assignment does not change an operation requested before.
#[test]
fn operations_read_the_values_of_their_request() {
    on_ranks(|cx| {
        let a = Array::<f64>::ones(cx, [6, 6]);
        let doubled = 2.0 * &a;
        let inner = a.slice(s![1..-1, 1..-1]);
        inner.assign(&inner + a.slice(s![..-2, 1..-1])).unwrap();
        a.slice(s![0]).fill(5.0).unwrap();
        assert_eq!(doubled.sum().unwrap(), 72.0);
        assert_eq!((a.sum().unwrap(), inner.max().unwrap()), (36.0 + 16.0 + 24.0, 2.0));
        let mut b = a.slice(s![.., 0]).copy().unwrap();
        b /= 2.0;
        b += 1.0;
        assert_eq!((b.sum().unwrap(), a.slice(s![.., 0]).sum().unwrap()), (11.0, 10.0));
    });
}
