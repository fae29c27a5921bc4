//! Memory that may be refused, and work that may be interrupted.
//!
//! Both end what is being done by unwinding with a payload of their own, [`OutOfMemory`] or
//! [`Interrupted`], which whoever asked for the work catches. No panic hook runs on the way, so
//! nothing is printed, and nothing is allocated where there is no memory.

#![deny(unsafe_code)]

pub mod interrupt;
#[allow(unsafe_code)]
pub mod memory;

pub use interrupt::Interrupted;
pub use memory::OutOfMemory;
