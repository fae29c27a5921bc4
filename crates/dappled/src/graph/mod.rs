//! Graph: deferred operations and their fusion.
//!
//! Input: operations on [`Array`](crate::Array)s. Output: a fused program with its operands, for
//! `plan` and `run`. Shape, dtype and errors are known when an operation is requested; values are
//! computed when they are needed. A node and the pending operations that it reads are then fused
//! into one program. A pending node that is read a second time is stored. A deferred operation
//! reads the versions that were current when it was requested. Nothing here evaluates a node.
//!
//! ```text
//! operand          operands of element-wise operations
//! type_resolution  NumPy's dtype rules (NEP 50)
//! assignment_casting  casts of assigned values
//! complex_fma      which of NumPy's loops for complex numbers runs
//! elementwise      shape, memory order and node of an element-wise operation
//! result_placement  placement of its result
//! reduce_request   requests of reductions
//! pending          arrays that are held and not computed yet
//! fusion           from pending nodes to one program
//! ```

pub(crate) mod assignment_casting;
pub(crate) mod complex_fma;
pub(crate) mod elementwise;
pub(crate) mod fusion;
pub(crate) mod operand;
pub(crate) mod pending;
pub(crate) mod reduce_request;
pub(crate) mod result_placement;
pub(crate) mod type_resolution;
