//! Graph: deferred operations, their fusion, and copy-on-write assignment.
//!
//! Input: operations on [`Array`]s. Output: a fused program with its operands and target, for
//! `plan` and `run`. Shape, dtype and errors are known when an operation is requested; values are
//! computed when they are needed. A node and the pending operations that it reads are then fused
//! into one program. A pending node that is read a second time is stored. A deferred operation
//! reads the versions that were current when it was requested: an assignment creates the next
//! version, in place if the current one has no other holder.
//!
//! ```text
//! type_resolution  NumPy's dtype rules (NEP 50)
//! elementwise      requests of element-wise operations
//! complex_fma      which of NumPy's loops for complex numbers runs
//! node             nodes: stored arrays and deferred operations
//! pending          arrays that are held and not computed yet
//! fusion           from pending nodes to one program
//! assign           writes: in place, copy-on-write, deferred
//! ```

pub(crate) mod assign;
pub(crate) mod complex_fma;
pub(crate) mod elementwise;
pub(crate) mod fusion;
pub(crate) mod node;
pub(crate) mod pending;
pub(crate) mod type_resolution;

pub use crate::array::Array;
pub use crate::array::storage::Loan;
pub use crate::eager::argminmax::eager_argminmax;
pub use crate::eager::chain::{ChainOperand, OpChain};
pub use crate::eager::elementwise::{OtherOperand, eager_buffer, eager_in_place, eager_into};
pub use crate::eager::take::{eager_elements, eager_take};
pub use crate::eager::temporary::{EagerSource, Temporary};
pub use crate::error::Error as GraphError;
pub use crate::graph::elementwise::{ElementwiseOperand, cast_in_c_order, elementwise};
pub use crate::graph::elementwise::{can_defer_uniform, defer_uniform};
pub use crate::graph::type_resolution::{
    UfuncOperand, loop_dtype, resolve_loop, ufunc, ufunc_in_place, ufunc_in_place_with_loop,
    ufunc_with_loop,
};
pub use crate::ops::fft::{FftKind, FftStep};
pub use crate::ops::matmul::{MatmulKernel, matmul};
pub use crate::ops::redistribute::LentPiece;
pub use crate::ops::reduce::ReduceRequest;
pub use crate::ops::reduce::mean_var::{Moment, MomentRequest};
pub use crate::ops::take_put::{BoundsChecked, PutValues, RowIndices};
pub use crate::session::buffer_pool::MemoryStats;
pub use crate::session::collective_guard::{CollectiveGuard, SourceLineFn, ThreadNameFn};
pub use crate::session::fingerprint::{
    divergence_hint, is_check_all, may_be_set_order, set_check_all,
};
pub use crate::session::fp_warnings::{FpWarning, OpRequest, RequestContext};
pub use crate::session::{Limits, Session};
