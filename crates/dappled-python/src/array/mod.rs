//! The array as Python sees it: `dappled.ndarray`.
//!
//! One call across the border for each operation. What is not native is handed to the Python side
//! ([`slow`]), where NumPy does it.

mod class;
mod conversion;
mod copies;
mod dtypes;
mod exclusive;
mod given;
mod indexing;
mod lending;
mod operators;
mod origin;
mod placement;
mod reducing;
mod scalars;
mod session;
mod shapes;
mod slow;
mod ufunc;

use pyo3::prelude::*;

/// Adds what Python sees of arrays.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<class::NdArray>()?;
    module.add_class::<lending::Memory>()?;
    module.add_class::<ufunc::Ufunc>()?;
    module.add_function(wrap_pyfunction!(conversion::wrap, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::unwrap, module)?)?;
    module.add_function(wrap_pyfunction!(conversion::full, module)?)?;
    module.add_function(wrap_pyfunction!(ufunc::where_, module)?)?;
    module.add_function(wrap_pyfunction!(session::ranks, module)?)?;
    module.add_function(wrap_pyfunction!(session::rank, module)?)?;
    module.add_function(wrap_pyfunction!(session::gather, module)?)?;
    module.add_function(wrap_pyfunction!(session::leave, module)?)?;
    module.add_function(wrap_pyfunction!(session::set_local, module)?)?;
    module.add_function(wrap_pyfunction!(session::sync, module)?)?;
    module.add_function(wrap_pyfunction!(placement::part, module)?)?;
    module.add_function(wrap_pyfunction!(session::abort, module)?)?;
    module.add_function(wrap_pyfunction!(reducing::reduce, module)?)?;
    module.add_function(wrap_pyfunction!(reducing::accumulate, module)?)?;
    module.add_function(wrap_pyfunction!(reducing::arg_reduce, module)?)?;
    module.add_function(wrap_pyfunction!(placement::from_piece, module)?)?;
    module.add_function(wrap_pyfunction!(session::memory_stats, module)?)
}
