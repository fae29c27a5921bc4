//! Element types and operations: what a program may compute, and in which dtype.
//!
//! ```text
//! dtype, promotion   NumPy's dtypes; NEP 50 promotion and casting rules
//! element, scalar    the Rust type of each dtype's elements; one value of any dtype
//! op                 the table of element-wise operations: arity, loops, result dtypes
//! fp_flags           floating-point flags, per step and per reduction
//! ```
//!
//! Input: dtypes and operations by name. Output: the dtype NumPy computes in, or none.

pub(crate) mod dtype;
#[allow(unsafe_code)]
pub mod element;
pub(crate) mod fp_flags;
pub(crate) mod op;
pub(crate) mod promotion;
#[allow(unsafe_code)]
pub(crate) mod scalar;
