//! Reductions of elements selected by a mask, read from their source.
//!
//! The bits are those of a reduction of the compacted elements.

use dappled_kernels::View;

use super::operation_name;
use crate::array::Array;
use crate::array::node::NodeState;
use crate::error::Result;
use crate::graph::reduce_request::ReduceRequest;
use crate::plan::mask::MaskedReducePlan;
use crate::run::mask::MaskSelection;
use crate::run::reduce::masked::run_masked_reduce;
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
    if !is_single_rank {
        let fingerprint = Fingerprint::of((request.fold, dtype)).with_array(&node, array.view());
        session.next_tag(operation_name(request.fold), fingerprint, || {
            format!(" of {} selected elements", selection.total_count())
        })?;
    }
    let plan = MaskedReducePlan::new(request, selection.bounds.clone(), session.rank_context());
    let Some(plan) = plan else { return Ok(None) };
    session.record_masked_plan(request, &plan);
    let result = run_masked_reduce(session, &selection, request, &plan)?;
    if !is_single_rank && request.reports_flags {
        session.allreduce_fp_warnings("reduce", None)?;
    }
    Ok(Some(Array::replicated(session, View::c_order(dtype, &[1]), result)))
}
