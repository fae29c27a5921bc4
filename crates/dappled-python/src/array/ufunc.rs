//! Operations, element by element, on whatever Python hands over.

use dappled::graph::{
    Array, Beside, Given, GraphError, Own, Request, Session, loop_of, quick_into, quick_over,
    ufunc_in, ufunc_over,
};
use dappled_kernels::{Casting, DType, Kind, Op, can_cast};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use super::call::{Call, is_number};
use super::class::{NdArray, result};
use super::commonest::{beside, common_case, commonest};
use super::creating::fresh;
use super::exclusive::{exclusive, quickly};
use super::given::{Argument, argument, is_generic};
use super::indexing::written;
use super::lending::lent;
use super::origin::{must_report, origin};
use super::session::session;
use super::small::Small;
use super::{slow, small};

/// Bytes of the widest element.
const WIDEST: usize = 16;

/// Arguments: never more than three.
type Few<T> = smallvec::SmallVec<[T; 3]>;

/// An operation; by NumPy where an argument or the loop is not native.
pub fn apply<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    match native(py, op, objects)? {
        Some(result) => Ok(result),
        None => slow::ufunc(py, op.numpy_name(), objects),
    }
}

/// The commonest case into an array: `out=`.
fn common_case_into<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
    out: &Bound<'py, NdArray>,
) -> PyResult<bool> {
    let Some(target) = out.get().array().filter(|_| out.get().is_writeable()) else {
        return Ok(false);
    };
    if let Some((own, beside)) = commonest(op, objects)
        && quickly(py, || quick_into(op, target, own, beside))?
    {
        return Ok(true);
    }
    // Bits depend on where they are written: see `unfused`.
    match is_fused(op) && objects.iter().any(|object| is_complex(object)) {
        true => match arguments(objects)? {
            Some(arguments) => written_over(py, op, target, &arguments),
            None => Ok(false),
        },
        false => Ok(false),
    }
}

fn is_fused(op: Op) -> bool {
    matches!(op, Op::Multiply | Op::Square | Op::Absolute)
}

fn is_complex(object: &Bound<'_, PyAny>) -> bool {
    ours(object).is_some_and(|array| array.dtype().kind() == Kind::Complex)
}

fn ours<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Array> {
    object.cast_exact::<NdArray>().ok()?.get().array()
}

/// An operation here; None where an argument or the loop is not native.
pub fn native<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(result) = common_case(py, op, objects)? {
        return Ok(Some(result));
    }
    match arguments(objects)? {
        Some(arguments) => computed(py, op, &arguments),
        None => Ok(None),
    }
}

/// All of them as native arguments; None where one is not.
fn arguments<'a>(objects: &[&'a Bound<'_, PyAny>]) -> PyResult<Option<Few<Argument<'a>>>> {
    objects.iter().map(|object| argument(object)).collect()
}

fn computed<'py>(
    py: Python<'py>,
    op: Op,
    arguments: &[Argument<'_>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let given: Few<_> = arguments.iter().map(Argument::given).collect();
    let dtype = native_loop(op, arguments, &given).filter(|_| has_array(&given));
    let Some(dtype) = dtype else { return Ok(None) };
    let session = session(py)?;
    let ask = |request| ufunc_in(session, request, dtype, &given);
    let array = asked(py, op, dtype, extent(&given), ask)?;
    result(py, array).map(Some)
}

/// Asks for an operation in a loop of this dtype about so many elements: what may raise is computed
/// at once.
pub fn asked(
    py: Python<'_>,
    op: Op,
    dtype: DType,
    size: usize,
    ask: impl Fn(Request) -> Result<Array, GraphError> + Sync,
) -> PyResult<Array> {
    let (session, request) = (session(py)?, request(py, op, size)?);
    let strict = is_strict(&request, dtype);
    exclusive(py, size, || {
        let array = ask(request.clone())?;
        if strict {
            array.compute()?;
            share(session, &request, &array)?;
        }
        Ok(array)
    })
}

/// What is asked for; from where, if it is not computed at once.
fn request(py: Python<'_>, op: Op, size: usize) -> PyResult<Request> {
    let later = is_later(session(py)?, size);
    Ok(Request { origin: later.then(|| origin(py)).transpose()?, ..op.into() })
}

/// May an operation about so many elements be computed later, or by several ranks?
pub fn is_later(session: &Session, size: usize) -> bool {
    let limits = session.limits();
    let may_lie_in_pieces = || size.saturating_mul(WIDEST) >= limits.whole_below;
    size > limits.at_once || (session.fabric().size() > 1 && may_lie_in_pieces())
}

