//! Nodes of the graph: stored arrays and deferred operations.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dappled_kernels::{Buffer, DType, Scalar, View};
use smallvec::SmallVec;

use super::placement::Placement;
use crate::config::{
    MAX_RECOMPUTED_OPERATIONS, MAX_RETAINED_ARRAYS, MAX_RETAINED_SIZE_RATIO, MIN_EXPANSION_RATIO,
    MIN_SHARED_POOL_BYTES, RETENTION_CHECK_INTERVAL,
};
use crate::error::{Result, RunError};
use crate::session::Session;
use crate::session::buffer_pool::{BufferPool, recycle_small};
use crate::session::fingerprint::fnv_hash;
use crate::session::fp_warnings::OpRequest;
use crate::view::{axis_mapping, map_view};

/// A stored array or a deferred operation.
pub(crate) struct Node {
    /// The base: dtype, shape, and strides in C order.
    pub base: View,
    /// Which rank holds which elements.
    pub placement: Placement,
    /// This rank's memory if it exists from the start; read without synchronisation.
    initial: Option<Buffer>,
    /// This rank's memory after evaluation.
    computed: OnceLock<Buffer>,
    /// The definition of the value, until it is evaluated.
    definition: Mutex<Option<Definition>>,
    /// Identity of a distributed array, equal on all ranks.
    id: AtomicU64,
    /// Whether the node was fused into another program before. The next read stores it.
    was_read: AtomicBool,
    /// The pool that takes the memory of large arrays when the node is dropped.
    pool: Option<Arc<BufferPool>>,
}

/// Definition of a value that is not evaluated yet.
#[derive(Clone)]
enum Definition {
    Full(Scalar),
    Elementwise(Arc<ElementwiseOp>),
    Deferred(Arc<dyn DeferredValue>),
}

/// State of a node's value.
#[derive(Clone)]
pub(crate) enum NodeState {
    /// Evaluated: this rank's memory. The definition was dropped, with all nodes that only it held.
    Stored(Buffer),
    /// Filled with one value.
    Full(Scalar),
    /// A deferred element-wise operation.
    Elementwise(Arc<ElementwiseOp>),
    /// A deferred operation of another kind.
    Deferred(Arc<dyn DeferredValue>),
}

/// A value that is computed when it is needed, and is no element-wise operation.
pub(crate) trait DeferredValue: Any + Send + Sync {
    /// Computes this rank's memory of `node`, whose value this is. May be collective.
    fn compute(&self, session: &Session, node: &Arc<Node>) -> Result<Buffer>;

    /// Describes the operation in the text form of a plan.
    fn description(&self) -> &'static str;
}

impl dyn DeferredValue {
    /// The value, if it is of this type.
    pub fn downcast<T: DeferredValue>(self: &Arc<Self>) -> Option<Arc<T>> {
        let value: Arc<dyn Any + Send + Sync> = self.clone();
        value.downcast().ok()
    }
}

impl NodeState {
    /// Returns true if the value is not evaluated yet.
    pub fn is_pending(&self) -> bool {
        matches!(self, NodeState::Elementwise(_) | NodeState::Deferred(_))
    }
}

/// An element-wise operation in a loop of this dtype.
pub(crate) struct ElementwiseOp {
    pub request: OpRequest,
    pub dtype: DType,
    pub inputs: OperandVec<NodeInput>,
    /// Upper bound of the number of operations that evaluate the node.
    pub operations: usize,
    /// Upper bound of the number of elements read from memory, saturating. Shared operands count
    /// each time.
    pub elements_read: usize,
    /// Bytes of the largest array that the operation keeps alive. Equal on all ranks if
    /// distributed.
    pub largest_input_bytes: usize,
    /// True if every operation in the subtree is cheap enough to be memory-bound.
    pub is_memory_bound: bool,
    /// True if the operation reads a distributed array.
    pub is_distributed: bool,
}

