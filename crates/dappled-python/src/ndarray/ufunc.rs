//! Element-wise operations on operands of any type: operators, ufuncs, `out=`.

use dappled::{
    Array, EagerSource, GraphError, OpRequest, OtherOperand, UfuncOperand, eager_in_place,
    eager_into, may_defer, may_raise, native_loop, ufunc_in_place_with_loop, ufunc_with_loop,
};
use dappled_kernels::{Casting, DTypeKind, Op, can_cast};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use super::arguments::{CallArguments, is_python_number};
use super::class::{NdArray, to_result};
use super::creation::adopt_new;
use super::fast_path::{fast_operands, fast_path, second_operand};
use super::operands::{NativeOperand, is_numpy_scalar, native_operand};
use super::temporary_elision::elided_operand;
use crate::interop::buffer_export::export_to_numpy;
use crate::interop::numpy_small;
use crate::interop::numpy_small::NumPySizeLimit;
use crate::runtime::errstate::{current_origin, requires_eager};
use crate::runtime::fallback;
use crate::runtime::lock::{run_attached, run_locked};
use crate::runtime::session::session;

/// The operands of an operation: at most three.
type OperandVec<T> = smallvec::SmallVec<[T; 3]>;

/// Applies an operator; NumPy computes it if an operand or the loop is not native.
pub fn apply<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    match fast_path(py, op, objects)? {
        Some(result) => Ok(result),
        None => apply_general(py, op, objects),
    }
}

/// Applies an operator to which [`fast_path`] does not apply.
pub fn apply_general<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    match request_ufunc(py, op, objects, elided_operand(op, objects))? {
        Some(result) => Ok(result),
        None => fallback::ufunc(py, op.numpy_name(), objects),
    }
}

/// Computes an operation of native arrays and numbers into `out`.
fn fast_path_into<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
    out: &Bound<'py, NdArray>,
) -> PyResult<bool> {
    let Some(target) = out.get().array().filter(|_| out.get().is_writeable()) else {
        return Ok(false);
    };
    if let Some((array, other)) = fast_operands(op, objects)
        && run_attached(py, || eager_into(op, target, array, other))?
    {
        return Ok(true);
    }
    // NumPy's bits depend on the memory that is written: see `graph::complex_fma` in the core.
    match uses_complex_fma(op) && objects.iter().any(|object| is_complex(object)) {
        true => match native_operands(objects)? {
            Some(arguments) => write_result(py, op, target, &arguments),
            None => Ok(false),
        },
        false => Ok(false),
    }
}

fn uses_complex_fma(op: Op) -> bool {
    matches!(op, Op::Multiply | Op::Square | Op::Absolute)
}

fn is_complex(object: &Bound<'_, PyAny>) -> bool {
    native_array(object).is_some_and(|array| array.dtype().kind() == DTypeKind::Complex)
}

fn native_array<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Array> {
    object.cast_exact::<NdArray>().ok()?.get().array()
}

/// Computes an operation; `None` if an operand or the loop is not native.
pub fn try_native<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match fast_path(py, op, objects)? {
        Some(result) => Ok(Some(result)),
        None => request_ufunc(py, op, objects, None),
    }
}

/// Converts all operands; `None` if one is not native.
fn native_operands<'a>(
    objects: &[&'a Bound<'_, PyAny>],
) -> PyResult<Option<OperandVec<NativeOperand<'a>>>> {
    objects.iter().map(|object| native_operand(object)).collect()
}

/// Requests an operation; `None` if an operand or the loop is not native.
///
/// The result has the strides of the elided operand.
fn request_ufunc<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
    elided: Option<u8>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(arguments) = native_operands(objects)? else { return Ok(None) };
    let operands: OperandVec<_> = arguments.iter().map(NativeOperand::to_core).collect();
    let dtype = native_loop(op, &operands).filter(|_| has_array(&operands));
    let Some(dtype) = dtype else { return Ok(None) };
    let session = session(py)?;
    let ask = |request| ufunc_with_loop(session, OpRequest { elided, ..request }, dtype, &operands);
    let array = submit(py, op, max_elements(&operands), ask)?;
    to_result(py, array).map(Some)
}

/// Submits an operation with `size` elements.
pub fn submit(
    py: Python<'_>,
    op: Op,
    size: usize,
    ask: impl FnOnce(OpRequest) -> Result<Array, GraphError> + Send,
) -> PyResult<Array> {
    let request = new_request(py, op, size)?;
    run_locked(py, size, || ask(request))
}

