//! One value of any dtype: a constant of a program.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::DType;
use crate::element::{Element, bytes_of, with_element};

/// The most that is copied at once when filling: what is copied should stay in the first cache.
const FILL: usize = 8192;

/// A value with its dtype. Equal if dtype and bits are: so a NaN equals itself, and 0.0 is not
/// -0.0, as a program that is looked up by its text or its hash needs it.
#[derive(Clone, Copy)]
pub struct Scalar {
    dtype: DType,
    bytes: [u8; 16],
}

impl Scalar {
    /// This value.
    pub fn new<T: Element>(value: T) -> Self {
        let mut bytes = [0; 16];
        bytes[..size_of::<T>()].copy_from_slice(bytes_of(&[value]));
        Self { dtype: T::DTYPE, bytes }
    }

    /// The value in these bytes, which are the dtype's itemsize many.
    pub fn from_bytes(dtype: DType, item: &[u8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..dtype.itemsize()].copy_from_slice(item);
        Self { dtype, bytes }
    }

    /// Its dtype.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its bytes, as they lie in memory.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.dtype.itemsize()]
    }

    /// The value as an element, if that is its dtype.
    pub fn get<T: Element>(&self) -> Option<T> {
        // SAFETY: 16 bytes hold any element, and every pattern of them is a value.
        let value = unsafe { self.bytes.as_ptr().cast::<T>().read_unaligned() };
        (T::DTYPE == self.dtype).then_some(value)
    }

    /// Writes it into every element of this memory, which is a whole number of them.
    pub fn fill(&self, memory: &mut [u8]) {
        let mut done = self.dtype.itemsize().min(memory.len());
        memory[..done].copy_from_slice(&self.bytes[..done]);
        // What is done is copied behind itself: few large copies in place of many small ones.
        while done < memory.len() {
            let next = done.min(memory.len() - done).min(FILL);
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

/// `float64 4.0`
impl fmt::Display for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.get::<crate::Bool>() {
            return write!(out, "bool {}", value.is_true());
        }
        with_element!(self.dtype, T => write!(out, "{} {:?}", self.dtype, self.get::<T>().expect("its dtype")))
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
