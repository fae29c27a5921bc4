//! Python's operators.

use dappled_kernels::{DTypeKind, Op};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBool, PyFloat, PyInt};

use super::class::NdArray;
use super::fast_path::fast_path;
use super::ufunc::{apply, apply_general, update_in_place};
use crate::ops::matmul::matmul;
use crate::runtime::fallback;

type Object<'py> = Bound<'py, PyAny>;

/// Returns whether an operator must return `NotImplemented`, by NumPy's rules.
fn defers(other: &Object<'_>) -> PyResult<bool> {
    if is_native_or_number(other) {
        return Ok(false);
    }
    match other.get_type().getattr_opt("__array_ufunc__")? {
        Some(attribute) => Ok(attribute.is_none()),
        None => Ok(false),
    }
}

/// Returns whether an object is exactly an `ndarray` of Dappled or a Python number.
fn is_native_or_number(object: &Object<'_>) -> bool {
    object.is_exact_instance_of::<NdArray>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBool>()
}

/// Computes `left op right`; `other` is the operand that is not `self`.
fn binary<'py>(
    op: Op,
    left: &Object<'py>,
    right: &Object<'py>,
    other: &Object<'py>,
) -> PyResult<Object<'py>> {
    let py = left.py();
    match defers(other)? {
        true => Ok(py.NotImplemented().into_bound(py)),
        false => apply(py, op, &[left, right]),
    }
}

/// Computes `own op other`, by the fast path if it applies.
fn forward<'py>(op: Op, own: &Bound<'py, NdArray>, other: &Object<'py>) -> PyResult<Object<'py>> {
    let (py, objects) = (own.py(), [own.as_any(), other]);
    match fast_path(py, op, &objects)? {
        Some(result) => Ok(result),
        None if defers(other)? => Ok(py.NotImplemented().into_bound(py)),
        None => apply_general(py, op, &objects),
    }
}

fn binary_by_numpy<'py>(
    name: &str,
    left: &Object<'py>,
    right: &Object<'py>,
    other: &Object<'py>,
) -> PyResult<Object<'py>> {
    let py = left.py();
    match defers(other)? {
        true => Ok(py.NotImplemented().into_bound(py)),
        false => fallback::ufunc(py, name, &[left, right]),
    }
}

/// Returns the operation that NumPy computes instead of a power with this Python number.
fn power_replacement(own: &Bound<'_, NdArray>, exponent: &Object<'_>) -> Option<Op> {
    let kind = own.get().array()?.dtype().kind();
    let real_or_complex = matches!(kind, DTypeKind::Float | DTypeKind::Complex);
    match exponent.cast_exact::<PyFloat>() {
        Ok(number) => (number.value() == 0.5 && real_or_complex).then_some(Op::Sqrt),
        Err(_) if !exponent.is_exact_instance_of::<PyInt>() => None,
        Err(_) => match exponent.extract::<i64>() {
            Ok(2) => Some(Op::Square),
            Ok(-1) if real_or_complex => Some(Op::Reciprocal),
            _ => None,
        },
    }
}

/// Computes `a op= b`; NumPy raises for what cannot be cast or broadcast.
fn in_place<'py>(op: Op, own: &Bound<'py, NdArray>, other: &Object<'py>) -> PyResult<()> {
    update(op, own, Some(other))
}

/// Writes the result of a unary or binary operation over its first operand.
fn update<'py>(op: Op, own: &Bound<'py, NdArray>, other: Option<&Object<'py>>) -> PyResult<()> {
    match own.get().is_writeable() && update_in_place(own.py(), op, own.get(), other)? {
        true => Ok(()),
        false => in_place_by_numpy(op.numpy_name(), own, other),
    }
}

fn in_place_by_numpy<'py>(
    name: &str,
    own: &Bound<'py, NdArray>,
    other: Option<&Object<'py>>,
) -> PyResult<()> {
    fallback::function(own.py(), "in_place")?.call1((name, own, other)).map(drop)
}

