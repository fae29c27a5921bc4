//! This rank's piece of an array, for code that works on local memory.

use std::marker::PhantomData;
use std::sync::Arc;

use dappled_kernels::buffer::OwnedReadGuard;
use dappled_kernels::element::typed;

use super::Array;
use super::element::ArrayElement;
use crate::array::node::Node;
use crate::error::Result;
use crate::run::evaluate::materialize;

/// This rank's elements of an array, as they were when it was taken.
///
/// Writes to the array are not visible here: they go to a new version while this one is held.
pub struct LocalArray<T: ArrayElement> {
    /// A held version is not written in place.
    _version: Arc<Node>,
    memory: OwnedReadGuard,
    shape: Vec<usize>,
    element: PhantomData<T>,
}

impl<T: ArrayElement> Array<T> {
    /// This rank's elements; all of them if the array is replicated. Collective.
    ///
    /// [`distribution`](Array::distribution) tells their global indices. A view is copied first,
    /// since it has no distribution of its own.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let piece = Array::<f64>::ones(&cx, [3, 4]).local()?;
    /// assert_eq!((piece.shape(), piece.as_slice()), (&[3, 4][..], &[1.0; 12][..]));
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn local(&self) -> Result<LocalArray<T>> {
        let session = self.dynamic.session();
        let mut node = self.dynamic.copy()?.storage.current();
        let is_plain = |node: &Node| {
            let view = node.placement.local_view(&node.base);
            view.is_contiguous() && view.offset == 0
        };
        if !is_plain(&node) {
            node = self.dynamic.cast_copy(T::DTYPE)?.storage.current();
        }
        let view = node.placement.local_view(&node.base);
        let (bytes, shape) = (view.len() * T::DTYPE.itemsize(), view.shape.to_vec());
        let memory = materialize(session, &node)?.read_owned(0..bytes)?;
        Ok(LocalArray { memory, shape, _version: node, element: PhantomData })
    }
}

impl<T: ArrayElement> LocalArray<T> {
    /// The lengths of the axes of the piece.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements in C order.
    pub fn as_slice(&self) -> &[T] {
        typed(self.memory.as_ref())
    }

    /// The elements as a view of the `ndarray` crate.
    #[cfg(feature = "ndarray")]
    pub fn view(&self) -> ndarray::ArrayViewD<'_, T> {
        ndarray::ArrayView::from_shape(self.shape(), self.as_slice())
            .expect("the shape of the piece has as many elements as its memory")
    }
}
