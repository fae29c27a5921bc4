//! A small result that nobody has looked at yet: its elements, and no array. Most are read once, by the next
//! operation of an expression, and never become one: to make a box and its first version takes as long
//! as to compute what is in it.

use std::sync::OnceLock;

use dappled_kernels::{Axes, Buffer, DType, Op, View};

use super::memory::keep_small;
use super::{Array, Session};

/// Elements in C order, all of them here, that nobody else has; and the array of them, once somebody
/// needed it.
pub struct Fresh {
    session: Session,
    dtype: DType,
    shape: Axes<usize>,
    /// Given back when this goes. An array shares it: what is written is seen there alone.
    memory: Option<Buffer>,
    array: OnceLock<Box<Array>>,
}

/// An array that is read, or elements that are none yet.
#[derive(Clone, Copy)]
pub enum Own<'a> {
    /// An array.
    Array(&'a Array),
    /// Elements that nobody writes.
    Fresh(&'a Fresh),
}

impl Fresh {
    /// What [`super::quick_alike`] computed.
    #[inline]
    pub fn new(op: Op, own: Own<'_>, memory: Buffer) -> Self {
        let (session, shape) = (own.session().clone(), Axes::from_slice(own.shape()));
        let dtype = op.result(own.dtype());
        Self { session, dtype, shape, memory: Some(memory), array: OnceLock::new() }
    }

    /// The array.
    pub fn array(&self) -> &Array {
        self.array.get_or_init(|| {
            let base = View::c_order(self.dtype, &self.shape);
            Box::new(Array::whole(&self.session, base, self.memory().clone()))
        })
    }

    /// The elements, or the array once there is one: what is written is written there.
    #[inline]
    pub fn own(&self) -> Own<'_> {
        match self.array.get() {
            Some(array) => Own::Array(array),
            None => Own::Fresh(self),
        }
    }

    #[inline]
    pub(super) fn memory(&self) -> &Buffer {
        self.memory.as_ref().expect("given back when it goes")
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take()
            && self.array.get().is_none()
        {
            keep_small(memory);
        }
    }
}

impl<'a> Own<'a> {
    /// The array.
    pub fn array(self) -> &'a Array {
        match self {
            Own::Array(array) => array,
            Own::Fresh(fresh) => fresh.array(),
        }
    }

    /// The type of the elements.
    #[inline]
    pub fn dtype(self) -> DType {
        match self {
            Own::Array(array) => array.dtype(),
            Own::Fresh(fresh) => fresh.dtype,
        }
    }

    /// The shape.
    #[inline]
    pub fn shape(self) -> &'a [usize] {
        match self {
            Own::Array(array) => array.shape(),
            Own::Fresh(fresh) => &fresh.shape,
        }
    }

    /// How many elements.
    #[inline]
    pub fn len(self) -> usize {
        self.shape().iter().product()
    }

    /// Is there no element?
    pub fn is_empty(self) -> bool {
        self.shape().contains(&0)
    }

    /// The ranks that it is shared among.
    #[inline]
    pub fn session(self) -> &'a Session {
        match self {
            Own::Array(array) => array.session(),
            Own::Fresh(fresh) => &fresh.session,
        }
    }
}
