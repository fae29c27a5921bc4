//! A rank's piece of an array.

use dappled_fabric::{keep, memory};
use dappled_kernels::{Buffer, DType, Scalar, View};

use crate::plan::Cells;

/// This rank's piece of an array: memory in C order, padding included.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The memory.
    pub buffer: Buffer,
    /// How it is laid out.
    pub view: View,
}

impl Piece {
    /// A piece of this shape, filled with zeros.
    pub fn zeros(dtype: DType, shape: &[u64]) -> Self {
        let view = c_order(dtype, shape);
        Self { buffer: Buffer::zeroed(view.len() * dtype.itemsize()), view }
    }

    /// A piece of this shape that is still to be written, in memory of messages, if that may be.
    pub(super) fn room(dtype: DType, shape: &[u64]) -> Self {
        let view = c_order(dtype, shape);
        let bytes = memory(view.len() * dtype.itemsize());
        Self { buffer: Buffer::from_vec(bytes, dtype.itemsize()), view }
    }

    /// Gives such memory back.
    pub(super) fn give_back(self) {
        self.buffer.into_vec().into_iter().for_each(keep);
    }

    /// A piece of this shape, filled with a value.
    pub fn full(value: Scalar, shape: &[u64]) -> Self {
        let view = c_order(value.dtype(), shape);
        Self { buffer: Buffer::full(value, view.len()), view }
    }

    /// The cells of a tile.
    pub(crate) fn cells(&self, cells: &Cells, shape: &[u64]) -> View {
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

/// Memory of this shape in C order.
pub(super) fn c_order(dtype: DType, shape: &[u64]) -> View {
    let shape: Vec<usize> = shape.iter().map(|&length| length as usize).collect();
    View::c_order(dtype, &shape)
}
