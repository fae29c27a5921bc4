//! Deferred selection of elements by a boolean mask.
//!
//! The mask is evaluated at once, since the number of selected elements determines the shape: one
//! pass over its inputs writes a bit for each element. A reduction then reads the values directly,
//! without a compacted copy of the selected elements.

use std::sync::Arc;

use dappled_kernels::View;

use crate::array::Array;
use crate::array::node::{Node, NodeState};
use crate::array::placement::Placement;
use crate::config::MAX_RETAINED_SIZE_RATIO;
use crate::error::Result;
use crate::graph::fusion::FusedProgram;
use crate::plan::mask::MaskPlan;
use crate::plan::values::ValuesStep;
use crate::run::evaluate::materialize;
use crate::run::fingerprint::describe_operation;
use crate::run::mask::{MaskSelection, build_selection, gather_bounds};
use crate::run::reduce::ReduceInput;
use crate::run::reduce::local_values::local_values;
use crate::session::Session;
use crate::session::fingerprint::Fingerprint;

impl Array {
    /// Selects the elements where a mask of the same shape is true, in C order. Collective.
    ///
    /// On several ranks the array must be one-dimensional and in ascending blocks, on one rank both
    /// arrays must be in C order; otherwise the result is `None`.
    pub fn select_by_mask(&self, mask: &Array) -> Result<Option<Array>> {
        let session = self.session();
        let values = ReduceInput::new(self, self.dtype())?;
        let mask_values = ReduceInput::new(mask, mask.dtype())?;
        self.record_mask_plan(&values, &mask_values)?;
        let (mask_step, values_step) = match session.fabric().size() {
            1 if self.is_replicated() && mask.is_replicated() => (None, None),
            1 => return Ok(None),
            _ => {
                let Some(plan) = self.mask_plan(&values, &mask_values) else { return Ok(None) };
                log_selection(session, &values, &mask_values)?;
                (Some(plan.mask), Some(plan.values))
            }
        };
        let read = |array: &Array, step: Option<ValuesStep>| -> Result<FusedProgram> {
            let dtype = array.dtype();
            let values = ReduceInput::new(array, dtype)?.with_stored_input(array, dtype)?;
            Ok(match step {
                Some(step) => local_values(session, values, &step)?.fused,
                None => values.fused,
            })
        };
        let selection = build_selection(session, &read(mask, mask_step)?)?;
        // A stored source retains no inputs of its own.
        let _source = self.storage.current();
        materialize(session, &_source)?;
        let values = read(self, values_step)?;
        let bounds = gather_bounds(session, selection.count())?;
        let mask_selection = MaskSelection { values, selection, bounds, _source };
        self.defer_selection(mask_selection).map(Some)
    }

    /// The plan of a selection over several ranks.
    fn mask_plan(&self, values: &ReduceInput, mask: &ReduceInput) -> Option<MaskPlan> {
        let node = self.storage.current();
        let Placement::Distributed(placement) = &node.placement else { return None };
        let values = (&values.plan_values(), self.dtype());
        let context = self.session().rank_context();
        let plan = MaskPlan::new(&placement.distribution, &mask.plan_values(), values, context);
        plan.filter(|_| *self.view() == node.base)
    }

    /// Records the plan of a selection, if plans are recorded.
    fn record_mask_plan(&self, values: &ReduceInput, mask: &ReduceInput) -> Result<()> {
        let session = self.session();
        session.record_plan("mask selection", values, |plan_values, context| {
            let rows = plan_values.distribution(&context);
            let mask = session.values_on_ranks(mask).0;
            let plan = MaskPlan::new(&rows, &mask, (plan_values, self.dtype()), context);
            match plan {
                Some(plan) => (plan.to_string(), ValuesStep::InPlace(rows)),
                None => {
                    let length = self.view().len();
                    let text = format!("mask selection: reshape to ({length}) in blocks first\n");
                    (text, ValuesStep::InPlace(rows))
                }
            }
        })
    }

    /// Creates the array of the selected elements; materialises it if it is lent or small.
    fn defer_selection(&self, selection: MaskSelection) -> Result<Array> {
        let session = self.session();
        let count = selection.total_count();
        let base = View::c_order(self.dtype(), &[count]);
        let placement = session.default_placement(self.dtype(), &[count]);
        let is_single_rank = session.fabric().size() == 1;
        let source_len = self.storage.with_current(|node| node.base.len());
        let is_small = MAX_RETAINED_SIZE_RATIO * count < source_len
            || (!is_single_rank && placement.is_replicated());
        let is_eager = self.is_lent() || is_small;
        let node = Node::new(session, base, placement, NodeState::Deferred(Arc::new(selection)));
        if is_eager {
            materialize(session, &node)?;
        }
        let array = Array::from_node(session, node);
        if !is_eager {
            session.pending().add(&array.storage, !is_single_rank, 0);
        }
        Ok(array)
    }
}

/// Logs a selection. Collective.
fn log_selection(session: &Session, values: &ReduceInput, mask: &ReduceInput) -> Result<()> {
    let fingerprint = values.add_to_fingerprint(session, Fingerprint::default())?.0;
    let (fingerprint, small_inputs) = mask.add_to_fingerprint(session, fingerprint)?;
    let FusedProgram { program, inputs, .. } = &values.fused;
    let describe = || describe_operation(program, &values.shape, inputs, &small_inputs);
    session.next_tag("a mask selection", fingerprint, describe)?;
    Ok(())
}
