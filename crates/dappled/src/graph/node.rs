//! Nodes: one operation each.

use std::sync::{Arc, Mutex, PoisonError};

use dappled_kernels::{DType, Op, Scalar};
use dappled_protocol::Distribution;
use dappled_protocol::slice::Key;

use super::Session;
use super::memory::Freed;
use crate::run::Piece;

/// One operation, or an array that is stored.
pub(super) struct Node {
    /// Where the result lies, or will lie.
    pub distribution: Distribution,
    pub dtype: DType,
    state: Mutex<State>,
    /// Where its memory goes when nobody holds it any more.
    freed: Arc<Freed>,
}

/// What is known of a node's value.
#[derive(Clone)]
pub(super) enum State {
    /// This rank's piece. What was asked is forgotten, and with it what only this node held.
    Stored(Piece),
    /// One value everywhere.
    Full(Scalar),
    /// An operation, element by element, in a loop of this dtype.
    Map { op: Op, dtype: DType, args: Arc<[Arg]>, weight: usize },
}

/// An argument of an operation.
#[derive(Clone)]
pub(super) enum Arg {
    /// One value for all elements.
    Scalar(Scalar),
    /// A part of an array, as it was when the operation was asked for.
    Part(Arc<Node>, Key),
}

impl Node {
    pub fn new(
        session: &Session,
        distribution: Distribution,
        dtype: DType,
        state: State,
    ) -> Arc<Self> {
        let freed = session.freed().clone();
        Arc::new(Self { distribution, dtype, state: Mutex::new(state), freed })
    }

    pub fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on its value is known.
    pub fn store(&self, piece: Piece) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::Stored(piece);
    }

    /// How many operations would have to be done to know its value.
    fn weight(&self) -> usize {
        match self.state() {
            State::Map { weight, .. } => weight,
            _ => 0,
        }
    }
}

/// Local, and no message: the garbage may be collected at different times on different ranks.
impl Drop for Node {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Stored(piece) = state {
            self.freed.keep(&piece.buffer);
        }
    }
}

impl Arg {
    pub fn dtype(&self) -> DType {
        match self {
            Arg::Scalar(value) => value.dtype(),
            Arg::Part(node, _) => node.dtype,
        }
    }

    pub fn weight(&self) -> usize {
        match self {
            Arg::Scalar(_) => 0,
            Arg::Part(node, _) => node.weight(),
        }
    }

    /// The same argument seen through a key of its shape: an operation on elements commutes with
    /// taking a part.
    pub fn seen_through(&self, key: &Key) -> Arg {
        match self {
            Arg::Scalar(value) => Arg::Scalar(*value),
            Arg::Part(node, own) => Arg::Part(node.clone(), own.of(key)),
        }
    }
}
