//! Python's operators.

use dappled_kernels::{Kind, Op};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBool, PyFloat, PyInt};

use super::class::NdArray;
use super::commonest::beside_own;
use super::product::product;
use super::slow;
use super::ufunc::{apply, updated};

type Object<'py> = Bound<'py, PyAny>;

/// Does an object want its own operator tried, as NumPy decides it?
fn defers(other: &Object<'_>) -> PyResult<bool> {
    if is_known(other) {
        return Ok(false);
    }
    match other.get_type().getattr_opt("__array_ufunc__")? {
        Some(found) => Ok(found.is_none()),
        None => Ok(false),
    }
}

/// Is it one of ours, or a plain number of Python's?
fn is_known(object: &Object<'_>) -> bool {
    object.is_exact_instance_of::<NdArray>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBool>()
}

/// `left op right`, of which one is an array of ours, and the other the other.
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

/// `own op other`; the commonest case is looked at first, with nothing looked at twice.
fn forward<'py>(op: Op, own: &Bound<'py, NdArray>, other: &Object<'py>) -> PyResult<Object<'py>> {
    match beside_own(own, op, other)? {
        Some(result) => Ok(result),
        None => binary(op, own, other, other),
    }
}

fn by_numpy<'py>(
    name: &str,
    left: &Object<'py>,
    right: &Object<'py>,
    other: &Object<'py>,
) -> PyResult<Object<'py>> {
    let py = left.py();
    match defers(other)? {
        true => Ok(py.NotImplemented().into_bound(py)),
        false => slow::ufunc(py, name, &[left, right]),
    }
}

/// NumPy's arrays do some powers by another operation, if the exponent is a plain number of Python's.
fn power_as(own: &Bound<'_, NdArray>, exponent: &Object<'_>) -> Option<Op> {
    let kind = own.get().array()?.dtype().kind();
    let real_or_complex = matches!(kind, Kind::Float | Kind::Complex);
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

/// `a op= b`; what does not fit as it is goes to NumPy, which says why not.
fn in_place<'py>(op: Op, own: &Bound<'py, NdArray>, other: &Object<'py>) -> PyResult<()> {
    over(op, own, Some(other))
}

/// The same, or an operation of one argument.
fn over<'py>(op: Op, own: &Bound<'py, NdArray>, other: Option<&Object<'py>>) -> PyResult<()> {
    match own.get().is_writeable() && updated(own.py(), op, own.get(), other)? {
        true => Ok(()),
        false => in_place_by_numpy(op.numpy_name(), own, other),
    }
}

fn in_place_by_numpy<'py>(
    name: &str,
    own: &Bound<'py, NdArray>,
    other: Option<&Object<'py>>,
) -> PyResult<()> {
    slow::function(own.py(), "in_place")?.call1((name, own, other)).map(drop)
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
        match product(slf, other)? {
            Some(made) => Ok(made),
            None => by_numpy("matmul", slf, other, other),
        }
    }
    fn __rmatmul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        by_numpy("matmul", other, slf, other)
    }
    fn __divmod__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        by_numpy("divmod", slf, other, other)
    }
    fn __rdivmod__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<Object<'py>> {
        by_numpy("divmod", other, slf, other)
    }
    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Object<'py>,
        modulo: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        match (modulo.is_none(), power_as(slf, other)) {
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
        match power_as(slf, other) {
            Some(op) => over(op, slf, None),
            None => in_place(Op::Power, slf, other),
        }
    }
    fn __imatmul__<'py>(slf: &Bound<'py, Self>, other: &Object<'py>) -> PyResult<()> {
        in_place_by_numpy("matmul", slf, Some(other))
    }
}
