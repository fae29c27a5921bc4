//! Reductions of elements selected by a mask, read from their source.
//!
//! The bits are those of a reduction of the compacted elements.

use dappled_kernels::element::bytes_of;
use dappled_kernels::tree::{Summand, TreePart, cover, join};
use dappled_kernels::{
    Buffer, BufferView as Memory, DType, DTypeKind, Element, FpFlags, ReduceFlags, ReduceOp,
    Reduction, View, capture_fp_flags, reduce_selected, sum_parts_selected,
};
use num_complex::{Complex32, Complex64};

use super::operation_name;
use crate::array::Array;
use crate::array::node::NodeState;
use crate::error::Result;
use crate::graph::fusion::FusedProgram;
use crate::graph::reduce_request::ReduceRequest;
use crate::ops::mask::MaskSelection;
use crate::run::evaluate::{input_buffers, input_operands};
use crate::session::Session;
use crate::session::fingerprint::Fingerprint;

/// Reduces a pending mask selection that was not read before. Collective.
///
/// Returns `None` if the elements must be compacted first.
pub(crate) fn reduce_masked(array: &Array, request: &ReduceRequest) -> Result<Option<Array>> {
    let node = array.storage.current();
    let NodeState::Deferred(value) = node.state() else { return Ok(None) };
    let Some(selection) = value.downcast::<MaskSelection>() else { return Ok(None) };
    let (session, dtype) = (array.session(), request.dtype);
    let is_full =
        *array.view() == node.base && request.axes[..] == [0] && selection.total_count() > 0;
    let is_plain = request.initial == request.fold.identity(dtype);
    // Other casts raise flags or change the bits.
    let is_exact_cast =
        array.dtype() == dtype || (array.dtype().is_integral() && dtype.is_integral());
    if !(is_full && is_plain && is_exact_cast) || node.mark_read() {
        return Ok(None);
    }
    let is_single_rank = session.fabric().size() == 1;
    let is_exact =
        dtype.is_integral() || !matches!(request.fold, ReduceOp::Add | ReduceOp::Multiply);
    if !is_single_rank {
        let fingerprint = Fingerprint::of((request.fold, dtype)).with_array(&node, array.view());
        session.next_tag(operation_name(request.fold), fingerprint, || {
            format!(" of {} selected elements", selection.total_count())
        })?;
    }
    let reduce = MaskedReduce {
        session,
        selection: &selection,
        values: selection.values_in_dtype(dtype),
        request,
    };
    let result = match dtype {
        _ if is_single_rank => reduce.reduce_local()?,
        _ if is_exact && dtype.kind() != DTypeKind::Complex => reduce.reduce_then_combine()?,
        _ if request.fold != ReduceOp::Add => return Ok(None),
        DType::Float32 => reduce.pairwise_sum::<f32>()?,
        DType::Float64 => reduce.pairwise_sum::<f64>()?,
        DType::Complex64 => reduce.pairwise_sum::<Complex32>()?,
        DType::Complex128 => reduce.pairwise_sum::<Complex64>()?,
        _ => return Ok(None),
    };
    if !is_single_rank && request.reports_flags {
        session.allreduce_fp_warnings("reduce", None)?;
    }
    Ok(Some(Array::replicated(session, View::c_order(dtype, &[1]), result)))
}

/// The arguments of a masked reduction.
struct MaskedReduce<'a> {
    session: &'a Session,
    selection: &'a MaskSelection,
    /// The program of this rank's values, in the dtype of the accumulator.
    values: FusedProgram,
    request: &'a ReduceRequest,
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
        results.reduce(&last)?.local_buffer()
    }

    /// Sums floats along NumPy's pairwise tree, of which each rank owns parts.
    fn pairwise_sum<T: Summand + Element>(&self) -> Result<Buffer> {
        let parts = |rank: usize| {
            let bounds = &self.selection.bounds;
            cover::<T>(self.selection.total_count() as u64, bounds[rank]..bounds[rank + 1])
        };
        let (message, raised) = self.partial_sums::<T>(&parts)?;
        let message = [&[raised.bits()], bytes_of(&message)].concat();
        let messages = self.session.allgather("a sum of a mask selection", message)?;
        let reported = messages
            .iter()
            .fold(FpFlags::NONE, |flags, message| flags | FpFlags::from_bits(message[0]));
        let mut tree_parts: Vec<(TreePart, Vec<T>)> = Vec::new();
        for (rank, message) in messages.iter().enumerate() {
            let mut values = Buffer::from_slice(&message[1..]).to_vec::<T>().into_iter();
            for part in parts(rank) {
                let part_values = values.by_ref().take(part.count() as usize).collect();
                tree_parts.push((part, part_values));
            }
        }
        let (sum, flags) =
            capture_fp_flags(|| join::<T>(self.selection.total_count() as u64, &tree_parts));
        self.session.fp_warnings().add("reduce", flags.without(reported), None);
        Ok(Buffer::from_slice(&[sum.expect("the parts of all ranks cover the tree")]))
    }

    /// This rank's parts of the sum, and the floating-point flags.
    fn partial_sums<T: Summand>(
        &self,
        parts: &dyn Fn(usize) -> Vec<TreePart>,
    ) -> Result<(Vec<T>, FpFlags)> {
        let rank = self.session.fabric().rank() as usize;
        let start = self.selection.bounds[rank];
        let local_parts = parts(rank);
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
