//! Vectors whose length grows with the user's arrays: a refusal unwinds with [`OutOfMemory`].
//!
//! Rust's own vectors abort the process where there is no memory.

use std::alloc::{Layout, alloc_zeroed};
use std::fmt;
use std::hint::black_box;
use std::panic::resume_unwind;

/// Memory was refused. The payload of an unwinding panic, so that the program can go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Bytes that were asked for on this rank.
    pub bytes: usize,
    /// The array that they were for; None for temporary memory.
    pub array: Option<ArraySize>,
}

/// The shape and data type of an array that there is no memory for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySize {
    /// The shape of all of it, over all ranks.
    pub shape: Vec<usize>,
    /// The name of its data type.
    pub dtype: String,
    /// Bytes of all of it.
    pub bytes: u128,
}

/// How every message about refused memory begins, as NumPy's does.
pub const REFUSED: &str = "Unable to allocate";

impl OutOfMemory {
    /// Ends what is being done.
    #[cold]
    pub fn unwind(self) -> ! {
        resume_unwind(Box::new(self))
    }

    /// Temporary memory of so many bytes was refused.
    #[cold]
    pub fn of(bytes: usize) -> Self {
        Self { bytes, array: None }
    }
}

/// NumPy's words, with the sizes of NumPy's message.
///
/// ```
/// use dappled_base::OutOfMemory;
/// let text = OutOfMemory::of(3 << 29).to_string();
/// assert_eq!(text, "Unable to allocate 1.50 GiB of temporary memory");
/// ```
impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(ArraySize { shape, dtype, bytes }) = &self.array else {
            let size = size_text(self.bytes as u128);
            return write!(f, "{REFUSED} {size} of temporary memory");
        };
        let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        let (size, lengths) = (size_text(*bytes), lengths.join(", "));
        write!(
            f,
            "{REFUSED} {size} for an array with shape ({lengths}{comma}) and data type {dtype}"
        )
    }
}

/// A number of bytes in the largest binary unit that it fills, with three significant digits.
///
/// ```
/// use dappled_base::memory::size_text;
/// assert_eq!(size_text(8_000_000_000_000), "7.28 TiB");
/// assert_eq!([0, 1023, 1024].map(size_text), ["0 bytes", "1023 bytes", "1.00 KiB"]);
/// assert_eq!([1000 << 20, (1 << 30) - 1].map(size_text), ["1000. MiB", "1.00 GiB"]);
/// ```
pub fn size_text(bytes: u128) -> String {
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

/// An element whose bytes may all be zero.
///
/// # Safety
/// Zeros in all bytes are a valid value.
pub unsafe trait Zeroable: Copy {}

macro_rules! zeroable {
    ($($type:ty),*) => {
        // SAFETY: zeros are the number 0.
        $(unsafe impl Zeroable for $type {})*
    };
}

zeroable!(u8, i8, u16, i16, u32, i32, u64, i64, u128, usize, isize, f32, f64);

// SAFETY: as many zeros.
unsafe impl<T: Zeroable, const N: usize> Zeroable for [T; N] {}

/// So many zeros. Large memory comes as untouched pages: the zeros cost nothing.
///
/// ```
/// assert_eq!(dappled_base::memory::zeros::<u32>(3), [0, 0, 0]);
/// ```
pub fn zeros<T: Zeroable>(len: usize) -> Vec<T> {
    let Ok(layout) = Layout::array::<T>(len) else { OutOfMemory::of(usize::MAX).unwind() };
    if layout.size() == 0 {
        return Vec::new().resized(len);
    }
    // SAFETY: the layout is not empty.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        OutOfMemory::of(layout.size()).unwind();
    }
    // SAFETY: from the global allocator, with the layout of so many elements, all of which are
    // valid as zeros.
    unsafe { Vec::from_raw_parts(start.cast(), len, len) }
}

/// An empty vector with room for so many elements.
pub fn with_room<T>(len: usize) -> Vec<T> {
    let mut elements = Vec::new();
    reserve(&mut elements, len);
    elements
}

