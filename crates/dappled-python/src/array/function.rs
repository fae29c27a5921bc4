//! NumPy's functions on our arrays. The common case of each is done here, without a step in Python;
//! for all that is not common there is the general function, written in Python.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::call::Call;
use super::small::{Small, by_numpy};
use super::{choosing, creating, folding, shapes};

/// What does the common case of a function: given the call and NumPy's function; None if this is
/// not the common case.
pub type Common =
    for<'py> fn(&Call<'_, 'py>, &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>>;

const COMMON: [(&str, Common); 29] = [
    ("all", folding::all),
    ("amax", folding::max),
    ("amin", folding::min),
    ("any", folding::any),
    ("arange", creating::arange),
    ("array", creating::array),
    ("asarray", creating::asarray),
    ("clip", choosing::clip),
    ("empty", creating::zeros),
    ("empty_like", creating::zeros_like),
    ("eye", creating::eye),
    ("full", creating::full),
    ("identity", creating::eye),
    ("linspace", creating::by_numpy),
    ("max", folding::max),
    ("mean", folding::mean),
    ("min", folding::min),
    ("ones", creating::ones),
    ("ones_like", creating::ones_like),
    ("prod", folding::prod),
    ("ravel", shapes::ravel_of),
    ("reshape", shapes::reshape_of),
    ("std", folding::std),
    ("sum", folding::sum),
    ("transpose", shapes::transpose_of),
    ("var", folding::var),
    ("where", choosing::where_),
    ("zeros", creating::zeros),
    ("zeros_like", creating::zeros_like),
];

/// A function of NumPy's, on our arrays.
#[pyclass(frozen, dict, weakref, name = "function", module = "dappled")]
pub struct Function {
    common: Option<Common>,
    general: Py<PyAny>,
    numpy: Py<PyAny>,
    /// When NumPy's own does it, as arrays are small.
    small: Option<Small>,
    /// Is it a method where it is found in a class, as functions written in Python are?
    binds: bool,
}

#[pymethods]
impl Function {
    /// From the general function and NumPy's own, which may do it where arrays are small, as one of
    /// [`Small`] says. By name the one is found that does the common case.
    #[new]
    fn new(
        name: Option<&str>,
        general: Py<PyAny>,
        numpy: &Bound<'_, PyAny>,
        small: Option<&str>,
    ) -> PyResult<Self> {
        let small = small.and_then(Small::named);
        let common = COMMON.iter().find(|known| Some(known.0) == name).map(|known| known.1);
        let binds = numpy.get_type().hasattr(intern!(numpy.py(), "__get__"))?;
        Ok(Self { common, general, numpy: numpy.clone().unbind(), small, binds })
    }

    /// The functions that have a common case here.
    #[classattr]
    fn _names(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, COMMON.iter().map(|known| known.0))
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, call) = (args.py(), Call { args, kwargs });
        let numpy = self.numpy.bind(py);
        if let Some(common) = self.common
            && let Some(result) = common(&call, numpy)?
        {
            return Ok(result);
        }
        if let Some(small) = self.small
            && let Some(result) = by_numpy(small, &call, numpy)?
        {
            return Ok(result);
        }
        self.general.bind(py).call(args, kwargs)
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        object: &Bound<'py, PyAny>,
        _class: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().binds && !object.is_none() {
            true => method_type(slf.py())?.call1((slf, object)),
            false => Ok(slf.clone().into_any()),
        }
    }

    /// By its name.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.getattr(intern!(slf.py(), "__name__"))
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<String> {
        let name = slf.getattr(intern!(slf.py(), "__name__"))?.cast_into::<PyString>()?;
        Ok(format!("<function {name} at {:p}>", slf.as_ptr()))
    }
}

/// What binds a function to an object.
fn method_type(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import =
        || -> PyResult<Py<PyAny>> { Ok(py.import("types")?.getattr("MethodType")?.unbind()) };
    Ok(TYPE.get_or_try_init(py, import)?.bind(py))
}
