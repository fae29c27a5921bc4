//! Order statistics, counts and searches of arrays, distributed or not.

use std::sync::Mutex;

use dappled::sum_over_ranks as sum_elements;
use numpy::{PyArray1, PyReadonlyArray1, PyUntypedArray};
use pyo3::prelude::*;

use crate::errors::internal_error;
use crate::interop::buffer_export::borrow_elements;
use crate::ndarray::class::{NdArray, not_native, to_result};
use crate::runtime::lock::run_locked;
use crate::runtime::session::session;

/// Returns the elements at these positions of the sorted elements; None for complex numbers.
///
/// Collective.
#[pyfunction]
pub fn order_statistics<'py>(
    array: &Bound<'py, NdArray>,
    positions: Vec<usize>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (py, values) = (array.py(), array.get().native()?);
    let selected = run_locked(py, usize::MAX, || values.order_statistics(&positions))?;
    selected.map(|selected| to_result(py, selected)).transpose()
}

/// Counts nonnegative integers, or adds weights. Collective.
#[pyfunction]
#[pyo3(signature = (array, weights, min_length))]
pub fn bincount<'py>(
    array: &Bound<'py, NdArray>,
    weights: Option<&Bound<'py, NdArray>>,
    min_length: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, values) = (array.py(), array.get().native()?);
    let weights = weights.map(|weights| weights.get().native()).transpose()?;
    to_result(py, run_locked(py, usize::MAX, || values.bincount(weights, min_length))?)
}

/// Counts float64 values between equally spaced edges. Collective.
#[pyfunction]
pub fn histogram_uniform<'py>(
    array: &Bound<'py, NdArray>,
    edges: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, values, edges) = (array.py(), array.get().native()?, edges.as_slice()?);
    to_result(py, run_locked(py, usize::MAX, || values.histogram_uniform(edges))?)
}

/// Returns the minimum and maximum of float64 values; None if there are none, or if one is NaN.
///
/// Collective.
#[pyfunction]
pub fn value_range(array: &Bound<'_, NdArray>) -> PyResult<Option<(f64, f64)>> {
    let values = array.get().native()?;
    run_locked(array.py(), usize::MAX, || values.value_range())
}

/// Adds the NumPy arrays of all ranks, which have a native dtype and are in C order. Collective.
#[pyfunction]
pub fn sum_over_ranks<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let (buffer, view) = borrow_elements(array).ok_or_else(not_native)?;
    let session = session(py)?;
    to_result(py, run_locked(py, usize::MAX, || sum_elements(session, buffer, &view))?)
}

/// Searches values in a sorted row of the same dtype. Collective.
///
/// Values of a dtype without kernels are searched by `search`, which gets the bytes of this rank's
/// sorted elements and of values.
#[pyfunction]
pub fn searchsorted<'py>(
    sorted: &Bound<'py, NdArray>,
    values: &Bound<'py, NdArray>,
    right: bool,
    search: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = sorted.py();
    if let (Some(sorted), Some(values)) = (sorted.get().array(), values.get().array()) {
        return to_result(py, run_locked(py, usize::MAX, || sorted.searchsorted(values, right))?);
    }
    let (Some((sorted, _)), Some((values, _))) = (sorted.get().memory(), values.get().memory())
    else {
        return Err(internal_error("searchsorted expects arrays with elements in memory"));
    };
    let search = NumpyCallback::new(search);
    let ndim = values.shape().len() - 1;
    let item = values.shape()[ndim];
    let kernel = |sorted: &[u8], values: &[u8]| {
        let found = search.positions(sorted, values);
        found.unwrap_or_else(|| vec![0; values.len() / item.max(1)])
    };
    let found = run_locked(py, usize::MAX, || sorted.searchsorted_with(values, ndim, &kernel))?;
    search.finish()?;
    to_result(py, found)
}

/// A Python function of bytes that an algorithm without the GIL calls.
///
/// The first error is kept until the algorithm is done, because other ranks wait for this one.
struct NumpyCallback {
    function: Py<PyAny>,
    error: Mutex<Option<PyErr>>,
}

impl NumpyCallback {
    fn new(function: &Bound<'_, PyAny>) -> Self {
        Self { function: function.clone().unbind(), error: Mutex::new(None) }
    }

    /// Positions that the function returns; `None` after an error.
    fn positions(&self, sorted: &[u8], values: &[u8]) -> Option<Vec<i64>> {
        let call = |py: Python<'_>| -> PyResult<Vec<i64>> {
            let arrays = (PyArray1::from_slice(py, sorted), PyArray1::from_slice(py, values));
            let found = self.function.bind(py).call1(arrays)?;
            Ok(found.extract::<PyReadonlyArray1<'_, i64>>()?.as_slice()?.to_vec())
        };
        let keep = |error| {
            self.error.lock().expect("no call panics").get_or_insert(error);
        };
        Python::attach(call).map_err(keep).ok()
    }

    /// Raises the first error of a call.
    fn finish(self) -> PyResult<()> {
        self.error.into_inner().expect("no call panics").map_or(Ok(()), Err)
    }
}
