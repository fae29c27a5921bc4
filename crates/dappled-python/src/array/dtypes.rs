//! NumPy's dtype objects and ours.

use dappled_kernels::DType;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyString, PyType};

/// NumPy's numbers of its types, in the order of [`DType::ALL`].
const NUMBERS: [i32; 14] = [0, 1, 3, 5, 7, 2, 4, 6, 8, 23, 11, 12, 14, 15];
/// `long long`, where `long` has 64 bits as well.
const LONG_LONG: [(i32, DType); 2] = [(9, DType::Int64), (10, DType::UInt64)];

/// NumPy's dtype object.
pub fn to_numpy(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    static KNOWN: PyOnceLock<Vec<Py<PyAny>>> = PyOnceLock::new();
    let known = KNOWN.get_or_try_init(py, || -> PyResult<Vec<Py<PyAny>>> {
        let class = class(py)?;
        DType::ALL.iter().map(|dtype| Ok(class.call1((dtype.name(),))?.unbind())).collect()
    })?;
    Ok(known[dtype as usize].bind(py).clone())
}

/// Our dtype, if it is native: of these types, in the machine's byte order, without extras.
pub fn from_numpy(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    let number = descr.num();
    let at = NUMBERS.iter().position(|&known| known == number);
    let found = at.map(|at| DType::ALL[at]);
    let found =
        found.or_else(|| LONG_LONG.iter().find(|known| known.0 == number).map(|known| known.1));
    found.filter(|_| descr.is_native_byteorder().unwrap_or(true))
}

/// Our dtype of anything that NumPy takes for a dtype; None if it is not native.
pub fn from_any(object: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    match known(object)? {
        Some(dtype) => Ok(Some(dtype)),
        None if is_dtype(object) => Ok(None),
        None => by_numpy(object),
    }
}

fn by_numpy(object: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let descr = class(object.py())?.call1((object,))?;
    Ok(descr.cast::<PyArrayDescr>().ok().and_then(from_numpy))
}

/// NumPy's class of dtypes.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || -> PyResult<Py<PyAny>> { Ok(py.import("numpy")?.getattr("dtype")?.unbind()) };
    Ok(CLASS.get_or_try_init(py, import)?.bind(py))
}

pub fn is_dtype(object: &Bound<'_, PyAny>) -> bool {
    object.cast::<PyArrayDescr>().is_ok()
}

/// Our dtype of what is commonly given for one: a dtype object, a class of numbers, a string. None
/// if it is something else, or not native.
pub fn known(object: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    static SEEN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    if let Ok(descr) = object.cast::<PyArrayDescr>() {
        return Ok(from_numpy(descr));
    }
    if !object.is_exact_instance_of::<PyString>() && !object.is_exact_instance_of::<PyType>() {
        return Ok(None);
    }
    let seen = SEEN.get_or_try_init(object.py(), || numbers(object.py()))?.bind(object.py());
    let Some(found) = seen.get_item(object)? else { return Ok(None) };
    Ok(DType::ALL.get(found.extract::<usize>()?).copied())
}

/// The classes and strings that stand for a dtype, and its place.
fn numbers(py: Python<'_>) -> PyResult<Py<PyDict>> {
    let seen = PyDict::new(py);
    for (place, dtype) in DType::ALL.into_iter().enumerate() {
        let descr = to_numpy(py, dtype)?;
        seen.set_item(descr.getattr("type")?, place)?;
        seen.set_item(dtype.name(), place)?;
        seen.set_item(&descr.getattr("str")?.extract::<String>()?[1..], place)?;
    }
    seen.set_item(py.get_type::<PyFloat>(), DType::Float64 as usize)?;
    seen.set_item(py.get_type::<PyInt>(), DType::Int64 as usize)?;
    seen.set_item(py.get_type::<PyBool>(), DType::Bool as usize)?;
    seen.set_item(py.get_type::<PyComplex>(), DType::Complex128 as usize)?;
    Ok(seen.unbind())
}

/// Bytes of one element of a dtype that is not ours but means the same in any memory; None for what
/// holds references.
pub fn item(descr: &Bound<'_, PyArrayDescr>) -> Option<usize> {
    // NumPy's texts of any length are kept beside the array.
    let kept_beside = descr.kind() == b'T';
    (descr.itemsize() > 0 && !descr.has_object() && !kept_beside).then(|| descr.itemsize())
}
