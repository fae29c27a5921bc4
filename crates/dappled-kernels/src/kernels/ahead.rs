//! Memory that is asked for before it is read.

/// How far ahead: without, a stream comes to a halt at the end of each page.
const AHEAD: usize = 4096;

/// Asks for what lies behind some values, as they often lie in one long row of memory.
#[inline(always)]
pub(super) fn ask_ahead<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(64 / size_of::<T>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, which reads nothing and never fails.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().wrapping_byte_add(AHEAD).cast()) };
    }
}
