//! Conversion of scalars between NumPy, Python and [`Scalar`].

use dappled_kernels::element::word_bytes;
use dappled_kernels::{Bool, DType, Scalar};
use half::f16;
use num_complex::{Complex32, Complex64};
use numpy::PyArrayDescr;
use numpy::npyffi::PY_ARRAY_API;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

use super::dtypes;

/// Converts a value to a NumPy scalar.
pub fn to_numpy(py: Python<'_>, value: Scalar) -> PyResult<Bound<'_, PyAny>> {
    let descr = dtypes::to_numpy(py, value.dtype())?;
    let mut bytes = [0u64; 2];
    word_bytes(&mut bytes)[..value.bytes().len()].copy_from_slice(value.bytes());
    // SAFETY: aligned bytes of one element of this dtype, which NumPy copies.
    unsafe {
        let scalar = PY_ARRAY_API.PyArray_Scalar(
            py,
            bytes.as_mut_ptr().cast(),
            descr.as_ptr().cast(),
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, scalar)
    }
}

/// Converts a NumPy scalar, if its dtype is native.
pub fn from_numpy(scalar: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let py = scalar.py();
    // SAFETY: the object is a NumPy scalar, and the call returns a new reference to its descriptor.
    let descr = unsafe {
        let descr = PY_ARRAY_API.PyArray_DescrFromScalar(py, scalar.as_ptr());
        Bound::from_owned_ptr_or_err(py, descr.cast())?
    };
    let dtype = descr.cast::<PyArrayDescr>().ok().and_then(dtypes::from_numpy);
    let Some(dtype) = dtype else { return Ok(None) };
    let mut bytes = [0u64; 2];
    // SAFETY: a scalar of this dtype, which has at most 16 bytes.
    unsafe { PY_ARRAY_API.PyArray_ScalarAsCtype(py, scalar.as_ptr(), bytes.as_mut_ptr().cast()) };
    Ok(Some(Scalar::from_bytes(dtype, &word_bytes(&mut bytes)[..dtype.itemsize()])))
}

/// Converts a value to a Python number, as `item()` does.
pub fn to_python(py: Python<'_>, value: Scalar) -> PyResult<Bound<'_, PyAny>> {
    let float = |value: f64| Ok(PyFloat::new(py, value).into_any());
    match value.dtype() {
        DType::Bool => Ok(PyBool::new(py, is_true(value)).to_owned().into_any()),
        DType::Float16 => float(value.get::<f16>().unwrap_or_default().into()),
        DType::Float32 => float(value.get::<f32>().unwrap_or_default().into()),
        DType::Float64 => float(value.get::<f64>().unwrap_or_default()),
        DType::Complex64 => {
            let number = value.get::<Complex32>().unwrap_or_default();
            Ok(PyComplex::from_doubles(py, number.re.into(), number.im.into()).into_any())
        }
        DType::Complex128 => {
            let number = value.get::<Complex64>().unwrap_or_default();
            Ok(PyComplex::from_doubles(py, number.re, number.im).into_any())
        }
        DType::UInt64 => Ok(value.get::<u64>().unwrap_or(0).into_pyobject(py)?.into_any()),
        _ => {
            let number = value.cast(DType::Int64).get::<i64>().unwrap_or(0);
            Ok(number.into_pyobject(py)?.into_any())
        }
    }
}

fn is_true(value: Scalar) -> bool {
    value.get::<Bool>().is_some_and(Bool::is_true)
}

/// Returns the value of a Python float or a NumPy float64.
pub fn as_float64(object: &Bound<'_, PyAny>) -> Option<f64> {
    static FLOAT64: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let number = object.cast::<PyFloat>().ok()?;
    let import = || dtypes::to_numpy(py, DType::Float64)?.getattr("type").map(Bound::unbind);
    let known = number.is_exact_instance_of::<PyFloat>()
        || object.get_type().is(FLOAT64.get_or_try_init(py, import).ok()?.bind(py));
    known.then(|| number.value())
}

/// Converts an exact Python number to a weak scalar, which adapts to the dtype beside it.
pub fn weak_scalar(object: &Bound<'_, PyAny>) -> Option<(dappled_kernels::WeakScalar, Scalar)> {
    use dappled_kernels::WeakScalar;
    if let Ok(number) = object.cast_exact::<PyFloat>() {
        return Some((WeakScalar::Float, Scalar::new(number.value())));
    }
    if object.is_exact_instance_of::<PyInt>() {
        let number: Option<i64> = object.extract().ok();
        return number.map(|number| (WeakScalar::Int, Scalar::new(number)));
    }
    if let Ok(boolean) = object.cast_exact::<PyBool>() {
        return Some((WeakScalar::Bool, Scalar::new(Bool::from(boolean.is_true()))));
    }
    let number = object.cast_exact::<PyComplex>().ok()?;
    Some((WeakScalar::Complex, Scalar::new(Complex64::new(number.real(), number.imag()))))
}
