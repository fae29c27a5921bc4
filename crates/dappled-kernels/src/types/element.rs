//! The Rust type of each dtype's elements, and byte slices viewed as elements.

use std::borrow::Cow;

use dappled_base::memory;
pub use half::f16;
use num_complex::{Complex32, Complex64};

use super::dtype::DType;

/// NumPy's bool: a byte that is true unless it is zero.
///
/// Rust's `bool` is unsuitable, because memory from outside may hold any byte.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Bool(pub u8);

impl Bool {
    /// True unless the byte is zero.
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
/// Every pattern of `DTYPE.itemsize()` bytes must be a valid value of the type, and the type must
/// have no padding.
pub unsafe trait Element: Copy + Default + Send + Sync + PartialEq + 'static {
    /// The dtype whose elements have this type.
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

/// Evaluates an expression with `T` bound to the element type of a dtype.
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
            Bool => arm!($crate::types::element::Bool),
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

/// Views bytes as elements.
///
/// Panics unless the bytes are aligned for the element and a whole number of elements. An empty
/// slice needs no alignment.
pub fn typed<T: Element>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { typed_nonempty(bytes) }
}

/// Views bytes as elements; copies them if they are not aligned.
pub fn typed_or_copied<T: Element>(bytes: &[u8]) -> Cow<'_, [T]> {
    if bytes.as_ptr().addr().is_multiple_of(align_of::<T>()) {
        return Cow::Borrowed(typed(bytes));
    }
    let mut elements = memory::filled(T::default(), bytes.len() / size_of::<T>());
    bytes_of_mut(&mut elements).copy_from_slice(bytes);
    Cow::Owned(elements)
}

/// Views bytes of which there is at least one as elements; see [`typed`].
///
/// Without the branch for empty slices the compiler proves that arguments do not alias, and
/// vectorises more loops.
#[inline(always)]
pub(crate) fn typed_nonempty<T: Element>(bytes: &[u8]) -> &[T] {
    check_layout::<T>(bytes);
    // SAFETY: aligned and a whole number of elements, as just checked; every bit pattern is a
    // value.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
}

/// Views bytes as writable elements. Panics as [`typed`] does.
pub fn typed_mut<T: Element>(bytes: &mut [u8]) -> &mut [T] {
    if bytes.is_empty() { &mut [] } else { typed_nonempty_mut(bytes) }
}

/// Views bytes of which there is at least one as writable elements; see [`typed_nonempty`].
#[inline(always)]
pub(crate) fn typed_nonempty_mut<T: Element>(bytes: &mut [u8]) -> &mut [T] {
    check_layout::<T>(bytes);
    let len = bytes.len() / size_of::<T>();
    // SAFETY: as in `typed_nonempty`; an element has no padding, so the bytes stay initialised.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), len) }
}

/// The bytes of a slice of elements.
pub fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: an element has no padding, so all its bytes are initialised.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The writable bytes of a slice of elements.
pub fn bytes_of_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    let len = size_of_val(elements);
    // SAFETY: as in `bytes_of`; every bit pattern written is a value.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), len) }
}

/// The sixteen bytes of two words, which are aligned for any element.
pub(crate) fn scalar_bytes(words: &mut [u64; 2]) -> &mut [u8] {
    // SAFETY: the same sixteen initialised bytes, borrowed as long; every bit pattern is a value.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 16) }
}

/// The bytes of a slice of words, which are aligned for any element.
pub fn word_bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: the same initialised bytes, borrowed as long; every bit pattern is a value.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

fn check_layout<T>(bytes: &[u8]) {
    assert!(bytes.as_ptr().cast::<T>().is_aligned() && bytes.len().is_multiple_of(size_of::<T>()));
}
