//! Pending operations as one program.

use std::borrow::Cow;
use std::sync::Arc;

use dappled_kernels::{DType, Op, Program, Reg, Scalar, View};

use super::evaluate::value;
use super::node::{Arg, Few, Map, Node, State};
use super::notice::{Origin, Request};
use super::{GraphError, Session};

/// A program, and the stored parts that it reads.
#[derive(Clone)]
pub(super) struct Fused {
    pub program: Program,
    pub inputs: Vec<(Arc<Node>, View)>,
    /// What was asked for, for each step.
    pub steps: Vec<Request>,
}

/// A program under construction.
struct Fuse<'a> {
    session: &'a Session,
    /// Is the program to be run? If it is only to be shown, nothing is noted.
    noted: bool,
    inputs: Vec<(Arc<Node>, View)>,
    constants: Vec<Scalar>,
    steps: Vec<Step>,
    /// Where the results of operations are that are a part of the program already.
    known: Vec<(Arc<Node>, View, Place)>,
}

/// One operation, with the places of its arguments.
struct Step {
    request: Request,
    dtype: DType,
    args: Few<Place>,
}

/// Where a value of the program is, before all inputs and constants are known.
#[derive(Clone, Copy)]
enum Place {
    Input(usize),
    Constant(usize),
    Step(usize),
}

/// The program that gives an argument in a dtype. Its depth is bounded: no node is heavier than
/// [`super::session::HEAVIEST`]. What can't be a part of it is computed first.
pub(super) fn fused(session: &Session, arg: &Arg, dtype: DType) -> Result<Fused, GraphError> {
    let mut fuse = Fuse::new(session, true);
    let place = fuse.place(arg, 1)?;
    // The cast is asked for now, whenever its operand was.
    let place = fuse.cast(place, arg.dtype(), dtype, None);
    Ok(fuse.fused(place))
}

/// The program of an operation itself, whatever its node is noted for.
pub(super) fn fused_map(
    session: &Session,
    node: &Node,
    map: &Map,
    noted: bool,
) -> Result<Fused, GraphError> {
    let mut fuse = Fuse::new(session, noted);
    let place = fuse.map(map, Cow::Borrowed(&map.args))?;
    let made = map.request.op.result(map.dtype);
    let place = fuse.cast(place, made, node.base.dtype, map.request.origin.as_ref());
    Ok(fuse.fused(place))
}

impl<'a> Fuse<'a> {
    fn new(session: &'a Session, noted: bool) -> Self {
        let (inputs, constants, steps, known) = Default::default();
        Self { session, noted, inputs, constants, steps, known }
    }

    /// Where an argument is, whose node has so many holders here.
    fn place(&mut self, arg: &Arg, holders: usize) -> Result<Place, GraphError> {
        let (node, view) = match arg {
            Arg::Scalar(value) => return Ok(self.constant(*value)),
            Arg::Part(node, view) => (node, view),
        };
        match node.state() {
            State::Full(value) if view.dtype == node.base.dtype => Ok(self.constant(value)),
            State::Map(map) => self.pending(node, view, &map, holders),
            _ => Ok(self.input(node, view)),
        }
    }

    /// An operation becomes a part of the program, unless its result was needed before and will be
    /// again, and is worth its memory.
    fn pending(
        &mut self,
        node: &Arc<Node>,
        view: &View,
        map: &Map,
        holders: usize,
    ) -> Result<Place, GraphError> {
        let same =
            |(other, seen, _): &&(Arc<Node>, View, Place)| Arc::ptr_eq(node, other) && view == seen;
        if let Some((_, _, place)) = self.known.iter().find(same) {
            return Ok(*place);
        }
        match seen(map, view, &node.base) {
            Some(args)
                if view.dtype == node.base.dtype
                    && !(self.noted && is_worth_memory(node, map, holders)) =>
            {
                let place = self.map(map, args)?;
                // What nobody else holds is not met again.
                if Arc::strong_count(node) > holders {
                    self.known.push((node.clone(), view.clone(), place));
                }
                Ok(place)
            }
            _ => {
                value(self.session, node)?;
                Ok(self.input(node, view))
            }
        }
    }