impl ElementwiseOp {
    pub fn new(request: OpRequest, dtype: DType, inputs: OperandVec<NodeInput>) -> Self {
        let operations = 1 + inputs.iter().map(NodeInput::operations).sum::<usize>();
        let elements_read =
            inputs.iter().map(NodeInput::elements_read).fold(0, usize::saturating_add);
        let is_memory_bound =
            request.op.is_cheap() && inputs.iter().all(NodeInput::is_memory_bound);
        let is_distributed = inputs.iter().any(NodeInput::is_distributed);
        let largest_input_bytes =
            inputs.iter().map(|input| input.largest_input_bytes(is_distributed)).max().unwrap_or(0);
        Self {
            request,
            dtype,
            inputs,
            operations,
            elements_read,
            largest_input_bytes,
            is_memory_bound,
            is_distributed,
        }
    }

    /// Returns true if evaluation takes more than `limit` operations.
    ///
    /// Shared operations run once; they are searched for only if the upper bound exceeds `limit`.
    pub fn exceeds_operations(&mut self, limit: usize) -> bool {
        if self.operations > limit {
            let mut visited = Vec::new();
            self.operations = 1 + self
                .inputs
                .iter()
                .map(|input| input.distinct_operations(limit, &mut visited))
                .sum::<usize>();
        }
        self.operations > limit
    }

    /// Returns true if the result has many more elements than are read, as after broadcasting.
    pub fn expands_few_elements(&self, elements: usize) -> bool {
        self.is_memory_bound && self.elements_read.saturating_mul(MIN_EXPANSION_RATIO) <= elements
    }

    /// Returns true if a pending result would retain much more memory than the result itself.
    ///
    /// That is either one much larger operand, as in `a[::100] * 2`, or many operands of about its
    /// size, as in a long sum; the latter is tested at intervals. Such operations are eager.
    /// The decision does not depend on the holders of operands, which may differ between ranks.
    pub fn retains_much(&self, base: &View) -> bool {
        // Narrow elements count as eight bytes, so that a mask may retain the array it was computed
        // from.
        let (elements, itemsize) = (base.len(), base.dtype.itemsize().max(8));
        if self.largest_input_bytes > MAX_RETAINED_SIZE_RATIO * elements * itemsize {
            return true;
        }
        let before = self.inputs.iter().map(NodeInput::operations).max().unwrap_or(0);
        if self.operations / RETENTION_CHECK_INTERVAL == before / RETENTION_CHECK_INTERVAL {
            return false;
        }
        let mut visited = Vec::new();
        self.retained_arrays(elements, &mut visited) > MAX_RETAINED_ARRAYS
    }

    /// Bytes of the largest retained array beyond the size of the result.
    pub fn retained_bytes(&self, base: &View) -> usize {
        self.largest_input_bytes.saturating_sub(base.len() * base.dtype.itemsize())
    }

    /// Counts the stored arrays of at least half the size that the operation reads and `visited`
    /// lacks.
    ///
    /// A shared node is visited once; the number of paths to it may be exponential.
    fn retained_arrays(&self, elements: usize, visited: &mut Vec<*const Node>) -> usize {
        let mut count = 0;
        for input in &self.inputs {
            let NodeInput::Array(node, _) = input else { continue };
            if visited.contains(&Arc::as_ptr(node)) {
                continue;
            }
            visited.push(Arc::as_ptr(node));
            count += match node.state() {
                NodeState::Elementwise(op) => op.retained_arrays(elements, visited),
                NodeState::Stored(_) | NodeState::Deferred(_) => {
                    usize::from(2 * node.base.len() > elements)
                }
                _ => 0,
            };
        }
        count
    }

    /// Returns true if recomputing the result takes no longer than reading it from memory.
    pub fn is_cheap_to_recompute(&self, elements: usize) -> bool {
        let is_short = self.is_memory_bound
            && self.operations <= MAX_RECOMPUTED_OPERATIONS
            && self.elements_read <= elements;
        is_short || self.expands_few_elements(elements)
    }
}

/// A vector of operands; rarely more than two.
pub(crate) type OperandVec<T> = SmallVec<[T; 2]>;

/// An input of an operation.
#[derive(Clone)]
pub(crate) enum NodeInput {
    /// A scalar, broadcast to all elements.
    Scalar(Scalar),
    /// A view of an array, in the version that was current at the request.
    Array(Arc<Node>, View),
}

