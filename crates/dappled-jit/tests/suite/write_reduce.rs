//! A write fused with its reduction by one compiled loop, against the interpreter doing one after
//! the other.
//!
//! Bits and flags agree for any region, any operation and any number of threads.

use std::sync::Arc;

use dappled_jit::{JitMode, LoopCache};
use dappled_kernels::{
    Buffer, BufferView, DType, Engine, Interpreter, Op, PendingWrite, Program, ReduceOp, Reduction,
    Scalar, StepFlags, View, reduce, write_and_reduce,
};
use proptest::prelude::*;

const F: DType = DType::Float64;

/// `(a + b) * 0.25`, or with a division, which raises flags.
fn written(divides: bool) -> Program {
    let mut program = Program::new(vec![F; 2], vec![Scalar::new(0.25)]);
    let op = if divides { Op::Divide } else { Op::Add };
    let made = program.push(op, F, &[program.input(0), program.input(1)]);
    let root = program.push(Op::Multiply, F, &[made, program.constant(0)]);
    program.outputs.push(root);
    program
}

/// `(u - v) * u - 3`, where u is the written array.
fn values() -> Program {
    let mut program = Program::new(vec![F; 2], vec![Scalar::new(3.0)]);
    let difference = program.push(Op::Subtract, F, &[program.input(0), program.input(1)]);
    let product = program.push(Op::Multiply, F, &[difference, program.input(0)]);
    let root = program.push(Op::Subtract, F, &[product, program.constant(0)]);
    program.outputs.push(root);
    program
}

/// Numbers, a few of which raise flags when divided.
fn numbers(count: usize, seed: usize) -> Buffer {
    let number = |at: usize| match (at * 7919 + seed) % 20_011 {
        7 => 0.0,
        some => some as f64 * 0.37 - 370.0,
    };
    Buffer::from_slice(&(0..count).map(number).collect::<Vec<f64>>())
}

/// The shape of an array, and the unwritten margins of each axis.
fn setting() -> impl Strategy<Value = (Vec<usize>, Vec<(usize, usize)>)> {
    let shapes = vec![
        vec![5000],
        vec![70_000],
        vec![90, 1000],
        vec![3, 20, 130],
        vec![400, 70],
        vec![40, 5000],
    ];
    prop::sample::select(shapes).prop_flat_map(|shape| {
        let side = |&length: &usize| (0..(length / 2).min(30), 0..(length / 2).min(30));
        let sides: Vec<_> = shape.iter().map(side).collect();
        (Just(shape), sides)
    })
}

struct Case {
    shape: Vec<usize>,
    sides: Vec<(usize, usize)>,
    fold: ReduceOp,
    divides: bool,
}

type Bits = (Vec<u64>, Vec<u64>, StepFlags, StepFlags);

impl Case {
    /// The array, the result of the reduction and the flags: with compiled loops, or one after the
    /// other without them.
    fn run(&self, loops: Option<Arc<LoopCache>>) -> Option<Bits> {
        let at_once = loops.is_some();
        let engine = |program: &Program| match &loops {
            Some(loops) => Interpreter::new(program).unwrap().with_compiler(loops.clone()),
            None => Interpreter::new(program).unwrap(),
        };
        let all = View::c_order(F, &self.shape);
        let cut = |view: View, (axis, &(before, after)): (usize, &(usize, usize))| {
            view.slice_axis(axis, before, 1, self.shape[axis] - before - after)
        };
        let part = self.sides.iter().enumerate().fold(all.clone(), cut);
        let [u, v, w] = [1, 500, 900].map(|seed| numbers(all.len(), seed));
        let (out, one) = (Buffer::zeroed(8), View::c_order(F, &vec![1; self.shape.len()]));
        let axes: Vec<usize> = (0..self.shape.len()).collect();
        let reduction = Reduction::new(self.fold, F, &axes, &all.strides);
        let both = engine(&written(self.divides).compose(&values(), |at| at == 0));
        let (write, code) = (engine(&written(self.divides)), engine(&values()));
        let operand = |buffer, view| BufferView::new(buffer, view).unwrap();
        let read = [operand(&v, &part), operand(&w, &part)];
        let write = PendingWrite {
            code: &write,
            inputs: &read,
            target: operand(&u, &part),
            fused: Some(&both),
        };
        let (inputs, out_operand) = ([operand(&u, &all), operand(&v, &all)], operand(&out, &one));
        let (folded, raised) = if at_once {
            write_and_reduce(&code, &inputs, &write, &reduction, &out_operand).unwrap()?
        } else {
            let raised = write.code.run(&read, &[write.target]).unwrap();
            (reduce(&code, &inputs, &reduction, &out_operand).unwrap(), raised)
        };
        Some((u.to_vec(), out.to_vec(), raised, folded.steps))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fused_writes_agree_with_separate_ones(
        (shape, sides) in setting(),
        fold in prop::sample::select(vec![ReduceOp::Add, ReduceOp::Multiply, ReduceOp::Minimum, ReduceOp::Maximum]),
        divides in any::<bool>(),
        threads in 1..4usize,
    ) {
        let case = Case { shape, sides, fold, divides };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| case.run(Some(Arc::new(LoopCache::new(JitMode::Always)))));
        let (row, (before, after)) = (case.shape.last().unwrap(), case.sides.last().unwrap());
        prop_assert!(found.is_some() || row - before - after < 64);
        if found.is_some() {
            prop_assert_eq!(found, case.run(None));
        }
    }
}
