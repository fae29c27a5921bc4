//! Pending operations as one program.

use std::sync::Arc;

use dappled_kernels::{DType, Op, Program, Reg, Scalar};
use dappled_protocol::slice::Key;

use super::node::{Arg, Node, State};

/// A program under construction, and the stored parts that it reads.
#[derive(Default)]
pub(super) struct Fuse {
    pub inputs: Vec<(Arc<Node>, Key)>,
    constants: Vec<Scalar>,
    steps: Vec<(Op, DType, Vec<Place>)>,
}

/// Where a value of the program is, before all inputs and constants are known.
#[derive(Clone, Copy)]
enum Place {
    Input(usize),
    Constant(usize),
    Step(usize),
}

impl Fuse {
    /// The program that gives an argument in a dtype. Its depth is bounded: no node is heavier than
    /// [`super::session::HEAVIEST`].
    pub fn program(arg: &Arg, dtype: DType) -> (Program, Vec<(Arc<Node>, Key)>) {
        let mut fuse = Fuse::default();
        let place = fuse.place(arg);
        let place = fuse.cast(place, arg.dtype(), dtype);
        (fuse.finished(place), fuse.inputs)
    }

    fn place(&mut self, arg: &Arg) -> Place {
        match arg {
            Arg::Scalar(value) => self.constant(*value),
            Arg::Part(node, key) => match node.state() {
                State::Stored(_) => self.input(node, key),
                State::Full(value) => self.constant(value),
                State::Map { op, dtype, args, .. } => self.map(op, dtype, &args, key),
            },
        }
    }

    fn map(&mut self, op: Op, dtype: DType, args: &[Arg], key: &Key) -> Place {
        let places = args.iter().enumerate().map(|(position, arg)| {
            let place = self.place(&arg.seen_through(key));
            self.cast(place, arg.dtype(), op.argument(dtype, position))
        });
        let places = places.collect();
        self.step(op, dtype, places)
    }

    fn cast(&mut self, place: Place, from: DType, to: DType) -> Place {
        if from == to { place } else { self.step(Op::Cast(to), from, vec![place]) }
    }

    fn step(&mut self, op: Op, dtype: DType, places: Vec<Place>) -> Place {
        self.steps.push((op, dtype, places));
        Place::Step(self.steps.len() - 1)
    }

    fn constant(&mut self, value: Scalar) -> Place {
        self.constants.push(value);
        Place::Constant(self.constants.len() - 1)
    }

    /// A part that is read twice is one input.
    fn input(&mut self, node: &Arc<Node>, key: &Key) -> Place {
        let same = |(other, seen): &(Arc<Node>, Key)| Arc::ptr_eq(node, other) && key == seen;
        let known = self.inputs.iter().position(same);
        Place::Input(known.unwrap_or_else(|| {
            self.inputs.push((node.clone(), key.clone()));
            self.inputs.len() - 1
        }))
    }

    fn finished(&self, result: Place) -> Program {
        let dtypes = self.inputs.iter().map(|(node, _)| node.dtype).collect();
        let mut program = Program::new(dtypes, self.constants.clone());
        for (op, dtype, places) in &self.steps {
            let args: Vec<Reg> = places.iter().map(|&place| register(&program, place)).collect();
            program.push(*op, *dtype, &args);
        }
        program.outputs.push(register(&program, result));
        program
    }
}

fn register(program: &Program, place: Place) -> Reg {
    match place {
        Place::Input(position) => program.input(position),
        Place::Constant(position) => program.constant(position),
        Place::Step(step) => program.result(step),
    }
}
