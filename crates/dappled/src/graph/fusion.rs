//! Fusion: combines pending operations into one program.

use std::borrow::Cow;
use std::sync::Arc;

use dappled_kernels::{DType, Op, Program, Reg, Scalar, View};

use crate::array::node::{ElementwiseOp, Node, NodeInput, NodeState, OperandVec};
use crate::array::ownership::KnownHolders;
use crate::session::fp_warnings::{OpRequest, RequestContext};

/// A program, and the stored arrays that it reads.
#[derive(Clone)]
pub(crate) struct FusedProgram {
    pub program: Program,
    pub inputs: Vec<(Arc<Node>, View)>,
    /// The requested operation of each step.
    pub requests: Vec<OpRequest>,
}

/// A program under construction.
struct FusionBuilder {
    /// Whether nodes are marked as read. False if the program is only explained.
    marks_reads: bool,
    inputs: Vec<(Arc<Node>, View)>,
    constants: Vec<Scalar>,
    steps: Vec<FusionStep>,
    /// Results of operations that are part of the program already.
    emitted: Vec<(Arc<Node>, View, ValueRef)>,
}

/// One operation and its arguments.
struct FusionStep {
    request: OpRequest,
    dtype: DType,
    inputs: OperandVec<ValueRef>,
}

/// A value of the program, while inputs and constants are still being added.
#[derive(Clone, Copy)]
enum ValueRef {
    Input(usize),
    Constant(usize),
    Step(usize),
}

/// Fuses the program that computes an input in a dtype.
///
/// The number of operations is bounded, by [`crate::config::MAX_FUSED_OPERATIONS`] for each node.
/// Inputs that cannot be fused stay pending: who runs the program evaluates them.
pub(crate) fn fuse(input: &NodeInput, dtype: DType) -> FusedProgram {
    let mut builder = FusionBuilder::new(true);
    let value = builder.resolve(input, KnownHolders::ONE);
    // The cast belongs to the current request, whenever its operand was requested.
    let value = builder.emit_cast(value, input.dtype(), dtype, None);
    builder.finish(value)
}

/// Fuses the program of an operation, even if its node was marked as read.
pub(crate) fn fuse_elementwise(node: &Node, op: &ElementwiseOp, marks_reads: bool) -> FusedProgram {
    let mut builder = FusionBuilder::new(marks_reads);
    let value = builder.emit_elementwise(op, Cow::Borrowed(&op.inputs));
    let result_dtype = op.request.op.result(op.dtype);
    let value =
        builder.emit_cast(value, result_dtype, node.base.dtype, op.request.context.as_ref());
    builder.finish(value)
}

impl FusionBuilder {
    fn new(marks_reads: bool) -> Self {
        let (inputs, constants, steps, emitted) = Default::default();
        Self { marks_reads, inputs, constants, steps, emitted }
    }

    /// Returns the value of an input, whose node has these holders in this function.
    fn resolve(&mut self, input: &NodeInput, holders: KnownHolders) -> ValueRef {
        let (node, view) = match input {
            NodeInput::Scalar(value) => return self.push_constant(*value),
            NodeInput::Array(node, view) => (node, view),
        };
        match node.state() {
            NodeState::Full(value) if view.dtype == node.base.dtype => self.push_constant(value),
            NodeState::Elementwise(op) => self.resolve_pending(node, view, &op, holders),
            _ => self.push_input(node, view),
        }
    }

    /// Fuses an operation, unless its result was read before, is still held, and is worth storing.
    fn resolve_pending(
        &mut self,
        node: &Arc<Node>,
        view: &View,
        op: &ElementwiseOp,
        holders: KnownHolders,
    ) -> ValueRef {
        let same = |(other, other_view, _): &&(Arc<Node>, View, ValueRef)| {
            Arc::ptr_eq(node, other) && view == other_view
        };
        if let Some((_, _, value)) = self.emitted.iter().find(same) {
            return *value;
        }
        match inputs_through_view(op, view, &node.base) {
            Some(inputs)
                if view.dtype == node.base.dtype
                    && !(self.marks_reads && should_materialize(node, op, holders)) =>
            {
                let value = self.emit_elementwise(op, inputs);
                // A node without other holders cannot occur again.
                if node.is_shared(holders) {
                    self.emitted.push((node.clone(), view.clone(), value));
                }
                value
            }
            _ => self.push_input(node, view),
        }
    }

