//! The arguments of a call, by the names that NumPy gives them.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};

use super::dtypes;

/// What a function was called with.
pub struct Call<'a, 'py> {
    pub args: &'a Bound<'py, PyTuple>,
    pub kwargs: Option<&'a Bound<'py, PyDict>>,
}

type Named<'py, const N: usize> = [Option<Bound<'py, PyAny>>; N];

impl<'py> Call<'_, 'py> {
    /// The arguments of these names, of which so many may come by their place. None if there are
    /// others, or one twice: then it is not the common case, or NumPy has words for it.
    pub fn named<const N: usize>(
        &self,
        names: [&str; N],
        by_place: usize,
    ) -> PyResult<Option<Named<'py, N>>> {
        let mut found = [const { None }; N];
        if self.args.len() > by_place {
            return Ok(None);
        }
        for (place, value) in self.args.iter().enumerate() {
            found[place] = Some(value);
        }
        for (name, value) in self.kwargs.into_iter().flatten() {
            let name = name.cast::<PyString>()?.to_str()?;
            let place = names.iter().position(|known| *known == name);
            match place.map(|place| &mut found[place]) {
                Some(empty @ None) => *empty = Some(value),
                _ => return Ok(None),
            }
        }
        Ok(Some(found))
    }

    /// Does it say where the result is to lie, by `dist=`, which NumPy does not know?
    pub fn says_where(&self) -> PyResult<bool> {
        self.kwargs.map_or(Ok(false), |kwargs| kwargs.contains("dist"))
    }

    /// Are all arguments numbers, strings and dtypes, in which no array can be?
    pub fn is_plain(&self) -> bool {
        let named = self.kwargs.into_iter().flatten().map(|(_, value)| value);
        self.args.iter().chain(named).all(|value| is_plain(&value))
    }
}

/// Is it a number, a string or a dtype, in which no array can be?
pub fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    is_number(object)
        || object.is_none()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyType>()
        || dtypes::is_dtype(object)
}

/// Is it a number of Python's own?
pub fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBool>()
}

/// An argument that may be None, which is as good as nothing.
pub fn unless_none<'py>(given: Option<Bound<'py, PyAny>>) -> Option<Bound<'py, PyAny>> {
    given.filter(|given| !given.is_none())
}

/// An argument that is true or false, as it should be; the outer None if it is not.
pub fn truth(given: &Option<Bound<'_, PyAny>>) -> Option<bool> {
    match given {
        None => Some(false),
        Some(given) => given.cast_exact::<PyBool>().ok().map(|given| given.is_true()),
    }
}
