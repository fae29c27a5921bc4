//! Changes of rows, such as those of `ufunc.at`, on the owners of the rows.

use dappled_base::memory;
use dappled_kernels::{Buffer, View};

use super::IndexKey;
use super::flat_rows::{FlatRows, IndexRows, LocalIndices, Selection, resolve};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::index_arrays::{local_elements, row_distribution};
use crate::plan::rows::RowBlocks;
use crate::run::collective::all_to_all;

/// The name of the messages.
const OPERATION: &str = "changes of rows";

/// The rows that a key selects, and the changes that all ranks request of this rank's rows.
pub struct RoutedRows {
    /// The basic view that the key selects from, with the indexed axes first.
    pub view: Array,
    /// A copy of its rows, in blocks of rows.
    pub rows: Array,
    /// The row of each change, counted from this rank's first row, in the order of the indices.
    pub positions: Vec<i64>,
    /// The value of each change.
    pub values: RowValues,
}

/// The values of changes of rows.
pub enum RowValues {
    /// No value, or one without axes, which every rank has.
    Single,
    /// A row for each change.
    PerChange {
        /// The rows.
        memory: Buffer,
        /// Their layout.
        view: View,
    },
}

impl Array {
    /// Sends each change of a row to the owner of the row: the index, and the value if it has axes.
    ///
    /// The last `value_item_axes` axes of the value are the bytes of its items. Returns None for a
    /// key without masks and index arrays. Collective.
    pub fn route_index(
        &self,
        key: &IndexKey,
        value: Option<(&Array, usize)>,
    ) -> Result<Option<RoutedRows>> {
        let Selection::Rows(selected) = resolve(self, key)? else { return Ok(None) };
        let value = value.filter(|(value, item_axes)| value.shape().len() > *item_axes);
        selected.route(value).map(Some)
    }
}

impl FlatRows {
    fn route(self, value: Option<(&Array, usize)>) -> Result<RoutedRows> {
        let session = self.view.session().clone();
        let axes = self.shape.len() + self.row_shape().len() - self.item_axes;
        let values = match value {
            Some((value, item_axes)) if value.shape().len() - item_axes > axes => {
                let from = value.shape()[..value.shape().len() - item_axes].to_vec();
                return Err(Error::ValueShape { from, to: self.shape });
            }
            Some((value, item_axes)) => Some(self.values_by_row(value, item_axes)?),
            None => None,
        };
        let rows = self.rows()?;
        let distribution = row_distribution(&session, rows.shape());
        let starts = RowBlocks::new(&distribution, 0).starts;
        let (view, positive) = (self.view.clone(), self.positive_indices()?);
        let indices = LocalIndices { rows: IndexRows::Owned(positive), ..self.indices };
        let indices = FlatRows { indices, ..self }.indices_in_order()?;
        let indices = indices.with(|indices| Ok(memory::copy_of(indices)))?;
        let owner = |index: i64| starts.partition_point(|&start| start <= index as u64) - 1;
        let ranks = starts.len() - 1;
        let mut positions: Vec<Vec<i64>> = vec![Vec::new(); ranks];
        for &index in &indices {
            let rank = owner(index);
            memory::append(&mut positions[rank], &[index - starts[rank] as i64]);
        }
        let positions = all_to_all(&session, OPERATION, positions)?.concat();
        let values = match values {
            None => RowValues::Single,
            Some(values) => {
                let target = row_distribution(&session, values.shape());
                let (buffer, bytes) = local_elements(&values, &target)?;
                let elements = &buffer.read()?[bytes];
                let width = elements.len() / indices.len().max(1);
                let mut sent: Vec<Vec<u8>> = vec![Vec::new(); ranks];
                for (&index, row) in indices.iter().zip(elements.chunks_exact(width.max(1))) {
                    memory::append(&mut sent[owner(index)], row);
                }
                let received = all_to_all(&session, OPERATION, sent)?.concat();
                let shape = [&[positions.len()], &values.shape()[1..]].concat();
                let view = View::c_order(values.dtype(), &shape);
                let memory = Buffer::from_vec(received, values.dtype().itemsize());
                RowValues::PerChange { memory, view }
            }
        };
        // A copy, which the caller writes.
        let rows = rows.redistribute(&distribution)?;
        Ok(RoutedRows { view, rows, positions, values })
    }
}
