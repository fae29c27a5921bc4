//! Advanced indexing: which axes masks and index arrays index, and where theirs go.

use dappled_protocol::slice::{KeyError, KeyItem};

use super::ViewError;
use crate::error::{Error, Result};

/// One item of a key in NumPy's indexing; `A` is an array, or the shape of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexItem<A> {
    /// An integer, a slice, an Ellipsis or a new axis.
    Basic(KeyItem),
    /// A boolean without axes: it indexes no axis.
    Bool(bool),
    /// A boolean array: it indexes as many axes as it has.
    Mask(A),
    /// An integer array: it indexes one axis.
    Indices(A),
}

/// A mask or an index array of a key, and the axes that it indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedAxes {
    /// The position of the item in the key.
    pub item: usize,
    /// The first axis of the array that it indexes.
    pub array_axis: usize,
    /// This axis in the basic view.
    pub view_axis: usize,
    /// The number of axes.
    pub count: usize,
}

/// An advanced key for arrays of one shape: a basic key, and the axes that arrays index.
///
/// ```
/// use dappled::protocol::slice::KeyItem;
/// use dappled::view::{AdvancedIndex, IndexItem};
/// // a[5, :, [1, 2]]: the integer and the array are apart, so the axis of the array comes first.
/// let all = KeyItem::Slice(None, None, None);
/// let items = [
///     IndexItem::Basic(KeyItem::Index(5)),
///     IndexItem::Basic(all),
///     IndexItem::Indices(&[2][..]),
/// ];
/// let index = AdvancedIndex::new(&[6, 7, 8], &items)?;
/// assert_eq!(index.basic, [KeyItem::Index(5), all, all]);
/// assert_eq!((index.indexed[0].array_axis, index.indexed[0].view_axis), (2, 1));
/// assert_eq!(index.result_axis, 0);
/// # Ok::<(), dappled::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvancedIndex {
    /// The basic part of the key, with a full slice for each axis that an array indexes.
    pub basic: Vec<KeyItem>,
    /// The masks and index arrays, in the order of the key.
    pub indexed: Vec<IndexedAxes>,
    /// Whether all booleans without axes are true; None if there is none.
    pub bools: Option<bool>,
    /// The axis of the result at which the axes of the arrays are inserted.
    pub result_axis: usize,
}

const ALL: KeyItem = KeyItem::Slice(None, None, None);

impl AdvancedIndex {
    /// Resolves the items of a key for an array of this shape.
    ///
    /// NumPy treats an integer beside arrays as an array without axes: it counts for the place of
    /// the arrays' axes in the result.
    pub fn new(shape: &[usize], items: &[IndexItem<&[usize]>]) -> Result<Self> {
        let given = items.iter().map(indexed_axis_count).sum();
        let ndim = shape.len();
        let missing = ndim.checked_sub(given).ok_or(KeyError::TooMany { ndim, given });
        let missing = missing.map_err(ViewError::from)?;
        let ellipsis = |item: &&IndexItem<_>| **item == IndexItem::Basic(KeyItem::Ellipsis);
        if items.iter().filter(ellipsis).count() > 1 {
            return Err(ViewError::from(KeyError::SecondEllipsis).into());
        }
        let mut index =
            Self { basic: Vec::new(), indexed: Vec::new(), bools: None, result_axis: 0 };
        let (mut array_axis, mut view_axis) = (0, 0);
        // The positions of the first and last advanced item, their number, and the axis of the first.
        let mut advanced: Option<(usize, usize, usize)> = None;
        for (position, item) in items.iter().enumerate() {
            if matches!(item, IndexItem::Basic(KeyItem::Index(_))) || !item.is_basic() {
                let (first, count, axis) = advanced.unwrap_or((position, 0, view_axis));
                advanced = Some((first, count + 1, axis));
                let is_adjacent = position - first == count;
                index.result_axis = if is_adjacent { axis } else { 0 };
            }
            match item {
                IndexItem::Basic(KeyItem::Ellipsis) => {
                    index.basic.extend((0..missing).map(|_| ALL));
                    (array_axis, view_axis) = (array_axis + missing, view_axis + missing);
                }
                IndexItem::Basic(item) => {
                    index.basic.push(*item);
                    array_axis += usize::from(*item != KeyItem::NewAxis);
                    view_axis += usize::from(!matches!(item, KeyItem::Index(_)));
                }
                IndexItem::Bool(value) => {
                    index.bools = Some(*value && index.bools.unwrap_or(true));
                }
                IndexItem::Mask(_) | IndexItem::Indices(_) => {
                    let count = indexed_axis_count(item);
                    if let IndexItem::Mask(mask) = item {
                        check_mask(shape, array_axis, mask)?;
                    }
                    index.basic.extend((0..count).map(|_| ALL));
                    index.indexed.push(IndexedAxes {
                        item: position,
                        array_axis,
                        view_axis,
                        count,
                    });
                    (array_axis, view_axis) = (array_axis + count, view_axis + count);
                }
            }
        }
        Ok(index)
    }

    /// The axes of the basic view that arrays index, in the order of the key.
    pub fn indexed_axes(&self) -> Vec<usize> {
        self.indexed.iter().flat_map(|axes| axes.view_axis..axes.view_axis + axes.count).collect()
    }
}

impl<A> IndexItem<A> {
    /// Returns true for an item of basic indexing.
    pub fn is_basic(&self) -> bool {
        matches!(self, IndexItem::Basic(_))
    }

    /// The item with another representation of its array.
    pub fn map<'a, B>(&'a self, convert: impl FnOnce(&'a A) -> B) -> IndexItem<B> {
        match self {
            IndexItem::Basic(item) => IndexItem::Basic(*item),
            IndexItem::Bool(value) => IndexItem::Bool(*value),
            IndexItem::Mask(mask) => IndexItem::Mask(convert(mask)),
            IndexItem::Indices(indices) => IndexItem::Indices(convert(indices)),
        }
    }
}

/// The number of axes of the array that an item indexes.
fn indexed_axis_count(item: &IndexItem<&[usize]>) -> usize {
    match item {
        IndexItem::Basic(KeyItem::Index(_) | KeyItem::Slice(..)) | IndexItem::Indices(_) => 1,
        IndexItem::Basic(_) | IndexItem::Bool(_) => 0,
        IndexItem::Mask(shape) => shape.len(),
    }
}

/// Checks that a mask has the lengths of the axes that it indexes. NumPy allows any axis of length 0.
fn check_mask(shape: &[usize], first_axis: usize, mask: &[usize]) -> Result<()> {
    for (dimension, &mask_length) in (first_axis..).zip(mask) {
        let length = shape[dimension];
        if length != mask_length && mask_length > 0 {
            return Err(Error::MaskShape { dimension, length, mask_length });
        }
    }
    Ok(())
}

/// The shape that the shapes of index arrays broadcast to.
pub fn broadcast_index_shapes(shapes: &[&[usize]]) -> Result<Vec<usize>, ViewError> {
    super::broadcast_shapes(shapes).map_err(|error| match error {
        ViewError::Broadcast(shapes) => ViewError::IndexBroadcast(shapes),
        error => error,
    })
}