    fn map(&mut self, map: &Map, args: Cow<'_, Few<Arg>>) -> Result<Place, GraphError> {
        // The operation's own arguments, and these if they are others.
        let holders = if matches!(args, Cow::Borrowed(_)) { 1 } else { 2 };
        let mut places = Few::new();
        for (position, arg) in args.iter().enumerate() {
            let place = self.place(arg, holders)?;
            let (from, to) = (arg.dtype(), map.request.op.argument(map.dtype, position));
            places.push(self.cast(place, from, to, map.request.origin.as_ref()));
        }
        Ok(self.step(map.request.clone(), map.dtype, places))
    }

    /// A cast that is asked for there, or now.
    fn cast(
        &mut self,
        place: Place,
        from: DType,
        to: DType,
        origin: Option<&Arc<Origin>>,
    ) -> Place {
        match place {
            _ if from == to => place,
            Place::Constant(at) => self.constant(self.constants[at].cast(to)),
            _ => {
                let request = Request { origin: origin.cloned(), ..Op::Cast(to).into() };
                self.step(request, from, [place].into_iter().collect())
            }
        }
    }

    fn step(&mut self, request: Request, dtype: DType, places: Few<Place>) -> Place {
        self.steps.push(Step { request, dtype, args: places });
        Place::Step(self.steps.len() - 1)
    }

    fn constant(&mut self, value: Scalar) -> Place {
        self.constants.push(value);
        Place::Constant(self.constants.len() - 1)
    }

    /// A part that is read twice is one input.
    fn input(&mut self, node: &Arc<Node>, view: &View) -> Place {
        let same = |(other, seen): &(Arc<Node>, View)| Arc::ptr_eq(node, other) && view == seen;
        let known = self.inputs.iter().position(same);
        Place::Input(known.unwrap_or_else(|| {
            self.inputs.push((node.clone(), view.clone()));
            self.inputs.len() - 1
        }))
    }

    fn fused(self, result: Place) -> Fused {
        let program = self.finished(result);
        let steps = self.steps.into_iter().map(|step| step.request).collect();
        Fused { program, inputs: self.inputs, steps }
    }

    fn finished(&self, result: Place) -> Program {
        let dtypes = self.inputs.iter().map(|(_, view)| view.dtype).collect();
        let mut program = Program::new(dtypes, self.constants.clone());
        for Step { request, dtype, args } in &self.steps {
            let args: Few<Reg> = args.iter().map(|&place| register(&program, place)).collect();
            program.push(request.op, *dtype, &args);
        }
        program.outputs.push(register(&program, result));
        program
    }
}

/// Was a result needed before, and is it best kept in memory for the next time? Who holds it may
/// differ from rank to rank, so only what no other rank takes part in depends on that.
fn is_worth_memory(node: &Arc<Node>, map: &Map, holders: usize) -> bool {
    let is_held = map.is_spread || Arc::strong_count(node) > holders;
    node.was_read() && is_held && !map.is_cheap(node.base.len())
}

/// The arguments of an operation whose result is seen through a view of this base; None where they
/// can't be.
fn seen<'a>(map: &'a Map, view: &View, base: &View) -> Option<Cow<'a, Few<Arg>>> {
    if view == base {
        return Some(Cow::Borrowed(&map.args));
    }
    let args = map.args.iter().map(|arg| arg.seen_through(view, base));
    args.collect::<Option<_>>().map(Cow::Owned)
}

fn register(program: &Program, place: Place) -> Reg {
    match place {
        Place::Input(position) => program.input(position),
        Place::Constant(position) => program.constant(position),
        Place::Step(step) => program.result(step),
    }
}
