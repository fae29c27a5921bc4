//! A key as a view of rows and the indices of rows.

use std::ops::Range;

use dappled_base::memory;
use dappled_kernels::element::typed;
use dappled_kernels::{Bool, Buffer, DType, View};
use dappled_protocol::Distribution;
use dappled_protocol::slice::{KeyError, KeyItem};

use super::IndexKey;
use crate::array::Array;
use crate::error::{Error, Result};
use crate::ops::index_arrays::{is_local, local_elements, row_distribution};
use crate::run::collective::allgather;
use crate::session::Session;
use crate::view::{
    AdvancedIndex, IndexItem, IndexedAxes, ViewError, broadcast_index_shapes, memory_order,
};

/// The name of the messages about indices out of bounds.
const OPERATION: &str = "indices of a key";

/// The elements that a key selects.
pub(super) enum Selection {
    /// A view: the key has no arrays with axes.
    View(Array),
    /// Rows of a view.
    Rows(FlatRows),
}

/// Rows of a view: the indexed axes, flattened to one.
pub(super) struct FlatRows {
    /// The basic view, with the indexed axes first.
    pub view: Array,
    /// The number of indexed axes.
    pub indexed: usize,
    /// The number of last axes that are the bytes of an item.
    pub item_axes: usize,
    /// The shape that the index arrays broadcast to.
    pub shape: Vec<usize>,
    /// The rows that this rank selects.
    pub indices: LocalIndices,
    /// The first indexed axis of the array, for messages.
    pub axis: usize,
    /// The axis of the result at which the axes of the indices are inserted.
    pub result_axis: usize,
    /// The memory order of the indices' axes if a row is one element; None for C order.
    pub index_order: Option<Vec<usize>>,
}

/// The indices of rows on this rank; negative ones count from the end.
pub(super) struct LocalIndices {
    /// The indices, in C order.
    pub rows: IndexRows,
    /// The distribution of the indices; None if every rank has all of them.
    pub blocks: Option<Distribution>,
}

/// Indices in memory of their own, or in that of an index array.
pub(super) enum IndexRows {
    Owned(Vec<i64>),
    Shared(Buffer, Range<usize>),
}

impl IndexRows {
    /// Calls a function with the indices.
    pub fn with<R>(&self, act: impl FnOnce(&[i64]) -> Result<R>) -> Result<R> {
        match self {
            IndexRows::Owned(indices) => act(indices),
            IndexRows::Shared(buffer, bytes) => act(typed(&buffer.read()?[bytes.clone()])),
        }
    }
}

/// An index array or the positions of a mask, and the axes that it indexes.
struct Component {
    indices: Array,
    axes: IndexedAxes,
    /// The lengths of these axes, flattened.
    length: usize,
    /// Whether the indices may be out of bounds.
    is_checked: bool,
}

/// Resolves a key: evaluates masks and index arrays. Collective.
pub(super) fn resolve(array: &Array, key: &IndexKey) -> Result<Selection> {
    let ndim = array.shape().len() - key.item_axes;
    let key = &without_single_elements(key)?;
    let shapes: Vec<IndexItem<&[usize]>> =
        key.items.iter().map(|item| item.map(Array::shape)).collect();
    let index = AdvancedIndex::new(&array.shape()[..ndim], &shapes)?;
    let view = array.slice(&index.basic)?;
    if index.indexed.is_empty() {
        return bool_view(&view, &index).map(Selection::View);
    }
    let components = components(array, key, &index)?;
    let shape = broadcast_shape(key, &components)?;
    let mut axes = index.indexed_axes();
    let indexed = axes.len();
    axes.extend((0..view.shape().len()).filter(|axis| !axes.contains(axis)).collect::<Vec<_>>());
    let views: Option<Vec<View>> =
        components.iter().map(|part| part.indices.view().broadcast(&shape)).collect();
    let views = views.expect("the shapes of the indices broadcast");
    let views: Vec<&View> = views.iter().collect();
    let index_order = memory_order(&views, shape.len());
    let is_replicated =
        array.is_replicated() && components.iter().all(|part| part.indices.is_replicated());
    let session = array.session();
    let blocks =
        (!is_replicated && session.fabric().size() > 1).then(|| session.block_distribution(&shape));
    let rows = flatten(session, &components, &shape, blocks.as_ref())?;
    Ok(Selection::Rows(FlatRows {
        view: view.transposed(&axes),
        indexed,
        item_axes: key.item_axes,
        shape,
        indices: LocalIndices { rows, blocks },
        axis: components[0].axes.array_axis,
        result_axis: index.result_axis,
        index_order,
    }))
}

