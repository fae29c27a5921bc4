//! Reductions of fused programs over random views.
//!
//! References: the same reduction of stored values, and a sequential reduction. Values and flags
//! must agree.

use dappled_kernels::{
    ArgReduceOp, Buffer, BufferView, DType, Engine, Interpreter, Op, Program, ReduceFlags,
    ReduceOp, Reduction, StepFlags, View, arg_reduce, reduce, scan, sum, tree,
};
use proptest::prelude::*;

type Apply = fn(i64, i64) -> i64;

/// `a * b - a`
fn fused(dtype: DType) -> Program {
    let mut program = Program::new(vec![dtype; 2], vec![]);
    let product = program.push(Op::Multiply, dtype, &[program.input(0), program.input(1)]);
    let root = program.push(Op::Subtract, dtype, &[product, program.input(0)]);
    program.outputs.push(root);
    program
}

fn stored(dtype: DType) -> Program {
    let mut program = Program::new(vec![dtype], vec![]);
    program.outputs.push(program.input(0));
    program
}

/// A view with permuted axes, some of them reversed or with gaps.
fn layout(dtype: DType, shape: &[usize], turn: usize, steps: &[isize]) -> View {
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    axes.rotate_left(turn % shape.len().max(1));
    let steps: Vec<isize> = axes.iter().map(|&axis| steps[axis]).collect();
    let base: Vec<usize> =
        axes.iter().zip(&steps).map(|(&axis, step)| shape[axis] * step.unsigned_abs()).collect();
    let mut view = View::c_order(dtype, &base);
    for (at, &step) in steps.iter().enumerate() {
        let start = if step < 0 { base[at] - 1 } else { 0 };
        view = view.slice_axis(at, start, step, shape[axes[at]]);
    }
    let mut placed = view.clone();
    for (at, &axis) in axes.iter().enumerate() {
        (placed.shape[axis], placed.strides[axis]) = (view.shape[at], view.strides[at]);
    }
    placed
}

/// Numbers, some of which raise flags if `wild`.
fn memory(view: &View, seed: usize, wild: bool) -> Buffer {
    let bytes = view.byte_bounds().end as usize;
    let special = [1e200, -1e200, f64::INFINITY, 1e-200, f64::NAN, f64::MAX, 0.0, 1e-310];
    let number = |at: usize| match (at * 7919 + seed) % 2003 {
        some if wild && some % 61 == 7 => special[some / 61 % 8],
        some => some as f64 * 0.37 - 370.0,
    };
    let numbers: Vec<f64> = (0..bytes / 8).map(number).collect();
    match view.dtype {
        DType::Float64 => Buffer::from_slice(&numbers),
        _ => Buffer::from_slice(&numbers.iter().map(|&number| number as i64).collect::<Vec<_>>()),
    }
}

/// A random array: its shape, the layouts of two operands and the result, and the reduced axes.
#[derive(Clone, Debug)]
struct Setting {
    shape: Vec<usize>,
    turns: [usize; 3],
    steps: Vec<[isize; 3]>,
    axes: Vec<usize>,
    threads: usize,
    wild: bool,
}

fn setting() -> impl Strategy<Value = Setting> {
    let sizes = prop::sample::select(vec![1usize, 2, 3, 5, 8, 13, 30]);
    let small = prop::collection::vec(sizes, 1..4);
    let large = prop::sample::select(vec![
        vec![40_000],
        vec![200, 300],
        vec![3, 20_000],
        vec![20_000, 3],
        vec![40, 30, 50],
        vec![21, 1100],
        vec![2, 700, 40],
    ]);
    prop_oneof![3 => small, 1 => large].prop_flat_map(|shape| {
        let step = prop::sample::select(vec![1isize, 1, 2, -1, -2]);
        let steps = prop::collection::vec([step.clone(), step.clone(), step], shape.len());
        let axes = prop::sample::subsequence((0..shape.len()).collect::<Vec<_>>(), 1..=shape.len());
        let turns = [0usize..3, 0..3, 0..3];
        (Just(shape), turns, steps, axes, 1usize..4, any::<bool>()).prop_map(
            |(shape, turns, steps, axes, threads, wild)| Setting {
                shape,
                turns,
                steps,
                axes,
                threads,
                wild,
            },
        )
    })
}

impl Setting {
    fn view(&self, which: usize, dtype: DType, shape: &[usize]) -> View {
        let steps: Vec<isize> = self.steps.iter().map(|steps| steps[which]).collect();
        layout(dtype, shape, self.turns[which], &steps)
    }

    fn operands(&self, dtype: DType) -> [(Buffer, View); 2] {
        [0, 1].map(|which| {
            let view = self.view(which, dtype, &self.shape);
            (memory(&view, which, self.wild), view)
        })
    }

