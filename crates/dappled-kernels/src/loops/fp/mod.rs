//! Floating-point exceptions: which operations raise which flags, and how they are detected.
//!
//! `status` reads the sticky flags of the CPU, `exceptions` derives flags from arguments and results where the
//! CPU's flags are unusable, and `checked` does arithmetic that records its own flags.

pub(crate) mod checked;
pub(crate) mod exceptions;
#[allow(unsafe_code)]
pub(crate) mod status;
