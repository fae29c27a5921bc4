//! Operation chains: expressions on small arrays, fused as they are requested.
//!
//! `a * b + c * 2.0` runs as one loop, without storing intermediate results. Only the caller can
//! tell that a result is nothing but an operand of the next operation. A chain is not an array yet:
//! it has inputs, which are local arrays whose result would be in C order, scalars, and steps.

use std::sync::Arc;

use dappled_kernels::{Axes, DType, Op, Scalar, View};
use smallvec::SmallVec;

use super::chain_program::{ChainProgram, ChainStep, ChainValue};
use crate::array::Array;
use crate::array::node::Node;
use crate::config::{MAX_CHAIN_CONSTANTS, MAX_CHAIN_INPUTS, MAX_CHAIN_STEPS};
use crate::graph::type_resolution::has_single_loop;
use crate::session::Session;
use crate::view::memory_order::has_descending_strides;

/// An operand of an operation in a chain.
#[derive(Clone, Copy)]
pub enum ChainOperand<'a> {
    /// An array.
    Array(&'a Array),
    /// The chain of the preceding operations.
    Chain(&'a OpChain),
    /// A scalar of the operation's dtype.
    Scalar(Scalar),
}

/// Fused operations of one expression that have not run yet.
#[derive(Clone)]
pub struct OpChain {
    pub(crate) session: Session,
    pub(crate) shape: Axes<usize>,
    pub(crate) inputs: SmallVec<[ChainInput; 4]>,
    pub(crate) program: ChainProgram,
    /// Call site of each step, encoded by the caller.
    pub(crate) call_sites: [u32; MAX_CHAIN_STEPS],
}

/// A strided input: the array version, byte offset, and strides.
#[derive(Clone)]
pub(crate) struct ChainInput {
    pub node: Arc<Node>,
    pub offset: usize,
    /// Strides, if the input is not contiguous.
    pub strides: Option<Arc<[isize]>>,
}

impl OpChain {
    /// Appends an operation requested at a call site to its operands.
    ///
    /// None if the operands are not uniform, or the chain would be too long.
    pub fn try_new(op: Op, operands: &[ChainOperand<'_>], call_site: u32) -> Option<Box<Self>> {
        let dtype = common_loop(op, operands)?;
        let (mut extended, args) = match *operands {
            [ChainOperand::Chain(chain)] => {
                (chain.boxed_clone(), [chain.program.last_result(), ChainValue::NONE])
            }
            [ChainOperand::Chain(chain), other] => {
                let mut extended = chain.boxed_clone();
                let other = extended.operand_value(other);
                (extended, [chain.program.last_result(), other])
            }
            [first, ChainOperand::Chain(chain)] => {
                let mut extended = chain.boxed_clone();
                let first = extended.operand_value(first);
                (extended, [first, chain.program.last_result()])
            }
            _ => {
                let (mut extended, mut args) = (Self::empty(operands)?, [ChainValue::NONE; 2]);
                args.iter_mut()
                    .zip(operands)
                    .for_each(|(arg, &operand)| *arg = extended.operand_value(operand));
                (extended, args)
            }
        };
        extended.call_sites[extended.program.steps.len()] = call_site;
        extended.program.steps.push(ChainStep { op, dtype, args });
        Some(extended)
    }

    fn boxed_clone(&self) -> Box<Self> {
        Box::new(self.clone())
    }

    /// An empty chain with the shape of the first array.
    fn empty(operands: &[ChainOperand<'_>]) -> Option<Box<Self>> {
        let array = operands.iter().find_map(|operand| match operand {
            ChainOperand::Array(array) => Some(array),
            _ => None,
        })?;
        let (inputs, program, call_sites) = (SmallVec::new(), ChainProgram::new(), [0; _]);
        let (session, shape) = (array.session().clone(), Axes::from_slice(array.shape()));
        Some(Box::new(Self { session, shape, inputs, program, call_sites }))
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The dtype of the result.
    pub fn dtype(&self) -> DType {
        self.program.dtype()
    }

    /// The value of an operand, which is compatible.
    fn operand_value(&mut self, operand: ChainOperand<'_>) -> ChainValue {
        match operand {
            ChainOperand::Scalar(value) => self.program.constant(value),
            ChainOperand::Chain(chain) => self.append(chain),
            ChainOperand::Array(array) => {
                let (node, view) = (array.storage.current(), array.view());
                let strides = (!view.is_contiguous()).then(|| view.strides[..].into());
                self.add_input(&ChainInput { node, offset: view.offset, strides }, array.dtype())
            }
        }
    }

    /// Adds an input; equal views of one version are one input.
    fn add_input(&mut self, input: &ChainInput, dtype: DType) -> ChainValue {
        let same = |(existing, of): (&ChainInput, &DType)| {
            (*of, existing.offset, &existing.strides) == (dtype, input.offset, &input.strides)
                && Arc::ptr_eq(&existing.node, &input.node)
        };
        let existing = self.inputs.iter().zip(self.program.inputs.iter()).position(same);
        ChainValue::input(existing.unwrap_or_else(|| {
            self.inputs.push(input.clone());
            self.program.inputs.push(dtype);
            self.inputs.len() - 1
        }))
    }

    /// Appends the steps of another chain, and returns its result.
    fn append(&mut self, other: &OpChain) -> ChainValue {
        let mut values = [ChainValue::NONE; MAX_CHAIN_INPUTS];
        let inputs = other.inputs.iter().zip(other.program.inputs.iter());
        for (value, (input, &dtype)) in values.iter_mut().zip(inputs) {
            *value = self.add_input(input, dtype);
        }
        let (start, count) = (self.program.steps.len(), other.program.steps.len());
        self.call_sites[start..start + count].copy_from_slice(&other.call_sites[..count]);
        self.program.append(&other.program, &values);
        self.program.last_result()
    }
}

/// The dtype of an operation on compatible operands; None if the chain cannot include it.
fn common_loop(op: Op, operands: &[ChainOperand<'_>]) -> Option<DType> {
    let dtype = operands.iter().find_map(ChainOperand::dtype)?;
    let shape = operands.iter().find_map(ChainOperand::shape)?;
    let is_compatible = |operand: &ChainOperand<'_>| operand.is_compatible(shape, dtype);
    (has_single_loop(op, dtype) && operands.iter().all(is_compatible) && fits_capacity(operands))
        .then_some(dtype)
}

/// Returns true if the operands and one more step fit into a chain program.
fn fits_capacity(operands: &[ChainOperand<'_>]) -> bool {
    const CAPACITY: [usize; 3] = [MAX_CHAIN_INPUTS, MAX_CHAIN_CONSTANTS, MAX_CHAIN_STEPS];
    let mut counts = [0, 0, 1];
    for operand in operands {
        let more = match operand {
            ChainOperand::Array(_) => [1, 0, 0],
            ChainOperand::Scalar(_) => [0, 1, 0],
            ChainOperand::Chain(chain) => chain.program.counts(),
        };
        counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
    }
    counts.iter().zip(CAPACITY).all(|(&count, capacity)| count <= capacity)
}

impl ChainOperand<'_> {
    /// The dtype; None for a scalar.
    fn dtype(&self) -> Option<DType> {
        match self {
            ChainOperand::Array(array) => Some(array.dtype()),
            ChainOperand::Chain(chain) => Some(chain.dtype()),
            ChainOperand::Scalar(_) => None,
        }
    }

    fn shape(&self) -> Option<&[usize]> {
        match self {
            ChainOperand::Array(array) => Some(array.shape()),
            ChainOperand::Chain(chain) => Some(&chain.shape),
            ChainOperand::Scalar(_) => None,
        }
    }

    /// Returns true if the operand is local, not lent, and gives a result in C order.
    fn is_compatible(&self, shape: &[usize], dtype: DType) -> bool {
        match self {
            ChainOperand::Scalar(value) => value.dtype() == dtype,
            ChainOperand::Chain(chain) => *chain.shape == *shape && chain.dtype() == dtype,
            ChainOperand::Array(array) => {
                let view = array.view();
                view.dtype == dtype
                    && *view.shape == *shape
                    && !array.is_lent()
                    && array.storage.with_current(|node| is_readable(node, view))
            }
        }
    }
}

/// Returns true if the elements are local, and contiguous ones aligned.
///
/// Strided inputs are packed, which pays if the result is in C order.
fn is_readable(node: &Node, view: &View) -> bool {
    let Some(memory) = node.replicated_buffer() else { return false };
    match view.is_contiguous() {
        true => (memory.as_ptr().addr() + view.offset).is_multiple_of(view.dtype.itemsize()),
        false => has_descending_strides(view),
    }
}