    fn emit_elementwise(
        &mut self,
        op: &ElementwiseOp,
        inputs: Cow<'_, OperandVec<NodeInput>>,
    ) -> ValueRef {
        // The inputs of the operation, and `inputs` if they are copies.
        let holders = match inputs {
            Cow::Borrowed(_) => KnownHolders::ONE,
            Cow::Owned(_) => KnownHolders::INPUT_AND_READER,
        };
        let mut values = OperandVec::new();
        for (position, input) in inputs.iter().enumerate() {
            let value = self.resolve(input, holders);
            let (from, to) = (input.dtype(), op.request.op.argument(op.dtype, position));
            values.push(self.emit_cast(value, from, to, op.request.context.as_ref()));
        }
        self.push_step(op.request.clone(), op.dtype, values)
    }

    /// Emits a cast that belongs to a request, or to the current one.
    fn emit_cast(
        &mut self,
        value: ValueRef,
        from: DType,
        to: DType,
        origin: Option<&Arc<RequestContext>>,
    ) -> ValueRef {
        match value {
            _ if from == to => value,
            ValueRef::Constant(at) => self.push_constant(self.constants[at].cast(to)),
            _ => {
                let request = OpRequest { context: origin.cloned(), ..Op::Cast(to).into() };
                self.push_step(request, from, [value].into_iter().collect())
            }
        }
    }

    fn push_step(
        &mut self,
        request: OpRequest,
        dtype: DType,
        inputs: OperandVec<ValueRef>,
    ) -> ValueRef {
        self.steps.push(FusionStep { request, dtype, inputs });
        ValueRef::Step(self.steps.len() - 1)
    }

    fn push_constant(&mut self, value: Scalar) -> ValueRef {
        self.constants.push(value);
        ValueRef::Constant(self.constants.len() - 1)
    }

    /// Adds an input; equal views of one node are one input.
    fn push_input(&mut self, node: &Arc<Node>, view: &View) -> ValueRef {
        let same = |(other, other_view): &(Arc<Node>, View)| {
            Arc::ptr_eq(node, other) && view == other_view
        };
        let existing = self.inputs.iter().position(same);
        ValueRef::Input(existing.unwrap_or_else(|| {
            self.inputs.push((node.clone(), view.clone()));
            self.inputs.len() - 1
        }))
    }

    fn finish(self, result: ValueRef) -> FusedProgram {
        let program = self.build_program(result);
        let requests = self.steps.into_iter().map(|step| step.request).collect();
        FusedProgram { program, inputs: self.inputs, requests }
    }

    fn build_program(&self, result: ValueRef) -> Program {
        let dtypes = self.inputs.iter().map(|(_, view)| view.dtype).collect();
        let mut program = Program::new(dtypes, self.constants.clone());
        for FusionStep { request, dtype, inputs } in &self.steps {
            let inputs: OperandVec<Reg> =
                inputs.iter().map(|&value| register(&program, value)).collect();
            program.push(request.op, *dtype, &inputs);
        }
        program.outputs.push(register(&program, result));
        program
    }
}

/// Returns true if a result was read before and should be stored for the next reader.
///
/// The holders of a node may differ between ranks, so only operations without communication may
/// depend on them.
fn should_materialize(node: &Arc<Node>, op: &ElementwiseOp, holders: KnownHolders) -> bool {
    let is_held = op.is_distributed || node.is_shared(holders);
    node.mark_read() && is_held && !op.is_cheap_to_recompute(node.base.len())
}

/// The inputs of an operation, restricted to a view of its result; None if there is no axis
/// mapping.
fn inputs_through_view<'a>(
    op: &'a ElementwiseOp,
    view: &View,
    base: &View,
) -> Option<Cow<'a, OperandVec<NodeInput>>> {
    if view == base {
        return Some(Cow::Borrowed(&op.inputs));
    }
    let inputs = op.inputs.iter().map(|input| input.through_view(view, base));
    inputs.collect::<Option<_>>().map(Cow::Owned)
}

fn register(program: &Program, value: ValueRef) -> Reg {
    match value {
        ValueRef::Input(position) => program.input(position),
        ValueRef::Constant(position) => program.constant(position),
        ValueRef::Step(step) => program.result(step),
    }
}
