//! Compiles fused element-wise programs to machine code at run time.
//!
//! ```text
//! supported_ops   the operations a loop can contain
//! avx2            vectors of 32 bytes, encoded by this crate
//! cranelift       vectors of 16 bytes for other CPUs; executable memory, the only unsafe code
//! cache           compiled loops, and when to compile them
//! config          thresholds
//! ```
//!
//! No instruction that traps is emitted, and each result has the bits of the precompiled kernels:
//! no sum is reordered, no product contracted. A loop processes blocks of vectors, and the last
//! block ends with the last element, overlapping the one before: there is no separate code for a
//! tail, and the value of an element does not depend on its position.

#![deny(unsafe_code)]

mod avx2;
mod cache;
mod config;
mod cranelift;
mod supported_ops;

pub use cache::{JitMode, LoopCache, set_mode, shared_cache};
