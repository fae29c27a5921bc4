//! Reductions of local values, and of distributed values by their plans.
//!
//! ```text
//! distributed    runs the plan of a reduction
//! local_values   this rank's block of a program's values
//! masked         reductions of selected elements
//! pipeline       ordered reductions and scans
//! pairwise       NumPy's pairwise summation over ranks
//! through_write  reductions in the pass that writes their values
//! ```

pub(crate) mod distributed;
pub(crate) mod local_values;
pub(crate) mod masked;
pub(crate) mod pairwise;
pub(crate) mod pipeline;
pub(crate) mod through_write;

use dappled_fabric::Tag;
use dappled_kernels::{
    Axes, Buffer, BufferView as Memory, DType, Error as KernelError, Interpreter, Op, ReduceFlags,
    Reduction, StepFlags, View, reduce,
};

use crate::array::Array;
use crate::array::node::{Node, NodeInput};
use crate::array::placement::Placement;
use crate::error::Result;
use crate::graph::fusion::{FusedProgram, fuse};
use crate::graph::reduce_request::ReduceRequest;
use crate::run::evaluate::{input_buffers, input_operands, materialize_replicated};
use crate::run::fingerprint::describe_operation;
use crate::session::Session;
use crate::session::fingerprint::{Fingerprint, FingerprintField};
use through_write::ReduceThroughWrite;

/// The values to reduce.
///
/// The strides are those of NumPy's array: they determine the order in which NumPy reduces.
#[derive(Clone)]
pub(crate) struct ReduceInput {
    /// The program that computes the values in the dtype of the accumulator.
    pub fused: FusedProgram,
    /// The shape of the values.
    pub shape: Vec<usize>,
    /// The strides of NumPy's array.
    pub strides: Vec<isize>,
    /// Whether the values are cast to the dtype of the accumulator.
    pub casts: bool,
}

impl ReduceInput {
    /// Fuses the pending operations of an array, with values in this dtype.
    pub fn new(array: &Array, dtype: DType) -> Result<Self> {
        Ok(Self {
            fused: fuse(&array.input(), dtype),
            shape: array.shape().to_vec(),
            strides: array.view().strides.to_vec(),
            casts: array.dtype() != dtype,
        })
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        let program = &self.fused.program;
        program.dtype(program.outputs[0]).expect("a program has an output")
    }

    /// Returns true if an input is distributed.
    pub fn is_distributed(&self) -> bool {
        self.fused.inputs.iter().any(|(input, _)| !input.placement.is_replicated())
    }

    /// Logs an operation on these values; `with` adds its arguments to the fingerprint. Collective.
    pub fn log_operation(
        &self,
        session: &Session,
        kind: &str,
        with: impl FnOnce(Fingerprint) -> Fingerprint,
    ) -> Result<Tag> {
        let (fingerprint, small_inputs) =
            self.add_to_fingerprint(session, with(Fingerprint::default()))?;
        let FusedProgram { program, inputs, .. } = &self.fused;
        session.next_tag(kind, fingerprint, || {
            describe_operation(program, &self.shape, inputs, &small_inputs)
        })
    }

    /// Adds the values to a fingerprint; returns the small arrays among the inputs.
    pub fn add_to_fingerprint(
        &self,
        session: &Session,
        fingerprint: Fingerprint,
    ) -> Result<(Fingerprint, Vec<(DType, Buffer)>)> {
        let fingerprint = fingerprint
            .with_program(&self.fused.program)
            .with(FingerprintField::Shape, &self.shape);
        fingerprint.with_inputs(session, &self.fused.inputs)
    }

    /// Ensures that the program has at least one input.
    ///
    /// A constant array fuses to a program without inputs, which the reduction kernels reject. The
    /// program is then replaced by one that reads a stored element, broadcast.
    pub fn with_stored_input(self, array: &Array, dtype: DType) -> Result<Self> {
        match self.fused.inputs.is_empty() {
            true => Ok(ReduceInput { fused: broadcast_element(array, dtype)?, ..self }),
            false => Ok(self),
        }
    }
}

