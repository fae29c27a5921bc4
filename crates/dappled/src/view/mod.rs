//! Views: arithmetic on offset, shape and strides, as NumPy does it.
//!
//! Input: a [`View`] of a base and a key, shape or order of axes. Output: another view, or NumPy's
//! error. Pure functions: nothing is copied, allocated or communicated. The base of a distributed
//! array has no memory in one place; its strides are those of an array in C order. An axis mapping
//! relates the axes of a view to those of the distributed base.
//!
//! ```text
//! axis_mapping   which axis of the base each axis of a view follows
//! fitting_shape  shapes of the base for which a view has an axis mapping
//! index          basic indexing
//! memory_order   transposes and memory order
//! reshape        other shapes of the same elements
//! ```

pub(crate) mod axis_mapping;
pub(crate) mod fitting_shape;
pub(crate) mod index;
pub(crate) mod memory_order;
pub(crate) mod reshape;

pub use crate::view::fitting_shape::fitting_shape;
pub use axis_mapping::{axis_mapping, map_view};
pub use index::{IndexedView, index_view};
pub use memory_order::{
    copy_order, gathered_order, gathered_view, inverse_permutation, iteration_order,
    normalize_axes, permute_axes,
};
pub(crate) use memory_order::{is_f_ordered, memory_order};
pub use reshape::{reshape_view, resolve_shape};

use dappled_kernels::{Axes, View};

/// Error of an operation on views. The texts are NumPy's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The key is invalid for the shape.
    #[error(transparent)]
    Key(#[from] dappled_protocol::slice::KeyError),
    /// The axis is out of bounds.
    #[error("axis {axis} is out of bounds for array of dimension {ndim}")]
    Axis {
        /// The axis.
        axis: i64,
        /// The number of dimensions.
        ndim: usize,
    },
    /// The permutation has the wrong length.
    #[error("axes don't match array")]
    Axes,
    /// The permutation contains an axis twice.
    #[error("repeated axis in transpose")]
    RepeatedAxis,
    /// The shape has another number of elements.
    #[error("cannot reshape array of size {size} into shape {}", format_requested_shape(.shape))]
    Size {
        /// The number of elements.
        size: usize,
        /// The requested shape.
        shape: Vec<i64>,
    },
    /// More than one length is -1.
    #[error("can only specify one unknown dimension")]
    Unknown,
    /// The shapes do not broadcast.
    #[error("operands could not be broadcast together with shapes {}", format_shapes(.0))]
    Broadcast(Vec<Vec<usize>>),
}

/// Formats a shape as NumPy does in these messages: `(2,3)`.
pub fn format_shape<T: ToString>(shape: &[T]) -> String {
    let lengths: Vec<String> = shape.iter().map(T::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    format!("({}{comma})", lengths.join(","))
}

/// Formats a requested shape as NumPy does: leading unknown lengths are omitted.
fn format_requested_shape(shape: &[i64]) -> String {
    let first = shape.iter().position(|&length| length >= 0).unwrap_or(shape.len());
    let length = |&length: &i64| match length {
        0.. => length.to_string(),
        _ => "newaxis".to_string(),
    };
    let lengths: Vec<String> = shape[first..].iter().map(length).collect();
    let comma = if shape.len() == 1 && first == 0 { "," } else { "" };
    format!("({}{comma})", lengths.join(","))
}

fn format_shapes(shapes: &[Vec<usize>]) -> String {
    shapes.iter().map(|shape| format!("{} ", format_shape(shape))).collect()
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
