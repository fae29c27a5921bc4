//! Reductions, fused with the pending operations of their argument so that memory is read once.
//!
//! Input: an array and a [`ReduceRequest`] (operation, axes, dtype, initial value). Output: an array in
//! which the reduced axes have length 1.
//!
//! Guarantees: the bits are NumPy's for C-ordered arrays, on any number of ranks. Floating-point
//! flags are recorded under the name that NumPy uses.
//!
//! ```text
//! distributed     reductions over ranks: the choice of a strategy
//! eager_first     reductions that are eager if the array is small and local
//! local_block     the distribution of a program's values, and this rank's block of them
//! sequential      ordered reductions and scans: a pipeline over ranks
//! pairwise        NumPy's pairwise summation over ranks
//! pairwise_group  the ranks that share accumulators in a pairwise sum
//! masked          reductions of elements selected by a mask
//! mean_var        means, variances and standard deviations
//! through_write   reductions in the pass that writes their values
//! unrolled        deferred sums over a short axis
//! ```

pub(crate) mod distributed;
pub(crate) mod eager_first;
pub(crate) mod local_block;
pub(crate) mod masked;
pub(crate) mod mean_var;
pub(crate) mod pairwise;
pub(crate) mod pairwise_group;
pub(crate) mod sequential;
pub(crate) mod through_write;
pub(crate) mod unrolled;

use dappled_fabric::Tag;
use dappled_kernels::{
    Axes, Bool, Buffer, BufferView as Memory, DType, Op, ReduceFlags, ReduceOp, Reduction, Scalar,
    StepFlags, View, reduce,
};

use crate::array::Array;
use crate::array::node::{Node, NodeInput};
use crate::array::placement::Placement;
use crate::config::EARLY_EXIT_ELEMENTS;
use crate::error::Result;
use crate::graph::fusion::{FusedProgram, fuse};
use crate::graph::reduce_request::ReduceRequest;
use crate::run::evaluate::{input_buffers, input_operands, materialize_replicated};
use crate::run::fingerprint::describe_operation;
use crate::session::Session;
use crate::session::fingerprint::{Fingerprint, FingerprintField};
use crate::view::memory_order::{inverse_permutation, memory_order};
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

/// The name of a reduction in error messages.
pub(crate) fn operation_name(fold: ReduceOp) -> &'static str {
    match fold {
        ReduceOp::Add => "a sum",
        ReduceOp::Multiply => "a product",
        ReduceOp::Maximum | ReduceOp::Fmax => "a maximum",
        ReduceOp::Minimum | ReduceOp::Fmin => "a minimum",
        _ => "a reduction",
    }
}

impl Array {
    /// Reduces some axes at once; they are kept with length 1. Collective.
    pub fn reduce(&self, request: &ReduceRequest) -> Result<Array> {
        let logical = request.as_logical(self);
        let request = logical.as_ref().unwrap_or(request);
        if let Some(result) = masked::reduce_masked(self, request)? {
            return Ok(result);
        }
        if let Some(result) = self.reduce_early_exit(request)? {
            return Ok(result);
        }
        // NumPy's result has the memory order of its argument.
        let Some(order) = memory_order(&[self.view()], self.shape().len()) else {
            return self.reduce_in_c_order(request);
        };
        let inverse = inverse_permutation(&order);
        let axes = request.axes.iter().map(|&axis| inverse[axis]).collect();
        let request = ReduceRequest { axes, ..request.clone() };
        Ok(self.transposed(&order).reduce_in_c_order(&request)?.transposed(&inverse))
    }

    /// The result of `any` or `all` over a local array, if the first elements decide it.
    fn reduce_early_exit(&self, request: &ReduceRequest) -> Result<Option<Array>> {
        let deciding_value = match request.fold {
            ReduceOp::Any => Bool(1),
            ReduceOp::All => Bool(0),
            _ => return Ok(None),
        };
        let (len, shape) = (self.view().len(), self.shape());
        if len <= 2 * EARLY_EXIT_ELEMENTS
            || request.axes.len() < shape.len()
            || !self.is_materialized()
        {
            return Ok(None);
        }
        let rows = EARLY_EXIT_ELEMENTS / (len / shape[0]);
        if !self.is_replicated() || rows == 0 {
            return Ok(None);
        }
        let first =
            self.with_view(self.view().slice_axis(0, 0, 1, rows)).reduce_in_c_order(request)?;
        let result = first.try_get_element(first.view().offset);
        Ok(Some(first).filter(|_| result == Some(Scalar::new(deciding_value))))
    }

    /// Reduces an array whose axes are in memory order. Collective.
    fn reduce_in_c_order(&self, request: &ReduceRequest) -> Result<Array> {
        let (session, values) = (self.session(), ReduceInput::new(self, request.dtype)?);
        if self.is_collective(&values) {
            let tag =
                values.log_operation(session, operation_name(request.fold), |fingerprint| {
                    let ReduceRequest { fold, axes, dtype, initial, .. } = request;
                    self.fingerprint_distribution(fingerprint)
                        .with(FingerprintField::Operation, (fold, axes))
                        .with(FingerprintField::Shape, dtype)
                        .with(FingerprintField::Scalars, initial)
                })?;
            if !values.is_distributed() {
                // The array is constant: each rank reduces it alone.
                let values = values.with_stored_input(self, request.dtype)?;
                return reduce_local(session, &values, request, self.shape());
            }
            let result = distributed::reduce_distributed(session, values, request, tag)?;
            if request.reports_flags {
                session.allreduce_fp_warnings("reduce", None)?;
            }
            return Ok(result);
        }
        let values = values.with_stored_input(self, request.dtype)?;
        reduce_local(session, &values, request, self.shape())
    }

    /// Adds the distribution to a fingerprint; the inputs of a constant array do not contain it.
    pub(crate) fn fingerprint_distribution(&self, fingerprint: Fingerprint) -> Fingerprint {
        self.storage.with_current(|node| match &node.placement {
            Placement::Distributed(placement) => {
                fingerprint.with(FingerprintField::Distribution, &placement.distribution)
            }
            Placement::Replicated => fingerprint,
        })
    }

    /// Returns true if all ranks take part in an operation on these values.
    ///
    /// An operation on a constant distributed array is collective although no message is sent. A
    /// process inside `local()` may perform it alone.
    pub(crate) fn is_collective(&self, values: &ReduceInput) -> bool {
        let session = self.session();
        let is_shared = session.fabric().size() > 1 && !self.is_replicated();
        values.is_distributed() || (is_shared && session.collective_guard().check("", 2).is_ok())
    }

    /// Removes reduced axes.
    pub fn without_axes(&self, axes: &[usize]) -> Array {
        let kept: Vec<usize> =
            (0..self.shape().len()).filter(|axis| !axes.contains(axis)).collect();
        self.transposed(&kept)
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
