//! The CPU's floating-point status flags.
//!
//! The compiler does not model the flags and may compute results that the program discards. They
//! are therefore read between kernel calls only, and trusted only for operations whose loops do the
//! same arithmetic on all elements; see [`super::exceptions::cpu_flags`].

use crate::types::fp_flags::FpFlags;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::asm;

    use crate::types::fp_flags::FpFlags;

    /// The sticky flags of MXCSR: invalid, denormal, divide, overflow, underflow, inexact.
    const STICKY: u32 = 0x3f;
    const PAIRS: [(u32, FpFlags); 4] = [
        (1, FpFlags::INVALID),
        (4, FpFlags::DIVIDE),
        (8, FpFlags::OVERFLOW),
        (16, FpFlags::UNDERFLOW),
    ];
    const WATCHED: u32 = 1 | 4 | 8 | 16;

    fn control() -> u32 {
        let mut value = 0u32;
        // SAFETY: stores the control word in a local variable.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack, preserves_flags)) };
        value
    }

    // Writing the register is slow, so it is skipped if no flag is set.
    pub fn clear() {
        let value = control();
        if value & WATCHED != 0 {
            write(value & !STICKY);
        }
    }

    fn write(value: u32) {
        // SAFETY: changes the sticky flags only, which any code may do; traps stay masked and the
        // rounding mode stays.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &value, options(nostack)) };
    }

    pub fn take() -> FpFlags {
        let value = control() & WATCHED;
        if value == 0 {
            return FpFlags::NONE;
        }
        clear();
        let raised = PAIRS.iter().map(|&(bit, flag)| flag.when(value & bit != 0));
        raised.fold(FpFlags::NONE, |all, flag| all | flag)
    }

    pub fn is_raised() -> bool {
        control() & WATCHED != 0
    }
}

/// Clears the flags of this thread.
pub(crate) fn clear() {
    #[cfg(target_arch = "x86_64")]
    x86_64::clear();
}

/// Returns and clears the flags that this thread raised.
///
/// Empty on architectures other than x86-64, whose users see no warnings for plain arithmetic.
pub(crate) fn take() -> FpFlags {
    #[cfg(target_arch = "x86_64")]
    return x86_64::take();
    #[cfg(not(target_arch = "x86_64"))]
    FpFlags::NONE
}

/// True if a flag is set.
pub(crate) fn is_raised() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86_64::is_raised();
    #[cfg(not(target_arch = "x86_64"))]
    false
}
