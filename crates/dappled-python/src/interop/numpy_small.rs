//! Direct calls of NumPy's functions on the memory of small arrays, on one rank.
//!
//! For small arrays the general function in Python takes longer than the computation. Direct calls
//! are made for functions that write none of their arguments and return none of them. Everything
//! unusual goes to the general function: other arguments, exceptions, results that are views.

use dappled::Array;
use numpy::PyUntypedArray;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyEllipsis, PyList, PySlice, PyString, PyTuple};

use super::buffer_export::export_to_numpy;
use super::numpy_arrays::wrap;
use super::overlap::disjoint;
use crate::config::{
    MAX_NUMPY_ELEMENTS, MAX_NUMPY_ELEMENTS_HIGH, MAX_NUMPY_ELEMENTS_LOW, MAX_NUMPY_NESTING,
    MAX_NUMPY_SEQUENCE_LENGTH,
};
use crate::ndarray::arguments::{Attempt, CallArguments, is_plain_value};
use crate::ndarray::class::NdArray;
use crate::ndarray::operands::is_numpy_scalar;
use crate::runtime::session::session;

/// The size of arrays up to which NumPy's own function is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NumPySizeLimit {
    /// Each array has at most `MAX_NUMPY_ELEMENTS`.
    Each,
    /// Each array has at most `MAX_NUMPY_ELEMENTS_LOW`.
    EachLow,
    /// Each array has at most `MAX_NUMPY_ELEMENTS_HIGH`.
    EachHigh,
    /// The product of all sizes is limited, as in `outer`; each size alone where elements are
    /// summed.
    Product,
    /// As `Each`, and the function writes its first argument.
    FirstWritten,
}

impl NumPySizeLimit {
    /// Returns the limit of a name that Python uses.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "each" => Some(Self::Each),
            "fewer" => Some(Self::EachLow),
            "longer" => Some(Self::EachHigh),
            "together" => Some(Self::Product),
            "written" => Some(Self::FirstWritten),
            _ => None,
        }
    }

    /// Returns the maximum number of elements; `default` is that of [`NumPySizeLimit::Each`].
    fn max_elements(self, default: usize) -> usize {
        match self {
            Self::Each | Self::FirstWritten => default,
            Self::EachLow => MAX_NUMPY_ELEMENTS_LOW.min(default),
            Self::EachHigh | Self::Product => MAX_NUMPY_ELEMENTS_HIGH,
        }
    }

    fn allows(self, call: &CallArguments<'_, '_>) -> bool {
        self != Self::Product || has_summed_subscripts(call) || {
            let sizes = call.args.iter().filter_map(|item| {
                Some(item.cast_exact::<NdArray>().ok()?.get().array()?.view().len())
            });
            sizes.fold(1, usize::saturating_mul) <= MAX_NUMPY_ELEMENTS_HIGH
        }
    }
}

/// Returns whether `einsum` sums over a subscript, so that its result is not larger than its
/// operands.
fn has_summed_subscripts(call: &CallArguments<'_, '_>) -> bool {
    let Ok(first) = call.args.get_item(0) else { return false };
    let Ok(subscripts) = first.cast_exact::<PyString>().map(|text| text.to_string()) else {
        return false;
    };
    let letters = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).collect();
    let (inputs, result) = subscripts.split_once("->").unwrap_or((&subscripts, ""));
    let (inputs, result): (Vec<char>, Vec<char>) = (letters(inputs), letters(result));
    // Without `->` the result has the letters that occur once.
    let occurrences = |letter: &char| inputs.iter().filter(|&other| other == letter).count();
    match subscripts.contains("->") {
        true => inputs.iter().any(|letter| !result.contains(letter)),
        false => inputs.iter().any(|letter| occurrences(letter) > 1),
    }
}

/// Calls NumPy's function; `None` if the call is not simple enough.
pub fn call_numpy<'py>(
    size_limit: NumPySizeLimit,
    call: &CallArguments<'_, 'py>,
    numpy: &Bound<'py, PyAny>,
) -> Attempt<'py> {
    let py = numpy.py();
    let Some(limit) = element_limit(py)?.filter(|_| size_limit.allows(call)) else {
        return Ok(None);
    };
    let limit = size_limit.max_elements(limit);
    let converted = call.args.iter().enumerate();
    let is_written = |at: usize| at == 0 && size_limit == NumPySizeLimit::FirstWritten;
    let converted = converted.map(|(at, item)| match is_written(at) {
        true => export_writeable(&item, limit),
        false => to_numpy_argument(&item, limit, MAX_NUMPY_NESTING),
    });
    let Some(args) = converted.map(Result::transpose).collect::<Option<PyResult<Vec<_>>>>() else {
        return Ok(None);
    };
    let mut args = args?;
    if size_limit == NumPySizeLimit::FirstWritten
        && let Some((target, others)) = args.split_first_mut()
    {
        for other in others {
            *other = disjoint(target, other.clone())?;
        }
    }
    if is_wrap_mode(call, numpy)? {
        return Ok(None);
    }
    let kwargs = call.kwargs.map(|_| PyDict::new(py));
    for (name, value) in call.kwargs.into_iter().flatten() {
        let Some(mut value) = to_numpy_argument(&value, limit, MAX_NUMPY_NESTING)? else {
            return Ok(None);
        };
        if size_limit == NumPySizeLimit::FirstWritten
            && let Some(target) = args.first()
        {
            value = disjoint(target, value)?;
        }
        kwargs.as_ref().map_or(Ok(()), |kwargs| kwargs.set_item(name, value))?;
    }
    adopt_result(py, numpy.call(PyTuple::new(py, args)?, kwargs.as_ref()))
}

