//! NumPy's dtype objects and ours.

use dappled_kernels::DType;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// NumPy's numbers of its types, in the order of [`DType::ALL`].
const NUMBERS: [i32; 14] = [0, 1, 3, 5, 7, 2, 4, 6, 8, 23, 11, 12, 14, 15];
/// `long long`, where `long` has 64 bits as well.
const LONG_LONG: [(i32, DType); 2] = [(9, DType::Int64), (10, DType::UInt64)];

/// NumPy's dtype object.
pub fn to_numpy(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    static KNOWN: PyOnceLock<Vec<Py<PyAny>>> = PyOnceLock::new();
    let known = KNOWN.get_or_try_init(py, || -> PyResult<Vec<Py<PyAny>>> {
        let class = py.import("numpy")?.getattr("dtype")?;
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
    if let Ok(descr) = object.cast::<PyArrayDescr>() {
        return Ok(from_numpy(descr));
    }
    let class = object.py().import("numpy")?.getattr("dtype")?;
    let descr = class.call1((object,))?;
    Ok(descr.cast::<PyArrayDescr>().ok().and_then(from_numpy))
}
