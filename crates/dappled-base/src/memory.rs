//! Fallible allocation: vectors that unwind with [`OutOfMemory`] instead of aborting.
//!
//! For vectors whose length grows with the user's arrays. Rust's own vectors abort the process if
//! an allocation fails.

use std::alloc::{Layout, alloc_zeroed};
use std::fmt;
use std::hint::black_box;
use std::panic::resume_unwind;

/// An allocation failed. The payload of an unwinding panic, so that the program can continue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes requested on this rank.
    pub bytes: usize,
    /// The array being allocated; None for temporary memory.
    pub array: Option<ArraySize>,
}

/// The shape and data type of an array that could not be allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySize {
    /// The global shape, over all ranks.
    pub shape: Vec<usize>,
    /// The name of the data type.
    pub dtype: String,
    /// Bytes of the global array.
    pub bytes: u128,
}

/// The start of every out-of-memory message, as in NumPy.
pub const OUT_OF_MEMORY_PREFIX: &str = "Unable to allocate";

impl OutOfMemory {
    /// Unwinds with this error.
    #[cold]
    pub fn unwind(self) -> ! {
        resume_unwind(Box::new(self))
    }

    /// Creates the error for a failed allocation of temporary memory.
    #[cold]
    pub fn temporary(bytes: usize) -> Self {
        Self { bytes, array: None }
    }
}

/// Formats the error in NumPy's words.
///
/// ```
/// use dappled_base::OutOfMemory;
/// let text = OutOfMemory::temporary(3 << 29).to_string();
/// assert_eq!(text, "Unable to allocate 1.50 GiB of temporary memory");
/// ```
impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(ArraySize { shape, dtype, bytes }) = &self.array else {
            let size = format_bytes(self.bytes as u128);
            return write!(f, "{OUT_OF_MEMORY_PREFIX} {size} of temporary memory");
        };
        let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        let (size, lengths) = (format_bytes(*bytes), lengths.join(", "));
        write!(
            f,
            "{OUT_OF_MEMORY_PREFIX} {size} for an array with shape ({lengths}{comma}) and data type {dtype}"
        )
    }
}

/// Formats a number of bytes in the largest binary unit that it fills.
///
/// The number has three significant digits.
///
/// ```
/// use dappled_base::memory::format_bytes;
/// assert_eq!(format_bytes(8_000_000_000_000), "7.28 TiB");
/// assert_eq!([0, 1023, 1024].map(format_bytes), ["0 bytes", "1023 bytes", "1.00 KiB"]);
/// assert_eq!([1000 << 20, (1 << 30) - 1].map(format_bytes), ["1000. MiB", "1.00 GiB"]);
/// ```
pub fn format_bytes(bytes: u128) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut unit = (bytes.max(2).ilog2() / 10) as usize;
    unit = unit.min(UNITS.len() - 1);
    let mut count = bytes as f64 / (1_u128 << (10 * unit)) as f64;
    if count.round() == 1024.0 && unit + 1 < UNITS.len() {
        (unit, count) = (unit + 1, count / 1024.0);
    }
    let name = UNITS[unit];
    match count {
        _ if unit == 0 => format!("{count:.0} {name}"),
        ..9.995 => format!("{count:.2} {name}"),
        ..99.95 => format!("{count:.1} {name}"),
        ..999.5 => format!("{count:.0}. {name}"),
        _ => format!("{count:.0}. {name}"),
    }
}

/// An element type for which all bytes zero is a valid value.
///
/// # Safety
///
/// All bytes zero is a valid value of the type.
pub unsafe trait Zeroable: Copy {}

macro_rules! zeroable {
    ($($type:ty),*) => {
        // SAFETY: all bytes zero is the number 0.
        $(unsafe impl Zeroable for $type {})*
    };
}

zeroable!(u8, i8, u16, i16, u32, i32, u64, i64, u128, usize, isize, f32, f64);

// SAFETY: the array consists of valid zeros.
unsafe impl<T: Zeroable, const N: usize> Zeroable for [T; N] {}

/// Returns `len` zeros. Large allocations are untouched pages, so the zeros cost nothing.
///
/// ```
/// assert_eq!(dappled_base::memory::zeros::<u32>(3), [0, 0, 0]);
/// ```
pub fn zeros<T: Zeroable>(len: usize) -> Vec<T> {
    let Ok(layout) = Layout::array::<T>(len) else { OutOfMemory::temporary(usize::MAX).unwind() };
    if layout.size() == 0 {
        return Vec::new().resized(len);
    }
    // SAFETY: the layout has a non-zero size.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        OutOfMemory::temporary(layout.size()).unwind();
    }
    // SAFETY: allocated by the global allocator with the layout of `len` elements, which are valid
    // as zeros.
    unsafe { Vec::from_raw_parts(start.cast(), len, len) }
}