/// Makes room for so many more elements.
#[inline]
pub fn reserve<T>(elements: &mut Vec<T>, more: usize) {
    if elements.try_reserve(more).is_err() {
        OutOfMemory::of(elements.len().saturating_add(more).saturating_mul(size_of::<T>()))
            .unwind();
    }
}

/// So many copies of a value.
pub fn filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut elements = with_room(len);
    elements.resize(len, value);
    elements
}

/// Changes the length, filling up with a value.
pub fn resize<T: Clone>(elements: &mut Vec<T>, len: usize, value: T) {
    reserve(elements, len.saturating_sub(elements.len()));
    elements.resize(len, value);
}

/// A copy of these elements.
pub fn copied<T: Clone>(elements: &[T]) -> Vec<T> {
    let mut copy = with_room(elements.len());
    copy.extend_from_slice(elements);
    copy
}

/// Appends a copy of these elements.
#[inline]
pub fn append<T: Clone>(elements: &mut Vec<T>, more: &[T]) {
    reserve(elements, more.len());
    elements.extend_from_slice(more);
}

/// All elements of an iterator, whose lower bound says how much room they need.
///
/// ```
/// assert_eq!(dappled_base::memory::collected((0..9).step_by(4)), [0, 4, 8]);
/// ```
pub fn collected<T>(elements: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut elements = elements.into_iter();
    let mut all = with_room(elements.size_hint().0);
    while let Some(element) = elements.next() {
        if all.len() == all.capacity() {
            reserve(&mut all, elements.size_hint().0.saturating_add(1));
        }
        all.push(element);
    }
    all
}

/// Unwinds unless so many bytes could be had now.
///
/// For what allocates without asking: the code of other crates.
pub fn expect_room(bytes: usize) {
    if !has_room(bytes) {
        OutOfMemory::of(bytes).unwind();
    }
}

/// Could so many bytes be had now?
pub fn has_room(bytes: usize) -> bool {
    let mut room: Vec<u8> = Vec::new();
    let has = room.try_reserve_exact(bytes).is_ok();
    // Seen by nobody, it would not be allocated at all.
    drop(black_box(room));
    has
}

/// A vector of elements without bytes, or of none.
trait Resized {
    fn resized(self, len: usize) -> Self;
}

impl<T: Zeroable> Resized for Vec<T> {
    fn resized(mut self, len: usize) -> Self {
        // SAFETY: zeros are valid, and there is no byte, or no element, that they need.
        self.resize_with(len, || unsafe { std::mem::zeroed() });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    /// No address space is as large.
    const HUGE: usize = 1 << 62;

    #[test]
    fn what_is_refused_unwinds() {
        let refused = [
            catch_unwind(|| drop(black_box(zeros::<u8>(HUGE)))),
            catch_unwind(|| drop(black_box(zeros::<u64>(HUGE)))),
            catch_unwind(|| drop(black_box(filled(7_u8, HUGE)))),
            catch_unwind(|| drop(black_box(with_room::<u64>(usize::MAX)))),
            catch_unwind(|| resize(&mut vec![1_u8], HUGE, 0)),
            catch_unwind(|| drop(black_box(collected(0..HUGE)))),
            catch_unwind(|| expect_room(HUGE)),
        ];
        for payload in refused.map(|done| done.unwrap_err()) {
            assert!(payload.downcast::<OutOfMemory>().unwrap().bytes >= HUGE);
        }
    }

    #[test]
    fn vectors_hold_what_was_asked_for() {
        assert_eq!((zeros::<u16>(0), zeros::<[u8; 0]>(3)), (vec![], vec![[]; 3]));
        assert_eq!(zeros::<f64>(1 << 20), vec![0.0; 1 << 20]);
        assert_eq!((filled('a', 2), copied(&[1, 2])), (vec!['a'; 2], vec![1, 2]));
        let mut some = vec![1];
        append(&mut some, &[2, 3]);
        resize(&mut some, 5, 9);
        resize(&mut some, 4, 9);
        assert_eq!(some, [1, 2, 3, 9]);
        assert_eq!(collected((0..100).filter(|at| at % 7 == 0)).len(), 15);
    }
}