#[pymethods]
impl NdArray {
    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::Add, slf, other)
    }
    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::Add, other, slf, other)
    }
    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::Subtract, slf, other)
    }
    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::Subtract, other, slf, other)
    }
    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::Multiply, slf, other)
    }
    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::Multiply, other, slf, other)
    }
    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::Divide, slf, other)
    }
    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::Divide, other, slf, other)
    }
    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::FloorDivide, slf, other)
    }
    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::FloorDivide, other, slf, other)
    }
    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::Remainder, slf, other)
    }
    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::Remainder, other, slf, other)
    }
    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::And, slf, other)
    }
    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::And, other, slf, other)
    }
    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::Or, slf, other)
    }
    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::Or, other, slf, other)
    }
    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::Xor, slf, other)
    }
    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::Xor, other, slf, other)
    }
    fn __lshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::LeftShift, slf, other)
    }
    fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::LeftShift, other, slf, other)
    }
    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        forward(Op::RightShift, slf, other)
    }
    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary(Op::RightShift, other, slf, other)
    }
    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        match matmul(slf, other)? {
            Some(product) => Ok(product),
            None => binary_by_numpy("matmul", slf, other, other),
        }
    }
    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary_by_numpy("matmul", other, slf, other)
    }
    fn __divmod__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary_by_numpy("divmod", slf, other, other)
    }
    fn __rdivmod__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        binary_by_numpy("divmod", other, slf, other)
    }
    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Object<'py>,
        modulo: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        match (modulo.is_none(), power_replacement(slf, other)) {
            (true, Some(op)) => apply(slf.py(), op, &[slf]),
            (true, None) => forward(Op::Power, slf, other),
            (false, _) => Ok(slf.py().NotImplemented().into_bound(slf.py())),
        }
    }
    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Object<'py>,
        modulo: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        match modulo.is_none() {
            true => binary(Op::Power, other, slf, other),
            false => Ok(slf.py().NotImplemented().into_bound(slf.py())),
        }
    }
    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Object<'py>,
        op: CompareOp,
    ) -> PyResult<Object<'py>> {
        let op = match op {
            CompareOp::Eq => Op::Equal,
            CompareOp::Ne => Op::NotEqual,
            CompareOp::Lt => Op::Less,
            CompareOp::Le => Op::LessEqual,
            CompareOp::Gt => Op::Greater,
            CompareOp::Ge => Op::GreaterEqual,
        };
        forward(op, slf, other)
    }
    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        apply(slf.py(), Op::Negative, &[slf.as_any()])
    }
    fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        apply(slf.py(), Op::Positive, &[slf.as_any()])
    }
    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        apply(slf.py(), Op::Absolute, &[slf.as_any()])
    }
    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        apply(slf.py(), Op::Not, &[slf.as_any()])
    }
    fn __iadd__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::Add, slf, other)
    }
    fn __isub__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::Subtract, slf, other)
    }
    fn __imul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::Multiply, slf, other)
    }
    fn __itruediv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::Divide, slf, other)
    }
    fn __ifloordiv__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::FloorDivide, slf, other)
    }
    fn __imod__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::Remainder, slf, other)
    }
    fn __iand__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::And, slf, other)
    }
    fn __ior__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::Or, slf, other)
    }
    fn __ixor__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::Xor, slf, other)
    }
    fn __ilshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::LeftShift, slf, other)
    }
    fn __irshift__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place(Op::RightShift, slf, other)
    }
    fn __ipow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Object<'py>,
        _modulo: &Object<'py>,
    ) -> PyResult<()> {
        match power_replacement(slf, other) {
            Some(op) => update(op, slf, None),
            None => in_place(Op::Power, slf, other),
        }
    }
    fn __imatmul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place_by_numpy("matmul", slf, Some(other))
    }
}