/// Creates a request, with its call site and errstate if the operation may be deferred.
fn new_request(py: Python<'_>, op: Op, size: usize) -> PyResult<OpRequest> {
    if !may_defer(session(py)?, size) {
        return Ok(op.into());
    }
    let origin = current_origin(py)?;
    let is_strict = requires_eager(origin.errstate);
    Ok(OpRequest { context: Some(origin), is_strict, ..op.into() })
}

/// Returns an upper bound of the elements of an operation. A distributed operand counts as
/// unlimited, as the operation may wait for other ranks.
fn max_elements(operands: &[UfuncOperand<'_>]) -> usize {
    let mut shape: &[usize] = &[];
    let mut size = 1;
    for operand in operands {
        let UfuncOperand::Array(array) = operand else { continue };
        if !array.is_replicated() {
            return usize::MAX;
        }
        size = match shape.is_empty() || shape == array.shape() {
            true => array.view().len().max(size),
            false => size.saturating_mul(array.view().len()),
        };
        shape = array.shape();
    }
    size
}

fn has_array(operands: &[UfuncOperand<'_>]) -> bool {
    operands.iter().any(|operand| matches!(operand, UfuncOperand::Array(_)))
}

/// Computes `own op= other`, or a unary operation in place; false if NumPy must do it or raise.
pub fn update_in_place<'py>(
    py: Python<'py>,
    op: Op,
    own: &NdArray,
    other: Option<&Bound<'py, PyAny>>,
) -> PyResult<bool> {
    let Some(target) = own.array() else { return Ok(false) };
    let after = |other| second_operand(op, EagerSource::Array(target), other);
    let operand = other.map_or(Some(OtherOperand::None), after);
    if let Some(operand) = operand
        && run_attached(py, || eager_in_place(op, target, operand))?
    {
        return Ok(true);
    }
    let mut arguments: OperandVec<_> = [NativeOperand::Array(target)].into_iter().collect();
    if let Some(other) = other {
        let Some(other) = native_operand(other)? else { return Ok(false) };
        arguments.push(other);
    }
    write_result(py, op, target, &arguments)
}

/// Writes the result of a native operation over an array, if its dtype allows.
fn write_result(
    py: Python<'_>,
    op: Op,
    target: &Array,
    arguments: &[NativeOperand<'_>],
) -> PyResult<bool> {
    let operands: OperandVec<_> = arguments.iter().map(NativeOperand::to_core).collect();
    let Some(dtype) = native_loop(op, &operands) else { return Ok(false) };
    let fits = operands.iter().all(|operand| match operand {
        UfuncOperand::Array(array) => array.view().broadcast(target.shape()).is_some(),
        _ => true,
    });
    if !fits || !can_cast(op.result(dtype), target.dtype(), Casting::SameKind) {
        return Ok(false);
    }
    let size = max_elements(&operands);
    let request = new_request(py, op, size)?;
    // An operation that may raise for some values does so before anything is written.
    if may_raise(op, dtype) {
        let session = session(py)?;
        let result = run_locked(py, size, || ufunc_with_loop(session, request, dtype, &operands))?;
        run_locked(py, size, || target.assign(&result))?;
        return Ok(true);
    }
    run_locked(py, size, || ufunc_in_place_with_loop(target, request, dtype, &operands))?;
    Ok(true)
}

/// Calls NumPy's ufunc on numbers and arrays on one rank; `None` for other operands or several
/// ranks.
pub fn call_numpy_ufunc<'py>(
    ufunc: &Bound<'py, PyAny>,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = ufunc.py();
    if session(py)?.fabric().size() > 1 {
        return Ok(None);
    }
    let mut arguments: OperandVec<Bound<'py, PyAny>> = OperandVec::new();
    for object in objects {
        match (native_array(object), is_python_number(object)) {
            (Some(array), _) => arguments.push(export_to_numpy(py, array, None, false)?),
            (None, true) => arguments.push((*object).clone()),
            (None, false) => return Ok(None),
        }
    }
    let result = ufunc.call1(PyTuple::new(py, arguments)?)?;
    Ok(adopt_new(result.clone())?.or(Some(result)))
}

/// Returns whether all arguments are scalars. NumPy then computes, and its warnings have the user's
/// line.
fn are_scalars(args: &Bound<'_, PyTuple>) -> PyResult<bool> {
    let is_ours = |object: Borrowed<'_, '_, PyAny>| object.is_exact_instance_of::<NdArray>();
    Ok(!args.iter_borrowed().any(is_ours) && are_arrays_or_numbers(args)?)
}

/// Computes `where(condition, a, b)`; None if an operand is not native.
#[pyfunction]
pub fn where_<'py>(
    py: Python<'py>,
    condition: &Bound<'py, PyAny>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    try_native(py, Op::Select, &[condition, a, b])
}

