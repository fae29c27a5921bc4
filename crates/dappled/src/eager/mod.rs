//! Eager evaluation: small operations run when they are requested.
//!
//! Input: an operation on arrays that are small, replicated and evaluated. Output: the result in
//! memory, or `None` if an operand is not of that kind, in which case the caller defers the
//! operation. Nothing is planned, and no node is created before the result becomes an array.
//! Values, flags and memory order are those of the deferred operation. Nothing here communicates.
//!
//! ```text
//! elementwise    one operation on arrays of one dtype, and scalars
//! single_op      one operation with casts and broadcasting
//! temporary      a result that is not an array yet
//! chain          fused operations of one expression
//! chain_program  the program of a chain, as a cache key
//! run_chain      evaluation of a chain
//! reduce         reductions
//! argminmax      argmin and argmax
//! take           selection by masks and index arrays
//! ```

pub(crate) mod argminmax;
pub(crate) mod chain;
pub(crate) mod chain_program;
pub(crate) mod elementwise;
pub(crate) mod reduce;
pub(crate) mod run_chain;
pub(crate) mod single_op;
pub(crate) mod take;
pub(crate) mod temporary;