/// Returns whether the call has `mode="wrap"`, which takes NumPy a step per length of the axis:
/// years for a large index.
fn is_wrap_mode(call: &CallArguments<'_, '_>, numpy: &Bound<'_, PyAny>) -> PyResult<bool> {
    let named = call.kwargs.map(|kwargs| kwargs.get_item("mode")).transpose()?.flatten();
    let is_wrap =
        |item: &Bound<'_, PyAny>| item.cast_exact::<PyString>().is_ok_and(|word| word == "wrap");
    let wraps = named.as_ref().is_some_and(is_wrap) || call.args.iter().any(|item| is_wrap(&item));
    Ok(wraps && numpy.getattr(intern!(numpy.py(), "__name__"))?.ne("pad")?)
}

/// Converts the result of NumPy's function; `None` if it raised.
fn adopt_result<'py>(py: Python<'py>, result: PyResult<Bound<'py, PyAny>>) -> Attempt<'py> {
    discard_exception(py, result)?
        .map_or(Ok(None), |result| adopt_object(result, MAX_NUMPY_NESTING))
}

/// Discards an exception: the general function raises it again.
fn discard_exception<T>(py: Python<'_>, result: PyResult<T>) -> PyResult<Option<T>> {
    match result {
        Ok(result) => Ok(Some(result)),
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(interrupt) => Err(interrupt),
    }
}

/// Selects from a small array; `None` if the result is a view.
pub fn get_item<'py>(own: &Bound<'py, NdArray>, key: &Bound<'py, PyAny>) -> Attempt<'py> {
    let py = own.py();
    let Some(limit) = element_limit(py)? else { return Ok(None) };
    let (Some(own), Some(key)) = (
        to_numpy_argument(own, limit, MAX_NUMPY_NESTING)?,
        to_numpy_argument(key, limit, MAX_NUMPY_NESTING)?,
    ) else {
        return Ok(None);
    };
    adopt_result(py, own.get_item(key))
}

/// Calls a method of NumPy's array on the memory of a small array.
pub fn call_numpy_method<'py>(
    own: &Bound<'py, NdArray>,
    name: &str,
    call: &CallArguments<'_, 'py>,
) -> Attempt<'py> {
    let Some(limit) = element_limit(own.py())? else { return Ok(None) };
    match to_numpy_argument(own, limit, MAX_NUMPY_NESTING)? {
        Some(own) => call_numpy(NumPySizeLimit::Each, call, &own.getattr(name)?),
        None => Ok(None),
    }
}

/// Returns the size of a small array; `None` on several ranks.
fn element_limit(py: Python<'_>) -> PyResult<Option<usize>> {
    let session = session(py)?;
    let limit = MAX_NUMPY_ELEMENTS.min(session.limits().eager_max);
    Ok((session.fabric().size() == 1 && limit > 0).then_some(limit))
}

/// Assigns to elements of a small array; returns false, without an effect, if the call is not
/// simple enough.
pub fn set_item<'py>(
    own: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<bool> {
    let py = own.py();
    let Some(limit) = element_limit(py)? else { return Ok(false) };
    let small = small_writeable(own, limit);
    let handed = (
        to_numpy_argument(key, limit, MAX_NUMPY_NESTING)?,
        to_numpy_argument(value, limit, MAX_NUMPY_NESTING)?,
    );
    let (Some(array), (Some(key), Some(value))) = (small, handed) else { return Ok(false) };
    let target = export_to_numpy(py, array, None, true)?;
    let (key, value) = (disjoint(&target, key)?, disjoint(&target, value)?);
    Ok(discard_exception(py, target.set_item(key, value))?.is_some())
}

/// Exports a small writeable array to NumPy.
fn export_writeable<'py>(object: &Bound<'py, PyAny>, limit: usize) -> Attempt<'py> {
    let Ok(own) = object.cast_exact::<NdArray>() else { return Ok(None) };
    small_writeable(own, limit)
        .map(|array| export_to_numpy(object.py(), array, None, true))
        .transpose()
}

