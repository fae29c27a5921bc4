//! Temporary elision: the operand whose memory NumPy reuses for the result of an operator.
//!
//! NumPy computes `t + b` in the memory of `t` where `t` is a large temporary, so the result has the
//! strides of `t`. Dappled fuses the expression instead, and gives its result those strides.

use dappled_kernels::{Casting, DTypeKind, Op, can_cast};
use pyo3::prelude::*;

use super::class::NdArray;
use crate::config::MIN_ELISION_BYTES;
use crate::runtime::frames::is_temporary;

/// Returns the index of the operand that NumPy computes in place.
///
/// `None` for a unary operator, and for an array and a number: the result has the strides of the
/// only array with or without elision.
pub fn elided_operand(op: Op, objects: &[&Bound<'_, PyAny>]) -> Option<u8> {
    let &[left, right] = objects else { return None };
    if can_elide(op, left, right) {
        return Some(0);
    }
    (is_commutative(op) && can_elide(op, right, left)).then_some(1)
}

fn is_commutative(op: Op) -> bool {
    matches!(op, Op::Add | Op::Multiply | Op::And | Op::Or | Op::Xor)
}

fn is_elidable(op: Op) -> bool {
    is_commutative(op)
        || matches!(
            op,
            Op::Subtract | Op::Divide | Op::FloorDivide | Op::LeftShift | Op::RightShift
        )
}

/// NumPy's `can_elide_temp`: a large temporary that owns its memory, and an operand of its shape
/// that casts to its dtype safely.
fn can_elide(op: Op, temporary: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    let Some((temporary, other)) =
        as_ndarray(temporary).filter(|_| is_elidable(op)).zip(as_ndarray(other))
    else {
        return false;
    };
    let (Some(array), Some(other_array)) = (temporary.get().array(), other.get().array()) else {
        return false;
    };
    let dtype = array.dtype();
    array.shape().len() > 1
        && array.view().len() * dtype.itemsize() >= MIN_ELISION_BYTES
        && array.shape() == other_array.shape()
        && is_temporary(temporary)
        && temporary.get().is_writeable()
        && !temporary.get().has_base()
        && (op != Op::Divide || matches!(dtype.kind(), DTypeKind::Float | DTypeKind::Complex))
        && can_cast(other_array.dtype(), dtype, Casting::Safe)
}

fn as_ndarray<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, NdArray>> {
    object.cast_exact::<NdArray>().ok()
}
