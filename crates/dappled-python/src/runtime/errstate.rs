//! Floating-point warnings: errstate, warning filters, and the call sites that are reported.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use dappled::{FpWarning, RequestContext};
use dappled_kernels::FpFlags;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};

use super::contextvar::contextvar_value;
use super::fallback;
use super::frames::running_frame;
use super::session::session;

/// A call site in the user's program. The line number is looked up only when a warning needs it.
///
/// A deferred operation keeps its call site, and its result is usually a variable of the namespace
/// of that site. A reference to the namespace would be a cycle that the garbage collector cannot
/// see, so the site keeps only its address, by which `dappled._dispatch.errstate` finds it.
pub struct PyCallSite {
    module: Option<Py<PyAny>>,
    globals_address: usize,
    code: Py<PyAny>,
    instruction: Py<PyAny>,
}

impl PyCallSite {
    /// Creates the site of an instruction of `code`, run with these globals.
    pub fn new(
        globals: &Bound<'_, PyAny>,
        code: &Bound<'_, PyAny>,
        instruction: Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let module = module_name(globals)?.map(|name| name.into_any().unbind());
        let (scope, code) = (globals.as_ptr().addr(), code.clone().unbind());
        Ok(Self { module, globals_address: scope, code, instruction: instruction.unbind() })
    }
}

/// Kinds of `numpy.errstate` in its order. A policy has three bits for each.
const ERROR_KINDS: [&str; 4] = ["divide", "over", "under", "invalid"];
/// Modes of `numpy.errstate` by number. From `raise` on an operation must be evaluated eagerly.
const ERROR_MODES: [&str; 6] = ["ignore", "warn", "raise", "call", "print", "log"];
const ERROR_FLAGS: [FpFlags; 4] =
    [FpFlags::DIVIDE, FpFlags::OVERFLOW, FpFlags::UNDERFLOW, FpFlags::INVALID];

/// Bit of a policy: a warning becomes an error or is recorded, so operations that may warn must be
/// evaluated eagerly.
const WARNINGS_MATTER: u32 = 1 << (3 * ERROR_KINDS.len());

/// Returns the origin of an operation that is requested now.
pub fn current_origin(py: Python<'_>) -> PyResult<Arc<RequestContext>> {
    let site = current_call_site(py)?.map(|site| Arc::new(site) as Arc<dyn Any + Send + Sync>);
    Ok(Arc::new(RequestContext { errstate: policy(py)?, call_site: site }))
}

/// Returns whether a policy requires eager evaluation.
pub fn requires_eager(policy: u32) -> bool {
    let quiet = if policy & WARNINGS_MATTER == 0 { 1 } else { 0 };
    (0..ERROR_KINDS.len()).any(|kind| mode(policy, kind) > quiet)
}

/// Returns whether all ranks must know the floating-point flags of an operation that runs now.
pub fn must_share_warnings(py: Python<'_>) -> PyResult<bool> {
    Ok(session(py)?.fabric().size() > 1 && requires_eager(policy(py)?))
}

fn mode(policy: u32, kind: usize) -> usize {
    (policy >> (3 * kind) & 7) as usize
}

/// Addresses of the objects that decide the policy, when it last did not require eager evaluation.
/// The caches below keep the objects alive, so that an address is not reused unnoticed.
static QUIET_STATE: Mutex<[usize; 4]> = Mutex::new([0; 4]);

/// Returns whether the current policy requires eager evaluation; cheaper than [`policy`].
pub fn requires_eager_now(py: Python<'_>) -> PyResult<bool> {
    let addresses = state_addresses(py)?;
    if *QUIET_STATE.lock().unwrap_or_else(PoisonError::into_inner) == addresses {
        return Ok(false);
    }
    let must = requires_eager(policy(py)?);
    *QUIET_STATE.lock().unwrap_or_else(PoisonError::into_inner) =
        if must { [0; 4] } else { addresses };
    Ok(must)
}

fn state_addresses(py: Python<'_>) -> PyResult<[usize; 4]> {
    let (state, filters) = (errstate_object(py)?, warning_filters(py)?);
    let address = |object: &Bound<'_, PyAny>| object.as_ptr().addr();
    let first = filters.as_ref().and_then(|filters| filters.get_item(0).ok());
    let filters = filters.map_or([0; 2], |filters| [address(filters.as_any()), filters.len()]);
    Ok([address(&state), filters[0], filters[1], first.as_ref().map_or(0, address)])
}

/// Returns the current policy.
pub fn policy(py: Python<'_>) -> PyResult<u32> {
    let errors = if warnings_matter(py)? { WARNINGS_MATTER } else { 0 };
    Ok(errstate_policy(py)? | errors)
}

/// The warning filters as last seen, and whether they turn a RuntimeWarning into an error.
struct FilterSnapshot {
    filters: Py<PyList>,
    len: usize,
    first: Option<Py<PyAny>>,
    errors: bool,
}

