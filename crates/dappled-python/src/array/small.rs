//! Functions of small arrays that are all here: NumPy's own, on their memory.
//!
//! At that size the way through Python takes longer than the work. It is spared for functions that
//! write nothing and return nothing that they were given; whatever is unusual goes the general way: an
//! argument that is neither plain nor small, an error, a result that is a view.

use dappled::graph::Array;
use numpy::PyUntypedArray;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyEllipsis, PyList, PySlice, PyString, PyTuple};

use super::call::{Call, is_plain};
use super::class::NdArray;
use super::conversion::wrap;
use super::disjoint::disjoint;
use super::given::is_generic;
use super::lending::lent;
use super::session::session;

type Found<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// Lists inside lists deeper than this are not looked through, nor longer ones.
const DEPTH: usize = 2;
const LONGEST: usize = 32;

/// More elements than this are worth the way through Python.
const FEW: usize = 1 << 14;

/// The same of what is sooner done here, once it is found.
const FEWER: usize = 1 << 12;

/// More than this are worth threads, or waiting for what comes next.
const LONGER: usize = 1 << 17;

/// When arrays are small enough for NumPy's own function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Small {
    /// When each is.
    Each,
    /// When each is smaller still.
    Fewer,
    /// When each is, or is a little longer.
    Longer,
    /// When a result for all their elements together is; or, where they are added up, each.
    Together,
    /// When each is; the first one is written.
    Written,
}

impl Small {
    /// By its name in Python.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "each" => Some(Self::Each),
            "fewer" => Some(Self::Fewer),
            "longer" => Some(Self::Longer),
            "together" => Some(Self::Together),
            "written" => Some(Self::Written),
            _ => None,
        }
    }

    /// Elements of a small array, where others have so many.
    fn most(self, few: usize) -> usize {
        match self {
            Self::Each | Self::Written => few,
            Self::Fewer => FEWER.min(few),
            Self::Longer | Self::Together => LONGER,
        }
    }

    fn fits(self, call: &Call<'_, '_>) -> bool {
        self != Self::Together || adds_up(call) || {
            let sizes = call.args.iter().filter_map(|item| {
                Some(item.cast_exact::<NdArray>().ok()?.get().array()?.view().len())
            });
            sizes.fold(1, usize::saturating_mul) <= LONGER
        }
    }
}

/// Are there letters in the subscripts of `einsum` that its result does not have? Then NumPy does it at any size.
fn adds_up(call: &Call<'_, '_>) -> bool {
    let Ok(first) = call.args.get_item(0) else { return false };
    let Ok(subscripts) = first.cast_exact::<PyString>().map(|text| text.to_string()) else {
        return false;
    };
    let letters = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).collect();
    let (given, result) = subscripts.split_once("->").unwrap_or((&subscripts, ""));
    let (given, result): (Vec<char>, Vec<char>) = (letters(given), letters(result));
    // Where no result is said, it has the letters that are there once.
    let times = |letter: &char| given.iter().filter(|&other| other == letter).count();
    match subscripts.contains("->") {
        true => given.iter().any(|letter| !result.contains(letter)),
        false => given.iter().any(|letter| times(letter) > 1),
    }
}

/// What NumPy's function gives; None if this is not so simple a call.
pub fn by_numpy<'py>(small: Small, call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Found<'py> {
    let py = numpy.py();
    let Some(few) = few(py)?.filter(|_| small.fits(call)) else { return Ok(None) };
    let few = small.most(few);
    let given = call.args.iter().enumerate();
    let written = |at: usize| at == 0 && small == Small::Written;
    let given = given.map(|(at, item)| match written(at) {
        true => lent_to_write(&item, few),
        false => handed(&item, few, DEPTH),
    });
    let Some(args) = given.map(Result::transpose).collect::<Option<PyResult<Vec<_>>>>() else {
        return Ok(None);
    };
    let mut args = args?;
    if small == Small::Written
        && let Some((target, others)) = args.split_first_mut()
    {
        for other in others {
            *other = disjoint(target, other.clone())?;
        }
    }
    if goes_round(call, numpy)? {
        return Ok(None);
    }
    let kwargs = call.kwargs.map(|_| PyDict::new(py));
    for (name, value) in call.kwargs.into_iter().flatten() {
        let Some(mut value) = handed(&value, few, DEPTH)? else { return Ok(None) };
        if small == Small::Written
            && let Some(target) = args.first()
        {
            value = disjoint(target, value)?;
        }
        kwargs.as_ref().map_or(Ok(()), |kwargs| kwargs.set_item(name, value))?;
    }
    taken_if_made(py, numpy.call(PyTuple::new(py, args)?, kwargs.as_ref()))
}

