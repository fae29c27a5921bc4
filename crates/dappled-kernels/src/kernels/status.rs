//! The flags that the CPU's floating-point instructions leave behind.
//!
//! The compiler knows nothing of them, and may compute what a program then does not use. So they
//! are asked only between calls of kernels, and believed only of operations whose loops do the
//! same arithmetic on all elements: see [`super::hardware`].

use crate::Flags;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::asm;

    use crate::Flags;

    /// The sticky flags of MXCSR: invalid, denormal, divide, overflow, underflow, inexact.
    const STICKY: u32 = 0x3f;
    const PAIRS: [(u32, Flags); 4] =
        [(1, Flags::INVALID), (4, Flags::DIVIDE), (8, Flags::OVERFLOW), (16, Flags::UNDERFLOW)];
    const WATCHED: u32 = 1 | 4 | 8 | 16;

    fn control() -> u32 {
        let mut value = 0u32;
        // SAFETY: stores the control word into a variable of ours.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack, preserves_flags)) };
        value
    }

    // Writing it is slow, and where nothing was raised not needed.
    pub fn clear() {
        let value = control();
        if value & WATCHED != 0 {
            write(value & !STICKY);
        }
    }

    fn write(value: u32) {
        // SAFETY: only the sticky flags change, which code may do at any time; no trap is
        // unmasked, no rounding changed.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &value, options(nostack)) };
    }

    pub fn take() -> Flags {
        let value = control() & WATCHED;
        if value == 0 {
            return Flags::NONE;
        }
        clear();
        let raised = PAIRS.iter().map(|&(bit, flag)| flag.when(value & bit != 0));
        raised.fold(Flags::NONE, |all, flag| all | flag)
    }

    pub fn is_raised() -> bool {
        control() & WATCHED != 0
    }
}

/// Forgets what this thread's instructions raised.
pub(crate) fn clear() {
    #[cfg(target_arch = "x86_64")]
    x86_64::clear();
}

/// What this thread's instructions raised since it was last asked or cleared. Nothing, on other
/// architectures than x86-64: their users see no warnings of plain arithmetic.
pub(crate) fn take() -> Flags {
    #[cfg(target_arch = "x86_64")]
    return x86_64::take();
    #[cfg(not(target_arch = "x86_64"))]
    Flags::NONE
}

/// Is there anything to take?
pub(crate) fn is_raised() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86_64::is_raised();
    #[cfg(not(target_arch = "x86_64"))]
    false
}
