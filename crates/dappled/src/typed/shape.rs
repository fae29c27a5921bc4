//! Shapes and distributions: reshape, transpose, concatenate, redistribute.

use dappled_kernels::Scalar;
use dappled_protocol::Distribution;
use dappled_protocol::slice::KeyItem;

use super::Array;
use super::element::ArrayElement;
use crate::array::Array as DynArray;
use crate::error::{Error, Result};
use crate::view::reshape::resolve_shape;
use crate::view::{ViewError, normalize_axes, normalize_axis};

impl<T: ArrayElement> Array<T> {
    /// Returns the elements in C order in another shape; one length may be -1.
    ///
    /// A view if strides can express the shape, otherwise a copy, as in NumPy. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<f64>::zeros(&cx, [4, 6]);
    /// assert_eq!(a.reshape([3, -1])?.shape(), [3, 8]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn reshape(&self, shape: impl AsRef<[i64]>) -> Result<Self> {
        let shape = resolve_shape(shape.as_ref(), self.len())?;
        self.dynamic.reshaped(&shape).map(Self::from_dynamic)
    }

    /// Returns a view with the axes in reverse order.
    pub fn t(&self) -> Self {
        let axes: Vec<usize> = (0..self.ndim()).rev().collect();
        Self::from_dynamic(self.dynamic.transposed(&axes))
    }

    /// Returns a view with the axes in another order; negative axes count from the last.
    pub fn transpose(&self, axes: impl AsRef<[i64]>) -> Result<Self> {
        let axes = normalize_axes(axes.as_ref(), self.ndim())?;
        Ok(Self::from_dynamic(self.dynamic.transposed(&axes)))
    }

    /// Returns a view repeated to a shape, by NumPy's broadcasting rules.
    pub fn broadcast_to(&self, shape: impl AsRef<[usize]>) -> Result<Self> {
        let shape = shape.as_ref();
        let fail = || ViewError::Broadcast(vec![self.shape().to_vec(), shape.to_vec()]);
        Ok(Self::from_dynamic(self.dynamic.broadcast_to(shape).ok_or_else(fail)?))
    }

    /// Joins arrays along an axis. Their other lengths must be equal. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let (a, b) = (Array::<f64>::zeros(&cx, [2, 3]), Array::<f64>::ones(&cx, [2, 1]));
    /// assert_eq!(Array::concatenate(&[&a, &b], 1)?.shape(), [2, 4]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn concatenate(arrays: &[&Array<T>], axis: isize) -> Result<Self> {
        let arrays: Vec<&DynArray> = arrays.iter().map(|array| &array.dynamic).collect();
        concatenate(&arrays, axis).map(Self::from_dynamic)
    }

    /// Joins arrays of one shape along a new axis. Collective.
    pub fn stack(arrays: &[&Array<T>], axis: isize) -> Result<Self> {
        let first = arrays.first().ok_or(Error::NothingToConcatenate)?;
        let axis = normalize_axis(axis as i64, first.ndim() + 1)?;
        let expand = |array: &&Array<T>| {
            let mut key = vec![KeyItem::Slice(None, None, None); axis.min(array.ndim())];
            key.push(KeyItem::NewAxis);
            array.dynamic.slice(&key)
        };
        let expanded: Vec<DynArray> = arrays.iter().map(expand).collect::<Result<_>>()?;
        concatenate(&expanded.iter().collect::<Vec<_>>(), axis as isize).map(Self::from_dynamic)
    }

    /// The distribution over the ranks. Fails for a view of part of a distributed array. Local.
    pub fn distribution(&self) -> Result<Distribution> {
        self.dynamic.distribution()
    }

    /// Returns true if every rank holds all elements. Local.
    pub fn is_replicated(&self) -> bool {
        self.dynamic.is_replicated()
    }

    /// Copies the elements to another distribution over the same ranks. Collective.
    pub fn redistribute(&self, to: &Distribution) -> Result<Self> {
        self.dynamic.redistribute(to).map(Self::from_dynamic)
    }

    /// Returns a copy of which every rank holds all elements. Collective.
    pub fn replicate(&self) -> Result<Self> {
        self.dynamic.gather().map(Self::from_dynamic)
    }
}

fn concatenate(arrays: &[&DynArray], axis: isize) -> Result<DynArray> {
    let first = *arrays.first().ok_or(Error::NothingToConcatenate)?;
    if first.shape().is_empty() {
        return Err(Error::ZeroDimensional("concatenated"));
    }
    let axis = normalize_axis(axis as i64, first.shape().len())?;
    let mut shape = first.shape().to_vec();
    for (at, array) in arrays.iter().enumerate().skip(1) {
        check_joined(first.shape(), array.shape(), axis, at)?;
        shape[axis] += array.shape()[axis];
    }
    let zero = Scalar::new(0u8).cast(first.dtype());
    let joined = DynArray::filled(first.session(), &shape, zero);
    let mut start = 0;
    for array in arrays {
        let end = start + array.shape()[axis] as i64;
        let mut key = vec![KeyItem::Slice(None, None, None); axis];
        key.push(KeyItem::Slice(Some(start), Some(end), None));
        joined.slice(&key)?.assign(*array)?;
        start = end;
    }
    Ok(joined)
}

/// Fails if two shapes differ along another axis than the joined one.
fn check_joined(first: &[usize], other: &[usize], axis: usize, position: usize) -> Result<()> {
    let dimension = (0..first.len().min(other.len()))
        .find(|&dimension| dimension != axis && first[dimension] != other[dimension]);
    match (first.len() == other.len(), dimension) {
        (true, None) => Ok(()),
        (false, _) => {
            Err(Error::ConcatenateDimensions { position, ndims: [first.len(), other.len()] })
        }
        (true, Some(dimension)) => Err(Error::ConcatenateShapes {
            dimension,
            position,
            lengths: [first[dimension], other[dimension]],
        }),
    }
}
