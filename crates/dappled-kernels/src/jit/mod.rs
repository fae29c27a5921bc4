//! Which steps of a program run in one compiled loop, and the interface of the compiler.
//!
//! ```text
//! fused_loop   the `Compiler` trait and the loops it returns
//! partition    steps grouped into loops and single kernels
//! schedule     the stages of a tile: loops, kernels and the registers between them
//! multi_row    one loop that reduces several rows at a time
//! ```
//!
//! Guarantee: results have the bits of the precompiled kernels; without a compiler every step is a kernel.

#[allow(unsafe_code)]
pub(crate) mod fused_loop;
pub(crate) mod multi_row;
pub(crate) mod partition;
pub(crate) mod schedule;
