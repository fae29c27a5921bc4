//! The array class `dappled.ndarray`, its ufuncs and its functions.
//!
//! Input: the arguments of a Python call. Output: a `dappled.ndarray`, a NumPy scalar or `None` for
//! "not native", in which case the caller hands the call to Python ([`crate::runtime::fallback`]).
//!
//! Guarantees: NumPy's result, dtype, errors and view-or-copy behaviour. Each operation crosses from
//! Python to Rust once in its common case.

pub mod argminmax;
pub mod arguments;
pub mod attributes;
pub mod chain;
pub mod class;
pub mod copy_cast;
pub mod creation;
pub mod distribution_methods;
pub mod fast_path;
pub mod function;
#[allow(unsafe_code)]
pub mod indexing;
pub mod operands;
pub mod operators;
pub mod reductions;
pub mod temporary_elision;
pub mod ufunc;
pub mod ufunc_reduce;
pub mod views;
pub mod where_clip;

use pyo3::prelude::*;

/// Adds the classes and functions of this folder to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<class::NdArray>()?;
    module.add_function(wrap_pyfunction!(distribution_methods::local_block, module)?)?;
    module.add_function(wrap_pyfunction!(distribution_methods::parse_dist, module)?)?;
    module.add_function(wrap_pyfunction!(distribution_methods::default_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(distribution_methods::from_piece, module)?)?;
    module.add_class::<function::NumPyFunction>()?;
    module.add_class::<ufunc::Ufunc>()?;
    module.add_function(wrap_pyfunction!(ufunc::where_, module)?)?;
    module.add_function(wrap_pyfunction!(ufunc_reduce::reduce, module)?)?;
    module.add_function(wrap_pyfunction!(ufunc_reduce::accumulate, module)?)?;
    module.add_function(wrap_pyfunction!(argminmax::arg_reduce, module)?)
}
