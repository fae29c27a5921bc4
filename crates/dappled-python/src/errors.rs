//! Maps every Rust error to a Python exception.

use dappled::error::FileError;
use dappled::run::RunError;
use dappled::view::ViewError;
use dappled::{GraphError, divergence_hint, may_be_set_order};
use dappled_fabric::FabricError;
use dappled_protocol as protocol;
use dappled_protocol::exchange::{ExchangeError, LabelsError};
use dappled_protocol::slice::KeyError;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyIndexError, PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyTypeError,
    PyValueError,
};
use pyo3::prelude::*;

use crate::runtime::session::existing_session;

create_exception!(
    dappled._core,
    LocalContextError,
    PyRuntimeError,
    "A collective operation was requested inside `dappled.local()`."
);

create_exception!(
    dappled.protocol,
    ProtocolError,
    PyValueError,
    "An object breaks a rule of the protocol.

`rule` is the id of the rule (see `rules()`), `dimension` and `rank` locate the violation (None if
it has no particular place), `key` names the dictionary's key or the argument, `value` is the
offending value as text, and `expected` describes a valid one.

>>> from dappled import protocol
>>> try:
...     protocol.Distribution((5, 9), 'bx')
... except protocol.ProtocolError as error:
...     print(error)
...     print(error.rule, error.dimension, error.key)
L06: dimension 1, 'dist': got 'x', expected one of 'b', 'c', 'u', 'n'
L06 1 dist
"
);

/// The error for a broken invariant of Dappled itself, which a user can only report.
#[cold]
pub fn internal_error(text: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "internal error of dappled: {text}. Please report it with a program that reproduces it."
    ))
}

/// Converts a Rust error to the Python exception that NumPy would raise.
pub trait Raise {
    fn raise(self) -> PyErr;
}

impl Raise for protocol::ProtocolError {
    fn raise(self) -> PyErr {
        Python::attach(|py| {
            let error = ProtocolError::new_err(self.to_string());
            match set_attributes(error.value(py), &self) {
                Ok(()) => error,
                Err(other) => other,
            }
        })
    }
}

fn set_attributes(object: &Bound<'_, PyAny>, error: &protocol::ProtocolError) -> PyResult<()> {
    object.setattr("rule", error.rule.id)?;
    object.setattr("dimension", error.dimension)?;
    object.setattr("rank", error.rank)?;
    object.setattr("key", &error.key)?;
    object.setattr("value", &error.value)?;
    object.setattr("expected", &error.expected)
}

/// A step of 0 raises `ValueError`, any other invalid key `IndexError`, as in NumPy.
impl Raise for KeyError {
    fn raise(self) -> PyErr {
        match self {
            KeyError::ZeroStep => PyValueError::new_err(self.to_string()),
            _ => PyIndexError::new_err(self.to_string()),
        }
    }
}

impl Raise for ExchangeError {
    fn raise(self) -> PyErr {
        PyValueError::new_err(self.to_string())
    }
}

impl Raise for LabelsError {
    fn raise(self) -> PyErr {
        PyValueError::new_err(self.to_string())
    }
}