/// Returns whether Python's filters turn a RuntimeWarning into an error, or record it.
///
/// Python changes the list of filters at either end, or replaces it, as `catch_warnings` does.
fn warnings_matter(py: Python<'_>) -> PyResult<bool> {
    static LAST: Mutex<Option<FilterSnapshot>> = Mutex::new(None);
    let Some(filters) = warning_filters(py)? else { return Ok(false) };
    let (len, first) = (filters.len(), filters.get_item(0).ok());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(snapshot) = &*last
        && snapshot.filters.is(&filters)
        && snapshot.len == len
        && snapshot.first.as_ref().map(Py::as_ptr) == first.as_ref().map(Bound::as_ptr)
    {
        return Ok(snapshot.errors);
    }
    drop(last.take());
    drop(last);
    *QUIET_STATE.lock().unwrap_or_else(PoisonError::into_inner) = [0; 4];
    let errors = fallback::function(py, "are_warnings_observable")?.call0()?.extract()?;
    let now =
        FilterSnapshot { filters: filters.unbind(), len, first: first.map(Bound::unbind), errors };
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    Ok(errors)
}

fn warning_filters(py: Python<'_>) -> PyResult<Option<Bound<'_, PyList>>> {
    static MODULE: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let import = || PyResult::Ok(py.import("warnings")?.dict().unbind());
    let module = MODULE.get_or_try_init(py, import)?.bind(py);
    let filters = module.get_item(intern!(py, "filters"))?;
    Ok(filters.and_then(|filters| filters.cast_into::<PyList>().ok()))
}

/// Returns the policy of `numpy.geterr()`.
///
/// Cached by the object in NumPy's context variable, which NumPy replaces with every change.
fn errstate_policy(py: Python<'_>) -> PyResult<u32> {
    static LAST: Mutex<Option<(Py<PyAny>, u32)>> = Mutex::new(None);
    let now = errstate_object(py)?;
    if let Some((state, policy)) = &*LAST.lock().unwrap_or_else(PoisonError::into_inner)
        && state.is(&now)
    {
        return Ok(*policy);
    }
    *QUIET_STATE.lock().unwrap_or_else(PoisonError::into_inner) = [0; 4];
    let policy = read_policy(py)?;
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some((now.unbind(), policy));
    Ok(policy)
}

fn errstate_object(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static VARIABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || -> PyResult<Py<PyAny>> {
        Ok(py.import("numpy._core.umath")?.getattr("_extobj_contextvar")?.unbind())
    };
    contextvar_value(VARIABLE.get_or_try_init(py, import)?.bind(py))
}

fn read_policy(py: Python<'_>) -> PyResult<u32> {
    let errstate = py.import("numpy")?.call_method0("geterr")?;
    let mut policy = 0;
    for (kind, name) in ERROR_KINDS.iter().enumerate() {
        let mode: String = errstate.get_item(name)?.extract()?;
        let number = ERROR_MODES.iter().position(|known| *known == mode).unwrap_or(1);
        policy |= (number as u32) << (3 * kind);
    }
    Ok(policy)
}

/// Returns the call site in the innermost frame of the user's code.
fn current_call_site(py: Python<'_>) -> PyResult<Option<PyCallSite>> {
    let mut frame = running_frame(py);
    while let Some(current) = frame {
        let globals = current.getattr(intern!(py, "f_globals"))?;
        if !is_library_module(&globals)? {
            let code = current.getattr(intern!(py, "f_code"))?;
            let instruction = current.getattr(intern!(py, "f_lasti"))?;
            return PyCallSite::new(&globals, &code, instruction).map(Some);
        }
        let back = current.getattr(intern!(py, "f_back"))?;
        frame = (!back.is_none()).then_some(back);
    }
    Ok(None)
}

/// Returns whether globals belong to a module of Dappled or NumPy.
pub fn is_library_module(globals: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(name) = module_name(globals)? else { return Ok(false) };
    let name = name.to_str()?;
    Ok(["dappled", "numpy"].iter().any(|package| {
        name.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }))
}

/// Returns the `__name__` of a namespace.
fn module_name<'py>(globals: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
    let Ok(globals) = globals.cast::<PyDict>() else { return Ok(None) };
    let name = globals.get_item(intern!(globals.py(), "__name__"))?;
    Ok(name.and_then(|name| name.cast_into::<PyString>().ok()))
}

/// Raises, warns or calls as each operation's policy demands.
pub fn report_warnings(py: Python<'_>, notices: Vec<FpWarning>) -> PyResult<()> {
    for notice in notices {
        if notice.flags.contains(FpFlags::NEGATIVE_POWER) {
            let message = "Integers to negative integer powers are not allowed.";
            return Err(PyValueError::new_err(message));
        }
        report_flags(py, &notice)?;
    }
    Ok(())
}

fn report_flags(py: Python<'_>, notice: &FpWarning) -> PyResult<()> {
    let policy = match &notice.origin {
        Some(origin) => origin.errstate,
        None => policy(py)?,
    };
    let site = match &notice.origin {
        Some(origin) => {
            origin.call_site.clone().and_then(|site| site.downcast::<PyCallSite>().ok())
        }
        None => current_call_site(py)?.map(Arc::new),
    };
    // An operation that was requested before warnings became errors only warns.
    let may_raise = notice.origin.is_none() || policy & WARNINGS_MATTER != 0;
    for (kind, flag) in ERROR_FLAGS.iter().enumerate() {
        let mode = mode(policy, kind);
        if notice.flags.contains(*flag) && mode > 0 {
            let at = site
                .as_ref()
                .map(|site| (&site.code, &site.instruction, &site.module, site.globals_address));
            let report = fallback::function(py, "report_floating_point_error")?;
            report.call1((
                notice.operation,
                ERROR_KINDS[kind],
                ERROR_MODES[mode],
                at,
                may_raise,
            ))?;
        }
    }
    Ok(())
}