/// Is this NumPy's `mode="wrap"`? It takes one step for each length of the axis, so that a number
/// may take it years.
fn goes_round(call: &Call<'_, '_>, numpy: &Bound<'_, PyAny>) -> PyResult<bool> {
    let named = call.kwargs.map(|given| given.get_item("mode")).transpose()?.flatten();
    let is_wrap =
        |item: &Bound<'_, PyAny>| item.cast_exact::<PyString>().is_ok_and(|word| word == "wrap");
    let found = named.as_ref().is_some_and(is_wrap) || call.args.iter().any(|item| is_wrap(&item));
    Ok(found && numpy.getattr(intern!(numpy.py(), "__name__"))?.ne("pad")?)
}

/// A result as ours, if NumPy has made one.
fn taken_if_made<'py>(py: Python<'py>, made: PyResult<Bound<'py, PyAny>>) -> Found<'py> {
    unless_refused(py, made)?.map_or(Ok(None), |made| taken(made, DEPTH))
}

/// What NumPy gave; None where it has raised an error, which the general way finds again.
fn unless_refused<T>(py: Python<'_>, given: PyResult<T>) -> PyResult<Option<T>> {
    match given {
        Ok(given) => Ok(Some(given)),
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(interrupt) => Err(interrupt),
    }
}

/// What a key selects of a small array, if that is no view.
pub fn get_item<'py>(own: &Bound<'py, NdArray>, key: &Bound<'py, PyAny>) -> Found<'py> {
    let py = own.py();
    let Some(few) = few(py)? else { return Ok(None) };
    let (Some(own), Some(key)) = (handed(own, few, DEPTH)?, handed(key, few, DEPTH)?) else {
        return Ok(None);
    };
    taken_if_made(py, own.get_item(key))
}

/// What a method gives of a small array.
pub fn by_method<'py>(own: &Bound<'py, NdArray>, name: &str, call: &Call<'_, 'py>) -> Found<'py> {
    let Some(few) = few(own.py())? else { return Ok(None) };
    match handed(own, few, DEPTH)? {
        Some(own) => by_numpy(Small::Each, call, &own.getattr(name)?),
        None => Ok(None),
    }
}

/// Elements of a small array; None on several ranks.
fn few(py: Python<'_>) -> PyResult<Option<usize>> {
    let session = session(py)?;
    let few = FEW.min(session.limits().at_once);
    Ok((session.fabric().size() == 1 && few > 0).then_some(few))
}

/// Writes through a key into a small array; false, with nothing done, if this is not so simple a case.
pub fn set_item<'py>(
    own: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<bool> {
    let py = own.py();
    let Some(few) = few(py)? else { return Ok(false) };
    let small = to_write(own, few);
    let handed = (handed(key, few, DEPTH)?, handed(value, few, DEPTH)?);
    let (Some(array), (Some(key), Some(value))) = (small, handed) else { return Ok(false) };
    let target = lent(py, array, None, true)?;
    let (key, value) = (disjoint(&target, key)?, disjoint(&target, value)?);
    Ok(unless_refused(py, target.set_item(key, value))?.is_some())
}

/// An array that NumPy may write, if we may.
fn lent_to_write<'py>(object: &Bound<'py, PyAny>, few: usize) -> Found<'py> {
    let Ok(own) = object.cast_exact::<NdArray>() else { return Ok(None) };
    to_write(own, few).map(|array| lent(object.py(), array, None, true)).transpose()
}

