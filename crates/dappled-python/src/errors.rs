//! The one table from our errors to Python's.

use dappled::graph::{GraphError, hint, may_be_order};
use dappled::run::RunError;
use dappled::view::ViewError;
use dappled_fabric::FabricError;
use dappled_protocol as protocol;
use dappled_protocol::exchange::{ExchangeError, LabelsError};
use dappled_protocol::slice::KeyError;
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::begun;

create_exception!(
    dappled.protocol,
    ProtocolError,
    PyValueError,
    "A rule of the protocol does not hold.

`rule` is its id (look it up with `rules()`), `dimension` and `rank` say where (None where it is
no one's in particular), `key` names the dictionary's key or the argument, `value` is what was
found, as text, and `expected` says what would have been right.

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

/// An error of ours as Python knows it.
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

/// NumPy's classes: a step of 0 is a ValueError, all else an IndexError.
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

/// NumPy's class for each; what is our own fault asks for a report.
impl Raise for GraphError {
    fn raise(self) -> PyErr {
        let text = self.to_string();
        match self {
            GraphError::View(ViewError::Key(error)) => error.raise(),
            GraphError::View(ViewError::Axis { axis, ndim }) => axis_error(axis, ndim, None),
            GraphError::View(_)
            | GraphError::Assigned { .. }
            | GraphError::Piece { .. }
            | GraphError::Distribution { .. } => PyValueError::new_err(text),
            GraphError::NoLoop { .. } => PyTypeError::new_err(text),
            GraphError::Local(_) | GraphError::Forked(_) | GraphError::Thread { .. } => {
                PyRuntimeError::new_err(text)
            }
            GraphError::Run(RunError::Fabric(error)) => error.raise(),
            _ => PyRuntimeError::new_err(format!(
                "{text}. This is a bug of dappled's: please report it with the program that shows it."
            )),
        }
    }
}

/// What all ranks know is printed by those that it is about.
impl Raise for FabricError {
    fn raise(self) -> PyErr {
        if self.is_memory() {
            return PyMemoryError::new_err(self.to_string());
        }
        let error = PyRuntimeError::new_err(explained(&self));
        let rank = begun().map(|session| session.fabric().rank());
        let speaks = |speakers: &[u64]| rank.is_none_or(|rank| speakers.contains(&rank));
        if !self.speakers().is_none_or(speaks) {
            // An attribute of a RuntimeError can be set.
            let _ = Python::attach(|py| error.value(py).setattr("_told_by_others", true));
        }
        error
    }
}

/// An error between ranks with the lines of the program that it names, and what may be the reason.
fn explained(error: &FabricError) -> String {
    let mut text = String::new();
    for line in error.to_string().lines() {
        text += line;
        text += "\n";
        if let Some(source) = source_of(line) {
            text += &format!("      {source}\n");
        }
    }
    if let Some(hint) = hint(error) {
        text += &format!("({hint})\n");
    }
    if may_be_order(error) && std::env::var_os("PYTHONHASHSEED").is_none() {
        text += "(PYTHONHASHSEED is not set: sets of strings have another order on every rank)\n";
    }
    text.trim_end().to_string()
}

/// The line of the program that a text ends with, as `… at file:number`.
fn source_of(text: &str) -> Option<String> {
    let (_, place) = text.rsplit_once(" at ")?;
    let (file, number) = place.rsplit_once(':')?;
    let number: usize = number.parse().ok()?;
    let line =
        std::fs::read_to_string(file).ok()?.lines().nth(number.checked_sub(1)?)?.trim().to_string();
    (!line.is_empty()).then_some(line)
}

/// NumPy's AxisError; `name` is the argument's, where NumPy says it.
pub fn axis_error(axis: i64, ndim: usize, name: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let make = || -> PyResult<Bound<'_, PyAny>> {
            py.import("numpy.exceptions")?.getattr("AxisError")?.call1((axis, ndim, name))
        };
        make().map_or_else(|error| error, PyErr::from_value)
    })
}