/// Reduces local values of this shape into a new replicated array.
pub(crate) fn reduce_local(
    session: &Session,
    values: &ReduceInput,
    request: &ReduceRequest,
    shape: &[usize],
) -> Result<Array> {
    let base = View::c_order(request.dtype, &request.reduced_shape(shape));
    let (node, memory) = Node::with_new_buffer(session, base, Placement::Replicated);
    reduce_into(session, values, request, false, &memory, &node.base)?;
    Ok(Array::from_node(session, node))
}

/// Reduces local values into memory, starting from its contents if `continues`.
pub(crate) fn reduce_into(
    session: &Session,
    values: &ReduceInput,
    request: &ReduceRequest,
    continues: bool,
    memory: &Buffer,
    out: &View,
) -> Result<()> {
    let ReduceInput { fused, casts, .. } = values;
    let engine = session.interpreter(&fused.program)?;
    let reduction = Reduction {
        op: request.fold,
        axes: &request.axes,
        strides: &values.strides,
        full_shape: Some(&values.shape),
        initial: request.initial,
        continues,
        casts: *casts,
    };
    let out = Memory::new(memory, out)?;
    let write_reduce =
        ReduceThroughWrite { values, engine: &engine, reduction: &reduction, out: &out };
    let raised = match write_reduce.run(session)? {
        Some(raised) => raised,
        None => {
            let buffers = input_buffers(session, &fused.inputs)?;
            let inputs = input_operands(&buffers, &fused.inputs)?;
            reduce(&engine, &inputs, &reduction, &out)?
        }
    };
    report_reduce_flags(session, values, &raised);
    Ok(())
}

/// Records the floating-point flags of a scan.
pub(crate) fn report_scan_flags(session: &Session, values: &ReduceInput, raised: &ReduceFlags) {
    session.fp_warnings().add_program(&values.fused.requests, &raised.steps);
    session.fp_warnings().add("accumulate", raised.reduction, None);
}

/// Records the floating-point flags of a reduction.
///
/// NumPy attributes the flags of the cast to the accumulator's dtype to the reduction.
pub(crate) fn report_reduce_flags(session: &Session, values: &ReduceInput, raised: &ReduceFlags) {
    let steps = &values.fused.requests;
    let is_cast = values.casts && steps.last().is_some_and(|last| matches!(last.op, Op::Cast(_)));
    let (mut program_flags, mut reduce_flags) = (StepFlags::default(), raised.reduction);
    for (step, flags) in raised.steps.iter() {
        match is_cast && step + 1 == steps.len() {
            true => reduce_flags |= flags,
            false => program_flags.add(step, flags),
        }
    }
    session.fp_warnings().add_program(steps, &program_flags);
    session.fp_warnings().add("reduce", reduce_flags, None);
}

/// The program that reads one stored element, broadcast to the shape of the array.
pub(crate) fn broadcast_element(array: &Array, dtype: DType) -> Result<FusedProgram> {
    let (session, shape) = (array.session(), array.shape());
    let element = View { shape: Axes::new(), strides: Axes::new(), ..array.view().clone() };
    let element = NodeInput::Array(array.storage.current(), element);
    let stored = materialize_replicated(session, &element, array.dtype(), &[])?;
    let view = stored.base.broadcast(shape).expect("one element broadcasts to any shape");
    Ok(fuse(&NodeInput::Array(stored, view), dtype))
}

/// Runs a kernel on local values into new memory.
pub(crate) fn run_into_new<T>(
    session: &Session,
    values: &ReduceInput,
    out: &View,
    run: impl FnOnce(&Interpreter, &[Memory<'_>], &Memory<'_>) -> Result<T, KernelError>,
) -> Result<(Buffer, T)> {
    let memory = session.buffer_pool().allocate(out.len() * out.dtype.itemsize(), out);
    let engine = session.interpreter(&values.fused.program)?;
    let buffers = input_buffers(session, &values.fused.inputs)?;
    let inputs = input_operands(&buffers, &values.fused.inputs)?;
    let target = Memory::new(&memory, out)?;
    let output = run(&engine, &inputs, &target)?;
    Ok((memory, output))
}
