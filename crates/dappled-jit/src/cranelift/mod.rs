//! Compiles a program to machine code with Cranelift, in vectors of 16 bytes.
//!
//! ```text
//! lanes       element widths, vector types, bools as masks
//! emit        one operation on vectors
//! translate   a program as a Cranelift function: one loop over blocks of elements
//! code        executable memory, freed with its last user; the only unsafe module of the crate
//! ```

#[allow(unsafe_code)]
pub(crate) mod code;
pub(crate) mod emit;
pub(crate) mod lanes;
pub(crate) mod translate;