/// The key with arrays without axes replaced by their values.
fn without_single_elements(key: &IndexKey) -> Result<IndexKey> {
    let convert = |item: &IndexItem<Array>| {
        Ok(match item {
            IndexItem::Mask(mask) if mask.shape().is_empty() => {
                IndexItem::Bool(mask.to_vec::<Bool>()?[0].is_true())
            }
            IndexItem::Indices(index) if index.shape().is_empty() => {
                IndexItem::Basic(KeyItem::Index(index.to_vec::<i64>()?[0]))
            }
            item => item.clone(),
        })
    };
    let items = key.items.iter().map(convert).collect::<Result<_>>()?;
    Ok(IndexKey { items, item_axes: key.item_axes })
}

/// The shape that the index arrays of a key broadcast to. A boolean is an array of length 1 or 0, a
/// mask one array for each of its axes.
fn broadcast_shape(key: &IndexKey, components: &[Component]) -> Result<Vec<usize>> {
    let mut shapes: Vec<&[usize]> = Vec::new();
    let mut components = components.iter();
    for item in &key.items {
        match item {
            IndexItem::Basic(_) => {}
            IndexItem::Bool(value) => shapes.push(if *value { &[1] } else { &[0] }),
            IndexItem::Mask(_) | IndexItem::Indices(_) => {
                let Some(part) = components.next() else { continue };
                shapes.extend((0..part.axes.count).map(|_| part.indices.shape()));
            }
        }
    }
    Ok(broadcast_index_shapes(&shapes)?)
}

/// The view that integers, slices and booleans select: booleans add one axis.
fn bool_view(view: &Array, index: &AdvancedIndex) -> Result<Array> {
    let Some(all) = index.bools else { return Ok(view.clone()) };
    let full = KeyItem::Slice(None, None, None);
    let mut items = vec![full; index.result_axis];
    items.push(KeyItem::NewAxis);
    let view = view.slice(&items)?;
    items[index.result_axis] = KeyItem::Slice(None, Some(i64::from(all)), None);
    view.slice(&items)
}

/// The index arrays of a key, and the positions of its masks. Collective.
fn components(array: &Array, key: &IndexKey, index: &AdvancedIndex) -> Result<Vec<Component>> {
    let component = |axes: &IndexedAxes| {
        let (indices, is_checked) = match &key.items[axes.item] {
            IndexItem::Mask(mask) => (mask.flatnonzero()?, false),
            IndexItem::Indices(indices) => (with_index_dtype(indices)?, true),
            _ => unreachable!("only arrays index axes"),
        };
        let lengths = &array.shape()[axes.array_axis..axes.array_axis + axes.count];
        Ok(Component { indices, axes: *axes, length: lengths.iter().product(), is_checked })
    };
    index.indexed.iter().map(component).collect()
}

fn with_index_dtype(indices: &Array) -> Result<Array> {
    if indices.dtype() == DType::Int64 { Ok(indices.clone()) } else { indices.cast(DType::Int64) }
}

/// The indices of rows on this rank: of several axes, that of the flattened axes. Collective.
///
/// The indices of several arrays are checked here, those of one array where it is used.
fn flatten(
    session: &Session,
    components: &[Component],
    shape: &[usize],
    blocks: Option<&Distribution>,
) -> Result<IndexRows> {
    let mut flat = Vec::new();
    let mut out_of_bounds = None;
    for (position, part) in components.iter().enumerate() {
        let indices =
            part.indices.broadcast_to(shape).expect("the shapes of the indices broadcast");
        let mut own = match blocks {
            None => indices.to_vec::<i64>()?,
            Some(blocks) => {
                let (buffer, bytes) = local_elements(&indices, blocks)?;
                if components.len() == 1 {
                    return Ok(IndexRows::Shared(buffer, bytes));
                }
                memory::copy_of(typed(&buffer.read()?[bytes]))
            }
        };
        if components.len() == 1 {
            return Ok(IndexRows::Owned(own));
        }
        if part.is_checked {
            let wrong = make_positive(&mut own, part.length as i64);
            out_of_bounds = out_of_bounds.or(wrong.map(|index| (position, index)));
        }
        match position {
            0 => flat = own,
            _ => flat.iter_mut().zip(own).for_each(|(flat, index)| {
                *flat = flat.wrapping_mul(part.length as i64).wrapping_add(index);
            }),
        }
    }
    let parts: Vec<(usize, usize)> =
        components.iter().map(|part| (part.axes.array_axis, part.length)).collect();
    share_out_of_bounds(session, blocks.is_some(), out_of_bounds, &parts)?;
    Ok(IndexRows::Owned(flat))
}

