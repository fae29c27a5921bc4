//! NumPy's functions on Dappled's arrays.
//!
//! A call runs the function's fast path, or NumPy's own function if all arrays are small, or the
//! general function, which is written in Python.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::arguments::{CallArguments, is_plain_value, is_python_number};
use super::class::NdArray;
use super::operands::{is_numpy_array, is_numpy_scalar};
use super::{argminmax, creation, reductions, views, where_clip};
use crate::config::MAX_DISPATCH_NESTING;
use crate::interop::numpy_small::{NumPySizeLimit, call_numpy};
use crate::runtime::fallback;

/// The fast path of a function, called with its arguments and NumPy's function.
pub type FastPath =
    for<'py> fn(&CallArguments<'_, 'py>, &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>>;

const FAST_PATHS: [(&str, FastPath); 34] = [
    ("all", reductions::all),
    ("amax", reductions::max),
    ("amin", reductions::min),
    ("any", reductions::any),
    ("arange", creation::arange),
    ("argmax", argminmax::argmax),
    ("argmin", argminmax::argmin),
    ("array", creation::array),
    ("asarray", creation::asarray),
    ("clip", where_clip::clip),
    ("diag", views::diag),
    ("diagonal", views::diagonal),
    ("einsum", views::einsum),
    ("empty", creation::empty),
    ("empty_like", creation::empty_like),
    ("eye", creation::eye),
    ("full", creation::full),
    ("identity", creation::eye),
    ("linspace", creation::call_numpy),
    ("max", reductions::max),
    ("mean", reductions::mean),
    ("min", reductions::min),
    ("ones", creation::ones),
    ("ones_like", creation::ones_like),
    ("prod", reductions::prod),
    ("ravel", views::ravel),
    ("reshape", views::reshape),
    ("std", reductions::std),
    ("sum", reductions::sum),
    ("transpose", views::transpose),
    ("var", reductions::var),
    ("where", where_clip::where_),
    ("zeros", creation::zeros),
    ("zeros_like", creation::zeros_like),
];

/// A function with NumPy's name and signature.
#[pyclass(frozen, dict, weakref, name = "function", module = "dappled")]
pub struct NumPyFunction {
    fast_path: Option<FastPath>,
    general: Py<PyAny>,
    numpy: Py<PyAny>,
    /// The size up to which NumPy's own function is called.
    size_limit: Option<NumPySizeLimit>,
    /// Whether the function becomes a method as a class attribute, as Python functions do.
    is_method: bool,
    /// Whether objects may override it by `__array_function__`.
    dispatches: bool,
}

#[pymethods]
impl NumPyFunction {
    /// Creates a function from its general implementation and NumPy's function.
    ///
    /// `small` names the size limit for calls of NumPy's function (see [`NumPySizeLimit`]); `name`
    /// selects the fast path.
    #[new]
    fn new(
        name: Option<&str>,
        general: Py<PyAny>,
        numpy: &Bound<'_, PyAny>,
        small: Option<&str>,
    ) -> PyResult<Self> {
        let size_limit = small.and_then(NumPySizeLimit::from_name);
        let fast_path = FAST_PATHS.iter().find(|known| Some(known.0) == name).map(|known| known.1);
        let is_method = numpy.get_type().hasattr(intern!(numpy.py(), "__get__"))?;
        let dispatches = numpy.hasattr(intern!(numpy.py(), "_implementation"))?;
        Ok(Self {
            fast_path,
            general,
            numpy: numpy.clone().unbind(),
            size_limit,
            is_method,
            dispatches,
        })
    }

    /// The functions that have a fast path.
    #[classattr]
    fn _names(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, FAST_PATHS.iter().map(|known| known.0))
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, call) = (args.py(), CallArguments { args, kwargs });
        let numpy = self.numpy.bind(py);
        if let Some(fast_path) = self.fast_path
            && let Some(result) = fast_path(&call, numpy)?
        {
            return Ok(result);
        }
        if let Some(size_limit) = self.size_limit
            && let Some(result) = call_numpy(size_limit, &call, numpy)?
        {
            return Ok(result);
        }
        if self.dispatches && has_overrides(&call)? {
            return fallback::function(py, "call_with_overrides")?.call1((numpy, args, kwargs));
        }
        self.general.bind(py).call(args, kwargs)
    }

    /// The implementation that runs if no object overrides the function.
    #[getter]
    fn _general(&self, py: Python<'_>) -> Py<PyAny> {
        self.general.clone_ref(py)
    }

    /// Equal to NumPy's function, so that tables of `__array_function__` overrides find either.
    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        slf.is(other) || other.is(&slf.get().numpy)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.numpy.bind(py).hash()
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        object: &Bound<'py, PyAny>,
        _class: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().is_method && !object.is_none() {
            true => method_type(slf.py())?.call1((slf, object)),
            false => Ok(slf.clone().into_any()),
        }
    }

    /// Pickles by name.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.getattr(intern!(slf.py(), "__name__"))
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<String> {
        let name = slf.getattr(intern!(slf.py(), "__name__"))?.cast_into::<PyString>()?;
        Ok(format!("<function {name} at {:p}>", slf.as_ptr()))
    }
}

/// Returns whether an argument, or an item of a list argument, overrides NumPy's functions.
fn has_overrides(call: &CallArguments<'_, '_>) -> PyResult<bool> {
    let named = call.kwargs.into_iter().flatten().map(|(_, value)| value);
    for value in call.args.iter().chain(named) {
        if is_override(&value, MAX_DISPATCH_NESTING)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_override(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if is_plain_value(object) || object.is_exact_instance_of::<NdArray>() || is_numpy_array(object)?
    {
        return Ok(false);
    }
    if object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>() {
        return match depth {
            0 => Ok(false),
            _ => any_override(object, depth - 1),
        };
    }
    Ok(!is_numpy_scalar(object)?
        && fallback::function(object.py(), "overrides_functions")?.call1((object,))?.is_truthy()?)
}

fn any_override(items: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    for item in items.try_iter()? {
        let item = item?;
        if is_python_number(&item) {
            return Ok(false); // a list that starts with a number is assumed to have only numbers
        }
        if is_override(&item, depth)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `types.MethodType`.
fn method_type(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import =
        || -> PyResult<Py<PyAny>> { Ok(py.import("types")?.getattr("MethodType")?.unbind()) };
    Ok(TYPE.get_or_try_init(py, import)?.bind(py))
}