/// A small array whose own memory can be written: what lies in another way is lent as a copy.
fn to_write<'a>(own: &'a Bound<'_, NdArray>, few: usize) -> Option<&'a Array> {
    let array = own.get().array().filter(|_| own.get().is_writeable())?;
    (array.view().len() <= few && array.is_whole()).then_some(array)
}

/// Does the same to all, as long as it can be done.
fn all<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    act: impl Fn(Bound<'py, PyAny>) -> Found<'py>,
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    items.map(|item| act(item).transpose()).collect::<Option<PyResult<_>>>().transpose()
}

/// An argument as NumPy takes it.
fn handed<'py>(object: &Bound<'py, PyAny>, few: usize, depth: usize) -> Found<'py> {
    if let Ok(array) = object.cast_exact::<NdArray>() {
        let small = array.get().array().filter(|array| array.view().len() <= few);
        return small.map(|array| lent(object.py(), array, None, false)).transpose();
    }
    let selects =
        object.is_exact_instance_of::<PySlice>() || object.is_exact_instance_of::<PyEllipsis>();
    if is_plain(object) || selects || is_generic(object)? {
        return Ok(Some(object.clone()));
    }
    if object.get_type().is(flat_iterators(object.py())?) {
        let of = handed(&object.getattr(intern!(object.py(), "base"))?, few, depth)?;
        return of.map(|of| of.getattr(intern!(object.py(), "flat"))).transpose();
    }
    rebuilt(object, depth, |item| handed(&item, few, depth - 1))
}

/// The class of `a.flat`.
fn flat_iterators(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = || py.import("dappled._flat")?.getattr("flatiter").map(Bound::unbind);
    Ok(CLASS.get_or_try_init(py, made)?.bind(py))
}

/// A result as ours.
fn taken(made: Bound<'_, PyAny>, depth: usize) -> Found<'_> {
    if let Ok(array) = made.cast_exact::<PyUntypedArray>() {
        return match origin_of(array)? {
            Origin::Given => Ok(None),
            origin => Ok(Some(wrap(array, origin == Origin::Own)?.into_any())),
        };
    }
    if is_plain(&made) || made.is_exact_instance_of::<PyBytes>() || is_generic(&made)? {
        return Ok(Some(made));
    }
    rebuilt(&made, depth, |item| taken(item, depth - 1))
}

/// A list or tuple with something done to its items; None where it is something else.
fn rebuilt<'py>(
    object: &Bound<'py, PyAny>,
    depth: usize,
    act: impl Fn(Bound<'py, PyAny>) -> Found<'py>,
) -> Found<'py> {
    if depth == 0 || object.len().map_or(true, |length| length > LONGEST) {
        return Ok(None);
    }
    let py = object.py();
    if let Ok(list) = object.cast_exact::<PyList>() {
        let items = all(list.iter(), act)?;
        return items.map(|items| Ok(PyList::new(py, items)?.into_any())).transpose();
    }
    let Ok(tuple) = object.cast::<PyTuple>() else { return Ok(None) };
    let Some(items) = all(tuple.iter(), act)? else { return Ok(None) };
    let items = PyTuple::new(py, items)?.into_any();
    if tuple.is_exact_instance_of::<PyTuple>() {
        return Ok(Some(items));
    }
    // A tuple of named items; others are known to their makers alone.
    let make = object.get_type().getattr_opt(intern!(py, "_make"))?;
    make.map(|make| make.call1((items,))).transpose()
}

/// Whose memory is an array in that NumPy gave back: its own, or another's that NumPy has made.
fn origin_of(array: &Bound<'_, PyUntypedArray>) -> PyResult<Origin> {
    let base = array.getattr(intern!(array.py(), "base"))?;
    if base.is_none() {
        return Ok(Origin::Own);
    }
    let made = base.is_exact_instance_of::<PyUntypedArray>()
        && base.getattr(intern!(base.py(), "flags"))?.getattr("owndata")?.is_truthy()?;
    Ok(if made { Origin::Made } else { Origin::Given })
}

#[derive(PartialEq, Eq)]
enum Origin {
    Own,
    /// In an array of NumPy's that was not given to it, as all that are given are lent.
    Made,
    Given,
}