impl Node {
    pub fn new(session: &Session, base: View, placement: Placement, state: NodeState) -> Arc<Self> {
        let id = match (&placement, &state) {
            (Placement::Replicated, _) => 0,
            // Ranks compare nothing before the array is used, so its value identifies it.
            (_, NodeState::Full(value)) => fnv_hash((value, &base)),
            _ => session.next_array_id(),
        };
        let (initial, definition) = match state {
            NodeState::Stored(memory) => (Some(memory), None),
            NodeState::Full(value) => (None, Some(Definition::Full(value))),
            NodeState::Elementwise(op) => (None, Some(Definition::Elementwise(op))),
            NodeState::Deferred(value) => (None, Some(Definition::Deferred(value))),
        };
        let (definition, was_read, id) =
            (Mutex::new(definition), AtomicBool::new(false), id.into());
        let is_pooled = base.len() * base.dtype.itemsize() >= MIN_SHARED_POOL_BYTES;
        let pool = is_pooled.then(|| session.buffer_pool().clone());
        Arc::new(Self {
            base,
            placement,
            initial,
            computed: OnceLock::new(),
            definition,
            id,
            was_read,
            pool,
        })
    }

    /// Creates a node with a new buffer, whose contents are unspecified.
    pub fn with_new_buffer(
        session: &Session,
        base: View,
        placement: Placement,
    ) -> (Arc<Self>, Buffer) {
        let bytes = placement.local_view(&base).len() * base.dtype.itemsize();
        let memory = session.buffer_pool().allocate(bytes, &base);
        (Self::new(session, base, placement, NodeState::Stored(memory.clone())), memory)
    }

    /// Identity of a distributed array; equal on all ranks unless they diverged.
    pub fn id(&self) -> u64 {
        self.id.load(Ordering::Relaxed)
    }

    /// Changes the identity, as a write does.
    pub fn set_id(&self, id: u64) {
        self.id.store(id, Ordering::Relaxed);
    }

    /// Takes over the identity of a node of which this is a version or an alias.
    pub fn with_id_of(self: Arc<Self>, other: &Node) -> Arc<Self> {
        self.set_id(other.id());
        self
    }

    fn definition(&self) -> MutexGuard<'_, Option<Definition>> {
        self.definition.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn buffer(&self) -> Option<&Buffer> {
        self.initial.as_ref().or_else(|| self.computed.get())
    }

    pub fn state(&self) -> NodeState {
        if let Some(memory) = self.buffer() {
            return NodeState::Stored(memory.clone());
        }
        match &*self.definition() {
            Some(Definition::Full(value)) => NodeState::Full(*value),
            Some(Definition::Elementwise(op)) => NodeState::Elementwise(op.clone()),
            Some(Definition::Deferred(value)) => NodeState::Deferred(value.clone()),
            None => NodeState::Stored(
                self.buffer()
                    .expect("the value is stored before its definition is dropped")
                    .clone(),
            ),
        }
    }

    /// Stores the value and drops the definition.
    pub fn store(&self, memory: Buffer) {
        let _ = self.computed.set(memory);
        let old = self.definition().take();
        drop(old);
    }

    /// Replaces the definition by another one with the same value.
    pub fn redefine(&self, op: ElementwiseOp) {
        let old = self.definition().replace(Definition::Elementwise(op.into()));
        drop(old);
    }

    /// Returns true if the value is evaluated.
    pub fn is_materialized(&self) -> bool {
        self.buffer().is_some()
    }

    /// The memory of an evaluated, replicated node.
    #[inline]
    pub fn replicated_buffer(&self) -> Option<&Buffer> {
        self.buffer().filter(|_| self.placement.is_replicated())
    }

    /// Marks the node as fused into another program; returns whether it was marked before.
    pub fn mark_read(&self) -> bool {
        self.was_read.swap(true, Ordering::Relaxed)
    }

    /// Returns true if the node is distributed, or reads a distributed array.
    fn is_distributed(&self) -> bool {
        !self.placement.is_replicated()
            || self.with_elementwise(|op| op.is_distributed).unwrap_or(false)
    }

    /// Calls a function with the pending element-wise operation.
    fn with_elementwise<T>(&self, f: impl FnOnce(&ElementwiseOp) -> T) -> Option<T> {
        match &*self.definition() {
            Some(Definition::Elementwise(op)) => Some(f(op)),
            _ => None,
        }
    }
}

