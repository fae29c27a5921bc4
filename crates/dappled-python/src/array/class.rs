//! The class, and what every array says of itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dappled::graph::{Array, Fresh, Own};
use dappled_kernels::{Scalar, View};
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::exclusive::{exclusive, is_idle};
use super::lending::Item;
use super::soon::Unfinished;
use super::{dtypes, scalars, slow};

/// An array in pieces over the ranks, with NumPy's meaning.
///
/// Made by `dappled.array`, `dappled.zeros` and so on, never by its class.
///
/// >>> import dappled as np
/// >>> a = np.zeros((2, 3))
/// >>> a[:, 1] = 5
/// >>> a
/// array([[0., 5., 0.],
///        [0., 5., 0.]])
#[pyclass(frozen, weakref, name = "ndarray", module = "dappled")]
pub struct NdArray {
    seen: Seen,
    /// How many steps along `seen` it is now.
    now: AtomicUsize,
    /// The array that this one is a view of.
    base: Option<Py<PyAny>>,
    writeable: AtomicBool,
}

/// What an array is, and what assigning to `shape` or `dtype` makes of it, one after the other: what was
/// borrowed before stays valid. One that comes back is found again, so that there are few.
struct Seen {
    value: Value,
    next: OnceLock<Box<Seen>>,
}

impl Seen {
    fn new(value: Value) -> Self {
        Self { value, next: OnceLock::new() }
    }
}

impl Drop for Seen {
    /// One by one: each in the one before would need as much of the stack as there are.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut seen) = next {
            next = seen.next.take();
        }
    }
}

/// Where the elements are.
pub enum Value {
    /// With us.
    Ours(First),
    /// With us, as the bytes of items: dtypes that are not native, of an array that is, or may be,
    /// in pieces. Its last axis is the bytes of one item.
    Items(Array, Py<PyArrayDescr>),
    /// In an array of NumPy's, the same on every rank: dtypes that are not native.
    Held(Py<PyAny>),
}

impl Value {
    fn of(array: Array, item: Option<Py<PyArrayDescr>>) -> Self {
        match item {
            Some(descr) => Value::Items(array, descr),
            None => Value::Ours(First::Ready(array)),
        }
    }

    fn memory(&self) -> Option<(&Array, Item<'_>)> {
        match self {
            Value::Ours(first) => Some((first.array(), None)),
            Value::Items(array, descr) => Some((array, Some(descr))),
            Value::Held(_) => None,
        }
    }

    /// Are they the same elements of the same memory?
    fn is(&self, other: &Value) -> bool {
        let (Some((own, item)), Some((array, other))) = (self.memory(), other.memory()) else {
            return false;
        };
        let same_item = match (item, other) {
            (Some(item), Some(other)) => item.is(other),
            (item, other) => item.is_none() && other.is_none(),
        };
        same_item && own.shares(array) && own.view() == array.view()
    }
}

/// An array, or what will be one.
pub enum First {
    Ready(Array),
    /// The result of a small operation, of which nobody needed the array yet.
    Fresh(Fresh),
    /// An operand of the next operation, which may need no array.
    Soon(Unfinished),
}

impl First {
    fn array(&self) -> &Array {
        match self {
            First::Ready(array) => array,
            First::Fresh(fresh) => fresh.array(),
            First::Soon(unfinished) => unfinished.array(),
        }
    }

    #[inline]
    fn own(&self) -> Own<'_> {
        match self {
            First::Ready(array) => Own::Array(array),
            First::Fresh(fresh) => fresh.own(),
            First::Soon(unfinished) => Own::Array(unfinished.array()),
        }
    }
}

impl NdArray {
    /// An array that owns its memory.
    pub fn owned(array: Array) -> Self {
        Self::new(Value::Ours(First::Ready(array)), None, true)
    }

    /// The result of a small operation.
    pub fn fresh(fresh: Fresh) -> Self {
        Self::new(Value::Ours(First::Fresh(fresh)), None, true)
    }

    /// What is an operand of the next operation, and may never be an array.
    pub fn unfinished(unfinished: Unfinished) -> Self {
        Self::new(Value::Ours(First::Soon(unfinished)), None, true)
    }

    /// What it is put together of, if it was no array when it was made.
    pub fn as_unfinished(&self) -> Option<&Unfinished> {
        match self.value() {
            Value::Ours(First::Soon(unfinished)) => Some(unfinished),
            _ => None,
        }
    }

