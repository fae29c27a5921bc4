//! The class of the class of arrays.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::class::NdArray;

/// Gives the class of arrays another class than `type`: one that says what it means to derive from it.
#[pyfunction]
pub fn set_kind(py: Python<'_>, kind: Bound<'_, PyType>) -> PyResult<()> {
    let (plain, size) = (py.get_type::<PyType>(), "__basicsize__");
    let fits = kind.is_subclass(&plain)? && kind.getattr(size)?.eq(plain.getattr(size)?)?;
    if !fits {
        return Err(PyTypeError::new_err("not a class of classes that look as others do"));
    }
    let class = py.get_type::<NdArray>();
    // SAFETY: the class is an object that lives as long as Python does, and so does `kind`, whose
    // reference is kept. Its objects lie in memory as those of `type` do, of which it inherits all
    // that it does not have. Nobody else runs: the GIL is held.
    unsafe { (*class.as_ptr()).ob_type = kind.into_ptr().cast() };
    Ok(())
}
