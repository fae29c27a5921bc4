//! All names that a program needs: `use dappled::prelude::*`.

pub use crate::config::Limits;
pub use crate::error::{Error, Result};
pub use crate::ops::convolve::ConvolveMode;
pub use crate::s;
pub use crate::typed::context::Context;
pub use crate::typed::element::{
    ArrayElement, BitsElement, ComplexElement, IntegerElement, MatrixElement, NumberElement,
    RealElement,
};
pub use crate::typed::local::LocalArray;
pub use crate::typed::operators::Operand;
pub use crate::typed::random::ParallelGenerator;
pub use crate::typed::slice::{Ellipsis, NewAxis};
pub use crate::typed::{Array, Countable, Mask};
pub use dappled_fabric::Threads;
pub use dappled_kernels::element::f16;
pub use dappled_kernels::{Bool, DType, Op};
pub use dappled_protocol::Distribution;
pub use num_complex::{Complex32, Complex64};
