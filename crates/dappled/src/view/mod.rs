//! NumPy's views: arithmetic on offset, shape and strides, over the memory of a base.
//!
//! The base of a distributed array has no memory in one place; its strides are those it would have
//! in C order. So a view is described as NumPy describes it, wherever the elements are, and
//! [`through`] says how its axes run through those of the base.
//!
//! *In:* a [`View`] and what is asked of it. *Out:* another one, or NumPy's error.

mod fitting;
mod index;
mod order;
mod reshape;
mod through;

pub use fitting::fitting_shape;
pub use index::{Indexed, indexed};
pub use order::{
    axis_order, gathered_order, gathered_view, iteration_order, kept_order, moved, permuted,
};
pub(crate) use order::{is_c_like, is_reversed, memory_order};
pub use reshape::{reshaped, resolved};
pub use through::{seen, through};

use dappled_kernels::{Axes, View};

/// Why there is no such view. The texts are NumPy's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// A key that does not fit.
    #[error(transparent)]
    Key(#[from] dappled_protocol::slice::KeyError),
    /// An axis that the array does not have.
    #[error("axis {axis} is out of bounds for array of dimension {ndim}")]
    Axis {
        /// As it was given.
        axis: i64,
        /// How many there are.
        ndim: usize,
    },
    /// A transposition that is none.
    #[error("axes don't match array")]
    Axes,
    /// An axis named twice.
    #[error("repeated axis in transpose")]
    RepeatedAxis,
    /// A shape of another size.
    #[error("cannot reshape array of size {size} into shape {}", asked(.shape))]
    Size {
        /// How many elements there are.
        size: usize,
        /// What was asked for.
        shape: Vec<i64>,
    },
    /// More than one length left open.
    #[error("can only specify one unknown dimension")]
    Unknown,
    /// Shapes that do not broadcast.
    #[error("operands could not be broadcast together with shapes {}", spaced(.0))]
    Broadcast(Vec<Vec<usize>>),
}

/// `(2,3)`, as NumPy writes shapes in these messages.
pub fn tuple<T: ToString>(shape: &[T]) -> String {
    let lengths: Vec<String> = shape.iter().map(T::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    format!("({}{comma})", lengths.join(","))
}

/// A shape as it was asked for, as NumPy writes it: lengths left open first are left out.
fn asked(shape: &[i64]) -> String {
    let first = shape.iter().position(|&length| length >= 0).unwrap_or(shape.len());
    let length = |&length: &i64| match length {
        0.. => length.to_string(),
        _ => "newaxis".to_string(),
    };
    let lengths: Vec<String> = shape[first..].iter().map(length).collect();
    let comma = if shape.len() == 1 && first == 0 { "," } else { "" };
    format!("({}{comma})", lengths.join(","))
}

fn spaced(shapes: &[Vec<usize>]) -> String {
    shapes.iter().map(|shape| format!("{} ", tuple(shape))).collect()
}

/// An axis counted from the end where it is negative.
pub fn axis(axis: i64, ndim: usize) -> Result<usize, ViewError> {
    let counted = if axis < 0 { axis + ndim as i64 } else { axis };
    let known = (0..ndim as i64).contains(&counted);
    known.then_some(counted as usize).ok_or(ViewError::Axis { axis, ndim })
}

/// The shape that these shapes broadcast to.
pub fn broadcast(shapes: &[&[usize]]) -> Result<Vec<usize>, ViewError> {
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

/// The diagonal along two axes, which goes last.
pub fn diagonal(view: &View, offset: i64, first: usize, second: usize) -> View {
    let (rows, columns) = (view.shape[first] as i64, view.shape[second] as i64);
    let (row, column) = ((-offset).max(0), offset.max(0));
    let length = (rows - row).min(columns - column).max(0);
    let mut kept: Vec<usize> = (0..view.shape.len()).collect();
    kept.retain(|&axis| axis != first && axis != second);
    let mut shape: Axes<usize> = kept.iter().map(|&axis| view.shape[axis]).collect();
    let mut strides: Axes<isize> = kept.iter().map(|&axis| view.strides[axis]).collect();
    shape.push(length as usize);
    strides.push(view.strides[first] + view.strides[second]);
    let start = row as isize * view.strides[first] + column as isize * view.strides[second];
    let start = if length > 0 { start } else { 0 };
    View { dtype: view.dtype, offset: (view.offset as isize + start) as usize, shape, strides }
}
