//! NumPy's functions on our arrays. The common case of each is done here, without a step in Python;
//! for all that is not common there is the general function, written in Python.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::call::{Call, is_number, is_plain};
use super::class::NdArray;
use super::given::{is_generic, is_plain_array};
use super::small::{Small, by_numpy};
use super::{choosing, creating, folding, reducing, slow, viewing};

/// What does the common case of a function: given the call and NumPy's function; None if this is
/// not the common case.
pub type Common =
    for<'py> fn(&Call<'_, 'py>, &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>>;

const COMMON: [(&str, Common); 34] = [
    ("all", folding::all),
    ("amax", folding::max),
    ("amin", folding::min),
    ("any", folding::any),
    ("arange", creating::arange),
    ("argmax", reducing::argmax),
    ("argmin", reducing::argmin),
    ("array", creating::array),
    ("asarray", creating::asarray),
    ("clip", choosing::clip),
    ("diag", viewing::diag),
    ("diagonal", viewing::diagonal),
    ("einsum", viewing::einsum),
    ("empty", creating::empty),
    ("empty_like", creating::empty_like),
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
    ("ravel", viewing::ravel),
    ("reshape", viewing::reshape),
    ("std", folding::std),
    ("sum", folding::sum),
    ("transpose", viewing::transpose),
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
    /// Do objects have their say in it, as in NumPy's functions that are dispatched?
    asks: bool,
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
        let asks = numpy.hasattr(intern!(numpy.py(), "_implementation"))?;
        Ok(Self { common, general, numpy: numpy.clone().unbind(), small, binds, asks })
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
        if self.asks && has_others(&call)? {
            return slow::function(py, "asked")?.call1((numpy, args, kwargs));
        }
        self.general.bind(py).call(args, kwargs)
    }

    /// What is called when no object wants a say.
    #[getter]
    fn _general(&self, py: Python<'_>) -> Py<PyAny> {
        self.general.clone_ref(py)
    }

    /// As NumPy's own: a table of functions, as objects keep it that are asked, has it by either.
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

/// Are there objects among the arguments, or in lists of them, that NumPy would ask first?
fn has_others(call: &Call<'_, '_>) -> PyResult<bool> {
    let named = call.kwargs.into_iter().flatten().map(|(_, value)| value);
    for value in call.args.iter().chain(named) {
        if is_other(&value, DEPTH)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Lists inside lists deeper than this are not looked through.
const DEPTH: usize = 2;

fn is_other(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if is_plain(object) || object.is_exact_instance_of::<NdArray>() || is_plain_array(object)? {
        return Ok(false);
    }
    if object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>() {
        return match depth {
            0 => Ok(false),
            _ => any_other(object, depth - 1),
        };
    }
    Ok(!is_generic(object)?
        && slow::function(object.py(), "is_asked")?.call1((object,))?.is_truthy()?)
}

fn any_other(items: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    for item in items.try_iter()? {
        let item = item?;
        if is_number(&item) {
            return Ok(false); // and so are, as a rule, a million others
        }
        if is_other(&item, depth)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What binds a function to an object.
fn method_type(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import =
        || -> PyResult<Py<PyAny>> { Ok(py.import("types")?.getattr("MethodType")?.unbind()) };
    Ok(TYPE.get_or_try_init(py, import)?.bind(py))
}
