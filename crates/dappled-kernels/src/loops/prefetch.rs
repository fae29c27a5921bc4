//! Software prefetching.

use crate::config::PREFETCH_BYTES;
/// Prefetches the memory that follows some values, which often are part of a long row.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(64 / size_of::<T>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 CPU has the instruction, which accesses no memory architecturally
        // and never faults.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().wrapping_byte_add(PREFETCH_BYTES).cast())
        };
    }
}
