//! Swaps of two rows by compiled code.
//!
//! `numpy.random.Generator.shuffle` swaps rows of any object but a NumPy array by `x[i], x[j] =
//! x[j], x[i]`. Rows of a Dappled array are views, as NumPy's are, so the second assignment would
//! read the row that the first has written, and a row would be lost. Compiled code that swaps two
//! rows in this way therefore gets the old values of the first row. In Python code the statement
//! keeps NumPy's meaning.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyInt;

use super::buffer_export::data_address;
use crate::ndarray::class::{ArrayValue, NdArray};
use crate::runtime::frames::{is_subscript_store, reference_count, running_instruction};

/// The first half of a swap: the row `source` was assigned to `array[target]`.
pub struct SwapHalf {
    array: usize,
    target: isize,
    source: isize,
    /// The Python instruction that called the compiled code.
    code: usize,
    at: c_int,
    /// The old value of `array[target]`.
    old: Py<PyAny>,
}

/// The role of an assignment in a swap.
pub enum RowAssignment {
    /// Not part of a swap.
    Plain,
    /// Possibly the first half, to remember once it is done.
    FirstHalf(SwapHalf),
    /// The second half, which assigns this value instead.
    SecondHalf(Py<PyAny>),
}

thread_local! {
    /// Number of items of arrays read by this thread.
    static READS: Cell<u64> = const { Cell::new(0) };
    static LAST: RefCell<Option<(SwapHalf, u64)>> = const { RefCell::new(None) };
}

/// Counts a read: a swap reads both rows before it writes.
#[inline]
pub fn count_read() {
    READS.with(|reads| reads.set(reads.get().wrapping_add(1)));
}

/// Remembers the first half of a swap, once it is done.
pub fn remember_first_half(half: SwapHalf) {
    let before = LAST.with(|last| last.replace(Some((half, READS.with(Cell::get)))));
    drop(before);
}

/// Classifies `array[key] = value`.
pub fn classify_assignment(
    array: &Bound<'_, NdArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<RowAssignment> {
    let py = array.py();
    // Only compiled code refers to the row; in Python it is a variable, or only on the stack (see
    // `is_subscript_store`).
    if !key.is_exact_instance_of::<PyInt>() || reference_count(value) > 1 {
        return Ok(RowAssignment::Plain);
    }
    let Some((length, source)) = row_index(array.get(), value)? else {
        return Ok(RowAssignment::Plain);
    };
    let Ok(index) = key.extract::<isize>() else { return Ok(RowAssignment::Plain) };
    let target = if index < 0 { index + length } else { index };
    let Some(running) = running_instruction(py) else { return Ok(RowAssignment::Plain) };
    let (code, at) = (running.code, running.offset);
    if target == source || !(0..length).contains(&target) || is_subscript_store(&code, at)? {
        return Ok(RowAssignment::Plain);
    }
    let (own, site) = (array.as_ptr().addr(), code.as_ptr().addr());
    let last = LAST.with(|last| last.take());
    if let Some((half, reads)) = last
        && (half.array, half.code, half.at) == (own, site, at)
        && (half.target, half.source) == (source, target)
        && reads == READS.with(Cell::get)
    {
        return Ok(RowAssignment::SecondHalf(half.old));
    }
    let old = array.get_item(target)?.call_method0(intern!(py, "copy"))?.unbind();
    Ok(RowAssignment::FirstHalf(SwapHalf { array: own, target, source, code: site, at, old }))
}

/// Returns the number of rows of an array, and which of them a value views.
fn row_index(array: &NdArray, value: &Bound<'_, PyAny>) -> PyResult<Option<(isize, isize)>> {
    let py = value.py();
    let Ok(row) = value.cast_exact::<NdArray>() else { return structured_row_index(array, value) };
    if !row.get().has_base() {
        return Ok(None);
    }
    Ok(match (array.value(), row.get().value()) {
        (ArrayValue::NumPy(array), ArrayValue::NumPy(row)) => {
            let array = array.bind(py).cast::<PyUntypedArray>()?;
            let row = row.bind(py).cast::<PyUntypedArray>()?;
            let array_memory = (data_address(array) as isize, array.shape(), array.strides());
            index_of_row(array_memory, (data_address(row) as isize, row.shape(), row.strides()))
        }
        _ => match (array.memory(), row.get().memory()) {
            (Some((array, _)), Some((row, _))) if array.shares_storage(row) => {
                let (array, row) = (array.view(), row.view());
                let array_memory = (array.offset as isize, &array.shape[..], &array.strides[..]);
                index_of_row(array_memory, (row.offset as isize, &row.shape[..], &row.strides[..]))
            }
            _ => None,
        },
    })
}

/// Returns which row a NumPy scalar of a structured dtype views.
fn structured_row_index(
    array: &NdArray,
    value: &Bound<'_, PyAny>,
) -> PyResult<Option<(isize, isize)>> {
    let py = value.py();
    static VOID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let void = VOID.import(py, "numpy", "void")?;
    let ArrayValue::NumPy(array) = array.value() else { return Ok(None) };
    if !value.get_type().is(void) {
        return Ok(None);
    }
    let data = value.getattr(intern!(py, "__array_interface__"))?.get_item("data")?;
    let array = array.bind(py).cast::<PyUntypedArray>()?;
    let array_memory = (data_address(array) as isize, array.shape(), array.strides());
    Ok(index_of_row(array_memory, (data.get_item(0)?.extract::<usize>()? as isize, &[], &[])))
}

/// The address, shape and strides of an array.
type RowMemory<'a> = (isize, &'a [usize], &'a [isize]);

fn index_of_row(array: RowMemory<'_>, row: RowMemory<'_>) -> Option<(isize, isize)> {
    let ((&length, shape), (&stride, strides)) = (array.1.split_first()?, array.2.split_first()?);
    let distance = row.0 - array.0;
    if stride == 0 || distance % stride != 0 || (shape, strides) != (row.1, row.2) {
        return None;
    }
    let index = distance / stride;
    (0..length as isize).contains(&index).then_some((length as isize, index))
}