/// Raises the class that NumPy raises; errors that no program should cause are internal errors.
impl Raise for GraphError {
    fn raise(self) -> PyErr {
        let text = self.to_string();
        match self {
            GraphError::View(ViewError::Key(error)) => error.raise(),
            GraphError::View(ViewError::Axis { axis, ndim }) => axis_error(axis, ndim, None),
            GraphError::View(ViewError::IndexBroadcast(_)) | GraphError::MaskShape { .. } => {
                PyIndexError::new_err(text)
            }
            GraphError::View(_)
            | GraphError::ValueShape { .. }
            | GraphError::MaskValueCount { .. }
            | GraphError::AssignmentShape { .. }
            | GraphError::MatmulDimensions { .. }
            | GraphError::MatmulShapes { .. }
            | GraphError::ViewHasNoPiece { .. }
            | GraphError::NegativeBin
            | GraphError::Distribution { .. } => PyValueError::new_err(text),
            GraphError::IntegerOutOfBounds { .. } => PyOverflowError::new_err(text),
            GraphError::Linalg(_) => linalg_error(text),
            GraphError::NoLoop { .. } | GraphError::MaskValueDimensions { .. } => {
                PyTypeError::new_err(text)
            }
            GraphError::InsideLocal(_) => LocalContextError::new_err(text),
            GraphError::Forked(_) | GraphError::WrongThread { .. } => PyRuntimeError::new_err(text),
            GraphError::Npy(_) => PyValueError::new_err(text),
            GraphError::File(error) => file_error(error),
            GraphError::Run(RunError::Fabric(error)) => error.raise(),
            _ => internal_error(&text),
        }
    }
}

/// The `OSError` of a file operation: Python chooses the subclass by the error code.
fn file_error(error: FileError) -> PyErr {
    let Some(code) = error.code else { return PyOSError::new_err(error.to_string()) };
    let text = Python::attach(|py| {
        py.import("os").and_then(|os| os.call_method1("strerror", (code,))?.extract::<String>())
    });
    PyOSError::new_err((code, text.unwrap_or(error.message), error.path))
}

/// Marks errors that every rank raises, so that only the ranks concerned print them.
impl Raise for FabricError {
    fn raise(self) -> PyErr {
        if self.is_out_of_memory() {
            return PyMemoryError::new_err(self.to_string());
        }
        let error = PyRuntimeError::new_err(with_source_lines(&self));
        let rank = existing_session().map(|session| session.fabric().rank());
        let is_concerned = |ranks: &[u64]| rank.is_none_or(|rank| ranks.contains(&rank));
        if !self.reporting_ranks().is_none_or(is_concerned) {
            // Setting an attribute of a RuntimeError cannot fail.
            let _ = Python::attach(|py| error.value(py).setattr("_told_by_others", true));
        }
        error
    }
}

/// Adds the source lines of the call sites that an error between ranks names, and likely causes.
fn with_source_lines(error: &FabricError) -> String {
    let mut text = String::new();
    for line in error.to_string().lines() {
        text += line;
        text += "\n";
        if let Some(source) = source_line(line) {
            text += &format!("      {source}\n");
        }
    }
    if let Some(hint) = divergence_hint(error) {
        text += &format!("({hint})\n");
    }
    if may_be_set_order(error) && std::env::var_os("PYTHONHASHSEED").is_none() {
        text +=
            "(PYTHONHASHSEED is not set: the order of a set of strings differs between ranks)\n";
    }
    text.trim_end().to_string()
}

/// Returns the source line that a text names at its end, as `… at file:number`.
fn source_line(text: &str) -> Option<String> {
    let (_, location) = text.rsplit_once(" at ")?;
    let (file, number) = location.rsplit_once(':')?;
    let number: usize = number.parse().ok()?;
    let line =
        std::fs::read_to_string(file).ok()?.lines().nth(number.checked_sub(1)?)?.trim().to_string();
    (!line.is_empty()).then_some(line)
}

/// Builds NumPy's `LinAlgError`.
fn linalg_error(text: String) -> PyErr {
    Python::attach(|py| {
        let make = || -> PyResult<Bound<'_, PyAny>> {
            py.import("numpy.linalg")?.getattr("LinAlgError")?.call1((text,))
        };
        make().map_or_else(|error| error, PyErr::from_value)
    })
}

/// Builds NumPy's `AxisError`. `name` is the name of the argument, where NumPy's message has one.
pub fn axis_error(axis: i64, ndim: usize, name: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let make = || -> PyResult<Bound<'_, PyAny>> {
            py.import("numpy.exceptions")?.getattr("AxisError")?.call1((axis, ndim, name))
        };
        make().map_or_else(|error| error, PyErr::from_value)
    })
}
