//! Memory handed out and taken in without a copy.

use std::ffi::c_int;
use std::ptr::NonNull;

use dappled::graph::{Array, Loan};
use dappled_kernels::{Buffer, View};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, PY_ARRAY_API, PyArray_Descr};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::class::NdArray;
use super::dtypes;
use super::exclusive::exclusive;
use super::session::session;

/// Keeps the memory of an array that was handed out, as the base of NumPy's array.
#[pyclass(frozen, module = "dappled")]
pub struct Memory {
    _loan: Loan,
}

/// A NumPy array over memory that is lent for as long as it lives.
pub fn numpy_array<'py>(
    py: Python<'py>,
    loan: Loan,
    view: &View,
    writeable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let descr = dtypes::to_numpy(py, view.dtype)?.cast_into::<PyArrayDescr>()?;
    let mut shape: Vec<isize> = view.shape.iter().map(|&length| length as isize).collect();
    let mut strides = view.strides.clone();
    let start = loan.buffer.as_ptr().wrapping_add(view.offset);
    let keeper = Bound::new(py, Memory { _loan: loan })?;
    let flags = if writeable { NPY_ARRAY_WRITEABLE } else { 0 };
    // SAFETY: shape and strides have one entry an axis and stay inside the buffer (a view of an
    // array always does), which lives as long as the keeper, NumPy's base; NewFromDescr takes the
    // reference to the descriptor, SetBaseObject that to the keeper.
    unsafe {
        let class = py.get_type::<PyUntypedArray>().as_type_ptr();
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            class,
            descr.into_ptr().cast::<PyArray_Descr>(),
            shape.len() as i32,
            shape.as_mut_ptr(),
            strides.as_mut_ptr(),
            start.cast(),
            flags,
            std::ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, array)?;
        match PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), keeper.into_ptr()) {
            0 => Ok(array),
            _ => Err(PyErr::fetch(py)),
        }
    }
}

/// The memory of a NumPy array of a native dtype, and how the array lies in it.
pub fn borrowed(array: &Bound<'_, PyUntypedArray>) -> Option<(Buffer, View)> {
    let dtype = dtypes::from_numpy(&array.dtype())?;
    let shape = array.shape().into();
    let strides = array.strides().into();
    let mut view = View { dtype, offset: 0, shape, strides };
    let reach = view.reach();
    view.offset = (-reach.start) as usize;
    // SAFETY: the data pointer of a live NumPy array.
    let data = unsafe { (*array.as_array_ptr()).fields.data };
    let start = NonNull::new(data.cast::<u8>().wrapping_offset(reach.start as isize))?;
    let keeper = Box::new(array.clone().unbind());
    // SAFETY: NumPy's array stays inside the memory that it keeps alive; who writes it while
    // kernels read it races as with NumPy itself.
    let buffer = unsafe { Buffer::foreign(start, (reach.end - reach.start) as usize, keeper) };
    Some((buffer, view))
}

/// A NumPy array of all elements: the memory itself where it is whole, else gathered.
pub fn lent<'py>(py: Python<'py>, array: &Array, writeable: bool) -> PyResult<Bound<'py, PyAny>> {
    let whole = match array.is_whole() {
        true => array.clone(),
        false => exclusive(py, usize::MAX, || array.gathered())?,
    };
    let loan = exclusive(py, whole.view().len(), || whole.lend())?;
    numpy_array(py, loan, whole.view(), writeable)
}

#[pymethods]
impl NdArray {
    /// PEP 3118, for the whole array: lent by the NumPy array over the same memory.
    ///
    /// # Safety
    /// Called by Python's buffer protocol alone, with a view to fill.
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let py = slf.py();
        let alone = session(py)?.fabric().size() == 1;
        let array = match slf.get().array() {
            None => slf.getattr("_held")?,
            Some(array) if alone || array.is_whole() => {
                lent(py, array, alone && slf.get().is_writeable())?
            }
            Some(_) => {
                let ranks = session(py)?.fabric().size();
                return Err(PyBufferError::new_err(format!(
                    "in pieces over {ranks} ranks: `a.local` is this rank's piece, \
                     `numpy.asarray(a)` gathers"
                )));
            }
        };
        // SAFETY: the caller's view; it keeps NumPy's array, which keeps the memory.
        match unsafe { ffi::PyObject_GetBuffer(array.as_ptr(), view, flags) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(py)),
        }
    }
}