/// Returns an empty vector with capacity for `len` elements.
pub fn with_capacity<T>(len: usize) -> Vec<T> {
    let mut elements = Vec::new();
    reserve(&mut elements, len);
    elements
}

/// Reserves capacity for `more` additional elements.
#[inline]
pub fn reserve<T>(elements: &mut Vec<T>, more: usize) {
    if elements.try_reserve(more).is_err() {
        OutOfMemory::temporary(elements.len().saturating_add(more).saturating_mul(size_of::<T>()))
            .unwind();
    }
}

/// Returns `len` copies of a value.
pub fn filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut elements = with_capacity(len);
    elements.resize(len, value);
    elements
}

/// Changes the length; new elements are copies of `value`.
pub fn resize<T: Clone>(elements: &mut Vec<T>, len: usize, value: T) {
    reserve(elements, len.saturating_sub(elements.len()));
    elements.resize(len, value);
}

/// Returns a copy of the elements.
pub fn copy_of<T: Clone>(elements: &[T]) -> Vec<T> {
    let mut copy = with_capacity(elements.len());
    copy.extend_from_slice(elements);
    copy
}

/// Appends a copy of the elements.
#[inline]
pub fn append<T: Clone>(elements: &mut Vec<T>, more: &[T]) {
    reserve(elements, more.len());
    elements.extend_from_slice(more);
}

/// Collects the elements of an iterator, whose lower size bound determines the capacity.
///
/// ```
/// assert_eq!(dappled_base::memory::collect((0..9).step_by(4)), [0, 4, 8]);
/// ```
pub fn collect<T>(elements: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut elements = elements.into_iter();
    let mut all = with_capacity(elements.size_hint().0);
    while let Some(element) = elements.next() {
        if all.len() == all.capacity() {
            reserve(&mut all, elements.size_hint().0.saturating_add(1));
        }
        all.push(element);
    }
    all
}

/// Unwinds unless this many bytes can be allocated now. Called before code of other crates that
/// allocates infallibly.
pub fn expect_available(bytes: usize) {
    if !has_room(bytes) {
        OutOfMemory::temporary(bytes).unwind();
    }
}

/// Returns whether this many bytes can be allocated now.
pub fn has_room(bytes: usize) -> bool {
    let mut room: Vec<u8> = Vec::new();
    let has = room.try_reserve_exact(bytes).is_ok();
    // Without `black_box` the compiler would remove the allocation.
    drop(black_box(room));
    has
}

/// Resizing of vectors without bytes: empty, or of zero-sized elements.
trait ResizeZeroed {
    fn resized(self, len: usize) -> Self;
}

impl<T: Zeroable> ResizeZeroed for Vec<T> {
    fn resized(mut self, len: usize) -> Self {
        // SAFETY: all bytes zero is a valid value of the type.
        self.resize_with(len, || unsafe { std::mem::zeroed() });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    /// Larger than any address space.
    const HUGE: usize = 1 << 62;

    #[test]
    fn what_is_refused_unwinds() {
        let refused = [
            catch_unwind(|| drop(black_box(zeros::<u8>(HUGE)))),
            catch_unwind(|| drop(black_box(zeros::<u64>(HUGE)))),
            catch_unwind(|| drop(black_box(filled(7_u8, HUGE)))),
            catch_unwind(|| drop(black_box(with_capacity::<u64>(usize::MAX)))),
            catch_unwind(|| resize(&mut vec![1_u8], HUGE, 0)),
            catch_unwind(|| drop(black_box(collect(0..HUGE)))),
            catch_unwind(|| expect_available(HUGE)),
        ];
        for payload in refused.map(|done| done.unwrap_err()) {
            assert!(payload.downcast::<OutOfMemory>().unwrap().bytes >= HUGE);
        }
    }

    #[test]
    fn vectors_hold_what_was_asked_for() {
        assert_eq!((zeros::<u16>(0), zeros::<[u8; 0]>(3)), (vec![], vec![[]; 3]));
        assert_eq!(zeros::<f64>(1 << 20), vec![0.0; 1 << 20]);
        assert_eq!((filled('a', 2), copy_of(&[1, 2])), (vec!['a'; 2], vec![1, 2]));
        let mut some = vec![1];
        append(&mut some, &[2, 3]);
        resize(&mut some, 5, 9);
        resize(&mut some, 4, 9);
        assert_eq!(some, [1, 2, 3, 9]);
        assert_eq!(collect((0..100).filter(|at| at % 7 == 0)).len(), 15);
    }
}
