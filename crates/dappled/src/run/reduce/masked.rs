//! Runs the plans of reductions of elements that a mask selected.

use dappled_kernels::element::bytes_of;
use dappled_kernels::tree::{Summand, TreePart, join};
use dappled_kernels::{
    Buffer, BufferView as Memory, DType, Element, FpFlags, ReduceFlags, Reduction, View,
    capture_fp_flags, reduce_selected, sum_parts_selected,
};
use num_complex::{Complex32, Complex64};

use super::{ReduceInput, reduce_local};
use crate::array::Array;
use crate::error::Result;
use crate::graph::fusion::FusedProgram;
use crate::graph::reduce_request::ReduceRequest;
use crate::plan::mask::{MaskedCombineStep, MaskedReducePlan};
use crate::run::evaluate::{input_buffers, input_operands};
use crate::run::mask::MaskSelection;
use crate::session::Session;

/// Runs the plan of a reduction of selected elements. Collective.
pub(crate) fn run_masked_reduce(
    session: &Session,
    selection: &MaskSelection,
    request: &ReduceRequest,
    plan: &MaskedReducePlan,
) -> Result<Buffer> {
    let values = selection.values_in_dtype(request.dtype);
    let reduce = MaskedReduce { session, selection, values, request, plan };
    match (plan.combine, request.dtype) {
        (MaskedCombineStep::Local, _) => reduce.reduce_local(),
        (MaskedCombineStep::Allgather, _) => reduce.reduce_then_combine(),
        (_, DType::Float32) => reduce.pairwise_sum::<f32>(),
        (_, DType::Float64) => reduce.pairwise_sum::<f64>(),
        (_, DType::Complex64) => reduce.pairwise_sum::<Complex32>(),
        _ => reduce.pairwise_sum::<Complex64>(),
    }
}

/// The arguments of a masked reduction.
struct MaskedReduce<'a> {
    session: &'a Session,
    selection: &'a MaskSelection,
    /// The program of this rank's values, in the dtype of the accumulator.
    values: FusedProgram,
    request: &'a ReduceRequest,
    plan: &'a MaskedReducePlan,
}

impl MaskedReduce<'_> {
    /// Reduces this rank's selected values.
    fn reduce_local(&self) -> Result<Buffer> {
        let &ReduceRequest { fold, ref axes, dtype, initial, .. } = self.request;
        let stride = [dtype.itemsize() as isize];
        let reduction = Reduction { initial, ..Reduction::new(fold, dtype, axes, &stride) };
        let (out, one) = (Buffer::zeroed(dtype.itemsize()), View::c_order(dtype, &[1]));
        let engine = self.session.interpreter(&self.values.program)?;
        let buffers = input_buffers(self.session, &self.values.inputs)?;
        let inputs = input_operands(&buffers, &self.values.inputs)?;
        let target = Memory::new(&out, &one)?;
        let raised =
            reduce_selected(&engine, &inputs, &self.selection.selection, &reduction, &target);
        self.report_flags(&raised?);
        Ok(out)
    }

    /// Reduces the values of each rank, then the partial results; the order must not matter.
    fn reduce_then_combine(&self) -> Result<Buffer> {
        let partial = match self.selection.selection.count() {
            0 => Vec::new(),
            _ => self.reduce_local()?.read()?.to_vec(),
        };
        let partials = self.session.allgather("a reduction of a mask selection", partial)?.concat();
        let dtype = self.request.dtype;
        let results = View::c_order(dtype, &[partials.len() / dtype.itemsize()]);
        let results = Array::replicated(self.session, results, Buffer::from_slice(&partials));
        let last = ReduceRequest { reports_flags: false, ..self.request.clone() };
        let values = ReduceInput::new(&results, dtype)?;
        reduce_local(self.session, &values, &last, results.shape())?.local_buffer()
    }

    /// Sums floats along NumPy's pairwise tree, of which each rank owns parts.
    fn pairwise_sum<T: Summand + Element>(&self) -> Result<Buffer> {
        let (message, raised) = self.partial_sums::<T>()?;
        let message = [&[raised.bits()], bytes_of(&message)].concat();
        let messages = self.session.allgather("a sum of a mask selection", message)?;
        let reported = messages
            .iter()
            .fold(FpFlags::NONE, |flags, message| flags | FpFlags::from_bits(message[0]));
        let mut tree_parts: Vec<(TreePart, Vec<T>)> = Vec::new();
        for (rank, message) in messages.iter().enumerate() {
            let mut values = Buffer::from_slice(&message[1..]).to_vec::<T>().into_iter();
            for part in self.plan.tree_parts(rank as u64) {
                let part_values = values.by_ref().take(part.count() as usize).collect();
                tree_parts.push((part, part_values));
            }
        }
        let (sum, flags) = capture_fp_flags(|| join::<T>(self.plan.total(), &tree_parts));
        self.session.fp_warnings().add("reduce", flags.without(reported), None);
        Ok(Buffer::from_slice(&[sum.expect("the parts of all ranks cover the tree")]))
    }

    /// This rank's parts of the sum, and the floating-point flags.
    fn partial_sums<T: Summand>(&self) -> Result<(Vec<T>, FpFlags)> {
        let rank = self.plan.context.rank;
        let start = self.plan.bounds[rank as usize];
        let local_parts = self.plan.tree_parts(rank);
        let local_parts: Vec<TreePart> =
            local_parts.iter().map(|part| part.at(part.range().start - start)).collect();
        let engine = self.session.interpreter(&self.values.program)?;
        let buffers = input_buffers(self.session, &self.values.inputs)?;
        let inputs = input_operands(&buffers, &self.values.inputs)?;
        let sums =
            sum_parts_selected::<T>(&engine, &inputs, &self.selection.selection, &local_parts);
        let (values, raised) = sums?;
        self.report_flags(&raised);
        Ok((values, raised.reduction))
    }

    /// Records the floating-point flags.
    fn report_flags(&self, raised: &ReduceFlags) {
        self.session.fp_warnings().add_program(&self.values.requests, &raised.steps);
        self.session.fp_warnings().add("reduce", raised.reduction, None);
    }
}