/// Counts negative indices from the start; returns the first index that is out of bounds.
fn make_positive(indices: &mut [i64], length: i64) -> Option<i64> {
    let mut wrong = None;
    for index in indices {
        if !(-length..length).contains(index) {
            wrong = wrong.or(Some(*index));
        }
        *index += if *index < 0 { length } else { 0 };
    }
    wrong
}

/// Fails on every rank for the first index out of bounds: of the first array, then of the first
/// rank. Collective if the indices are distributed.
///
/// `parts` are the axis and the length of each index array.
fn share_out_of_bounds(
    session: &Session,
    is_distributed: bool,
    own: Option<(usize, i64)>,
    parts: &[(usize, usize)],
) -> Result<()> {
    let own = own.map_or([i64::MAX, 0], |(position, index)| [position as i64, index]);
    let all = match is_distributed {
        true => allgather(session, OPERATION, &own)?,
        false => vec![own.to_vec()],
    };
    let first = all.iter().min_by_key(|found| found[0]).expect("there is at least one rank");
    match usize::try_from(first[0]).ok().and_then(|position| parts.get(position)) {
        Some(&(axis, length)) => Err(out_of_bounds(first[1], axis, length)),
        None => Ok(()),
    }
}

/// NumPy's error for an index.
pub(super) fn out_of_bounds(index: i64, axis: usize, length: usize) -> Error {
    ViewError::Key(KeyError::OutOfBounds { index, axis, size: length as u64 }).into()
}

impl FlatRows {
    /// The shape of a row.
    pub fn row_shape(&self) -> &[usize] {
        &self.view.shape()[self.indexed..]
    }

    /// The view with its indexed axes flattened; a copy if there is no such view.
    pub fn rows(&self) -> Result<Array> {
        if self.indexed == 1 {
            return Ok(self.view.clone());
        }
        let shape = self.view.shape();
        let count: usize = shape[..self.indexed].iter().product();
        self.view.reshaped(&[&[count], self.row_shape()].concat())
    }

    /// The number of rows of the view.
    pub fn row_count(&self) -> usize {
        self.view.shape()[..self.indexed].iter().product()
    }

    /// Whether nothing is selected; the indices are in bounds nevertheless. Collective.
    pub fn is_empty(&self) -> Result<bool> {
        let (is_any_index, is_any_row) = (!self.shape.contains(&0), !self.row_shape().contains(&0));
        if is_any_index && !is_any_row {
            self.positive_indices()?;
        }
        Ok(!(is_any_index && is_any_row))
    }

    /// This rank's indices, counted from the start, if those of all ranks are in bounds. Collective.
    pub fn positive_indices(&self) -> Result<Vec<i64>> {
        let length = self.row_count();
        let mut indices = self.indices.rows.with(|indices| Ok(memory::copy_of(indices)))?;
        let wrong = make_positive(&mut indices, length as i64).map(|index| (0, index));
        let is_distributed = self.indices.blocks.is_some();
        let parts = [(self.axis, length)];
        share_out_of_bounds(self.view.session(), is_distributed, wrong, &parts)?;
        Ok(indices)
    }

    /// This rank's indices in blocks of the flattened indices, in C order over the ranks. Collective.
    pub fn indices_in_order(self) -> Result<IndexRows> {
        let session = self.view.session();
        let rank = session.fabric().rank();
        let size = [self.shape.iter().product()];
        let Some(blocks) = self.indices.blocks else {
            let blocks = row_distribution(session, &size);
            let count = |rank| blocks.local_shape(rank)[0] as usize;
            let start: usize = (0..rank).map(count).sum();
            let own = start..start + count(rank);
            let copy = |indices: &[i64]| Ok(IndexRows::Owned(memory::copy_of(&indices[own])));
            return self.indices.rows.with(copy);
        };
        if self.shape.len() == 1 {
            return Ok(self.indices.rows);
        }
        let local: Vec<usize> =
            blocks.local_shape(rank).iter().map(|&length| length as usize).collect();
        let memory = self.indices.rows.with(|indices| Ok(Buffer::from_slice(indices)))?;
        let view = View::c_order(DType::Int64, &local);
        let row = Array::from_owned_piece(session, blocks, memory, view).reshaped(&size)?;
        let (buffer, bytes) = local_elements(&row, &row_distribution(session, &size))?;
        Ok(IndexRows::Shared(buffer, bytes))
    }

    /// Whether the operation needs no message, with other operands.
    pub fn is_local(&self, others: &[&Array]) -> bool {
        self.indices.blocks.is_none() && is_local(&[&[&self.view], others].concat())
    }
}
