//! Gather and scatter of rows by index arrays.
//!
//! Input: an array in blocks of rows, and indices that are distributed over the ranks. Output: the
//! selected rows, on the ranks of their indices; or the array, written in place.
//!
//! Guarantees: one all-to-all of positions and one of rows, in rounds for gathers. An index out of
//! bounds is detected before anything is written, on every rank.

use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;
use dappled_sort::route::RowBytes;

use crate::array::Array;
use crate::array::node::Node;
use crate::array::ownership::KnownHolders;
use crate::array::placement::Placement;
use crate::plan::rows::{PutPlan, RowBlocks, TakePlan};
use crate::run::evaluate::materialize;
pub(crate) use crate::run::put_rows::{BoundsChecked, PutValues};

/// Indices of rows to take or put; negative indices count from the end.
pub(crate) struct RowIndices<'a> {
    /// The block distribution of the rows.
    pub rows: &'a Distribution,
    /// This rank's indices.
    pub indices: &'a [i64],
}

impl Array {
    /// Gathers rows in the order of the indices. Collective.
    ///
    /// In `target` each rank has the rows of its indices. `piece` is this rank's local piece of the
    /// rows.
    pub(crate) fn take_rows(
        &self,
        indices: &RowIndices<'_>,
        piece: &[u8],
        target: &Distribution,
    ) -> BoundsChecked<Array> {
        let session = self.session();
        let shape: Vec<usize> = target.shape().iter().map(|&length| length as usize).collect();
        let placement =
            Placement::distributed(target.clone(), self.dtype(), session.fabric().rank());
        let (result, memory) =
            Node::with_new_buffer(session, View::c_order(self.dtype(), &shape), placement);
        let width = self.row_bytes();
        let mut out = memory.write()?;
        let axes = 1 + shape.len() - self.shape().len();
        let count = |rank| target.local_shape(rank)[..axes].iter().product::<u64>() as usize;
        let max_count = (0..target.nprocs()).map(count).max().unwrap_or(0);
        let rows = RowBlocks::new(indices.rows, width);
        let plan = TakePlan::new(rows, indices.indices.len(), max_count, session.rank_context());
        session.plan_log().append_if_recording(&plan);
        let bounds_check =
            session.run_take(&plan, indices.indices, RowBytes { bytes: piece, width }, &mut out)?;
        drop(out);
        Ok(bounds_check.map(|()| Array::from_node(session, result)))
    }

    /// Writes a row for each index, or one row for all, in place. Collective.
    ///
    /// If an index occurs several times, the last row is kept. Returns `None` if the array is not
    /// in the block distribution of the indices, or its memory is lent.
    pub(crate) fn put_rows(
        &self,
        indices: &RowIndices<'_>,
        values: PutValues<'_>,
    ) -> BoundsChecked<Option<()>> {
        let session = self.session();
        let mut node = self.storage.current();
        let has_distribution = match &node.placement {
            Placement::Distributed(placement) => placement.distribution == *indices.rows,
            Placement::Replicated => false,
        };
        if !has_distribution || *self.view() != node.base || self.storage.is_lent() {
            return Ok(Ok(None));
        }
        self.storage.count_write();
        let mut memory = materialize(session, &node)?;
        let plan = PutPlan {
            rows: RowBlocks::new(indices.rows, self.row_bytes()),
            count: indices.indices.len(),
            sends_rows: matches!(values, PutValues::PerIndex(_)),
            context: session.rank_context(),
        };
        session.plan_log().append_if_recording(&plan);
        let in_flight = match session.send_rows(&plan, indices.indices, values)? {
            Ok(in_flight) => in_flight,
            Err(out_of_bounds) => return Ok(Err(out_of_bounds)),
        };
        // Other holders need the old values, and so do rows or indices in the array's own memory.
        let is_overlapping = overlaps(&memory, values.rows()) || overlaps(&memory, indices.indices);
        if node.is_shared(KnownHolders::STORAGE_AND_WRITER) || is_overlapping {
            node = session.copy_node(&node, &memory)?;
            self.storage.replace(node.clone());
            memory = materialize(session, &node)?;
        }
        let mut target = memory.write()?;
        session.receive_rows(&plan, indices.indices, (in_flight, values), &mut target)?;
        node.set_id(session.next_array_id());
        Ok(Ok(Some(())))
    }

    /// The number of bytes of a row.
    fn row_bytes(&self) -> usize {
        self.shape()[1..].iter().product::<usize>() * self.dtype().itemsize()
    }
}

/// Returns true if elements are in this buffer, or no elements at one of its ends: the caller may
/// read the buffer.
fn overlaps<T>(memory: &Buffer, elements: &[T]) -> bool {
    let (start, other) = (memory.as_ptr() as usize, elements.as_ptr() as usize);
    start <= other + size_of_val(elements) && other <= start + memory.len()
}
