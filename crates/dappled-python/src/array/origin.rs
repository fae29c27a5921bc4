//! Where an operation was asked for, and what is to be done about what it signals.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use dappled::graph::{Notice, Origin};
use dappled_kernels::Flags;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};
use pyo3::{ffi, intern};

use super::session::session;
use super::slow;
use super::variable::value_of;

/// A place in the user's program. Its line is looked for when it is asked for, which takes a while.
pub struct Place {
    globals: Py<PyAny>,
    code: Py<PyAny>,
    instruction: Py<PyAny>,
}

impl Place {
    /// An instruction of some code of a module with these globals.
    pub fn new(globals: Bound<'_, PyAny>, code: &Bound<'_, PyAny>, at: i32) -> PyResult<Self> {
        let instruction = at.into_pyobject(code.py())?.into_any().unbind();
        Ok(Self { globals: globals.unbind(), code: code.clone().unbind(), instruction })
    }
}

/// Three bits for each kind of flag, in this order, which is NumPy's in `numpy.errstate`.
const KINDS: [&str; 4] = ["divide", "over", "under", "invalid"];
/// What may be asked for, in the order of its numbers. From the third on it must be done at once.
const MODES: [&str; 6] = ["ignore", "warn", "raise", "call", "print", "log"];
const FLAGS: [Flags; 4] = [Flags::DIVIDE, Flags::OVERFLOW, Flags::UNDERFLOW, Flags::INVALID];

/// Does it matter what warns? Then what may warn must be computed at once as well.
const ERRORS: u32 = 1 << (3 * KINDS.len());

/// The origin of an operation that is asked for now.
pub fn origin(py: Python<'_>) -> PyResult<Arc<Origin>> {
    let place = place(py)?.map(|place| Arc::new(place) as Arc<dyn Any + Send + Sync>);
    Ok(Arc::new(Origin { policy: policy(py)?, place }))
}

/// Must an operation be computed when it is asked for?
pub fn must_report(policy: u32) -> bool {
    let quiet = if policy & ERRORS == 0 { 1 } else { 0 };
    (0..KINDS.len()).any(|kind| mode(policy, kind) > quiet)
}

/// Must every rank know what an operation signals that is computed now?
pub fn must_share(py: Python<'_>) -> PyResult<bool> {
    Ok(session(py)?.fabric().size() > 1 && must_report(policy(py)?))
}

fn mode(policy: u32, kind: usize) -> usize {
    (policy >> (3 * kind) & 7) as usize
}

/// What decides that, by where it is in memory, when there was nothing to be reported at once. Those who
/// remember what they last saw keep it alive until another is looked at here.
static QUIET: Mutex<[usize; 4]> = Mutex::new([0; 4]);

/// Must an operation be computed that is asked for now? This is asked most often.
pub fn must_report_now(py: Python<'_>) -> PyResult<bool> {
    let seen = decides(py)?;
    if *QUIET.lock().unwrap_or_else(PoisonError::into_inner) == seen {
        return Ok(false);
    }
    let must = must_report(policy(py)?);
    *QUIET.lock().unwrap_or_else(PoisonError::into_inner) = if must { [0; 4] } else { seen };
    Ok(must)
}

fn decides(py: Python<'_>) -> PyResult<[usize; 4]> {
    let (state, filters) = (error_object(py)?, filters(py)?);
    let address = |object: &Bound<'_, PyAny>| object.as_ptr().addr();
    let first = filters.as_ref().and_then(|filters| filters.get_item(0).ok());
    let filters = filters.map_or([0; 2], |filters| [address(filters.as_any()), filters.len()]);
    Ok([address(&state), filters[0], filters[1], first.as_ref().map_or(0, address)])
}

/// What the program wants done now.
pub fn policy(py: Python<'_>) -> PyResult<u32> {
    let errors = if warnings_matter(py)? { ERRORS } else { 0 };
    Ok(error_state(py)? | errors)
}

/// The filters of warnings as they were, and whether they make errors of ours.
struct Seen {
    filters: Py<PyList>,
    len: usize,
    first: Option<Py<PyAny>>,
    errors: bool,
}

/// Would a RuntimeWarning be an error, by Python's filters, or be recorded? The
/// filters are a list that Python changes at its beginning or end, or replaces, as whoever begins
/// or ends to record does.
fn warnings_matter(py: Python<'_>) -> PyResult<bool> {
    static LAST: Mutex<Option<Seen>> = Mutex::new(None);
    let Some(filters) = filters(py)? else { return Ok(false) };
    let (len, first) = (filters.len(), filters.get_item(0).ok());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(seen) = &*last
        && seen.filters.is(&filters)
        && seen.len == len
        && seen.first.as_ref().map(Py::as_ptr) == first.as_ref().map(Bound::as_ptr)
    {
        return Ok(seen.errors);
    }
    drop(last.take());
    drop(last);
    *QUIET.lock().unwrap_or_else(PoisonError::into_inner) = [0; 4];
    let errors = slow::function(py, "warnings_matter")?.call0()?.extract()?;
    let now = Seen { filters: filters.unbind(), len, first: first.map(Bound::unbind), errors };
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    Ok(errors)
}