    fn result_shape(&self) -> Vec<usize> {
        let length = |(axis, &size)| if self.axes.contains(&axis) { 1 } else { size };
        self.shape.iter().enumerate().map(length).collect()
    }

    /// The program's values in C order, and the flags of computing them.
    fn values(&self, dtype: DType) -> (Buffer, View, StepFlags) {
        let view = View::c_order(dtype, &self.shape);
        let buffer = Buffer::zeroed(view.len() * dtype.itemsize());
        let operands = self.operands(dtype);
        let inputs =
            operands.each_ref().map(|(buffer, view)| BufferView::new(buffer, view).unwrap());
        let out = [BufferView::new(&buffer, &view).unwrap()];
        let raised = Interpreter::new(&fused(dtype)).unwrap().run(&inputs, &out).unwrap();
        (buffer, view, raised)
    }

    fn in_pool<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().unwrap().install(run)
    }

    /// Runs the fused program with an output of any layout; returns the output in C order and the
    /// result of `run`.
    fn result<T: Send>(
        &self,
        dtype: DType,
        out: (DType, &[usize]),
        run: impl Fn(&Interpreter, &[BufferView], &BufferView) -> T + Sync,
    ) -> (Vec<[u8; 8]>, T) {
        let view = self.view(2, out.0, out.1);
        let buffer = memory(&view, 5, false);
        let operands = self.operands(dtype);
        let inputs =
            operands.each_ref().map(|(buffer, view)| BufferView::new(buffer, view).unwrap());
        let code = Interpreter::new(&fused(dtype)).unwrap();
        let target = BufferView::new(&buffer, &view).unwrap();
        let told = self.in_pool(|| run(&code, &inputs, &target));
        (elements(&buffer, &view), told)
    }
}

/// The elements of a view in C order.
fn elements(buffer: &Buffer, view: &View) -> Vec<[u8; 8]> {
    let mut places = vec![view.offset as isize];
    for (&size, &stride) in view.shape.iter().zip(&view.strides) {
        let along = |place: isize| (0..size as isize).map(move |at| place + at * stride);
        places = places.into_iter().flat_map(along).collect();
    }
    let bytes = buffer.read().unwrap();
    places.iter().map(|&at| bytes[at as usize..at as usize + 8].try_into().unwrap()).collect()
}

/// The elements with every NaN replaced by one: which of two NaNs a sum returns is the compiler's
/// choice.
fn with_canonical_nans(elements: Vec<[u8; 8]>) -> Vec<[u8; 8]> {
    let one = |bytes: [u8; 8]| match f64::from_ne_bytes(bytes).is_nan() {
        true => f64::NAN.to_ne_bytes(),
        false => bytes,
    };
    elements.into_iter().map(one).collect()
}

