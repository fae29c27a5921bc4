//! The Rust types of the elements, and memory seen as a slice of them.

pub use half::f16;
use num_complex::{Complex32, Complex64};

use crate::DType;

/// NumPy's bool: a byte that is true unless it is zero.
///
/// Not Rust's `bool`: memory that comes from outside may hold any byte.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Bool(pub u8);

impl Bool {
    /// Is it true?
    #[inline(always)]
    pub fn is_true(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    #[inline(always)]
    fn from(value: bool) -> Self {
        Bool(value as u8)
    }
}

impl PartialEq for Bool {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.is_true() == other.is_true()
    }
}

impl PartialOrd for Bool {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.is_true().partial_cmp(&other.is_true())
    }
}

/// The Rust type of a dtype's elements.
///
/// # Safety
/// Every pattern of `DTYPE.itemsize()` bytes must be a value of the type, without padding.
pub unsafe trait Element: Copy + Default + Send + Sync + PartialEq + 'static {
    /// The dtype of which it is the element.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($element:ty => $dtype:ident),*) => {$(
        // SAFETY: integers, floats and pairs of floats have neither padding nor invalid patterns.
        unsafe impl Element for $element {
            const DTYPE: DType = DType::$dtype;
        }
        const _: () = assert!(size_of::<$element>() == DType::$dtype.itemsize());
    )*};
}

elements! {
    Bool => Bool, i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64,
    u8 => UInt8, u16 => UInt16, u32 => UInt32, u64 => UInt64,
    f16 => Float16, f32 => Float32, f64 => Float64, Complex32 => Complex64, Complex64 => Complex128
}

/// Runs an expression with `T` standing for the element type of a dtype.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::DType::*;
        macro_rules! arm {
            ($type:ty) => {{
                type $T = $type;
                $body
            }};
        }
        match $dtype {
            Bool => arm!($crate::element::Bool),
            Int8 => arm!(i8),
            Int16 => arm!(i16),
            Int32 => arm!(i32),
            Int64 => arm!(i64),
            UInt8 => arm!(u8),
            UInt16 => arm!(u16),
            UInt32 => arm!(u32),
            UInt64 => arm!(u64),
            Float16 => arm!(half::f16),
            Float32 => arm!(f32),
            Float64 => arm!(f64),
            Complex64 => arm!(num_complex::Complex32),
            Complex128 => arm!(num_complex::Complex64),
        }
    }};
}
pub(crate) use with_element;

/// These bytes as elements. Panics unless they are aligned and a whole number of elements; none are
/// wherever they lie.
pub fn typed<T: Element>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { some(bytes) }
}

/// The same of bytes that are there. With nothing else that it could be, the compiler sees that what
/// is made of one parameter is not what is made of another, and makes vectors of more.
#[inline(always)]
pub(crate) fn some<T: Element>(bytes: &[u8]) -> &[T] {
    check_shape::<T>(bytes);
    // SAFETY: aligned and of whole elements, as just checked; every pattern is a value.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
}

/// These bytes as elements that can be written. Panics as [`typed`] does.
pub fn typed_mut<T: Element>(bytes: &mut [u8]) -> &mut [T] {
    if bytes.is_empty() { &mut [] } else { some_mut(bytes) }
}

/// The same of bytes that are there, as [`some`].
#[inline(always)]
pub(crate) fn some_mut<T: Element>(bytes: &mut [u8]) -> &mut [T] {
    check_shape::<T>(bytes);
    let len = bytes.len() / size_of::<T>();
    // SAFETY: as in `some`; an element has no padding, so the bytes stay initialised.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), len) }
}

/// The bytes of these elements.
pub fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: an element has no padding, so all its bytes are initialised.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The bytes of these elements, to write.
pub(crate) fn bytes_of_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    let len = size_of_val(elements);
    // SAFETY: as in `bytes_of`; every pattern that is written is a value.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), len) }
}

/// Sixteen bytes that are aligned for any element.
pub(crate) fn scalar_bytes(words: &mut [u64; 2]) -> &mut [u8] {
    // SAFETY: the same sixteen initialised bytes, borrowed as long; every pattern is a value.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 16) }
}

/// The bytes of words: aligned for any element.
pub fn word_bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: the same initialised bytes, borrowed as long; every pattern is a value.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

fn check_shape<T>(bytes: &[u8]) {
    assert!(bytes.as_ptr().cast::<T>().is_aligned() && bytes.len().is_multiple_of(size_of::<T>()));
}
