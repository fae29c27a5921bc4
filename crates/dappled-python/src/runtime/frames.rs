//! The interpreter's running frame, its instruction, and references to its operands.
//!
//! Input: the state of the interpreter while it calls this extension. Output: frames, code objects and
//! instruction offsets. No other module reads frames or bytecode.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;

use libloading::os::unix::Library;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;
use pyo3::{ffi, intern};

use crate::config::MAX_CACHED_OPCODES;

/// The instruction that the interpreter runs now.
pub struct RunningInstruction<'py> {
    pub code: Bound<'py, PyAny>,
    /// Byte offset of the instruction in the code.
    pub offset: c_int,
    /// Borrowed: the frame lives as long as this function, which it has called, runs.
    frame: *mut ffi::PyFrameObject,
}

impl<'py> RunningInstruction<'py> {
    /// Returns the frame that the instruction runs in.
    pub fn frame(&self) -> Bound<'py, PyAny> {
        // SAFETY: the frame is running, and therefore alive.
        unsafe { Bound::from_borrowed_ptr(self.code.py(), self.frame.cast()) }
    }
}

/// Returns the running frame; `None` where no Python code runs.
pub fn running_frame(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: a borrowed reference to the running frame, or null where there is none.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) }
}

/// Returns the running instruction; `None` where no Python code runs.
pub fn running_instruction(py: Python<'_>) -> Option<RunningInstruction<'_>> {
    let offset_of = frame_offset_function(py)?;
    // SAFETY: a borrowed reference to the running frame, or null where there is none.
    let frame = unsafe { ffi::PyEval_GetFrame() };
    if frame.is_null() {
        return None;
    }
    // SAFETY: the frame is alive; the call returns a new reference to its code.
    let code = unsafe { Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(frame).cast()) };
    // SAFETY: the frame is alive, and the function only reads it.
    let offset = unsafe { offset_of(frame) };
    Some(RunningInstruction { code, offset, frame })
}

/// `PyFrame_GetLasti`: exported by every CPython since 3.11, but not part of the stable ABI.
type FrameOffsetFunction = unsafe extern "C" fn(*mut ffi::PyFrameObject) -> c_int;

fn frame_offset_function(py: Python<'_>) -> Option<FrameOffsetFunction> {
    static SYMBOL: PyOnceLock<Option<FrameOffsetFunction>> = PyOnceLock::new();
    // SAFETY: CPython's function of this name has this signature.
    let find = || unsafe { Library::this().get(b"PyFrame_GetLasti\0").ok().map(|symbol| *symbol) };
    *SYMBOL.get_or_init(py, find)
}

/// Returns the reference count of an object.
pub fn reference_count(object: &Bound<'_, PyAny>) -> ffi::Py_ssize_t {
    // SAFETY: the object is alive.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// `PyUnstable_Object_IsUniqueReferencedTemporary`, exported since CPython 3.14.
///
/// From that version on local variables are lent to the evaluation stack without a reference, so the
/// reference count of a temporary no longer identifies it.
type IsTemporaryFunction = unsafe extern "C" fn(*mut ffi::PyObject) -> c_int;

/// Returns whether the evaluation stack is the only owner of an object.
pub fn is_temporary(object: &Bound<'_, PyAny>) -> bool {
    static SYMBOL: PyOnceLock<Option<IsTemporaryFunction>> = PyOnceLock::new();
    let name = b"PyUnstable_Object_IsUniqueReferencedTemporary\0";
    // SAFETY: CPython's function of this name has this signature.
    let find = || unsafe { Library::this().get(name).ok().map(|symbol| *symbol) };
    reference_count(object) == 1
        && SYMBOL.get_or_init(object.py(), find).is_none_or(|is_temporary| {
            // SAFETY: the object is alive, and this thread is attached to the interpreter.
            unsafe { is_temporary(object.as_ptr()) != 0 }
        })
}

/// By address of the code and offset: the code, which keeps its address, and the answer.
type OpcodeCache = HashMap<(usize, c_int), (Py<PyAny>, bool)>;

/// Returns whether an instruction is `x[i] = …` of Python code.
///
/// Any other instruction under which an item is assigned calls compiled code.
pub fn is_subscript_store(code: &Bound<'_, PyAny>, offset: c_int) -> PyResult<bool> {
    thread_local! {
        static CACHE: RefCell<OpcodeCache> = RefCell::default();
    }
    let py = code.py();
    let key = (code.as_ptr().addr(), offset);
    if let Some(cached) = CACHE.with_borrow(|cache| cache.get(&key).map(|(_, stores)| *stores)) {
        return Ok(cached);
    }
    static STORE_SUBSCR: PyOnceLock<u8> = PyOnceLock::new();
    let read = || py.import("opcode")?.getattr("opmap")?.get_item("STORE_SUBSCR")?.extract();
    let opcode = *STORE_SUBSCR.get_or_try_init(py, read)?;
    let bytecode = code.getattr(intern!(py, "co_code"))?;
    let stores = bytecode.cast::<PyBytes>()?.as_bytes().get(offset as usize) == Some(&opcode);
    // Freeing a code object may run Python code, so it happens outside of the borrow.
    let evicted = CACHE.with_borrow_mut(|cache| {
        let full = cache.len() >= MAX_CACHED_OPCODES;
        let evicted = if full { std::mem::take(cache) } else { HashMap::new() };
        cache.insert(key, (code.clone().unbind(), stores));
        evicted
    });
    drop(evicted);
    Ok(stores)
}
