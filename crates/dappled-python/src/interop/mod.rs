//! Conversion between Python's and NumPy's objects and the core's.
//!
//! Input: NumPy arrays, scalars and dtypes, Python numbers, buffers. Output: `Array`, `Scalar` and
//! `DType`, and the reverse.
//!
//! Guarantees: exported and borrowed memory lives as long as either side uses it, and reads of an
//! array with a NumPy view are evaluated eagerly. Unsafe code is in the modules marked below.

#[allow(unsafe_code)]
pub mod buffer_export;
pub mod dtypes;
pub mod importer;
#[allow(unsafe_code)]
pub mod metaclass;
pub mod numpy_arrays;
pub mod numpy_small;
pub mod opaque;
pub mod overlap;
pub mod row_swap;
#[allow(unsafe_code)]
pub mod scalars;
pub mod tolist;

use pyo3::prelude::*;

/// Adds the classes and functions of this folder to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<buffer_export::MemoryOwner>()?;
    module.add_class::<importer::Importer>()?;
    module.add_function(wrap_pyfunction!(metaclass::set_metaclass, module)?)?;
    module.add_function(wrap_pyfunction!(numpy_arrays::wrap, module)?)?;
    module.add_function(wrap_pyfunction!(numpy_arrays::share, module)?)?;
    module.add_function(wrap_pyfunction!(numpy_arrays::unwrap, module)?)?;
    module.add_function(wrap_pyfunction!(numpy_arrays::scatter, module)?)?;
    module.add_function(wrap_pyfunction!(numpy_arrays::full, module)?)?;
    module.add_function(wrap_pyfunction!(numpy_arrays::uninitialized, module)?)?;
    module.add_function(wrap_pyfunction!(numpy_arrays::scratch, module)?)?;
    module.add_function(wrap_pyfunction!(opaque::zeros_opaque, module)?)?;
    module.add_function(wrap_pyfunction!(opaque::copy_opaque_array, module)?)?;
    module.add_function(wrap_pyfunction!(opaque::assign_opaque, module)?)?;
    module.add_function(wrap_pyfunction!(overlap::disjoint, module)?)?;
    module.add_function(wrap_pyfunction!(tolist::tolist, module)?)
}
