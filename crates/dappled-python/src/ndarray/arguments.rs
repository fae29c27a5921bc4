//! Positional and keyword arguments of a call, matched with NumPy's parameter names.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};

use crate::interop::dtypes;

/// The result of a fast path; `None` if it does not apply and the general function must be called.
pub type Attempt<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// The arguments of a Python call.
pub struct CallArguments<'a, 'py> {
    pub args: &'a Bound<'py, PyTuple>,
    pub kwargs: Option<&'a Bound<'py, PyDict>>,
}

type NamedArguments<'py, const N: usize> = [Option<Bound<'py, PyAny>>; N];

impl<'py> CallArguments<'_, 'py> {
    /// Returns the arguments of these names; the first `positional` names may be given by position.
    ///
    /// Returns `None` for an unknown name or an argument that is given twice: such a call goes to
    /// the general function, where NumPy raises.
    pub fn by_name<const N: usize>(
        &self,
        names: [&str; N],
        positional: usize,
    ) -> PyResult<Option<NamedArguments<'py, N>>> {
        let mut arguments = [const { None }; N];
        if self.args.len() > positional {
            return Ok(None);
        }
        for (index, value) in self.args.iter().enumerate() {
            arguments[index] = Some(value);
        }
        for (name, value) in self.kwargs.into_iter().flatten() {
            let name = name.cast::<PyString>()?.to_str()?;
            let index = names.iter().position(|parameter| *parameter == name);
            match index.map(|index| &mut arguments[index]) {
                Some(empty @ None) => *empty = Some(value),
                _ => return Ok(None),
            }
        }
        Ok(Some(arguments))
    }

    /// Returns whether `dist=` is given, a keyword that NumPy does not have.
    pub fn has_dist(&self) -> PyResult<bool> {
        self.kwargs.map_or(Ok(false), |kwargs| kwargs.contains("dist"))
    }

    /// Returns whether all arguments are plain values, which contain no array.
    pub fn are_plain(&self) -> bool {
        let named = self.kwargs.into_iter().flatten().map(|(_, value)| value);
        self.args.iter().chain(named).all(|value| is_plain_value(&value))
    }
}

/// Returns whether an object is a number, string, dtype or None, which contain no array.
pub fn is_plain_value(object: &Bound<'_, PyAny>) -> bool {
    is_python_number(object)
        || object.is_none()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyType>()
        || dtypes::is_dtype(object)
}

/// Returns whether an object is exactly a Python float, int or bool.
pub fn is_python_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBool>()
}

/// Treats an argument that is `None` as absent.
pub fn not_none<'py>(argument: Option<Bound<'py, PyAny>>) -> Option<Bound<'py, PyAny>> {
    argument.filter(|argument| !argument.is_none())
}

/// Returns the value of an optional bool, false by default; `None` if it is anything but a bool.
pub fn parse_bool(argument: &Option<Bound<'_, PyAny>>) -> Option<bool> {
    match argument {
        None => Some(false),
        Some(argument) => argument.cast_exact::<PyBool>().ok().map(|argument| argument.is_true()),
    }
}
