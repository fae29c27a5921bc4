//! Iteration over strided operands: the index space, its tiles, and each operand's memory.
//!
//! ```text
//! iteration_space    the common indices of all operands, with as few axes as possible
//! tiles              disjoint ranges of these indices, each owned by one thread
//! strided_operand    the memory of one operand along the indices
//! bound_operands     all operands of a run: checked against the program, their buffers claimed
//! ```
//!
//! Input: buffers and views. Output: pointers that are in bounds and, for outputs, exclusive to a tile.

#[allow(unsafe_code)]
pub(crate) mod bound_operands;
pub(crate) mod iteration_space;
#[allow(unsafe_code)]
pub(crate) mod strided_operand;
#[allow(unsafe_code)]
pub(crate) mod tiles;
