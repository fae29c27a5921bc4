//! Fused element-wise programs as loops that Cranelift compiles while the program runs.
//!
//! ```text
//! table       which operations a loop can have
//! lanes       elements in vectors of 16 bytes; bools as masks
//! emit        an operation on vectors
//! translate   a program as a function of Cranelift
//! wide        the same for AVX2, in vectors of 32 bytes, without Cranelift
//! code        from there to executable memory, freed with its last user: all that is unsafe
//! cache       loops made before, and when to make one
//! ```
//!
//! No instruction that traps is ever emitted, and each result has the bits of the precompiled
//! kernels: no sum is reordered, no product contracted. A loop goes over blocks of vectors and does
//! the last block so that it ends with the last element, some elements twice: there is no other code
//! for a tail, and an element's value does not depend on its place.

#![deny(unsafe_code)]

mod cache;
#[allow(unsafe_code)]
mod code;
mod emit;
mod lanes;
mod table;
mod translate;
mod wide;

pub use cache::{Loops, Mode, set_mode, shared};
