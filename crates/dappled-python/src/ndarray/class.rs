//! The class `ndarray`: its value, its views and its state.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dappled::{Array, EagerSource, Temporary};
use dappled_kernels::{Scalar, View};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::chain::DeferredOperand;
use crate::errors::internal_error;
use crate::interop::buffer_export::OpaqueDType;
use crate::interop::{dtypes, scalars};
use crate::runtime::fallback;
use crate::runtime::lock::{is_idle, run_locked};

/// An array with NumPy's semantics, distributed over the ranks.
///
/// Created by `dappled.array`, `dappled.zeros` and similar functions, not by its class.
///
/// >>> import dappled as np
/// >>> a = np.zeros((2, 3))
/// >>> a[:, 1] = 5
/// >>> a
/// array([[0., 5., 0.],
///        [0., 5., 0.]])
#[pyclass(frozen, weakref, name = "ndarray", module = "dappled")]
pub struct NdArray {
    first: ValueVersion,
    /// Index of the current version in the list that starts with `first`.
    current: AtomicUsize,
    /// The array that this one is a view of.
    base: Option<Py<PyAny>>,
    writeable: AtomicBool,
}

/// A value of the array, and the later ones from assignments to `shape` or `dtype`.
///
/// Versions are only appended, so that references to earlier ones stay valid. A value that returns
/// reuses its version, which keeps the list short.
struct ValueVersion {
    value: ArrayValue,
    next: OnceLock<Box<ValueVersion>>,
}

impl ValueVersion {
    fn new(value: ArrayValue) -> Self {
        Self { value, next: OnceLock::new() }
    }
}

impl Drop for ValueVersion {
    /// Drops the list in a loop: recursion could overflow the stack.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut version) = next {
            next = version.next.take();
        }
    }
}

/// Where the elements are stored.
pub enum ArrayValue {
    /// An array of the core, with a native dtype.
    Native(NativeValue),
    /// An array of the core with the bytes of elements whose dtype is not native. The bytes of an
    /// element are the last axis. For arrays that are, or may be, distributed.
    Opaque(Array, Py<PyArrayDescr>),
    /// A NumPy array, replicated on every rank, whose dtype is not native.
    NumPy(Py<PyAny>),
}

impl ArrayValue {
    fn from_memory(array: Array, item: Option<Py<PyArrayDescr>>) -> Self {
        match item {
            Some(descr) => ArrayValue::Opaque(array, descr),
            None => ArrayValue::Native(NativeValue::Array(array)),
        }
    }

    fn memory(&self) -> Option<(&Array, OpaqueDType<'_>)> {
        match self {
            ArrayValue::Native(first) => Some((first.array(), None)),
            ArrayValue::Opaque(array, descr) => Some((array, Some(descr))),
            ArrayValue::NumPy(_) => None,
        }
    }

    /// Returns whether two values are the same elements of the same memory.
    fn is_same(&self, other: &ArrayValue) -> bool {
        let (Some((own, item)), Some((array, other))) = (self.memory(), other.memory()) else {
            return false;
        };
        let same_item = match (item, other) {
            (Some(item), Some(other)) => item.is(other),
            (item, other) => item.is_none() && other.is_none(),
        };
        same_item && own.shares_storage(array) && own.view() == array.view()
    }
}

/// An array of the core, or a result that becomes one when it is needed.
pub enum NativeValue {
    Array(Array),
    /// The result of a small operation, for which no array has been created.
    Temporary(Temporary),
    /// An intermediate result of a chain, which may never become an array.
    Deferred(DeferredOperand),
}

impl NativeValue {
    fn array(&self) -> &Array {
        match self {
            NativeValue::Array(array) => array,
            NativeValue::Temporary(fresh) => fresh.array(),
            NativeValue::Deferred(operand) => operand.array(),
        }
    }

    #[inline]
    fn elements(&self) -> EagerSource<'_> {
        match self {
            NativeValue::Array(array) => EagerSource::Array(array),
            NativeValue::Temporary(fresh) => fresh.source(),
            NativeValue::Deferred(operand) => EagerSource::Array(operand.array()),
        }
    }
}

impl NdArray {
    /// Creates an array that owns its memory.
    pub fn owned(array: Array) -> Self {
        Self::new(ArrayValue::Native(NativeValue::Array(array)), None, true)
    }

    /// Creates an array from the result of a small operation.
    pub fn temporary(fresh: Temporary) -> Self {
        Self::new(ArrayValue::Native(NativeValue::Temporary(fresh)), None, true)
    }

