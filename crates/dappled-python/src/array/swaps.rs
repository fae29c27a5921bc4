//! Swaps of two rows by compiled code.
//!
//! `numpy.random.Generator.shuffle` swaps the rows of anything but NumPy's own array by
//! `x[i], x[j] = x[j], x[i]`. Our rows are views, as NumPy's are, so the second assignment would read what the
//! first has written, and a row would be lost. Compiled code that assigns two rows to each other in this way gets
//! the old values of the first. In Python's own code the same statement keeps NumPy's meaning.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyInt};

use super::class::{NdArray, Value};
use super::lending::address;
use super::sites::{instruction, references};

/// Number of instructions that are remembered.
const MOST: usize = 4096;

/// The first half of a swap: `array[target]` was assigned the row `source`.
pub struct Half {
    array: usize,
    target: isize,
    source: isize,
    /// The instruction that runs in Python while compiled code swaps.
    code: usize,
    at: c_int,
    /// What `array[target]` was before.
    old: Py<PyAny>,
}

/// What an assignment is.
pub enum Assignment {
    /// Not a part of a swap.
    Plain,
    /// Perhaps the first half of one: to be remembered when it is done.
    First(Half),
    /// The second half of one, which assigns this instead.
    Second(Py<PyAny>),
}

thread_local! {
    /// Number of times that an item of an array was read.
    static READS: Cell<u64> = const { Cell::new(0) };
    static LAST: RefCell<Option<(Half, u64)>> = const { RefCell::new(None) };
}

/// Counts a read: a swap reads both rows before it writes.
#[inline]
pub fn note_read() {
    READS.with(|reads| reads.set(reads.get().wrapping_add(1)));
}

/// Remembers the first half of a swap, once it is done.
pub fn remember(half: Half) {
    let before = LAST.with(|last| last.replace(Some((half, READS.with(Cell::get)))));
    drop(before);
}

/// Says whether `array[key] = value` is a part of a swap.
pub fn assignment(
    array: &Bound<'_, NdArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<Assignment> {
    let py = array.py();
    // Compiled code alone holds the row. (In Python it is a variable, or on the stack alone: see `stores`.)
    if !key.is_exact_instance_of::<PyInt>() || references(value) > 1 {
        return Ok(Assignment::Plain);
    }
    let Some((length, source)) = row(array.get(), value)? else { return Ok(Assignment::Plain) };
    let Ok(index) = key.extract::<isize>() else { return Ok(Assignment::Plain) };
    let target = if index < 0 { index + length } else { index };
    let Some((code, at)) = instruction(py) else { return Ok(Assignment::Plain) };
    if target == source || !(0..length).contains(&target) || stores(&code, at)? {
        return Ok(Assignment::Plain);
    }
    let (own, site) = (array.as_ptr().addr(), code.as_ptr().addr());
    let last = LAST.with(|last| last.take());
    if let Some((half, reads)) = last
        && (half.array, half.code, half.at) == (own, site, at)
        && (half.target, half.source) == (source, target)
        && reads == READS.with(Cell::get)
    {
        return Ok(Assignment::Second(half.old));
    }
    let old = array.get_item(target)?.call_method0(intern!(py, "copy"))?.unbind();
    Ok(Assignment::First(Half { array: own, target, source, code: site, at, old }))
}

/// The number of rows of an array, and which of them a value is; None if it is none of them.
fn row(array: &NdArray, value: &Bound<'_, PyAny>) -> PyResult<Option<(isize, isize)>> {
    let py = value.py();
    let Ok(row) = value.cast_exact::<NdArray>() else { return structure(array, value) };
    if !row.get().has_base() {
        return Ok(None);
    }
    Ok(match (array.value(), row.get().value()) {
        (Value::Held(array), Value::Held(row)) => {
            let array = array.bind(py).cast::<PyUntypedArray>()?;
            let row = row.bind(py).cast::<PyUntypedArray>()?;
            let whole = (address(array) as isize, array.shape(), array.strides());
            index(whole, (address(row) as isize, row.shape(), row.strides()))
        }
        _ => match (array.memory(), row.get().memory()) {
            (Some((array, _)), Some((row, _))) if array.shares(row) => {
                let (array, row) = (array.view(), row.view());
                let whole = (array.offset as isize, &array.shape[..], &array.strides[..]);
                index(whole, (row.offset as isize, &row.shape[..], &row.strides[..]))
            }
            _ => None,
        },
    })
}

/// Finds the row of an array that a NumPy scalar of a structured dtype is a view of.
fn structure(array: &NdArray, value: &Bound<'_, PyAny>) -> PyResult<Option<(isize, isize)>> {
    let py = value.py();
    static VOID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let void = VOID.import(py, "numpy", "void")?;
    let Value::Held(array) = array.value() else { return Ok(None) };
    if !value.get_type().is(void) {
        return Ok(None);
    }
    let data = value.getattr(intern!(py, "__array_interface__"))?.get_item("data")?;
    let array = array.bind(py).cast::<PyUntypedArray>()?;
    let whole = (address(array) as isize, array.shape(), array.strides());
    Ok(index(whole, (data.get_item(0)?.extract::<usize>()? as isize, &[], &[])))
}

/// Where a row begins, its shape and its strides.
type Extent<'a> = (isize, &'a [usize], &'a [isize]);

fn index(array: Extent<'_>, row: Extent<'_>) -> Option<(isize, isize)> {
    let ((&length, shape), (&stride, strides)) = (array.1.split_first()?, array.2.split_first()?);
    let apart = row.0 - array.0;
    if stride == 0 || apart % stride != 0 || (shape, strides) != (row.1, row.2) {
        return None;
    }
    let index = apart / stride;
    (0..length as isize).contains(&index).then_some((length as isize, index))
}

/// Code with the answer for each of its instructions, by address and offset.
type Answers = HashMap<(usize, c_int), (Py<PyAny>, bool)>;

/// Is an instruction Python's own `x[i] = …`? Any other that assigns an item calls compiled code.
fn stores(code: &Bound<'_, PyAny>, at: c_int) -> PyResult<bool> {
    thread_local! {
        // The code lives as long as its address is known.
        static KNOWN: RefCell<Answers> = RefCell::default();
    }
    let py = code.py();
    let key = (code.as_ptr().addr(), at);
    if let Some(found) = KNOWN.with_borrow(|known| known.get(&key).map(|(_, stores)| *stores)) {
        return Ok(found);
    }
    static STORE: PyOnceLock<u8> = PyOnceLock::new();
    let read = || py.import("opcode")?.getattr("opmap")?.get_item("STORE_SUBSCR")?.extract();
    let store = *STORE.get_or_try_init(py, read)?;
    let words = code.getattr(intern!(py, "co_code"))?;
    let found = words.cast::<PyBytes>()?.as_bytes().get(at as usize) == Some(&store);
    let gone = KNOWN.with_borrow_mut(|known| {
        let gone = if known.len() >= MOST { std::mem::take(known) } else { HashMap::new() };
        known.insert(key, (code.clone().unbind(), found));
        gone
    });
    drop(gone);
    Ok(found)
}
