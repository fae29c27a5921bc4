//! Software prefetch for random access to large memory.

/// Prefetches an element, or the last one if `index` is out of bounds, without a branch.
/// Prefetches into the second-level cache: the first level has fewer fill buffers, and ordinary
/// loads would wait for them.
#[inline(always)]
pub(crate) fn prefetch<T>(from: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = from.get(index.min(from.len().wrapping_sub(1))) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every x86-64 CPU has the instruction, and it does not modify memory.
        unsafe { _mm_prefetch::<_MM_HINT_T1>((&raw const *element).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, index);
}
