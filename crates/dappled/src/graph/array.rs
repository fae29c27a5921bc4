//! The array: a box that holds the current version, seen through a key.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dappled_kernels::{Casting, DType, Element, Op, Scalar, Weak, can_cast, promote, promote_weak};
use dappled_protocol::Distribution;
use dappled_protocol::slice::{Item, Key};

use super::evaluate::{next_version, value, whole, write};
use super::node::{Arg, Node, State};
use super::session::HEAVIEST;
use super::{GraphError, Session};
use crate::plan::Operand;
use crate::run::Piece;

/// An array in pieces over the ranks of a session. Parts of it are views: they share its box, and
/// what is written through one is seen through all.
///
/// Every method is collective: all ranks call it, in the same order.
#[derive(Clone)]
pub struct Array {
    session: Session,
    current: Arc<Mutex<Arc<Node>>>,
    key: Key,
}

impl Array {
    /// One value everywhere.
    pub fn full<T: Element>(session: &Session, shape: &[u64], value: T) -> Self {
        let distribution = session.default_distribution(shape);
        Self::over(
            session,
            Node::new(session, distribution, T::DTYPE, State::Full(Scalar::new(value))),
        )
    }

    fn over(session: &Session, node: Arc<Node>) -> Self {
        let key = whole(&node);
        Self { session: session.clone(), current: Arc::new(Mutex::new(node)), key }
    }

    /// The shape.
    pub fn shape(&self) -> Vec<u64> {
        self.key.shape()
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.current().dtype
    }

    /// A part: ints, slices, Ellipsis and new axes, as in NumPy. A view, no copy.
    pub fn part(&self, items: &[Item]) -> Result<Array, GraphError> {
        Ok(Array { key: self.key.then(items)?, ..self.clone() })
    }

    /// Writes a value over this array or part, as `a[...] = value` does. Who was asked before still
    /// reads what was there then.
    pub fn assign(&self, value: &Array) -> Result<(), GraphError> {
        if value.shape() != self.shape() {
            return Err(GraphError::Shapes(value.shape(), self.shape()));
        }
        self.store(value.arg())
    }

    /// Writes one value everywhere.
    pub fn fill<T: Element>(&self, value: T) -> Result<(), GraphError> {
        self.store(Arg::Scalar(Scalar::new(value)))
    }

    /// The next version, in memory of its own: so nothing that is read can have been overwritten.
    fn store(&self, arg: Arg) -> Result<(), GraphError> {
        let old = self.current().clone();
        if !can_cast(arg.dtype(), old.dtype, Casting::SameKind) {
            return Err(GraphError::Cast { from: arg.dtype(), to: old.dtype });
        }
        let target = Operand::new(&old.distribution, self.key.clone())?;
        let piece = next_version(&self.session, &target, &value(&self.session, &old)?, &arg)?;
        let next =
            Node::new(&self.session, old.distribution.clone(), old.dtype, State::Stored(piece));
        *self.current() = next;
        Ok(())
    }

    /// `self + with`
    pub fn add<'a>(&self, with: impl Into<With<'a>>) -> Result<Array, GraphError> {
        self.map(Op::Add, &[with.into()])
    }

    /// `self - with`
    pub fn subtract<'a>(&self, with: impl Into<With<'a>>) -> Result<Array, GraphError> {
        self.map(Op::Subtract, &[with.into()])
    }

    /// `self * with`
    pub fn multiply<'a>(&self, with: impl Into<With<'a>>) -> Result<Array, GraphError> {
        self.map(Op::Multiply, &[with.into()])
    }

    /// `self / with`
    pub fn divide<'a>(&self, with: impl Into<With<'a>>) -> Result<Array, GraphError> {
        self.map(Op::Divide, &[with.into()])
    }

    /// An operation, element by element; its value is computed when it is needed.
    pub fn map(&self, op: Op, others: &[With<'_>]) -> Result<Array, GraphError> {
        let mut args = vec![self.arg()];
        for other in others {
            args.push(other.arg(self)?);
        }
        let dtype = loop_dtype(op, others.iter().fold(self.dtype(), With::promoted))?;
        let weight = 1 + args.iter().map(Arg::weight).sum::<usize>();
        let distribution = self.session.default_distribution(&self.shape());
        let state = State::Map { op, dtype, args: args.into(), weight };
        let node = Node::new(&self.session, distribution, op.result(dtype), state);
        if weight > HEAVIEST {
            value(&self.session, &node)?;
        }
        Ok(Array::over(&self.session, node))
    }

    /// All elements in C order, the same on every rank.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, GraphError> {
        let one = Distribution::spec(&self.shape())
            .dist(&"n".repeat(self.shape().len()))
            .nprocs(self.session.fabric().size());
        let everywhere = one.build().map_err(|_| GraphError::Shapes(self.shape(), Vec::new()))?;
        let piece = Piece::zeros(T::DTYPE, &self.shape());
        let target = Operand::new(&everywhere, Key::new(&[], &self.shape())?)?;
        write(&self.session, &target, &piece, &self.arg())?;
        Ok(piece.buffer.to_vec())
    }

    /// What is read, as it is now.
    fn arg(&self) -> Arg {
        Arg::Part(self.current().clone(), self.key.clone())
    }

    /// The current version. A panic elsewhere leaves it as it was: versions are replaced whole.
    fn current(&self) -> MutexGuard<'_, Arc<Node>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an array meets in an operation.
#[derive(Clone, Copy)]
pub enum With<'a> {
    /// Another array of the same shape.
    Array(&'a Array),
    /// A number, which bends to the array's dtype as far as it can.
    Number(f64),
}

impl With<'_> {
    fn arg(&self, like: &Array) -> Result<Arg, GraphError> {
        match self {
            With::Array(array) if array.shape() != like.shape() => {
                Err(GraphError::Shapes(like.shape(), array.shape()))
            }
            With::Array(array) => Ok(array.arg()),
            With::Number(number) => Ok(Arg::Scalar(Scalar::new(*number))),
        }
    }

    fn promoted(dtype: DType, with: &Self) -> DType {
        match with {
            With::Array(array) => promote(dtype, array.dtype()),
            With::Number(_) => promote_weak(dtype, Weak::Float),
        }
    }
}

impl<'a> From<&'a Array> for With<'a> {
    fn from(array: &'a Array) -> Self {
        With::Array(array)
    }
}

impl From<f64> for With<'_> {
    fn from(number: f64) -> Self {
        With::Number(number)
    }
}

/// The dtype that an operation is done in. Integers are divided in float64, as in NumPy.
fn loop_dtype(op: Op, dtype: DType) -> Result<DType, GraphError> {
    match op {
        _ if op.has_loop(dtype) => Ok(dtype),
        Op::Divide => Ok(DType::Float64),
        _ => Err(GraphError::NoLoop { op, dtype }),
    }
}
