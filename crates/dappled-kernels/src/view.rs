//! A view: where the elements of an array of any rank lie in a buffer.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use crate::{DType, Error};

/// One entry for each axis; up to four need no memory of their own.
pub type Axes<T> = SmallVec<[T; 4]>;

/// The place of each element: `offset + sum(index[k] * strides[k])` bytes into the buffer.
///
/// A stride of 0 repeats an element (broadcasting), a negative one goes backwards.
///
/// ```
/// use dappled_kernels::{DType, View};
/// let matrix = View::c_order(DType::Float64, &[3, 4]);
/// let reversed_column = matrix.region(0, 2, -1, 3).region(1, 1, 1, 1);
/// assert_eq!((reversed_column.offset, &reversed_column.strides[..]), (72, &[-32, 8][..]));
/// ```
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The type of the elements.
    pub dtype: DType,
    /// The byte at which the element of index 0, 0, … begins.
    pub offset: usize,
    /// How many elements along each axis.
    pub shape: Axes<usize>,
    /// How many bytes from one element to the next along each axis.
    pub strides: Axes<isize>,
}

/// Copied as they lie: what a derived clone does one by one.
impl Clone for View {
    #[inline]
    fn clone(&self) -> Self {
        let (shape, strides) = (Axes::from_slice(&self.shape), Axes::from_slice(&self.strides));
        Self { dtype: self.dtype, offset: self.offset, shape, strides }
    }
}

impl View {
    /// All of a buffer in C order: the last axis runs fastest.
    #[inline]
    pub fn c_order(dtype: DType, shape: &[usize]) -> Self {
        let mut strides: Axes<isize> = smallvec![0; shape.len()];
        // As in NumPy, an empty array has none.
        let mut step = if shape.contains(&0) { 0 } else { dtype.itemsize() as isize };
        for (stride, &size) in strides.iter_mut().zip(shape).rev() {
            *stride = step;
            step *= size as isize;
        }
        Self { dtype, offset: 0, shape: Axes::from_slice(shape), strides }
    }

    /// How many elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Is there no element?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Along one axis only `len` elements from `start` on, `step` apart, which must all exist.
    pub fn region(&self, axis: usize, start: usize, step: isize, len: usize) -> View {
        let mut view = self.clone();
        let stride = self.strides[axis];
        let first = self.offset as isize + if len > 0 { start as isize * stride } else { 0 };
        view.offset = first as usize;
        view.shape[axis] = len;
        view.strides[axis] = stride * step;
        view
    }

    /// The axes in the opposite order.
    pub fn transposed(&self) -> View {
        let mut view = self.clone();
        view.shape.reverse();
        view.strides.reverse();
        view
    }

    /// Repeated to a shape, as NumPy broadcasts; None where the shapes do not fit.
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

    /// Do the elements lie in C order, without gaps?
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

    /// Has every index its element in the same place? Strides along axes of one element say nothing.
    pub fn is_same(&self, other: &View) -> bool {
        let steps = self.strides.iter().zip(&other.strides).zip(&self.shape);
        (self.dtype, self.offset, &self.shape) == (other.dtype, other.offset, &other.shape) && {
            steps
        }
        .all(|((own, other), &size)| size == 1 || own == other)
    }

    /// The bytes between the lowest and the highest that it reaches.
    pub fn reach(&self) -> Range<i128> {
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

    /// Says whether it is a view of a buffer of this many bytes.
    pub fn check(&self, len: usize) -> Result<(), Error> {
        assert_eq!(self.shape.len(), self.strides.len(), "one stride for each axis");
        let Range { start, end: stop } = self.reach();
        let inside = start >= 0 && stop <= len as i128;
        if inside { Ok(()) } else { Err(Error::OutOfBounds { start, stop, len }) }
    }
}