    fn new(value: Value, base: Option<Py<PyAny>>, writeable: bool) -> Self {
        let (now, writeable) = (AtomicUsize::new(0), AtomicBool::new(writeable));
        Self { seen: Seen::new(value), now, base, writeable }
    }

    /// An array of items that owns its memory.
    pub fn items(array: Array, descr: Py<PyArrayDescr>) -> Self {
        Self::new(Value::Items(array, descr), None, true)
    }

    /// An array of NumPy's, as it is.
    pub fn held(array: Py<PyAny>, base: Option<Py<PyAny>>, writeable: bool) -> Self {
        Self::new(Value::Held(array), base, writeable)
    }

    /// An array in memory that somebody else made, perhaps of items; a view if there is a base.
    pub fn foreign(
        array: Array,
        item: Option<Py<PyArrayDescr>>,
        base: Option<Py<PyAny>>,
        writeable: bool,
    ) -> Self {
        Self::new(Value::of(array, item), base, writeable)
    }

    /// A view of one of ours.
    pub fn view_of<'py>(owner: &Bound<'py, NdArray>, view: View) -> PyResult<Bound<'py, PyAny>> {
        Self::seen_as(owner, view, None)
    }

    /// A view of the memory of one of ours, perhaps as items.
    pub fn seen_as<'py>(
        owner: &Bound<'py, NdArray>,
        view: View,
        item: Option<Py<PyArrayDescr>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let own = owner.get();
        let (memory, _) = own.memory().ok_or_else(by_numpy)?;
        let array = memory.with_view(view);
        let base = own
            .base
            .as_ref()
            .map_or_else(|| owner.clone().into_any().unbind(), |base| base.clone_ref(owner.py()));
        let array = Self::foreign(array, item, Some(base), own.is_writeable());
        Ok(Bound::new(owner.py(), array)?.into_any())
    }

    #[inline]
    pub fn value(&self) -> &Value {
        let mut seen = &self.seen;
        for _ in 0..self.now.load(Ordering::Acquire) {
            seen = seen.next.get().expect("what was seen once");
        }
        &seen.value
    }

    /// From now on it is this.
    fn become_value(&self, value: Value) {
        let (mut seen, mut now, mut value) = (&self.seen, 0, Some(value));
        while value.as_ref().is_some_and(|value| !seen.value.is(value)) {
            let fresh = || Box::new(Seen::new(value.take().expect("a value that is new")));
            seen = seen.next.get_or_init(fresh);
            now += 1;
        }
        self.now.store(now, Ordering::Release);
    }

    /// Our array, if the dtype is native.
    pub fn array(&self) -> Option<&Array> {
        match self.value() {
            Value::Ours(first) => Some(first.array()),
            _ => None,
        }
    }

    /// The same, or its elements if they are no array yet: what only reads them needs none.
    #[inline]
    pub fn own(&self) -> Option<Own<'_>> {
        match self.value() {
            Value::Ours(first) => Some(first.own()),
            _ => None,
        }
    }

    /// Is it the result of a small operation, of which nobody needed the array yet?
    fn is_fresh(&self) -> bool {
        matches!(self.own(), Some(Own::Fresh(_)))
    }

    /// What is with us, elements or the bytes of items, and the dtype of items.
    pub fn memory(&self) -> Option<(&Array, Item<'_>)> {
        self.value().memory()
    }

    /// Our array; callers have sent what is held elsewhere.
    pub fn ours(&self) -> PyResult<&Array> {
        self.array().ok_or_else(by_numpy)
    }

    /// The array that NumPy holds.
    pub fn held_array<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        match self.value() {
            Value::Held(array) => Ok(array.bind(py)),
            _ => Err(PyTypeError::new_err("an array that NumPy does not hold")),
        }
    }

    /// From now on, the same memory is seen so.
    pub fn reshape_in_place(&self, py: Python<'_>, view: View) {
        if let Some((array, item)) = self.memory() {
            let item = item.map(|descr| descr.clone_ref(py));
            self.become_value(Value::of(array.with_view(view), item));
        }
    }

    /// Is it a view of something?
    pub fn has_base(&self) -> bool {
        self.base.is_some()
    }

    pub fn is_writeable(&self) -> bool {
        self.writeable.load(Ordering::Relaxed)
    }

    pub fn check_writeable(&self) -> PyResult<()> {
        match self.is_writeable() {
            true => Ok(()),
            false => Err(PyValueError::new_err("assignment destination is read-only")),
        }
    }
}

