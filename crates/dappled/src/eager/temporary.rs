//! Temporaries: small results that are not arrays yet.
//!
//! Most are read once, by the next operation of an expression. Creating the storage and node of an
//! array would take as long as computing the elements.

use std::sync::OnceLock;

use dappled_kernels::{Axes, Buffer, DType, Op, View};

use crate::array::Array;
use crate::session::Session;
use crate::session::buffer_pool::recycle_small;

/// Elements in C order without other holders, and their array, once it was needed.
pub struct Temporary {
    session: Session,
    dtype: DType,
    shape: Axes<usize>,
    /// Returned to the pool on drop, unless the array shares it.
    memory: Option<Buffer>,
    array: OnceLock<Box<Array>>,
}

/// An array, or a temporary.
#[derive(Clone, Copy)]
pub enum EagerSource<'a> {
    /// An array.
    Array(&'a Array),
    /// A temporary.
    Temporary(&'a Temporary),
}

impl Temporary {
    /// Wraps the memory that an eager operation on `source` returned.
    #[inline]
    pub fn new(op: Op, source: EagerSource<'_>, memory: Buffer) -> Self {
        let (session, shape) = (source.session().clone(), Axes::from_slice(source.shape()));
        let dtype = op.result(source.dtype());
        Self { session, dtype, shape, memory: Some(memory), array: OnceLock::new() }
    }

    /// The array of the elements; created at the first call.
    pub fn array(&self) -> &Array {
        self.array.get_or_init(|| {
            let base = View::c_order(self.dtype, &self.shape);
            Box::new(Array::replicated(&self.session, base, self.memory().clone()))
        })
    }

    /// The temporary, or its array once there is one: writes go there.
    #[inline]
    pub fn source(&self) -> EagerSource<'_> {
        match self.array.get() {
            Some(array) => EagerSource::Array(array),
            None => EagerSource::Temporary(self),
        }
    }

    #[inline]
    pub(crate) fn memory(&self) -> &Buffer {
        self.memory.as_ref().expect("the memory is taken on drop only")
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take()
            && self.array.get().is_none()
        {
            recycle_small(memory);
        }
    }
}

impl<'a> EagerSource<'a> {
    /// The array.
    pub fn array(self) -> &'a Array {
        match self {
            EagerSource::Array(array) => array,
            EagerSource::Temporary(temporary) => temporary.array(),
        }
    }

    /// The dtype of the elements.
    #[inline]
    pub fn dtype(self) -> DType {
        match self {
            EagerSource::Array(array) => array.dtype(),
            EagerSource::Temporary(temporary) => temporary.dtype,
        }
    }

    /// The shape.
    #[inline]
    pub fn shape(self) -> &'a [usize] {
        match self {
            EagerSource::Array(array) => array.shape(),
            EagerSource::Temporary(temporary) => &temporary.shape,
        }
    }

    /// Number of elements.
    #[inline]
    pub fn len(self) -> usize {
        self.shape().iter().product()
    }

    /// Returns true if there are no elements.
    pub fn is_empty(self) -> bool {
        self.shape().contains(&0)
    }

    /// The session.
    #[inline]
    pub fn session(self) -> &'a Session {
        match self {
            EagerSource::Array(array) => array.session(),
            EagerSource::Temporary(temporary) => &temporary.session,
        }
    }
}
