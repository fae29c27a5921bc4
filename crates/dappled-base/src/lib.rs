//! Fallible memory and interruptible work, the base of all other crates.
//!
//! Input: allocation requests, and long-running work. Output: vectors, and results. Guarantees: a
//! failed allocation or an interrupt unwinds with its own payload, [`OutOfMemory`] or
//! [`Interrupted`], which the code that started the work catches. No panic hook runs, so nothing
//! is printed, and unwinding needs no further memory.
//!
//! ```text
//! memory      vectors whose allocation may fail
//! interrupt   checks for an interrupt in long loops and waits
//! ```

#![deny(unsafe_code)]

pub mod interrupt;
#[allow(unsafe_code)]
pub mod memory;

pub use interrupt::Interrupted;
pub use memory::OutOfMemory;
