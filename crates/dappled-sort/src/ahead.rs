//! Memory asked for before it is needed: what lies anywhere takes longer to come than to use.

/// So many elements are on their way at the same time.
pub(crate) const AHEAD: usize = 64;

/// Up to so many bytes lie in a cache, from which they come as fast unasked.
pub(crate) const NEAR: usize = 8 << 20;

/// Asks for an element; for the last one, if there is none of this number, which costs less than to
/// guess each time whether there is. Into the second cache: the nearest one can await fewer lines, and
/// all else that is read would wait behind them.
#[inline(always)]
pub(crate) fn ask<T>(from: &[T], number: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = from.get(number.min(from.len().wrapping_sub(1))) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and it changes no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T1>((&raw const *element).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, number);
}
