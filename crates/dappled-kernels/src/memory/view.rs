//! Strided views: the positions of an array's elements in a buffer.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use crate::error::Error;
use crate::types::dtype::DType;

/// One entry per axis; up to four are stored inline.
pub type Axes<T> = SmallVec<[T; 4]>;

/// A view maps the indices of an array to bytes of a buffer.
///
/// The element at `index` starts at byte `offset + sum(index[k] * strides[k])`. A stride of 0
/// broadcasts an element; a negative stride traverses memory backwards.
///
/// ```
/// use dappled_kernels::{DType, View};
/// let matrix = View::c_order(DType::Float64, &[3, 4]);
/// let reversed_column = matrix.slice_axis(0, 2, -1, 3).slice_axis(1, 1, 1, 1);
/// assert_eq!((reversed_column.offset, &reversed_column.strides[..]), (72, &[-32, 8][..]));
/// ```
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The type of the elements.
    pub dtype: DType,
    /// The byte offset of the element at index 0, 0, ….
    pub offset: usize,
    /// The number of elements along each axis.
    pub shape: Axes<usize>,
    /// The number of bytes between consecutive elements along each axis.
    pub strides: Axes<isize>,
}

/// Copies whole slices; a derived clone would copy entry by entry.
impl Clone for View {
    #[inline]
    fn clone(&self) -> Self {
        let (shape, strides) = (Axes::from_slice(&self.shape), Axes::from_slice(&self.strides));
        Self { dtype: self.dtype, offset: self.offset, shape, strides }
    }
}

impl View {
    /// A whole buffer in C order.
    #[inline]
    pub fn c_order(dtype: DType, shape: &[usize]) -> Self {
        let mut strides: Axes<isize> = smallvec![0; shape.len()];
        // As in NumPy, an empty array has strides of 0.
        let mut step = if shape.contains(&0) { 0 } else { dtype.itemsize() as isize };
        for (stride, &size) in strides.iter_mut().zip(shape).rev() {
            *stride = step;
            step *= size as isize;
        }
        Self { dtype, offset: 0, shape: Axes::from_slice(shape), strides }
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// True if the view has no element.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Slices one axis: `len` elements from `start` on, `step` apart, all of which must exist.
    pub fn slice_axis(&self, axis: usize, start: usize, step: isize, len: usize) -> View {
        let mut view = self.clone();
        let stride = self.strides[axis];
        let first = self.offset as isize + if len > 0 { start as isize * stride } else { 0 };
        view.offset = first as usize;
        view.shape[axis] = len;
        view.strides[axis] = stride * step;
        view
    }

    /// The view with its axes reversed.
    pub fn transposed(&self) -> View {
        let mut view = self.clone();
        view.shape.reverse();
        view.strides.reverse();
        view
    }

    /// The view broadcast to a shape, as NumPy does; `None` if the shapes are incompatible.
    pub fn broadcast(&self, shape: &[usize]) -> Option<View> {
        let new_axes = shape.len().checked_sub(self.shape.len())?;
        let mut strides: Axes<isize> = smallvec![0; new_axes];
        for ((&size, &stride), &target) in
            self.shape.iter().zip(&self.strides).zip(&shape[new_axes..])
        {
            match size {
                _ if size == target => strides.push(stride),
                1 => strides.push(0),
                _ => return None,
            }
        }
        Some(View { shape: Axes::from_slice(shape), strides, ..*self })
    }

    /// True if the elements are in C order without gaps.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        let mut step = self.dtype.itemsize() as isize;
        let mut axes = self.shape.iter().zip(&self.strides).rev();
        let in_order = |(&size, &stride): (&usize, &isize)| {
            let fits = size == 1 || stride == step;
            step *= size as isize;
            fits
        };
        self.is_empty() || axes.all(in_order)
    }

    /// True if both views place every index at the same byte. Strides along axes of one element are
    /// ignored.
    pub fn is_same(&self, other: &View) -> bool {
        let steps = self.strides.iter().zip(&other.strides).zip(&self.shape);
        (self.dtype, self.offset, &self.shape) == (other.dtype, other.offset, &other.shape) && {
            steps
        }
        .all(|((stride, other), &size)| size == 1 || stride == other)
    }

    /// The range of bytes the view spans: `numpy.lib.array_utils.byte_bounds`, relative to the
    /// buffer.
    pub fn byte_bounds(&self) -> Range<i128> {
        let (mut low, mut high) = (self.offset as i128, self.offset as i128);
        if self.is_empty() {
            return low..low;
        }
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            let last = (size as i128 - 1) * stride as i128;
            low += last.min(0);
            high += last.max(0);
        }
        low..high + self.dtype.itemsize() as i128
    }

    /// Checks that the view is inside a buffer of `len` bytes.
    pub fn check_bounds(&self, len: usize) -> Result<(), Error> {
        assert_eq!(self.shape.len(), self.strides.len(), "one stride per axis is required");
        let Range { start, end: stop } = self.byte_bounds();
        let inside = start >= 0 && stop <= len as i128;
        if inside { Ok(()) } else { Err(Error::OutOfBounds { start, stop, len }) }
    }
}