/// Must it be computed now? An integer power may raise by value.
fn is_strict(request: &Request, dtype: DType) -> bool {
    let policy = request.origin.as_ref().map_or(0, |origin| origin.policy);
    (request.op == Op::Power && dtype.is_integral()) || must_report(policy)
}

/// What is raised on one rank is raised on all that have a piece of the result.
fn share(session: &Session, request: &Request, array: &Array) -> Result<(), GraphError> {
    match array.is_whole() {
        true => Ok(()),
        false => session.share_notices(request.name, request.origin.as_ref()),
    }
}

/// How many elements an operation is about, at most. What lies in pieces is about all there are: other
/// ranks are waited for.
fn extent(given: &[Given<'_>]) -> usize {
    let mut shape: &[usize] = &[];
    let mut size = 1;
    for given in given {
        let Given::Array(array) = given else { continue };
        if !array.is_whole() {
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

fn has_array(given: &[Given<'_>]) -> bool {
    given.iter().any(|given| matches!(given, Given::Array(_)))
}

/// The loop in which an operation is native here: no argument loses its value in it.
fn native_loop(op: Op, arguments: &[Argument<'_>], given: &[Given<'_>]) -> Option<DType> {
    let dtype = loop_of(op, given).ok()?;
    let fits = !arguments.iter().any(|argument| argument.overflows(dtype));
    (fits && is_exact(op, given, dtype)).then_some(dtype)
}

/// `own op= other`, or an operation of one argument over it, if it is native and the result fits; false if NumPy must do it, or say why not.
pub fn updated<'py>(
    py: Python<'py>,
    op: Op,
    own: &NdArray,
    other: Option<&Bound<'py, PyAny>>,
) -> PyResult<bool> {
    let Some(target) = own.array() else { return Ok(false) };
    let after = |other| beside(op, Own::Array(target), other);
    let beside = other.map_or(Some(Beside::Nothing), after);
    if let Some(beside) = beside
        && quickly(py, || quick_over(op, target, beside))?
    {
        return Ok(true);
    }
    let mut arguments: Few<_> = [Argument::Ours(target)].into_iter().collect();
    if let Some(other) = other {
        let Some(other) = argument(other)? else { return Ok(false) };
        arguments.push(other);
    }
    written_over(py, op, target, &arguments)
}

/// An operation whose result is written over an array, if it is native and fits.
fn written_over(
    py: Python<'_>,
    op: Op,
    target: &Array,
    arguments: &[Argument<'_>],
) -> PyResult<bool> {
    let given: Few<_> = arguments.iter().map(Argument::given).collect();
    let Some(dtype) = native_loop(op, arguments, &given) else { return Ok(false) };
    let fits = given.iter().all(|given| match given {
        Given::Array(array) => array.view().broadcast(target.shape()).is_some(),
        _ => true,
    });
    if !fits || !can_cast(op.result(dtype), target.dtype(), Casting::SameKind) {
        return Ok(false);
    }
    // What may raise by value is known before anything is written.
    if op == Op::Power && dtype.is_integral() {
        let Some(powers) = computed(py, op, arguments)? else { return Ok(false) };
        let powers = argument(&powers)?;
        return powers.map_or(Ok(false), |powers| written(py, target, &powers).map(|()| true));
    }
    let size = extent(&given);
    let request = request(py, op, size)?;
    let (session, strict) = (session(py)?, is_strict(&request, dtype));
    exclusive(py, size, || {
        ufunc_over(target, request.clone(), dtype, &given)?;
        if strict { share(session, &request, target) } else { Ok(()) }
    })?;
    Ok(true)
}

/// An operation by NumPy's ufunc itself, on numbers and on arrays of ours that are all here; None
/// for other arguments, and on several ranks.
pub fn by_numpy<'py>(
    ufunc: &Bound<'py, PyAny>,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = ufunc.py();
    if session(py)?.fabric().size() > 1 {
        return Ok(None);
    }
    let mut arguments: Few<Bound<'py, PyAny>> = Few::new();
    for object in objects {
        match (ours(object), is_number(object)) {
            (Some(array), _) => arguments.push(lent(py, array, None, false)?),
            (None, true) => arguments.push((*object).clone()),
            (None, false) => return Ok(None),
        }
    }
    let made = ufunc.call1(PyTuple::new(py, arguments)?)?;
    Ok(fresh(made.clone())?.or(Some(made)))
}

/// Are all of them numbers, Python's or NumPy's own? Then NumPy does it, and warns of the same line.
fn are_scalars(args: &Bound<'_, PyTuple>) -> PyResult<bool> {
    let is_ours = |object: Borrowed<'_, '_, PyAny>| object.is_exact_instance_of::<NdArray>();
    Ok(!args.iter_borrowed().any(is_ours) && are_plain(args)?)
}

/// NumPy compares int64 with uint64 exactly, though they promote to float64.
fn is_exact(op: Op, given: &[Given<'_>], dtype: DType) -> bool {
    let integral = |given: &Given<'_>| given.dtype().is_none_or(DType::is_integral);
    !(op.is_comparison() && dtype == DType::Float64 && given.iter().all(integral))
}

/// `where(condition, a, b)`, if all of it is native.
#[pyfunction]
pub fn where_<'py>(
    py: Python<'py>,
    condition: &Bound<'py, PyAny>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    native(py, Op::Select, &[condition, a, b])
}

/// An operation with nothing or `out` asked for besides; None where it is not native, or not common.
fn called<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(kwargs) = kwargs else { return native(py, op, objects) };
    let out = if kwargs.len() == 1 { kwargs.get_item(intern!(py, "out"))? } else { None };
    match out.as_ref().map(|out| out.cast_exact::<NdArray>()) {
        Some(Ok(array)) if common_case_into(py, op, objects, array)? => Ok(out),
        _ => Ok(None),
    }
}

/// An operation of one argument, and an array of ours: looked at first.
fn of_one<'py>(
    py: Python<'py>,
    op: Op,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if op.arity() != 1 || args.len() != 1 {
        return Ok(None);
    }
    common_case(py, op, &[&*args.get_borrowed_item(0)?])
}

/// Ours in the place of NumPy's ufunc, if there is one.
fn own_of<'py>(ufunc: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, Ufunc>>> {
    static OWN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let py = ufunc.py();
    let import =
        || -> PyResult<_> { Ok(slow::function(py, "OURS")?.cast_into::<PyDict>()?.unbind()) };
    let found = OWN.get_or_try_init(py, import)?.bind(py).get_item(ufunc)?;
    Ok(found.map(Bound::cast_into).transpose()?)
}

#[pymethods]
impl NdArray {
    /// NumPy's ufunc, called with an array of ours: of numbers and arrays the operation itself.
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
            && are_plain(inputs)?
            && let Some(own) = own_of(ufunc)?
        {
            return own.call1(inputs);
        }
        slow::function(slf.py(), "array_ufunc")?.call((slf, ufunc, method, inputs), kwargs)
    }
}

