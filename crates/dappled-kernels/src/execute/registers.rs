//! The memory of registers, recycled by each thread between runs.

use std::cell::RefCell;
use std::slice;

use crate::config::{MAX_SPARE_REGISTER_BYTES, MAX_SPARE_REGISTERS};
use dappled_base::memory;

thread_local! {
    static SPARE: RefCell<Vec<RegisterBuffer>> = const { RefCell::new(Vec::new()) };
}

/// The allocation unit of registers, for its alignment.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine([u8; 64]);

/// The memory of one register, allocated on first use.
#[derive(Default)]
pub(crate) struct RegisterBuffer(Vec<CacheLine>);

impl RegisterBuffer {
    pub fn bytes(&self, len: usize) -> &[u8] {
        assert!(len <= self.0.len() * 64);
        // SAFETY: at least `len` initialised bytes, as just checked.
        unsafe { slice::from_raw_parts(self.0.as_ptr().cast(), len) }
    }

    pub fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() * 64 < len {
            memory::resize(&mut self.0, len.div_ceil(64), CacheLine([0; 64]));
        }
        // SAFETY: at least `len` initialised bytes; the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }
}

/// Takes registers, whose content is left from an earlier run.
pub(crate) fn take(count: usize) -> Vec<RegisterBuffer> {
    SPARE.with_borrow_mut(|spare| (0..count).map(|_| spare.pop().unwrap_or_default()).collect())
}

/// Keeps registers for the thread's next run.
pub(crate) fn recycle(slots: Vec<RegisterBuffer>) {
    SPARE.with_borrow_mut(|spare| {
        let room = MAX_SPARE_REGISTERS.saturating_sub(spare.len());
        spare.extend(
            slots
                .into_iter()
                .filter(|slot| (1..=MAX_SPARE_REGISTER_BYTES / 64).contains(&slot.0.len()))
                .take(room),
        );
    });
}
