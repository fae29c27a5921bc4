//! Memory shared with NumPy in either direction, without a copy.

use std::ffi::c_int;
use std::ptr::NonNull;

use dappled::view::{gathered_order, inverse_permutation};
use dappled::{Array, Loan};
use dappled_fabric::keep;
use dappled_kernels::{Axes, Buffer, DType, View};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, PY_ARRAY_API, PyArray_Descr};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::dtypes;
use crate::ndarray::class::NdArray;
use crate::runtime::fallback;
use crate::runtime::lock::run_locked;
use crate::runtime::session::session;

/// Owner of exported memory: the base of a NumPy array.
#[pyclass(frozen, name = "Memory", module = "dappled")]
pub struct MemoryOwner {
    _memory: ExportedMemory,
}

/// Memory that a NumPy array refers to.
pub enum ExportedMemory {
    Loan(Loan),
    Buffer(Buffer),
    Message(ReceivedBytes),
}

/// A message of another rank. Its memory returns to the message pool when it is dropped.
pub struct ReceivedBytes(Buffer);

impl ReceivedBytes {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Buffer::from_vec(bytes, 1))
    }
}

impl Drop for ReceivedBytes {
    fn drop(&mut self) {
        let buffer = std::mem::replace(&mut self.0, Buffer::zeroed(0));
        buffer.into_vec().into_iter().for_each(keep);
    }
}

impl ExportedMemory {
    fn as_ptr(&self) -> *mut u8 {
        match self {
            ExportedMemory::Loan(loan) => loan.buffer.as_ptr(),
            ExportedMemory::Buffer(buffer) => buffer.as_ptr(),
            ExportedMemory::Message(message) => message.0.as_ptr(),
        }
    }
}

/// Returns NumPy's dtype and number of axes for a view. Of an opaque dtype the last axis is the
/// bytes.
fn descr_and_ndim(
    py: Python<'_>,
    view: &View,
    item: OpaqueDType<'_>,
) -> PyResult<(Py<PyArrayDescr>, usize)> {
    let descr = match item {
        Some(descr) => descr.clone_ref(py),
        None => dtypes::to_numpy(py, view.dtype)?.cast_into::<PyArrayDescr>()?.unbind(),
    };
    Ok((descr, view.shape.len() - usize::from(item.is_some())))
}

/// The dtype of opaque elements; `None` for a native dtype.
pub type OpaqueDType<'a> = Option<&'a Py<PyArrayDescr>>;

/// Creates a NumPy array over memory that lives as long as the array.
pub fn numpy_array<'py>(
    py: Python<'py>,
    memory: ExportedMemory,
    view: &View,
    item: OpaqueDType<'_>,
    writeable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (descr, ndim) = descr_and_ndim(py, view, item)?;
    let mut shape: Vec<isize> = view.shape[..ndim].iter().map(|&length| length as isize).collect();
    let mut strides = view.strides.clone();
    let start = memory.as_ptr().wrapping_add(view.offset);
    let keeper = Bound::new(py, MemoryOwner { _memory: memory })?;
    let flags = if writeable { NPY_ARRAY_WRITEABLE } else { 0 };
    // SAFETY: shape and strides have one entry per axis, and every view of an array stays inside
    // its buffer, which lives as long as its owner, NumPy's base. `NewFromDescr` takes over the
    // reference to the descriptor, `SetBaseObject` the one to the owner.
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

/// Borrows the memory of a NumPy array of a native dtype; returns it with the array's view of it.
pub fn borrow_elements(array: &Bound<'_, PyUntypedArray>) -> Option<(Buffer, View)> {
    let dtype = dtypes::from_numpy(&array.dtype())?;
    let (shape, strides) = (array.shape().into(), array.strides().into());
    foreign_buffer(array, View { dtype, offset: 0, shape, strides })
}

/// Borrows the memory of a NumPy array as bytes, for opaque dtypes.
///
/// `None` for elements that are references, and therefore invalid in other processes.
pub fn borrow_bytes(array: &Bound<'_, PyUntypedArray>) -> Option<(Buffer, View)> {
    let item = dtypes::opaque_itemsize(&array.dtype())?;
    let (mut shape, mut strides): (Axes<usize>, Axes<isize>) =
        (array.shape().into(), array.strides().into());
    shape.push(item);
    strides.push(1);
    foreign_buffer(array, View { dtype: DType::UInt8, offset: 0, shape, strides })
}