/// Are they arrays of ours, and numbers?
fn are_plain(objects: &Bound<'_, PyTuple>) -> PyResult<bool> {
    for object in objects.iter_borrowed() {
        let known = object.is_exact_instance_of::<NdArray>() || is_number(&object);
        if !(known || is_generic(&object)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A universal function: NumPy's, on our arrays.
#[pyclass(frozen, dict, name = "ufunc", module = "dappled")]
pub struct Ufunc {
    op: Option<Op>,
    /// NumPy's own.
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

    /// Is it computed natively?
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
        if let (Some(op), None) = (op, kwargs)
            && let Some(result) = of_one(py, op, args)?
        {
            return Ok(result);
        }
        if kwargs.is_none() && !args.is_empty() && are_scalars(args)? {
            return slf.get().numpy.bind(py).call1(args);
        }
        if let Some(op) = op.filter(|op| op.arity() == args.len()) {
            let first = args.get_borrowed_item(0)?;
            let found = match op.arity() {
                1 => called(py, op, &[&first], kwargs)?,
                2 => called(py, op, &[&first, &*args.get_borrowed_item(1)?], kwargs)?,
                _ => None,
            };
            if let Some(result) = found {
                return Ok(result);
            }
        }
        if op.is_none()
            && let Some(result) =
                small::by_numpy(Small::Each, &Call { args, kwargs }, slf.get().numpy.bind(py))?
        {
            return Ok(result);
        }
        slow::function(py, "call")?.call1((slf, args, kwargs))
    }

    /// What is not here is what NumPy's ufunc has: `nin`, `types`, `identity`, …
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.numpy.bind(py).getattr(name)
    }

    /// As NumPy's own, which objects with a say in ufuncs are given: a table of ufuncs has it by either.
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