fn filters(py: Python<'_>) -> PyResult<Option<Bound<'_, PyList>>> {
    static MODULE: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let import = || PyResult::Ok(py.import("warnings")?.dict().unbind());
    let module = MODULE.get_or_try_init(py, import)?.bind(py);
    let filters = module.get_item(intern!(py, "filters"))?;
    Ok(filters.and_then(|filters| filters.cast_into::<PyList>().ok()))
}

/// What `numpy.geterr()` says. NumPy keeps it in a context variable, as one object that is another
/// one whenever it changes.
fn error_state(py: Python<'_>) -> PyResult<u32> {
    static LAST: Mutex<Option<(Py<PyAny>, u32)>> = Mutex::new(None);
    let now = error_object(py)?;
    if let Some((state, policy)) = &*LAST.lock().unwrap_or_else(PoisonError::into_inner)
        && state.is(&now)
    {
        return Ok(*policy);
    }
    *QUIET.lock().unwrap_or_else(PoisonError::into_inner) = [0; 4];
    let policy = read_policy(py)?;
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some((now.unbind(), policy));
    Ok(policy)
}

fn error_object(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static VARIABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || -> PyResult<Py<PyAny>> {
        Ok(py.import("numpy._core.umath")?.getattr("_extobj_contextvar")?.unbind())
    };
    value_of(VARIABLE.get_or_try_init(py, import)?.bind(py))
}

fn read_policy(py: Python<'_>) -> PyResult<u32> {
    let said = py.import("numpy")?.call_method0("geterr")?;
    let mut policy = 0;
    for (kind, name) in KINDS.iter().enumerate() {
        let mode: String = said.get_item(name)?.extract()?;
        let number = MODES.iter().position(|known| *known == mode).unwrap_or(1);
        policy |= (number as u32) << (3 * kind);
    }
    Ok(policy)
}

/// The innermost frame that is not ours.
fn place(py: Python<'_>) -> PyResult<Option<Place>> {
    // SAFETY: a borrowed reference to the running frame, or null where there is none.
    let mut frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) };
    while let Some(found) = frame {
        let globals = found.getattr(intern!(py, "f_globals"))?;
        if !is_ours(&globals)? {
            let code = found.getattr(intern!(py, "f_code"))?.unbind();
            let instruction = found.getattr(intern!(py, "f_lasti"))?.unbind();
            return Ok(Some(Place { globals: globals.unbind(), code, instruction }));
        }
        let back = found.getattr(intern!(py, "f_back"))?;
        frame = (!back.is_none()).then_some(back);
    }
    Ok(None)
}

/// Are these the globals of a module of ours, or of NumPy's?
pub fn is_ours(globals: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = globals.py();
    let Ok(globals) = globals.cast::<PyDict>() else { return Ok(false) };
    let Some(name) = globals.get_item(intern!(py, "__name__"))? else { return Ok(false) };
    let Ok(name) = name.cast::<PyString>() else { return Ok(false) };
    let name = name.to_str()?;
    Ok(["dappled", "numpy"].iter().any(|package| {
        name.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }))
}

/// Does what is to be done about what operations signalled.
pub fn handle(py: Python<'_>, notices: Vec<Notice>) -> PyResult<()> {
    for notice in notices {
        if notice.flags.contains(Flags::NEGATIVE_POWER) {
            let message = "Integers to negative integer powers are not allowed.";
            return Err(PyValueError::new_err(message));
        }
        report(py, &notice)?;
    }
    Ok(())
}

fn report(py: Python<'_>, notice: &Notice) -> PyResult<()> {
    let policy = match &notice.origin {
        Some(origin) => origin.policy,
        None => policy(py)?,
    };
    let place = match &notice.origin {
        Some(origin) => origin.place.clone().and_then(|place| place.downcast::<Place>().ok()),
        None => place(py)?.map(Arc::new),
    };
    // What was asked for before warnings were errors stays a warning.
    let may_raise = notice.origin.is_none() || policy & ERRORS != 0;
    for (kind, flag) in FLAGS.iter().enumerate() {
        let mode = mode(policy, kind);
        if notice.flags.contains(*flag) && mode > 0 {
            let at = place.as_ref().map(|place| (&place.code, &place.instruction, &place.globals));
            let report = slow::function(py, "report")?;
            report.call1((notice.operation, KINDS[kind], MODES[mode], at, may_raise))?;
        }
    }
    Ok(())
}