fn foreign_buffer(array: &Bound<'_, PyUntypedArray>, mut view: View) -> Option<(Buffer, View)> {
    let reach = view.byte_bounds();
    view.offset = (-reach.start) as usize;
    // SAFETY: the data pointer of a live NumPy array.
    let data = unsafe { (*array.as_array_ptr()).fields.data };
    let start = NonNull::new(data.cast::<u8>().wrapping_offset(reach.start as isize))?;
    let keeper = Box::new(array.clone().unbind());
    // SAFETY: the array stays inside the memory that it keeps alive. Writes by other threads while
    // kernels read race as they do in NumPy.
    let buffer = unsafe { Buffer::foreign(start, (reach.end - reach.start) as usize, keeper) };
    Some((buffer, view))
}

/// Exports all elements as a NumPy array: without a copy if replicated, otherwise gathered.
///
/// Memory of another owner stays writeable. On several ranks other replicated arrays are read-only,
/// unless a library that all ranks call alike asks; a masked array gets a copy.
pub fn export_to_numpy<'py>(
    py: Python<'py>,
    array: &Array,
    item: OpaqueDType<'_>,
    writeable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let alone = array.session().fabric().size() == 1;
    let in_place = alone || array.is_lent();
    let (whole, may_write) = match array.is_replicated() {
        true if in_place => (array.clone(), writeable),
        true if ask_python(py, "is_called_by_masked_array")? => {
            let copied = || array.reshaped_copy(array.shape());
            (run_locked(py, array.view().len(), copied)?, writeable)
        }
        true => (array.clone(), writeable && ask_python(py, "is_called_by_library")?),
        false => {
            let order = gathered_order(array.view(), item.is_some());
            let gathered = run_locked(py, usize::MAX, || array.transposed(&order).gather())?;
            (gathered.transposed(&inverse_permutation(&order)), writeable)
        }
    };
    let loan = run_locked(py, whole.view().len(), || match may_write && !in_place {
        true => whole.lend_local(),
        false => whole.lend(),
    })?;
    numpy_array(py, ExportedMemory::Loan(loan), whole.view(), item, may_write)
}

/// Asks Python whether the caller is of this kind: a compiled library such as SciPy, or a masked
/// array.
fn ask_python(py: Python<'_>, who: &'static str) -> PyResult<bool> {
    fallback::function(py, who)?.call0()?.is_truthy()
}

#[pymethods]
impl NdArray {
    /// PEP 3118 for the whole array, exported by a NumPy array over the same memory.
    ///
    /// # Safety
    ///
    /// Called only by Python's buffer protocol, with a view to fill.
    unsafe fn __getbuffer__(
        slf: &Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let py = slf.py();
        let alone = session(py)?.fabric().size() == 1;
        let array = match slf.get().memory() {
            None => slf.getattr("_held")?,
            Some((array, item)) if alone || array.is_replicated() => {
                export_to_numpy(py, array, item, slf.get().is_writeable())?
            }
            Some(_) => {
                let ranks = session(py)?.fabric().size();
                return Err(PyBufferError::new_err(format!(
                    "in pieces over {ranks} ranks: `a.local` is this rank's piece, `a.numpy()` gathers"
                )));
            }
        };
        // NumPy does not read such buffers back as they were written.
        let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
        if kind == 'V' {
            let text =
                "the buffer protocol does not describe structured dtypes fully: use `a.numpy()`";
            return Err(PyBufferError::new_err(text));
        }
        // SAFETY: the caller's view keeps NumPy's array alive, which keeps the memory alive.
        match unsafe { ffi::PyObject_GetBuffer(array.as_ptr(), view, flags) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(py)),
        }
    }
}

/// Returns the address of a NumPy array's first element, for comparisons.
pub fn data_address(array: &Bound<'_, PyUntypedArray>) -> usize {
    // SAFETY: the array is alive, and the pointer is not dereferenced.
    unsafe { (*array.as_array_ptr()).fields.data }.addr()
}

/// Returns whether a NumPy array is writeable.
pub fn is_writeable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: the flags of a live NumPy array.
    unsafe { (*array.as_array_ptr()).fields.flags & NPY_ARRAY_WRITEABLE != 0 }
}
