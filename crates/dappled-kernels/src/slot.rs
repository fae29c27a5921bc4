//! The memory of registers, kept by each thread from one run to the next.

use std::cell::RefCell;
use std::slice;

use dappled_base::memory;

/// How many a thread keeps, and how long each may be: blocks of rows are not kept.
const KEPT: usize = 32;
const LONGEST: usize = 1 << 14;

thread_local! {
    static SPARE: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// The unit in which a register's memory is allocated, so that it is aligned.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// The memory of one register, made when it is first used.
#[derive(Default)]
pub(crate) struct Slot(Vec<Line>);

impl Slot {
    pub fn bytes(&self, len: usize) -> &[u8] {
        assert!(len <= self.0.len() * 64);
        // SAFETY: as many initialised bytes as were just counted.
        unsafe { slice::from_raw_parts(self.0.as_ptr().cast(), len) }
    }

    pub fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() * 64 < len {
            memory::resize(&mut self.0, len.div_ceil(64), Line([0; 64]));
        }
        // SAFETY: at least as many initialised bytes; the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), len) }
    }
}

/// So many slots; what they hold is what some earlier run left there.
pub(crate) fn take(count: usize) -> Vec<Slot> {
    SPARE.with_borrow_mut(|spare| (0..count).map(|_| spare.pop().unwrap_or_default()).collect())
}

/// Keeps slots for the thread's next run.
pub(crate) fn give_back(slots: Vec<Slot>) {
    SPARE.with_borrow_mut(|spare| {
        let room = KEPT.saturating_sub(spare.len());
        spare.extend(
            slots.into_iter().filter(|slot| (1..=LONGEST / 64).contains(&slot.0.len())).take(room),
        );
    });
}
