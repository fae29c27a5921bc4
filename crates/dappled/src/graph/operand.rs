//! Operands of element-wise operations.

use dappled_kernels::{DType, Scalar, WeakScalar};

use crate::array::Array;
use crate::array::node::NodeInput;

/// An operand of an element-wise operation.
#[derive(Clone, Copy)]
pub enum ElementwiseOperand<'a> {
    /// An array.
    Array(&'a Array),
    /// A scalar, broadcast to all elements.
    Scalar(Scalar),
}

impl<'a> From<&'a Array> for ElementwiseOperand<'a> {
    fn from(array: &'a Array) -> Self {
        ElementwiseOperand::Array(array)
    }
}

impl From<Scalar> for ElementwiseOperand<'_> {
    fn from(value: Scalar) -> Self {
        ElementwiseOperand::Scalar(value)
    }
}

impl ElementwiseOperand<'_> {
    pub(crate) fn input(&self, shape: &[usize]) -> NodeInput {
        match self {
            ElementwiseOperand::Scalar(value) => NodeInput::Scalar(*value),
            ElementwiseOperand::Array(array) => {
                let view = array
                    .view()
                    .broadcast(shape)
                    .expect("operands broadcast to their common shape");
                NodeInput::Array(array.storage.current(), view)
            }
        }
    }

    pub(crate) fn dtype(&self) -> DType {
        match self {
            ElementwiseOperand::Scalar(value) => value.dtype(),
            ElementwiseOperand::Array(array) => array.dtype(),
        }
    }

    pub(crate) fn is_lent(&self) -> bool {
        matches!(self, ElementwiseOperand::Array(array) if array.storage.is_lent())
    }
}

/// An operand of a ufunc, as the program passed it.
#[derive(Clone, Copy)]
pub enum UfuncOperand<'a> {
    /// An array.
    Array(&'a Array),
    /// A scalar with a dtype, such as NumPy's scalars.
    Strong(Scalar),
    /// A Python number, which adapts to the dtypes of the other operands.
    Weak(WeakScalar, Scalar),
}

impl UfuncOperand<'_> {
    /// The dtype of the operand; None for a Python number.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            UfuncOperand::Array(array) => Some(array.dtype()),
            UfuncOperand::Strong(value) => Some(value.dtype()),
            UfuncOperand::Weak(..) => None,
        }
    }

    /// Returns true if a Python int is out of range for a dtype.
    pub fn overflows(&self, dtype: DType) -> bool {
        match self {
            UfuncOperand::Weak(WeakScalar::Int, value) if dtype.is_integral() => {
                value.cast(dtype).cast(DType::Int64) != *value
                    || (dtype == DType::UInt64 && value.get::<i64>().is_some_and(|value| value < 0))
            }
            _ => false,
        }
    }

    /// The operand of an assignment, which casts it to the dtype of the target.
    pub fn assigned(&self) -> ElementwiseOperand<'_> {
        match self {
            UfuncOperand::Array(array) => ElementwiseOperand::Array(array),
            UfuncOperand::Strong(value) | UfuncOperand::Weak(_, value) => {
                ElementwiseOperand::Scalar(*value)
            }
        }
    }
}

impl<'a> From<&'a Array> for UfuncOperand<'a> {
    fn from(array: &'a Array) -> Self {
        UfuncOperand::Array(array)
    }
}

impl From<f64> for UfuncOperand<'_> {
    fn from(value: f64) -> Self {
        UfuncOperand::Weak(WeakScalar::Float, Scalar::new(value))
    }
}
