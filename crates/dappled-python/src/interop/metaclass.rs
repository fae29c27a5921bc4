//! Installs the metaclass of `ndarray`.

use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::errors::internal_error;
use crate::ndarray::class::NdArray;

/// Sets the metaclass of `ndarray`, which defines what a subclass means.
#[pyfunction(name = "set_kind")]
pub fn set_metaclass(py: Python<'_>, kind: Bound<'_, PyType>) -> PyResult<()> {
    let (type_class, size) = (py.get_type::<PyType>(), "__basicsize__");
    let fits =
        kind.is_subclass(&type_class)? && kind.getattr(size)?.eq(type_class.getattr(size)?)?;
    if !fits {
        return Err(internal_error("the metaclass is no subclass of type with its object layout"));
    }
    let class = py.get_type::<NdArray>();
    // SAFETY: the class and `kind`, whose reference is leaked, live as long as the interpreter.
    // Instances of `kind` have the layout of `type`, and it inherits every slot that it does not
    // define. The GIL is held, so no other thread reads the field.
    unsafe { (*class.as_ptr()).ob_type = kind.into_ptr().cast() };
    Ok(())
}
