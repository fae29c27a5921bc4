//! Raw binary files of distributed arrays, for `dappled._routines.io`.

use std::path::PathBuf;

use dappled::Array;
use dappled_kernels::DType;
use numpy::PyArrayDescr;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::interop::dtypes;
use crate::ndarray::class::NdArray;
use crate::ndarray::distribution_methods::owned_array;
use crate::protocol::distribution::PyDistribution;
use crate::runtime::lock::run_locked;
use crate::runtime::session::session;

/// Creates a file with a header and the elements in C order. Collective.
#[pyfunction]
pub fn write_raw(array: &Bound<'_, NdArray>, path: PathBuf, header: &[u8]) -> PyResult<()> {
    let (native, _) = array.get().memory().ok_or_else(not_binary)?;
    run_locked(array.py(), usize::MAX, || native.write_raw(&path, header))
}

/// Reads an array in C order at an offset of a file, each rank its local piece. Collective.
#[pyfunction]
pub fn read_raw<'py>(
    path: PathBuf,
    offset: u64,
    dtype: &Bound<'py, PyArrayDescr>,
    distribution: &Bound<'py, PyDistribution>,
) -> PyResult<Bound<'py, NdArray>> {
    let (py, blocks) = (dtype.py(), distribution.get().inner.clone());
    let (native, blocks, item) = match dtypes::from_numpy(dtype) {
        Some(native) => (native, blocks, None),
        None => {
            let itemsize = dtypes::opaque_itemsize(dtype).ok_or_else(not_binary)?;
            let item = Some(dtype.clone().unbind());
            (DType::UInt8, blocks.with_trailing(itemsize as u64), item)
        }
    };
    let session = session(py)?;
    let read = || Array::read_raw(session, &path, offset, native, blocks);
    let array = run_locked(py, usize::MAX, read)?;
    Bound::new(py, owned_array(py, array, item.as_ref()))
}

fn not_binary() -> PyErr {
    PyTypeError::new_err("elements of dtype object cannot be stored in a binary file")
}