pub fn by_numpy() -> PyErr {
    PyTypeError::new_err("an array that NumPy holds")
}

#[pymethods]
impl NdArray {
    /// The type of the elements, NumPy's.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.value() {
            Value::Ours(first) => dtypes::to_numpy(py, first.own().dtype()),
            Value::Items(_, descr) => Ok(descr.bind(py).clone().into_any()),
            Value::Held(array) => array.bind(py).getattr("dtype"),
        }
    }

    #[setter]
    fn set_dtype<'py>(slf: &Bound<'py, Self>, dtype: &Bound<'py, PyAny>) -> PyResult<()> {
        slow::function(slf.py(), "set_dtype")?.call1((slf, dtype)).map(drop)
    }

    /// From now on it is what another is: a view of the same memory.
    fn _become(&self, py: Python<'_>, other: &NdArray) {
        self.become_value(match other.value() {
            Value::Held(array) => Value::Held(array.clone_ref(py)),
            Value::Items(array, descr) => Value::Items(array.clone(), descr.clone_ref(py)),
            Value::Ours(first) => Value::Ours(First::Ready(first.array().clone())),
        });
    }

    /// The array whose memory this is a view of; None if it is its own.
    #[getter]
    fn base(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.base.as_ref().map(|base| base.clone_ref(py))
    }

    /// May it be written?
    #[getter(_writeable)]
    fn get_writeable(&self) -> bool {
        self.is_writeable()
    }

    #[setter(_writeable)]
    fn set_writeable(&self, py: Python<'_>, writeable: bool) -> PyResult<()> {
        if let Value::Held(array) = self.value() {
            array.bind(py).call_method1("setflags", (writeable,))?;
        }
        self.writeable.store(writeable, Ordering::Relaxed);
        Ok(())
    }

    /// Is all of it on every rank?
    #[getter]
    fn _whole(&self) -> bool {
        self.is_fresh() || self.memory().is_none_or(|(array, _)| array.is_whole())
    }

    /// Is its memory, all of it on every rank, seen by somebody outside?
    #[getter]
    fn _shared(&self) -> bool {
        self.memory().is_some_and(|(array, _)| array.is_whole() && array.is_lent())
    }

    /// Is it one of items, whose dtype is none of ours, and which is with us?
    #[getter]
    fn _items(&self) -> bool {
        matches!(self.value(), Value::Items(..))
    }

    /// Is it an array that NumPy holds, its dtype being none of ours?
    #[getter]
    fn _held(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        match self.value() {
            Value::Held(array) => Some(array.clone_ref(py)),
            _ => None,
        }
    }

    /// The same as an array that owns its memory, for who made the only other one.
    fn _owner<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, NdArray>> {
        let (array, item) = self.memory().ok_or_else(by_numpy)?;
        let item = item.map(|descr| descr.clone_ref(py));
        Bound::new(py, NdArray::foreign(array.clone(), item, None, true))
    }

    /// Is all of it here, and nothing pending?
    #[getter]
    fn _is_stored(&self) -> bool {
        let is_here = |(array, _): (&Array, _)| array.is_stored() && array.is_whole();
        self.is_fresh() || self.memory().is_some_and(is_here)
    }

    /// A number that changes whenever it or any view of it is written; None where that is not known.
    #[getter]
    fn _writes(&self) -> Option<u64> {
        self.memory().and_then(|(array, _)| array.writes())
    }

    /// Computes what is pending.
    fn _compute(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_fresh() {
            return Ok(());
        }
        match self.memory() {
            Some((array, _)) if !array.is_stored() => exclusive(py, usize::MAX, || array.compute()),
            _ => Ok(()),
        }
    }
}

/// The element at this place of the base.
pub fn element(py: Python<'_>, array: &Array, offset: usize) -> PyResult<Scalar> {
    match is_idle().then(|| array.ready_element(offset)).flatten() {
        Some(value) => Ok(value),
        None => exclusive(py, 1, || array.element(offset)),
    }
}

/// An array as a result of an operation: NumPy gives a scalar where there is no axis.
pub fn result(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    match array.shape().is_empty() {
        true => scalars::to_numpy(py, element(py, &array, array.view().offset)?),
        false => Ok(Bound::new(py, NdArray::owned(array))?.into_any()),
    }
}