/// The index of each element's result, in C order.
fn targets(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    let mut targets = vec![0];
    for (axis, &size) in shape.iter().enumerate() {
        let step = |target: usize, at: usize| match axes.contains(&axis) {
            true => target,
            false => target * size + at,
        };
        targets = targets
            .into_iter()
            .flat_map(|target| (0..size).map(move |at| step(target, at)))
            .collect();
    }
    targets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn fused_reductions_agree_with_stored_values(
        setting in setting(),
        fold in prop::sample::select(vec![ReduceOp::Add, ReduceOp::Multiply, ReduceOp::Minimum, ReduceOp::Maximum]),
        casts in any::<bool>(),
    ) {
        let dtype = DType::Float64;
        let (values, view, steps) = setting.values(dtype);
        let mut reduction = Reduction::new(fold, dtype, &setting.axes, &view.strides);
        reduction.casts = casts;
        let shape = setting.result_shape();
        let plain = View::c_order(dtype, &shape);
        let expected = Buffer::zeroed(8 * plain.len());
        let code = Interpreter::new(&stored(dtype)).unwrap();
        let inputs = [BufferView::new(&values, &view).unwrap()];
        let out = BufferView::new(&expected, &plain).unwrap();
        let flags = reduce(&code, &inputs, &reduction, &out).unwrap().reduction;
        let (found, told) = setting.result(dtype, (dtype, &shape), |code, inputs, out| {
            reduce(code, inputs, &reduction, out).unwrap()
        });
        prop_assert_eq!(with_canonical_nans(found), with_canonical_nans(elements(&expected, &plain)));
        prop_assert_eq!(told, ReduceFlags { steps, reduction: flags });
    }

    #[test]
    fn fused_scans_and_searches_agree_with_stored_values(
        setting in setting(),
        fold in prop::sample::select(vec![ReduceOp::Add, ReduceOp::Multiply, ReduceOp::Maximum]),
    ) {
        let (dtype, axis) = (DType::Float64, setting.axes[0]);
        let (values, view, steps) = setting.values(dtype);
        let code = Interpreter::new(&stored(dtype)).unwrap();
        let inputs = [BufferView::new(&values, &view).unwrap()];
        let expected = Buffer::zeroed(8 * view.len());
        let out = BufferView::new(&expected, &view).unwrap();
        let ReduceFlags { reduction, .. } = scan(&code, &inputs, fold, axis, None, &out).unwrap();
        let (found, told) = setting.result(dtype, (dtype, &setting.shape), |code, inputs, out| {
            scan(code, inputs, fold, axis, None, out).unwrap()
        });
        prop_assert_eq!(found, elements(&expected, &view));
        prop_assert_eq!(told, ReduceFlags { steps: steps.clone(), reduction });
        let mut shape = setting.shape.clone();
        shape[axis] = 1;
        let (_, told) = setting.result(dtype, (DType::Int64, &shape), |code, inputs, out| {
            arg_reduce(code, inputs, ArgReduceOp::ArgMin, Some(axis), out).unwrap()
        });
        prop_assert_eq!(told, steps);
    }

    #[test]
    fn integer_reductions_agree_with_a_sequential_loop(setting in setting()) {
        let dtype = DType::Int64;
        let (values, view, _) = setting.values(dtype);
        let values: Vec<i64> = values.to_vec();
        let folds: [(ReduceOp, Apply); 4] = [
            (ReduceOp::Add, i64::wrapping_add),
            (ReduceOp::Maximum, i64::max),
            (ReduceOp::BitXor, |a, b| a ^ b),
            (ReduceOp::Multiply, i64::wrapping_mul),
        ];
        let shape = setting.result_shape();
        for (fold, apply) in folds {
            let mut expected = vec![None; shape.iter().product()];
            for (&value, target) in values.iter().zip(targets(&setting.shape, &setting.axes)) {
                let acc = &mut expected[target];
                *acc = Some(acc.map_or(value, |acc| apply(acc, value)));
            }
            let expected: Vec<_> = expected.iter().map(|acc| acc.unwrap().to_ne_bytes()).collect();
            let reduction = Reduction::new(fold, dtype, &setting.axes, &view.strides);
            let (found, _) = setting.result(dtype, (dtype, &shape), |code, inputs, out| {
                reduce(code, inputs, &reduction, out).unwrap();
            });
            prop_assert_eq!(found, expected, "{}", fold);
        }
    }

    #[test]
    fn scans_and_searches_follow_an_axis(setting in setting()) {
        let dtype = DType::Int64;
        let (values, view, _) = setting.values(dtype);
        let (values, axis): (Vec<i64>, usize) = (values.to_vec(), setting.axes[0]);
        let step = view.strides[axis] as usize / 8;
        let mut sums = values.clone();
        let mut places = Vec::new();
        for at in 0..values.len() {
            let index = at / step % setting.shape[axis];
            if index > 0 {
                sums[at] = sums[at].wrapping_add(sums[at - step]);
            } else {
                let line: Vec<i64> =
                    (0..setting.shape[axis]).map(|index| values[at + index * step]).collect();
                let best = line.iter().max().unwrap();
                places.push((line.iter().position(|value| value == best).unwrap() as i64).to_ne_bytes());
            }
        }
        let (found, _) = setting.result(dtype, (dtype, &setting.shape), |code, inputs, out| {
            scan(code, inputs, ReduceOp::Add, axis, None, out).unwrap();
        });
        prop_assert_eq!(found, sums.iter().map(|sum| sum.to_ne_bytes()).collect::<Vec<_>>());
        let mut shape = setting.shape.clone();
        shape[axis] = 1;
        let (found, _) = setting.result(dtype, (dtype, &shape), |code, inputs, out| {
            arg_reduce(code, inputs, ArgReduceOp::ArgMax, Some(axis), out).unwrap();
        });
        prop_assert_eq!(found, places);
    }
}

/// The number of threads decides how large nodes are split, but not the bits.
#[test]
fn large_sums_do_not_depend_on_threads() {
    let values: Vec<f64> = (0..9_000_011).map(|at| 1.0 / f64::from(1 + at % 10_007)).collect();
    let expected = tree::node_sum(&values).to_bits();
    let (a, view) = (Buffer::from_slice(&values), View::c_order(DType::Float64, &[values.len()]));
    let code = Interpreter::new(&stored(DType::Float64)).unwrap();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| sum::<f64>(&code, &[BufferView::new(&a, &view).unwrap()]));
        assert_eq!(found.unwrap().to_bits(), expected, "{threads} threads");
    }
}
