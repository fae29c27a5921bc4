//! Memory handed out and taken in without a copy.

use std::ffi::c_int;
use std::ptr::NonNull;

use dappled::graph::{Array, Loan};
use dappled::view::{gathered_order, moved};
use dappled_fabric::keep;
use dappled_kernels::{Axes, Buffer, DType, View};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, PY_ARRAY_API, PyArray_Descr};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::class::NdArray;
use super::dtypes;
use super::exclusive::exclusive;
use super::session::session;
use super::slow;

/// Keeps the memory of an array that was handed out, as the base of NumPy's array.
#[pyclass(frozen, module = "dappled")]
pub struct Memory {
    _kept: Kept,
}

/// Memory that NumPy sees: for as long as it likes, or only while it computes.
pub enum Kept {
    Loan(Loan),
    Buffer(Buffer),
    Message(Message),
}

/// What another rank has sent: its memory is kept for the next message when nobody sees it any more.
pub struct Message(Buffer);

impl Message {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Buffer::from_vec(bytes, 1))
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        let buffer = std::mem::replace(&mut self.0, Buffer::zeroed(0));
        buffer.into_vec().into_iter().for_each(keep);
    }
}

impl Kept {
    fn start(&self) -> *mut u8 {
        match self {
            Kept::Loan(loan) => loan.buffer.as_ptr(),
            Kept::Buffer(buffer) => buffer.as_ptr(),
            Kept::Message(message) => message.0.as_ptr(),
        }
    }
}

/// What NumPy calls the elements of a view; items lose their last axis, the bytes of one.
fn described(py: Python<'_>, view: &View, item: Item<'_>) -> PyResult<(Py<PyArrayDescr>, usize)> {
    let descr = match item {
        Some(descr) => descr.clone_ref(py),
        None => dtypes::to_numpy(py, view.dtype)?.cast_into::<PyArrayDescr>()?.unbind(),
    };
    Ok((descr, view.shape.len() - usize::from(item.is_some())))
}

/// The dtype of items; None for elements that are ours.
pub type Item<'a> = Option<&'a Py<PyArrayDescr>>;

/// A NumPy array over memory that is lent for as long as it lives.
pub fn numpy_array<'py>(
    py: Python<'py>,
    kept: Kept,
    view: &View,
    item: Item<'_>,
    writeable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (descr, ndim) = described(py, view, item)?;
    let mut shape: Vec<isize> = view.shape[..ndim].iter().map(|&length| length as isize).collect();
    let mut strides = view.strides.clone();
    let start = kept.start().wrapping_add(view.offset);
    let keeper = Bound::new(py, Memory { _kept: kept })?;
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
    let (shape, strides) = (array.shape().into(), array.strides().into());
    memory_of(array, View { dtype, offset: 0, shape, strides })
}

/// The same of an array of items, as bytes; None where elements are no good elsewhere.
pub fn borrowed_items(array: &Bound<'_, PyUntypedArray>) -> Option<(Buffer, View)> {
    let item = dtypes::item(&array.dtype())?;
    let (mut shape, mut strides): (Axes<usize>, Axes<isize>) =
        (array.shape().into(), array.strides().into());
    shape.push(item);
    strides.push(1);
    memory_of(array, View { dtype: DType::UInt8, offset: 0, shape, strides })
}

fn memory_of(array: &Bound<'_, PyUntypedArray>, mut view: View) -> Option<(Buffer, View)> {
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

/// A NumPy array of all elements: the memory itself where the array is replicated, else gathered.
///
/// Memory that somebody else owns may be written. Other replicated arrays are only to be read on several
/// ranks, but for libraries that all ranks call alike; a masked array that is made of one has a copy.
pub fn lent<'py>(
    py: Python<'py>,
    array: &Array,
    item: Item<'_>,
    writeable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let alone = array.session().fabric().size() == 1;
    let in_place = alone || array.is_lent();
    let (whole, may_write) = match array.is_whole() {
        true if in_place => (array.clone(), writeable),
        true if asks(py, "is_for_masked")? => {
            let copied = || array.copied_in_shape(array.shape());
            (exclusive(py, array.view().len(), copied)?, writeable)
        }
        true => (array.clone(), writeable && asks(py, "is_for_library")?),
        false => {
            let order = gathered_order(array.view(), item.is_some());
            let gathered = exclusive(py, usize::MAX, || array.transposed(&order).gathered())?;
            (gathered.transposed(&moved(&order)), writeable)
        }
    };
    let loan = exclusive(py, whole.view().len(), || match may_write && !in_place {
        true => whole.lend_apart(),
        false => whole.lend(),
    })?;
    numpy_array(py, Kept::Loan(loan), whole.view(), item, may_write)
}

/// Does somebody ask who may write what is given: a library that goes on in compiled code, as SciPy with
/// what a function of the user's gave, or a masked array?
fn asks(py: Python<'_>, who: &'static str) -> PyResult<bool> {
    slow::function(py, who)?.call0()?.is_truthy()
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
        let array = match slf.get().memory() {
            None => slf.getattr("_held")?,
            Some((array, item)) if alone || array.is_whole() => {
                lent(py, array, item, slf.get().is_writeable())?
            }
            Some(_) => {
                let ranks = session(py)?.fabric().size();
                return Err(PyBufferError::new_err(format!(
                    "in pieces over {ranks} ranks: `a.local` is this rank's piece, `a.numpy()` gathers"
                )));
            }
        };
        // NumPy itself reads from such buffers something else than it wrote.
        let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
        if kind == 'V' {
            let text = "of structures a buffer tells too little: `a.numpy()` gives them";
            return Err(PyBufferError::new_err(text));
        }
        // SAFETY: the caller's view; it keeps NumPy's array, which keeps the memory.
        match unsafe { ffi::PyObject_GetBuffer(array.as_ptr(), view, flags) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(py)),
        }
    }
}

/// The address of a NumPy array's first element, for comparisons.
pub fn address(array: &Bound<'_, PyUntypedArray>) -> usize {
    // SAFETY: the array is alive; the pointer is not followed.
    unsafe { (*array.as_array_ptr()).fields.data }.addr()
}

/// May a NumPy array be written?
pub fn is_writeable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: the flags of a live NumPy array.
    unsafe { (*array.as_array_ptr()).fields.flags & NPY_ARRAY_WRITEABLE != 0 }
}
