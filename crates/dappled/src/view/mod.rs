//! Views: arithmetic on offset, shape and strides, as NumPy does it.
//!
//! Input: a [`View`] of a base and a key, shape or order of axes. Output: another view, or NumPy's
//! error. Pure functions: nothing is copied, allocated or communicated. The base of a distributed
//! array has no memory in one place; its strides are those of an array in C order. An axis mapping
//! relates the axes of a view to those of the distributed base.
//!
//! ```text
//! advanced_index masks and index arrays in keys
//! axis_mapping   which axis of the base each axis of a view follows
//! fitting_shape  shapes of the base for which a view has an axis mapping
//! index          basic indexing
//! memory_order   transposes and memory order
//! reshape        other shapes of the same elements
//! ```

pub(crate) mod advanced_index;
pub(crate) mod axis_mapping;
pub(crate) mod fitting_shape;
pub(crate) mod index;
pub(crate) mod memory_order;
pub(crate) mod reshape;

pub use crate::view::fitting_shape::fitting_shape;
pub use advanced_index::{AdvancedIndex, IndexItem, IndexedAxes, broadcast_index_shapes};
pub use axis_mapping::{axis_mapping, map_view};
pub use index::{IndexedView, index_view};
pub use memory_order::{
    copy_order, gathered_order, gathered_view, inverse_permutation, iteration_order,
    normalize_axes, permute_axes,
};
pub(crate) use memory_order::{is_f_ordered, memory_order};
pub use reshape::{reshape_view, resolve_shape};

use std::ops::Range;

use dappled_kernels::{Axes, View};

pub use crate::error::{ViewError, format_shape};

/// The bytes of a contiguous view.
pub(crate) fn byte_range(view: &View) -> Range<usize> {
    view.offset..view.offset + view.len() * view.dtype.itemsize()
}

/// Resolves an axis, which may be negative.
pub fn normalize_axis(axis: i64, ndim: usize) -> Result<usize, ViewError> {
    let resolved = if axis < 0 { axis + ndim as i64 } else { axis };
    let known = (0..ndim as i64).contains(&resolved);
    known.then_some(resolved as usize).ok_or(ViewError::Axis { axis, ndim })
}

/// The shape that these shapes broadcast to.
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Result<Vec<usize>, ViewError> {
    let ndim = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut lengths = vec![1; ndim];
    for shape in shapes {
        let new_axes = ndim - shape.len();
        for (length, &own) in lengths[new_axes..].iter_mut().zip(*shape) {
            match (*length, own) {
                (1, _) => *length = own,
                (known, own) if own == known || own == 1 => {}
                _ => {
                    let shapes = shapes.iter().map(|shape| shape.to_vec()).collect();
                    return Err(ViewError::Broadcast(shapes));
                }
            }
        }
    }
    Ok(lengths)
}

/// The diagonal along two axes, as the last axis of the result.
pub fn diagonal(view: &View, offset: i64, first: usize, second: usize) -> View {
    let (rows, columns) = (view.shape[first] as i64, view.shape[second] as i64);
    let (row, column) = ((-offset).max(0), offset.max(0));
    let length = (rows - row).min(columns - column).max(0);
    let mut other_axes: Vec<usize> = (0..view.shape.len()).collect();
    other_axes.retain(|&axis| axis != first && axis != second);
    let mut shape: Axes<usize> = other_axes.iter().map(|&axis| view.shape[axis]).collect();
    let mut strides: Axes<isize> = other_axes.iter().map(|&axis| view.strides[axis]).collect();
    shape.push(length as usize);
    strides.push(view.strides[first] + view.strides[second]);
    let start = row as isize * view.strides[first] + column as isize * view.strides[second];
    let start = if length > 0 { start } else { 0 };
    View { dtype: view.dtype, offset: (view.offset as isize + start) as usize, shape, strides }
}