impl Session {
    /// Copies an evaluated node into a new buffer.
    pub(crate) fn copy_node(&self, node: &Node, memory: &Buffer) -> Result<Arc<Node>, RunError> {
        let copy = self.buffer_pool().allocate(memory.len(), &node.base);
        copy.write()?.copy_from_slice(&memory.read()?);
        let state = NodeState::Stored(copy);
        Ok(Node::new(self, node.base.clone(), node.placement.clone(), state).with_id_of(node))
    }
}

/// Never communicates: ranks collect garbage at different times.
impl Drop for Node {
    fn drop(&mut self) {
        if let Some(memory) = self.initial.take().or_else(|| self.computed.take()) {
            match &self.pool {
                Some(pool) => pool.recycle(memory),
                None => recycle_small(memory),
            }
        }
    }
}

impl NodeInput {
    pub fn dtype(&self) -> DType {
        match self {
            NodeInput::Scalar(value) => value.dtype(),
            NodeInput::Array(_, view) => view.dtype,
        }
    }

    pub fn operations(&self) -> usize {
        match self {
            NodeInput::Scalar(_) => 0,
            NodeInput::Array(node, _) => node.with_elementwise(|op| op.operations).unwrap_or(0),
        }
    }

    /// Counts the operations of an input that `visited` lacks. May stop counting above `limit`.
    fn distinct_operations(&self, limit: usize, visited: &mut Vec<*const Node>) -> usize {
        let NodeInput::Array(node, view) = self else { return 0 };
        let NodeState::Elementwise(op) = node.state() else { return 0 };
        if *view != node.base {
            // Operations restricted to a view are not shared.
            return op.operations;
        }
        let pointer = Arc::as_ptr(node);
        if visited.contains(&pointer) || visited.len() > limit {
            return 0;
        }
        visited.push(pointer);
        1 + op.inputs.iter().map(|input| input.distinct_operations(limit, visited)).sum::<usize>()
    }

    /// Number of elements read from memory.
    fn elements_read(&self) -> usize {
        let distinct = |view: &View| {
            let axes = view.shape.iter().zip(&view.strides);
            axes.filter(|&(_, &stride)| stride != 0).map(|(&length, _)| length).product()
        };
        match self {
            NodeInput::Scalar(_) => 0,
            NodeInput::Array(node, view) => {
                node.with_elementwise(|op| op.elements_read).unwrap_or_else(|| distinct(view))
            }
        }
    }

    /// Bytes of the largest array that the input keeps alive.
    ///
    /// Whether a replicated node is pending may differ between ranks. For a distributed operation
    /// its own size therefore counts.
    fn largest_input_bytes(&self, is_for_distributed: bool) -> usize {
        let NodeInput::Array(node, _) = self else { return 0 };
        let of_map = |op: &ElementwiseOp| {
            (!is_for_distributed || op.is_distributed).then_some(op.largest_input_bytes)
        };
        let pending = node.with_elementwise(of_map).flatten();
        pending.unwrap_or_else(|| node.base.len() * node.base.dtype.itemsize())
    }

    fn is_memory_bound(&self) -> bool {
        match self {
            NodeInput::Scalar(_) => true,
            NodeInput::Array(node, _) => {
                node.with_elementwise(|op| op.is_memory_bound).unwrap_or(true)
            }
        }
    }

    /// Returns true if the input is distributed, or reads a distributed array.
    pub fn is_distributed(&self) -> bool {
        match self {
            NodeInput::Scalar(_) => false,
            NodeInput::Array(node, _) => node.is_distributed(),
        }
    }

    /// Restricts an input to a view of the operation's result.
    ///
    /// None if the view has no axis mapping: the result must then be evaluated first.
    pub fn through_view(&self, view: &View, base: &View) -> Option<NodeInput> {
        match self {
            NodeInput::Scalar(value) => Some(NodeInput::Scalar(*value)),
            NodeInput::Array(node, own) => {
                Some(NodeInput::Array(node.clone(), map_view(own, &axis_mapping(view, base)?)))
            }
        }
    }
}