    /// Creates an array from an intermediate result of a chain.
    pub fn deferred(operand: DeferredOperand) -> Self {
        Self::new(ArrayValue::Native(NativeValue::Deferred(operand)), None, true)
    }

    /// Returns the intermediate result that the array was created from.
    pub fn as_deferred(&self) -> Option<&DeferredOperand> {
        match self.value() {
            ArrayValue::Native(NativeValue::Deferred(operand)) => Some(operand),
            _ => None,
        }
    }

    fn new(value: ArrayValue, base: Option<Py<PyAny>>, writeable: bool) -> Self {
        let (current, writeable) = (AtomicUsize::new(0), AtomicBool::new(writeable));
        Self { first: ValueVersion::new(value), current, base, writeable }
    }

    /// Creates an array of an opaque dtype that owns its memory.
    pub fn opaque(array: Array, descr: Py<PyArrayDescr>) -> Self {
        Self::new(ArrayValue::Opaque(array, descr), None, true)
    }

    /// Wraps a NumPy array.
    pub fn held_by_numpy(array: Py<PyAny>, base: Option<Py<PyAny>>, writeable: bool) -> Self {
        Self::new(ArrayValue::NumPy(array), base, writeable)
    }

    /// Creates an array over memory of another owner; a view if there is a base.
    pub fn foreign(
        array: Array,
        item: Option<Py<PyArrayDescr>>,
        base: Option<Py<PyAny>>,
        writeable: bool,
    ) -> Self {
        Self::new(ArrayValue::from_memory(array, item), base, writeable)
    }

    /// Creates a view of an array with a native dtype.
    pub fn view_of<'py>(owner: &Bound<'py, NdArray>, view: View) -> PyResult<Bound<'py, PyAny>> {
        Self::memory_view_of(owner, view, None)
    }

    /// Creates a view of the memory of an array, with a native or an opaque dtype.
    pub fn memory_view_of<'py>(
        owner: &Bound<'py, NdArray>,
        view: View,
        item: Option<Py<PyArrayDescr>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let own = owner.get();
        let (memory, _) = own.memory().ok_or_else(not_native)?;
        let array = memory.with_view(view);
        let base = own
            .base
            .as_ref()
            .map_or_else(|| owner.clone().into_any().unbind(), |base| base.clone_ref(owner.py()));
        let array = Self::foreign(array, item, Some(base), own.is_writeable());
        Ok(Bound::new(owner.py(), array)?.into_any())
    }

    #[inline]
    pub fn value(&self) -> &ArrayValue {
        let mut version = &self.first;
        for _ in 0..self.current.load(Ordering::Acquire) {
            version = version.next.get().expect("a version that was stored");
        }
        &version.value
    }

    /// Replaces the value.
    fn set_value(&self, value: ArrayValue) {
        let (mut version, mut index, mut value) = (&self.first, 0, Some(value));
        while value.as_ref().is_some_and(|value| !version.value.is_same(value)) {
            let append = || Box::new(ValueVersion::new(value.take().expect("a new value")));
            version = version.next.get_or_init(append);
            index += 1;
        }
        self.current.store(index, Ordering::Release);
    }

    /// Returns the array of the core if the dtype is native.
    pub fn array(&self) -> Option<&Array> {
        match self.value() {
            ArrayValue::Native(first) => Some(first.array()),
            _ => None,
        }
    }

    /// Returns the elements for reading, without creating an array, if the dtype is native.
    #[inline]
    pub fn elements(&self) -> Option<EagerSource<'_>> {
        match self.value() {
            ArrayValue::Native(first) => Some(first.elements()),
            _ => None,
        }
    }

    /// Returns whether this is the result of a small operation without an array.
    fn is_temporary(&self) -> bool {
        matches!(self.elements(), Some(EagerSource::Temporary(_)))
    }

    /// Returns the elements, or the bytes with their opaque dtype.
    pub fn memory(&self) -> Option<(&Array, OpaqueDType<'_>)> {
        self.value().memory()
    }

    /// Returns the array of the core. The caller has dispatched on the dtype.
    pub fn native(&self) -> PyResult<&Array> {
        self.array().ok_or_else(not_native)
    }

    /// Returns the NumPy array that holds the elements.
    pub fn numpy_array<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        match self.value() {
            ArrayValue::NumPy(array) => Ok(array.bind(py)),
            _ => Err(internal_error("the array has native memory: NumPy does not hold it")),
        }
    }

    /// Replaces the view of the memory.
    pub fn reshape_in_place(&self, py: Python<'_>, view: View) {
        if let Some((array, item)) = self.memory() {
            let item = item.map(|descr| descr.clone_ref(py));
            self.set_value(ArrayValue::from_memory(array.with_view(view), item));
        }
    }

    /// Returns whether the array is a view.
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