/// Returns a small array whose memory NumPy can write; a distributed one would be exported as a
/// copy.
fn small_writeable<'a>(own: &'a Bound<'_, NdArray>, limit: usize) -> Option<&'a Array> {
    let array = own.get().array().filter(|_| own.get().is_writeable())?;
    (array.view().len() <= limit && array.is_replicated()).then_some(array)
}

/// Converts all items; `None` if one cannot be converted.
fn try_map_all<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    act: impl Fn(Bound<'py, PyAny>) -> Attempt<'py>,
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    items.map(|item| act(item).transpose()).collect::<Option<PyResult<_>>>().transpose()
}

/// Converts an argument for NumPy; `None` if it is not simple enough.
fn to_numpy_argument<'py>(object: &Bound<'py, PyAny>, limit: usize, depth: usize) -> Attempt<'py> {
    if let Ok(array) = object.cast_exact::<NdArray>() {
        let small = array.get().array().filter(|array| array.view().len() <= limit);
        return small.map(|array| export_to_numpy(object.py(), array, None, false)).transpose();
    }
    let selects =
        object.is_exact_instance_of::<PySlice>() || object.is_exact_instance_of::<PyEllipsis>();
    if is_plain_value(object) || selects || is_numpy_scalar(object)? {
        return Ok(Some(object.clone()));
    }
    if object.get_type().is(flatiter_class(object.py())?) {
        let base = to_numpy_argument(&object.getattr(intern!(object.py(), "base"))?, limit, depth)?;
        return base.map(|base| base.getattr(intern!(object.py(), "flat"))).transpose();
    }
    map_sequence(object, depth, |item| to_numpy_argument(&item, limit, depth - 1))
}

/// Returns the class of `a.flat`.
fn flatiter_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || py.import("dappled._ndarray.flatiter")?.getattr("flatiter").map(Bound::unbind);
    Ok(CLASS.get_or_try_init(py, import)?.bind(py))
}

/// Converts a result of NumPy; `None` if it is a view of an argument or an unknown object.
fn adopt_object(object: Bound<'_, PyAny>, depth: usize) -> Attempt<'_> {
    if let Ok(array) = object.cast_exact::<PyUntypedArray>() {
        return match result_memory(array)? {
            ResultMemory::Argument => Ok(None),
            memory => Ok(Some(wrap(array, memory == ResultMemory::Own)?.into_any())),
        };
    }
    if is_plain_value(&object)
        || object.is_exact_instance_of::<PyBytes>()
        || is_numpy_scalar(&object)?
    {
        return Ok(Some(object));
    }
    map_sequence(&object, depth, |item| adopt_object(item, depth - 1))
}

/// Converts the items of a list or tuple; `None` for any other object.
fn map_sequence<'py>(
    object: &Bound<'py, PyAny>,
    depth: usize,
    act: impl Fn(Bound<'py, PyAny>) -> Attempt<'py>,
) -> Attempt<'py> {
    if depth == 0 || object.len().map_or(true, |length| length > MAX_NUMPY_SEQUENCE_LENGTH) {
        return Ok(None);
    }
    let py = object.py();
    if let Ok(list) = object.cast_exact::<PyList>() {
        let items = try_map_all(list.iter(), act)?;
        return items.map(|items| Ok(PyList::new(py, items)?.into_any())).transpose();
    }
    let Ok(tuple) = object.cast::<PyTuple>() else { return Ok(None) };
    let Some(items) = try_map_all(tuple.iter(), act)? else { return Ok(None) };
    let items = PyTuple::new(py, items)?.into_any();
    if tuple.is_exact_instance_of::<PyTuple>() {
        return Ok(Some(items));
    }
    // A named tuple; the constructor of any other subclass is unknown.
    let make = object.get_type().getattr_opt(intern!(py, "_make"))?;
    make.map(|make| make.call1((items,))).transpose()
}

/// Returns whose memory an array that NumPy returned refers to.
fn result_memory(array: &Bound<'_, PyUntypedArray>) -> PyResult<ResultMemory> {
    let base = array.getattr(intern!(array.py(), "base"))?;
    if base.is_none() {
        return Ok(ResultMemory::Own);
    }
    let is_new = base.is_exact_instance_of::<PyUntypedArray>()
        && base.getattr(intern!(base.py(), "flags"))?.getattr("owndata")?.is_truthy()?;
    Ok(if is_new { ResultMemory::NumPy } else { ResultMemory::Argument })
}

#[derive(PartialEq, Eq)]
enum ResultMemory {
    Own,
    /// An array that NumPy has created: arguments are exported, so they do not own their memory.
    NumPy,
    Argument,
}
