//! `a[key]` and `a[key] = value`. What is not basic indexing is NumPy's.

use dappled::graph::{Array, Operand};
use dappled::protocol::slice::Item;
use dappled::view::{Indexed, indexed};
use dappled_kernels::{Casting, DType, Kind, Scalar, Weak, can_cast};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};

use super::class::NdArray;
use super::exclusive::exclusive;
use super::given::{Argument, argument};
use super::origin::must_share;
use super::{scalars, slow};
use crate::errors::Raise;

/// A key of basic indexing; None if it is another.
fn basic(key: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Item>>> {
    match key.cast::<PyTuple>() {
        Ok(items) => items.iter().map(|part| item(&part)).collect(),
        Err(_) => Ok(item(key)?.map(|item| vec![item])),
    }
}

fn item(object: &Bound<'_, PyAny>) -> PyResult<Option<Item>> {
    if let Ok(slice) = object.cast::<PySlice>() {
        return unpacked(slice).map(Some);
    }
    if object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>() {
        return Ok(object.extract::<i64>().ok().map(Item::Index));
    }
    if object.is_none() {
        return Ok(Some(Item::NewAxis));
    }
    if object.is_instance_of::<PyEllipsis>() {
        return Ok(Some(Item::Ellipsis));
    }
    match crate::convert::is_int(object) {
        true => Ok(object.extract::<i64>().ok().map(Item::Index)),
        false => Ok(None),
    }
}

/// Start, stop and step; left out, they are as far as any array goes.
fn unpacked(slice: &Bound<'_, PySlice>) -> PyResult<Item> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: a slice object, and three places to write to.
    let status = unsafe { ffi::PySlice_Unpack(slice.as_ptr(), &mut start, &mut stop, &mut step) };
    match status {
        0 => Ok(Item::Slice(Some(start as i64), Some(stop as i64), Some(step as i64))),
        _ => Err(PyErr::fetch(slice.py())),
    }
}

fn selected(array: &Array, items: &[Item]) -> PyResult<Indexed> {
    indexed(array.view(), items).map_err(|error| dappled::graph::GraphError::from(error).raise())
}

/// May a value be written into this dtype here? What may raise or warn is NumPy's to do.
fn fits(value: &Argument<'_>, target: DType) -> bool {
    let quiet = |from: DType| from.kind() != Kind::Complex || target.kind() == Kind::Complex;
    match value {
        Argument::Ours(array) => quiet(array.dtype()),
        Argument::Theirs(array) => quiet(array.dtype()),
        Argument::Strong(value) => can_cast(value.dtype(), target, Casting::SameKind),
        Argument::Weak(Weak::Float, value) if target.is_integral() => small_enough(*value, target),
        Argument::Weak(Weak::Complex, _) => target.kind() == Kind::Complex,
        Argument::Weak(..) => !value.overflows(target),
    }
}

/// Is a float's whole part surely inside an integer dtype?
fn small_enough(value: Scalar, target: DType) -> bool {
    let bits = 8 * target.itemsize() as i32 - 1;
    let number = value.get::<f64>().unwrap_or(f64::NAN);
    target != DType::Bool
        && number.abs() < 2f64.powi(bits)
        && (number >= 0.0 || target.kind() == Kind::Signed)
}

#[pymethods]
impl NdArray {
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let (Some(array), Some(items)) = (slf.get().array(), basic(key)?) else {
            return slow::function(py, "getitem")?.call1((slf, key));
        };
        let found = selected(array, &items)?;
        match found.is_element {
            true => {
                let offset = found.view.offset;
                scalars::to_numpy(py, exclusive(py, 1, || array.element(offset))?)
            }
            false => NdArray::view_of(slf, found.view),
        }
    }

    fn __setitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let py = slf.py();
        let own = slf.get();
        own.check_writeable()?;
        if let (Some(array), Some(items)) = (own.array(), basic(key)?)
            && let Some(value) = argument(value)?
            && fits(&value, array.dtype())
        {
            let found = selected(array, &items)?;
            // Of an array written into one element NumPy has its own opinion.
            if !found.is_element || matches!(value, Argument::Strong(_) | Argument::Weak(..)) {
                return written(py, &array.with_view(found.view), &value);
            }
        }
        slow::function(py, "setitem")?.call1((slf, key, value)).map(drop)
    }
}

/// Writes a value that fits.
pub fn written(py: Python<'_>, target: &Array, value: &Argument<'_>) -> PyResult<()> {
    let operand = match value {
        Argument::Ours(array) => Operand::Array(array),
        Argument::Theirs(array) => Operand::Array(array),
        Argument::Strong(value) | Argument::Weak(_, value) => Operand::Scalar(*value),
    };
    let casts = matches!(operand, Operand::Array(array) if array.dtype() != target.dtype());
    let shares = casts && !target.is_whole() && must_share(py)?;
    exclusive(py, target.view().len(), || {
        target.assign(operand)?;
        if shares { target.session().share_notices("cast", None) } else { Ok(()) }
    })
}
