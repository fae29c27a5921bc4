//! The local piece of a distributed array.

use dappled_fabric::{keep, take_buffer};
use dappled_kernels::{Buffer, DType, Scalar, View};

use crate::plan::step::StridedCells;

/// This rank's local piece of an array: memory in C order, including padding.
#[derive(Clone, Debug)]
pub struct LocalPiece {
    /// The memory.
    pub buffer: Buffer,
    /// The layout of the piece in the buffer.
    pub view: View,
}

impl LocalPiece {
    /// Creates a piece filled with zeros.
    pub fn zeros(dtype: DType, shape: &[u64]) -> Self {
        let view = c_order_view(dtype, shape);
        Self { buffer: Buffer::zeroed(view.len() * dtype.itemsize()), view }
    }

    /// Creates a piece with unspecified contents, in memory from the message pool if possible.
    pub(crate) fn from_message_pool(dtype: DType, shape: &[u64]) -> Self {
        let view = c_order_view(dtype, shape);
        let bytes = take_buffer(view.len() * dtype.itemsize());
        Self { buffer: Buffer::from_vec(bytes, dtype.itemsize()), view }
    }

    /// Returns the memory to the message pool.
    pub(crate) fn recycle(self) {
        self.buffer.into_vec().into_iter().for_each(keep);
    }

    /// Creates a piece filled with a value.
    pub fn full(value: Scalar, shape: &[u64]) -> Self {
        let view = c_order_view(value.dtype(), shape);
        Self { buffer: Buffer::full(value, view.len()), view }
    }

    /// The view of a tile's cells.
    pub(crate) fn cells_view(&self, cells: &StridedCells, shape: &[u64]) -> View {
        let along = cells.axes.iter().zip(&cells.steps);
        let stride = |(axis, &step): (&Option<usize>, &i64)| {
            axis.map_or(0, |axis| self.view.strides[axis] * step as isize)
        };
        let starts = cells.start.iter().zip(&self.view.strides);
        let offset: isize = starts.map(|(&start, &stride)| start as isize * stride).sum();
        View {
            dtype: self.view.dtype,
            offset: (self.view.offset as isize + offset) as usize,
            shape: shape.iter().map(|&length| length as usize).collect(),
            strides: along.map(stride).collect(),
        }
    }
}

/// A view of C-ordered memory with this shape.
pub(crate) fn c_order_view(dtype: DType, shape: &[u64]) -> View {
    let shape: Vec<usize> = shape.iter().map(|&length| length as usize).collect();
    View::c_order(dtype, &shape)
}
