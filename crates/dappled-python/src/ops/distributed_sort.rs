//! Sorts of distributed arrays, for `dappled._routines.sorting` and `sets`.

use std::sync::{Mutex, PoisonError};

use dappled::{Array, GraphError, ItemOrder, TIME_ORDER, Unique, UniqueOptions};
use numpy::{PyArray1, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods};
use pyo3::prelude::*;

use crate::errors::internal_error;
use crate::interop::opaque::bytes_and_dtype;
use crate::ndarray::class::NdArray;
use crate::ndarray::distribution_methods::owned_array;
use crate::runtime::fallback;
use crate::runtime::lock::run_locked;

/// Sorts the lines along an axis; the axis of an opaque dtype must be the only one. Collective.
#[pyfunction]
pub fn sort_distributed<'py>(
    array: &Bound<'py, NdArray>,
    axis: usize,
) -> PyResult<Bound<'py, NdArray>> {
    let sort = |array: &Array, order: Option<&dyn ItemOrder>| match order {
        Some(order) => array.sort_items(order),
        None => array.sort(axis),
    };
    let (sorted, item) = with_order(array, sort)?;
    Bound::new(array.py(), owned_array(array.py(), sorted, item.as_ref()))
}

/// Returns the indices that sort the lines along an axis; see [`sort_distributed`]. Collective.
#[pyfunction]
pub fn argsort_distributed<'py>(
    array: &Bound<'py, NdArray>,
    axis: usize,
) -> PyResult<Bound<'py, NdArray>> {
    let argsort = |array: &Array, order: Option<&dyn ItemOrder>| match order {
        Some(order) => array.argsort_items(order),
        None => array.argsort(axis),
    };
    let (indices, _) = with_order(array, argsort)?;
    Bound::new(array.py(), NdArray::owned(indices))
}

/// Unique elements, the indices of the first of each, the inverse, and the counts.
type UniqueArrays<'py> = (
    Bound<'py, NdArray>,
    Option<Bound<'py, NdArray>>,
    Option<Bound<'py, NdArray>>,
    Option<Bound<'py, NdArray>>,
);

/// Returns the unique elements of an array with one axis. Collective.
#[pyfunction]
pub fn unique_distributed<'py>(
    array: &Bound<'py, NdArray>,
    index: bool,
    inverse: bool,
    counts: bool,
    equal_nan: bool,
) -> PyResult<UniqueArrays<'py>> {
    let py = array.py();
    let options = UniqueOptions { index, inverse, counts, distinct_nans: !equal_nan };
    let unique = |array: &Array, order: Option<&dyn ItemOrder>| match order {
        Some(order) => array.unique_items(order, options),
        None => array.unique(options),
    };
    let (Unique { values, index, inverse, counts }, item) = with_order(array, unique)?;
    let column =
        |array: Option<Array>| array.map(|array| Bound::new(py, NdArray::owned(array))).transpose();
    let values = Bound::new(py, owned_array(py, values, item.as_ref()))?;
    Ok((values, column(index)?, column(inverse)?, column(counts)?))
}

/// Runs a function of an array, and of the order of its items if its dtype is opaque.
///
/// Returns the dtype, too, if it is opaque.
fn with_order<R: Send>(
    array: &Bound<'_, NdArray>,
    act: impl FnOnce(&Array, Option<&dyn ItemOrder>) -> Result<R, GraphError> + Send,
) -> PyResult<(R, OwnedDType)> {
    let py = array.py();
    let no_memory = || internal_error("elements that refer to objects are not sorted over ranks");
    let (memory, item) = bytes_and_dtype(array.get(), py)?.ok_or_else(no_memory)?;
    let run = |order: Option<&dyn ItemOrder>| run_locked(py, usize::MAX, || act(&memory, order));
    let result = match &item {
        None => run(None)?,
        Some(descr) => {
            let dtype = descr.bind(py);
            let is_time = matches!(dtype.kind(), b'M' | b'm');
            if is_time && dtype.is_native_byteorder() == Some(true) {
                run(Some(TIME_ORDER))?
            } else {
                let order = NumPyOrder::new(descr.clone_ref(py), dtype.itemsize());
                let result = run(Some(&order));
                order.take_error().map_or(result, Err)?
            }
        }
    };
    Ok((result, item))
}

/// The dtype of an array, if it is opaque.
type OwnedDType = Option<Py<PyArrayDescr>>;

/// NumPy's order of the items of an opaque dtype.
struct NumPyOrder {
    dtype: Py<PyArrayDescr>,
    itemsize: usize,
    /// The exception that NumPy raised.
    error: Mutex<Option<PyErr>>,
}

impl NumPyOrder {
    fn new(dtype: Py<PyArrayDescr>, itemsize: usize) -> Self {
        Self { dtype, itemsize, error: Mutex::new(None) }
    }

    fn take_error(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Calls a function of Python, and keeps its exception.
    fn call<R>(&self, act: impl FnOnce(Python<'_>) -> PyResult<R>) -> Result<R, GraphError> {
        Python::attach(act).map_err(|error| {
            let text = error.to_string();
            self.error.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
            GraphError::Setting(text)
        })
    }
}

impl ItemOrder for NumPyOrder {
    fn itemsize(&self) -> usize {
        self.itemsize
    }

    fn argsort(&self, items: &[u8], length: usize) -> Result<Vec<i64>, GraphError> {
        self.call(|py| {
            let items = PyArray1::from_slice(py, items);
            let function = fallback::function(py, "argsort_items")?;
            let order = function.call1((items, &self.dtype, length))?;
            Ok(order.cast::<PyArray1<i64>>()?.to_vec()?)
        })
    }

    fn search(&self, sorted: &[u8], values: &[u8]) -> Result<Vec<[usize; 2]>, GraphError> {
        self.call(|py| {
            let (sorted, values) =
                (PyArray1::from_slice(py, sorted), PyArray1::from_slice(py, values));
            let function = fallback::function(py, "search_items")?;
            let bounds = function.call1((sorted, values, &self.dtype))?;
            let bounds = bounds.cast::<PyArray1<i64>>()?.to_vec()?;
            Ok(bounds.as_chunks::<2>().0.iter().map(|pair| pair.map(|at| at as usize)).collect())
        })
    }
}