/// Computes an operation into `out`, the only keyword; `None` if it is not native.
fn call_with_out<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
    kwargs: &Bound<'py, PyDict>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let out = if kwargs.len() == 1 { kwargs.get_item(intern!(py, "out"))? } else { None };
    match out.as_ref().map(|out| out.cast_exact::<NdArray>()) {
        Some(Ok(array)) if fast_path_into(py, op, objects, array)? => Ok(out),
        _ => Ok(None),
    }
}

/// Computes a native ufunc; `None` if NumPy must do it.
fn call_native<'py>(
    slf: &Bound<'py, Ufunc>,
    op: Op,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = slf.py();
    let objects = args.iter_borrowed().collect::<OperandVec<_>>();
    let objects: OperandVec<&Bound<'py, PyAny>> = objects.iter().map(|object| &**object).collect();
    if let Some(kwargs) = kwargs {
        return call_with_out(py, op, &objects, kwargs);
    }
    match fast_path(py, op, &objects)? {
        Some(result) => Ok(Some(result)),
        None if are_scalars(args)? => slf.get().numpy.bind(py).call1(args).map(Some),
        None => request_ufunc(py, op, &objects, None),
    }
}

/// Returns Dappled's ufunc for NumPy's, if there is one.
fn replacement_of<'py>(ufunc: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, Ufunc>>> {
    static OWN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let py = ufunc.py();
    let import =
        || -> PyResult<_> { Ok(fallback::function(py, "UFUNCS")?.cast_into::<PyDict>()?.unbind()) };
    let replacement = OWN.get_or_try_init(py, import)?.bind(py).get_item(ufunc)?;
    Ok(replacement.map(Bound::cast_into).transpose()?)
}

#[pymethods]
impl NdArray {
    /// NumPy's protocol for ufuncs: runs Dappled's ufunc if the operands are arrays and numbers.
    #[pyo3(signature = (ufunc, method, *inputs, **kwargs))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, Self>,
        ufunc: &Bound<'py, PyAny>,
        method: &str,
        inputs: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plain = method == "__call__" && kwargs.is_none_or(|kwargs| kwargs.is_empty());
        if plain
            && are_arrays_or_numbers(inputs)?
            && let Some(own) = replacement_of(ufunc)?
        {
            return own.call1(inputs);
        }
        fallback::function(slf.py(), "array_ufunc")?.call((slf, ufunc, method, inputs), kwargs)
    }
}

/// Returns whether all objects are arrays of Dappled or numbers.
fn are_arrays_or_numbers(objects: &Bound<'_, PyTuple>) -> PyResult<bool> {
    for object in objects.iter_borrowed() {
        let known = object.is_exact_instance_of::<NdArray>() || is_python_number(&object);
        if !(known || is_numpy_scalar(&object)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A universal function with NumPy's name and signature.
#[pyclass(frozen, dict, name = "ufunc", module = "dappled")]
pub struct Ufunc {
    op: Option<Op>,
    /// NumPy's ufunc.
    #[pyo3(get, name = "_numpy")]
    numpy: Py<PyAny>,
}

#[pymethods]
impl Ufunc {
    #[new]
    fn new(numpy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name: String = numpy.getattr("__name__")?.extract()?;
        let op = Op::from_numpy_name(&name);
        Ok(Self { op, numpy: numpy.clone().unbind() })
    }

    /// Whether the ufunc has native loops.
    #[getter]
    fn _native(&self) -> bool {
        self.op.is_some()
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, op) = (slf.py(), slf.get().op);
        let kwargs = kwargs.filter(|kwargs| !kwargs.is_empty());
        let native = op.filter(|op| op.arity() == args.len() && op.arity() <= 2);
        if let Some(op) = native {
            if let Some(result) = call_native(slf, op, args, kwargs)? {
                return Ok(result);
            }
        } else if kwargs.is_none() && !args.is_empty() && are_scalars(args)? {
            return slf.get().numpy.bind(py).call1(args);
        }
        if op.is_none()
            && let Some(result) = numpy_small::call_numpy(
                NumPySizeLimit::Each,
                &CallArguments { args, kwargs },
                slf.get().numpy.bind(py),
            )?
        {
            return Ok(result);
        }
        fallback::function(py, "call")?.call1((slf, args, kwargs))
    }

    /// Returns attributes of NumPy's ufunc: `nin`, `types`, `identity`, …
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.numpy.bind(py).getattr(name)
    }

    /// Equal to NumPy's ufunc, so that tables of `__array_ufunc__` overrides find either.
    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        slf.is(other) || other.is(&slf.get().numpy)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.numpy.bind(py).hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.numpy.bind(py).repr()?.extract()
    }
}
