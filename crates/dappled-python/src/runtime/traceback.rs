//! The running line of the user's program, and the name of the running thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;

use super::errstate::is_library_module;
use super::frames::running_frame;
use crate::config::MAX_CACHED_LINES;

/// Source lines by code address and instruction. The code is kept, so that its address stays
/// unique.
type LineCache = HashMap<(usize, i64), (Py<PyAny>, Option<Arc<str>>)>;

/// Returns file and line of the innermost frame of the user's code.
pub fn running_line() -> Option<Arc<str>> {
    Python::attach(|py| find_line(py).ok().flatten())
}

/// Returns Python's name of the current thread.
pub fn running_thread_name() -> Option<Arc<str>> {
    let name = |py: Python<'_>| -> PyResult<String> {
        let thread = py.import("threading")?.call_method0("current_thread")?;
        thread.getattr("name")?.extract()
    };
    Python::attach(|py| name(py).ok().map(Into::into))
}

fn find_line(py: Python<'_>) -> PyResult<Option<Arc<str>>> {
    static KNOWN: Mutex<Option<LineCache>> = Mutex::new(None);
    let mut frame = running_frame(py);
    while let Some(running) = frame {
        let code = running.getattr(intern!(py, "f_code"))?;
        let key = (code.as_ptr() as usize, running.getattr(intern!(py, "f_lasti"))?.extract()?);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        let line = match known.get(&key) {
            Some((_, line)) => line.clone(),
            None => {
                let line = source_line(&running, &code)?;
                if known.len() >= MAX_CACHED_LINES {
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

/// Returns file and line of a frame; `None` for code of Dappled or NumPy.
fn source_line(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> PyResult<Option<Arc<str>>> {
    if is_library_module(&frame.getattr("f_globals")?)? {
        return Ok(None);
    }
    let file: String = code.getattr("co_filename")?.extract()?;
    let line: u32 = frame.getattr("f_lineno")?.extract().unwrap_or(0);
    Ok(Some(format!("{file}:{line}").into()))
}
