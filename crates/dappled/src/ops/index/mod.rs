//! Indexing with masks and index arrays, alone or beside basic items: NumPy's advanced indexing.
//!
//! Input: an array and an [`IndexKey`]. Output: a copy of the selected elements, or a write to them.
//! Values, shapes, memory order and errors are NumPy's.
//!
//! A key becomes a basic view, whose indexed axes are flattened to one axis of rows, and one index
//! of a row for each selected element or subarray. Rows that are read are requested from their
//! owners. Values that are written are sent to the owners, which write them in the order of the
//! indices: the last of several values for one row remains.
//!
//! ```text
//! flat_rows    a key as a view of rows and the indices of rows
//! take_index   reads
//! put_index    writes
//! route_index  sends changes of rows to the owners of the rows
//! nonzero      the positions of true elements
//! ```

mod flat_rows;
mod nonzero;
mod put_index;
mod route_index;
mod take_index;

pub use route_index::{RoutedRows, RowValues};

use crate::array::Array;
use crate::view::IndexItem;

/// A key of NumPy's indexing.
///
/// All ranks have the same items; their arrays may be distributed.
#[derive(Clone)]
pub struct IndexKey {
    /// The items, in order. Missing ones are full slices.
    pub items: Vec<IndexItem<Array>>,
    /// The number of last axes of the array that no item indexes: 1 if they are the bytes of an
    /// item without kernels, else 0.
    pub item_axes: usize,
}

impl IndexKey {
    /// A key of these items, for an array of elements.
    pub fn new(items: Vec<IndexItem<Array>>) -> Self {
        Self { items, item_axes: 0 }
    }

    /// The mask, if the key is one mask of the array's shape.
    fn full_mask(&self, array: &Array) -> Option<&Array> {
        let axes = array.shape().len() - self.item_axes;
        match &self.items[..] {
            [IndexItem::Mask(mask)] if axes > 0 && mask.shape() == &array.shape()[..axes] => {
                Some(mask)
            }
            _ => None,
        }
    }
}