pub fn not_native() -> PyErr {
    internal_error("the array has no native memory: NumPy holds it")
}

#[pymethods]
impl NdArray {
    /// The dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.value() {
            ArrayValue::Native(first) => dtypes::to_numpy(py, first.elements().dtype()),
            ArrayValue::Opaque(_, descr) => Ok(descr.bind(py).clone().into_any()),
            ArrayValue::NumPy(array) => array.bind(py).getattr("dtype"),
        }
    }

    #[setter]
    fn set_dtype<'py>(slf: &Bound<'py, Self>, dtype: &Bound<'py, PyAny>) -> PyResult<()> {
        fallback::function(slf.py(), "set_dtype")?.call1((slf, dtype)).map(drop)
    }

    /// Takes over the value of another array: a view of the same memory.
    fn _become(&self, py: Python<'_>, other: &NdArray) {
        self.set_value(match other.value() {
            ArrayValue::NumPy(array) => ArrayValue::NumPy(array.clone_ref(py)),
            ArrayValue::Opaque(array, descr) => {
                ArrayValue::Opaque(array.clone(), descr.clone_ref(py))
            }
            ArrayValue::Native(first) => {
                ArrayValue::Native(NativeValue::Array(first.array().clone()))
            }
        });
    }

    /// The array that owns the memory; None if it is this one.
    #[getter]
    fn base(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.base.as_ref().map(|base| base.clone_ref(py))
    }

    /// Whether the array may be written.
    #[getter(_writeable)]
    fn get_writeable(&self) -> bool {
        self.is_writeable()
    }

    #[setter(_writeable)]
    fn set_writeable(&self, py: Python<'_>, writeable: bool) -> PyResult<()> {
        if let ArrayValue::NumPy(array) = self.value() {
            array.bind(py).call_method1("setflags", (writeable,))?;
        }
        self.writeable.store(writeable, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the array is replicated.
    #[getter]
    fn _whole(&self) -> bool {
        self.is_temporary() || self.memory().is_none_or(|(array, _)| array.is_replicated())
    }

    /// Whether NumPy or another library has a view of the memory of this replicated array.
    #[getter]
    fn _shared(&self) -> bool {
        self.memory().is_some_and(|(array, _)| array.is_replicated() && array.is_lent())
    }

    /// Whether the core stores the elements as bytes of an opaque dtype.
    #[getter]
    fn _items(&self) -> bool {
        matches!(self.value(), ArrayValue::Opaque(..))
    }

    /// The NumPy array that holds the elements; None if the core does.
    #[getter]
    fn _held(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        match self.value() {
            ArrayValue::NumPy(array) => Some(array.clone_ref(py)),
            _ => None,
        }
    }

    /// Returns an array that owns the memory, for a caller that drops the only other owner.
    fn _owner<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, NdArray>> {
        let (array, item) = self.memory().ok_or_else(not_native)?;
        let item = item.map(|descr| descr.clone_ref(py));
        Bound::new(py, NdArray::foreign(array.clone(), item, None, true))
    }

    /// Whether the array is replicated and nothing is pending.
    #[getter]
    fn _is_stored(&self) -> bool {
        let is_here = |(array, _): (&Array, _)| array.is_materialized() && array.is_replicated();
        self.is_temporary() || self.memory().is_some_and(is_here)
    }

    /// A number that changes with every write to the memory; None if writes are not observed.
    #[getter]
    fn _writes(&self) -> Option<u64> {
        self.memory().and_then(|(array, _)| array.write_count())
    }

    /// Evaluates pending operations.
    fn _compute(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_temporary() {
            return Ok(());
        }
        match self.memory() {
            Some((array, _)) if !array.is_materialized() => {
                run_locked(py, usize::MAX, || array.materialize())
            }
            _ => Ok(()),
        }
    }
}

/// Reads the element at a byte offset of the memory.
pub fn read_element(py: Python<'_>, array: &Array, offset: usize) -> PyResult<Scalar> {
    match is_idle().then(|| array.try_get_element(offset)).flatten() {
        Some(value) => Ok(value),
        None => run_locked(py, 1, || array.element(offset)),
    }
}

/// Converts the result of an operation: a 0-d array becomes a NumPy scalar.
pub fn to_result(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    match array.shape().is_empty() {
        true => scalars::to_numpy(py, read_element(py, &array, array.view().offset)?),
        false => Ok(Bound::new(py, NdArray::owned(array))?.into_any()),
    }
}
