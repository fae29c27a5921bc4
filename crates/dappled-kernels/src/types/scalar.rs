//! One value of any dtype, such as a constant of a program.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::dtype::DType;
use super::element::{Element, bytes_of, with_element};
use crate::config::FILL_CHUNK_BYTES;

/// A value with its dtype.
///
/// Scalars are equal if their dtypes and bits are: a NaN equals itself, and 0.0 differs from -0.0.
/// Caches of programs compare and hash constants this way.
#[derive(Clone, Copy)]
pub struct Scalar {
    dtype: DType,
    bytes: [u8; 16],
}

impl Scalar {
    /// The scalar of a value.
    pub fn new<T: Element>(value: T) -> Self {
        let mut bytes = [0; 16];
        bytes[..size_of::<T>()].copy_from_slice(bytes_of(&[value]));
        Self { dtype: T::DTYPE, bytes }
    }

    /// The scalar whose bytes are `item`, of which there are `dtype.itemsize()`.
    pub fn from_bytes(dtype: DType, item: &[u8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..dtype.itemsize()].copy_from_slice(item);
        Self { dtype, bytes }
    }

    /// The dtype of the value.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The bytes of the value, in native order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.dtype.itemsize()]
    }

    /// The value as `T`, or `None` if the dtype is another one.
    pub fn get<T: Element>(&self) -> Option<T> {
        // SAFETY: 16 bytes hold any element, and every bit pattern is a value.
        let value = unsafe { self.bytes.as_ptr().cast::<T>().read_unaligned() };
        (T::DTYPE == self.dtype).then_some(value)
    }

    /// Writes the value to every element of `memory`.
    pub fn fill(&self, memory: &mut [u8]) {
        let mut done = self.dtype.itemsize().min(memory.len());
        memory[..done].copy_from_slice(&self.bytes[..done]);
        // The filled part is copied behind itself: a few large copies instead of many small ones.
        while done < memory.len() {
            let next = done.min(memory.len() - done).min(FILL_CHUNK_BYTES);
            memory.copy_within(..next, done);
            done += next;
        }
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype && self.bytes() == other.bytes()
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dtype.hash(state);
        self.bytes().hash(state);
    }
}

/// Writes `float64 4.0`.
impl fmt::Display for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.get::<super::element::Bool>() {
            return write!(out, "bool {}", value.is_true());
        }
        with_element!(self.dtype, T => write!(out, "{} {:?}", self.dtype, self.get::<T>().expect("the dtype matches")))
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
