//! The line of the user's program and the thread that are running, as text.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::{ffi, intern};

use super::origin::is_ours;

/// The lines of a program, by code and instruction. The code is kept, so that its address is no
/// other's.
type Known = HashMap<(usize, i64), (Py<PyAny>, Option<Arc<str>>)>;

/// More lines than this are forgotten.
const MOST: usize = 4096;

/// File and line of the innermost frame that is not ours.
pub fn running_line() -> Option<Arc<str>> {
    Python::attach(|py| found(py).ok().flatten())
}

/// The name that Python has for the current thread.
pub fn running_thread() -> Option<Arc<str>> {
    let name = |py: Python<'_>| -> PyResult<String> {
        let thread = py.import("threading")?.call_method0("current_thread")?;
        thread.getattr("name")?.extract()
    };
    Python::attach(|py| name(py).ok().map(Into::into))
}

fn found(py: Python<'_>) -> PyResult<Option<Arc<str>>> {
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    // SAFETY: a borrowed reference to the running frame, or null where there is none.
    let mut frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) };
    while let Some(running) = frame {
        let code = running.getattr(intern!(py, "f_code"))?;
        let key = (code.as_ptr() as usize, running.getattr(intern!(py, "f_lasti"))?.extract()?);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        let line = match known.get(&key) {
            Some((_, line)) => line.clone(),
            None => {
                let line = line_of(&running, &code)?;
                if known.len() >= MOST {
                    known.clear();
                }
                known.insert(key, (code.unbind(), line.clone()));
                line
            }
        };
        if line.is_some() {
            return Ok(line);
        }
        let back = running.getattr(intern!(py, "f_back"))?;
        frame = (!back.is_none()).then_some(back);
    }
    Ok(None)
}

/// None for a frame of ours.
fn line_of(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> PyResult<Option<Arc<str>>> {
    if is_ours(&frame.getattr("f_globals")?)? {
        return Ok(None);
    }
    let file: String = code.getattr("co_filename")?.extract()?;
    let line: u32 = frame.getattr("f_lineno")?.extract().unwrap_or(0);
    Ok(Some(format!("{file}:{line}").into()))
}
