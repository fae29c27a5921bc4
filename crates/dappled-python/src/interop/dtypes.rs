//! Conversion between NumPy's dtypes and [`DType`].

use dappled_kernels::DType;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyString, PyType};

/// NumPy's type numbers, in the order of [`DType::ALL`].
const NUMPY_TYPE_NUMBERS: [i32; 14] = [0, 1, 3, 5, 7, 2, 4, 6, 8, 23, 11, 12, 14, 15];
/// Type numbers of `long long`, where `long` has 64 bits, too.
const LONG_LONG_TYPES: [(i32, DType); 2] = [(9, DType::Int64), (10, DType::UInt64)];

/// Returns NumPy's dtype object.
pub fn to_numpy(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    static KNOWN: PyOnceLock<Vec<Py<PyAny>>> = PyOnceLock::new();
    let known = KNOWN.get_or_try_init(py, || -> PyResult<Vec<Py<PyAny>>> {
        let class = dtype_class(py)?;
        DType::ALL.iter().map(|dtype| Ok(class.call1((dtype.name(),))?.unbind())).collect()
    })?;
    Ok(known[dtype as usize].bind(py).clone())
}

/// Returns the native dtype: a known type number in native byte order.
pub fn from_numpy(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    let number = descr.num();
    let at = NUMPY_TYPE_NUMBERS.iter().position(|&known| known == number);
    let dtype = at.map(|at| DType::ALL[at]);
    let dtype = dtype
        .or_else(|| LONG_LONG_TYPES.iter().find(|known| known.0 == number).map(|known| known.1));
    dtype.filter(|_| descr.is_native_byteorder().unwrap_or(true))
}

/// Returns the native dtype of any object that NumPy accepts as a dtype; `None` if it is not
/// native.
pub fn from_object(object: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    match from_common_spelling(object)? {
        Some(dtype) => Ok(Some(dtype)),
        None if is_dtype(object) => Ok(None),
        None => via_numpy(object),
    }
}

fn via_numpy(object: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let descr = dtype_class(object.py())?.call1((object,))?;
    Ok(descr.cast::<PyArrayDescr>().ok().and_then(from_numpy))
}

/// Returns `numpy.dtype`.
fn dtype_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || -> PyResult<Py<PyAny>> { Ok(py.import("numpy")?.getattr("dtype")?.unbind()) };
    Ok(CLASS.get_or_try_init(py, import)?.bind(py))
}

pub fn is_dtype(object: &Bound<'_, PyAny>) -> bool {
    object.cast::<PyArrayDescr>().is_ok()
}

/// Returns the native dtype of a dtype object, a number class or a common string.
///
/// `None` if the object is anything else, or the dtype is not native.
pub fn from_common_spelling(object: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    static SPELLINGS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    if let Ok(descr) = object.cast::<PyArrayDescr>() {
        return Ok(from_numpy(descr));
    }
    if !object.is_exact_instance_of::<PyString>() && !object.is_exact_instance_of::<PyType>() {
        return Ok(None);
    }
    let spellings =
        SPELLINGS.get_or_try_init(object.py(), || dtype_spellings(object.py()))?.bind(object.py());
    let Some(index) = spellings.get_item(object)? else { return Ok(None) };
    Ok(DType::ALL.get(index.extract::<usize>()?).copied())
}

/// Returns the classes and strings of each dtype, with its index in [`DType::ALL`].
fn dtype_spellings(py: Python<'_>) -> PyResult<Py<PyDict>> {
    let spellings = PyDict::new(py);
    for (index, dtype) in DType::ALL.into_iter().enumerate() {
        let descr = to_numpy(py, dtype)?;
        spellings.set_item(descr.getattr("type")?, index)?;
        spellings.set_item(dtype.name(), index)?;
        spellings.set_item(&descr.getattr("str")?.extract::<String>()?[1..], index)?;
    }
    spellings.set_item(py.get_type::<PyFloat>(), DType::Float64 as usize)?;
    spellings.set_item(py.get_type::<PyInt>(), DType::Int64 as usize)?;
    spellings.set_item(py.get_type::<PyBool>(), DType::Bool as usize)?;
    spellings.set_item(py.get_type::<PyComplex>(), DType::Complex128 as usize)?;
    Ok(spellings.unbind())
}

/// Returns the itemsize of a dtype whose bytes can be copied between processes.
///
/// `None` for dtypes that hold references.
pub fn opaque_itemsize(descr: &Bound<'_, PyArrayDescr>) -> Option<usize> {
    // The text of `StringDType` is stored outside of the array.
    let stored_elsewhere = descr.kind() == b'T';
    (descr.itemsize() > 0 && !descr.has_object() && !stored_elsewhere).then(|| descr.itemsize())
}
