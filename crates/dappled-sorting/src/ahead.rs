//! Memory asked for before it is needed: what lies anywhere takes longer to come than to use.

/// Asks for an element, if there is one of this number.
#[inline(always)]
pub(crate) fn ask<T>(from: &[T], number: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = from.get(number) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and it changes no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *element).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, number);
}
