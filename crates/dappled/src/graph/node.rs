//! Nodes: one operation each, or an array that is stored.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dappled_kernels::{Buffer, DType, Scalar, View};
use smallvec::SmallVec;

use super::Session;
use super::chosen::Choice;
use super::layout::Layout;
use super::memory::{Freed, WORTH, keep_small};
use super::notice::Request;
use super::patch::Patch;
use super::tag::hashed;
use crate::run::RunError;
use crate::view::{seen, through};

/// One operation, or an array that is stored.
pub(crate) struct Node {
    /// The base: shape and dtype, and the strides that it has, or would have, in C order.
    pub base: View,
    /// Which rank has which of its elements.
    pub layout: Layout,
    /// This rank's memory, where it is known from the start: found without a lock.
    given: Option<Buffer>,
    /// This rank's memory, once it was computed.
    computed: OnceLock<Buffer>,
    /// What was asked for, as long as the memory is not known.
    asked: Mutex<Option<Asked>>,
    /// Of a distributed array: which one it is, the same on every rank. Freeing does not change it.
    id: AtomicU64,
    /// Was it computed as a part of something else before? The next time it is stored.
    read: AtomicBool,
    /// Where its memory goes when nobody holds it any more, if that is worth while.
    freed: Option<Arc<Freed>>,
}

/// What is known of a node's value before it is computed.
#[derive(Clone)]
enum Asked {
    Full(Scalar),
    Map(Arc<Map>),
    Chosen(Arc<Choice>),
    Patched(Arc<Patch>),
}

/// What is known of a node's value.
#[derive(Clone)]
pub(crate) enum State {
    /// This rank's memory. What was asked is forgotten, and with it what only this node held.
    Stored(Buffer),
    /// One value everywhere.
    Full(Scalar),
    /// An operation, element by element.
    Map(Arc<Map>),
    /// What a mask chooses.
    Chosen(Arc<Choice>),
    /// Another array, with something written over a part of it.
    Patched(Arc<Patch>),
}

impl State {
    /// Is it still to be computed?
    pub fn is_pending(&self) -> bool {
        matches!(self, State::Map(_) | State::Chosen(_) | State::Patched(_))
    }
}

/// An operation, in a loop of this dtype.
pub(crate) struct Map {
    pub request: Request,
    pub dtype: DType,
    pub args: Few<Arg>,
    /// How many operations would have to be done to know its value, at most.
    pub weight: usize,
    /// How many elements are read for it from memory, at most: those of what is needed in several
    /// places are counted each time, which may be more than can be counted.
    pub reads: usize,
    /// Bytes of the largest array that it keeps alive. The same on all ranks where it is spread.
    pub largest: usize,
    /// Is it, and all that is done for it, about as fast as reading?
    pub is_quick: bool,
    /// Is something in pieces read for it?
    pub is_spread: bool,
}

impl Map {
    pub fn new(request: Request, dtype: DType, args: Few<Arg>) -> Self {
        let weight = 1 + args.iter().map(Arg::weight).sum::<usize>();
        let reads = args.iter().map(Arg::reads).fold(0, usize::saturating_add);
        let is_quick = request.op.is_quick() && args.iter().all(Arg::is_quick);
        let is_spread = args.iter().any(Arg::is_spread);
        let largest = args.iter().map(|arg| arg.largest(is_spread)).max().unwrap_or(0);
        Self { request, dtype, args, weight, reads, largest, is_quick, is_spread }
    }

    /// Is it more than so many operations? Those that are needed in several places, as they are,
    /// are done once; they are looked for only if counting them each time gives too many.
    pub fn is_heavier(&mut self, most: usize) -> bool {
        if self.weight > most {
            let mut found = Vec::new();
            self.weight =
                1 + self.args.iter().map(|arg| arg.distinct(most, &mut found)).sum::<usize>();
        }
        self.weight > most
    }

    /// Is it made of much less than its so many elements, as by broadcasting?
    pub fn is_of_little(&self, elements: usize) -> bool {
        self.is_quick && self.reads.saturating_mul(LITTLE) <= elements
    }

    /// Would its result, with this base, keep much more memory alive while it is pending?
    ///
    /// Either an operand that is much larger, as `a[::100]*2` does, or many of about its size, as a
    /// long sum does. Then it is computed when it is requested. Whether there are many is looked at
    /// now and then. Nothing here depends on who holds the operands, which may differ by rank.
    pub fn holds_much(&self, base: &View) -> bool {
        // Narrow elements count as eight bytes: a mask of an array is not much smaller than that.
        let (elements, itemsize) = (base.len(), base.dtype.itemsize().max(8));
        if self.largest > MUCH_LARGER * elements * itemsize {
            return true;
        }
        let before = self.args.iter().map(Arg::weight).max().unwrap_or(0);
        if self.weight / NOW_AND_THEN == before / NOW_AND_THEN {
            return false;
        }
        let mut met = Vec::new();
        self.held(elements, &mut met) > MOST_HELD
    }

    /// Bytes of the largest array that it keeps alive, beyond those that its result has.
    pub fn held_beyond(&self, base: &View) -> usize {
        self.largest.saturating_sub(base.len() * base.dtype.itemsize())
    }

    /// How many stored arrays it reads besides those that were met, and none that is much smaller.
    /// What is needed in several places is met once: there may be more ways to it than can be gone.
    fn held(&self, elements: usize, met: &mut Vec<*const Node>) -> usize {
        let mut held = 0;
        for arg in &self.args {
            let Arg::Part(node, _) = arg else { continue };
            if met.contains(&Arc::as_ptr(node)) {
                continue;
            }
            met.push(Arc::as_ptr(node));
            held += match node.state() {
                State::Map(map) => map.held(elements, met),
                State::Stored(_) | State::Patched(_) => usize::from(2 * node.base.len() > elements),
                _ => 0,
            };
        }
        held
    }

    /// Would reading its result take as long as computing it again?
    pub fn is_cheap(&self, elements: usize) -> bool {
        let few = self.is_quick && self.weight <= FEW_STEPS && self.reads <= elements;
        few || self.is_of_little(elements)
    }
}

/// After so many operations more it is looked at what they hold.
const NOW_AND_THEN: usize = 8;

/// An array is much larger than a pending result if it has more than this many times its elements.
pub(super) const MUCH_LARGER: usize = 8;

/// So many arrays may wait together: with more, what is gained by reading them in one pass is little.
const MOST_HELD: usize = 8;

/// What is made of little has so many times the elements that are read.
const LITTLE: usize = 4;

/// So many operations are done while an element comes from memory.
const FEW_STEPS: usize = 4;

/// The arguments of an operation: seldom more than two, which are moved about with their views.
pub(crate) type Few<T> = SmallVec<[T; 2]>;

/// An argument of an operation.
#[derive(Clone)]
pub(crate) enum Arg {
    /// One value for all elements.
    Scalar(Scalar),
    /// A view of an array, as it was when the operation was asked for.
    Part(Arc<Node>, View),
}

impl Node {
    pub fn new(session: &Session, base: View, layout: Layout, state: State) -> Arc<Self> {
        let id = match (&layout, &state) {
            (Layout::Whole, _) => 0,
            // Nothing is compared before such an array is used: it is what it holds.
            (_, State::Full(value)) => hashed((value, &base)),
            _ => session.identity(),
        };
        let (given, asked) = match state {
            State::Stored(memory) => (Some(memory), None),
            State::Full(value) => (None, Some(Asked::Full(value))),
            State::Map(map) => (None, Some(Asked::Map(map))),
            State::Chosen(choice) => (None, Some(Asked::Chosen(choice))),
            State::Patched(patch) => (None, Some(Asked::Patched(patch))),
        };
        let (asked, read, id) = (Mutex::new(asked), AtomicBool::new(false), id.into());
        let worth = base.len() * base.dtype.itemsize() >= WORTH;
        let freed = worth.then(|| session.freed().clone());
        Arc::new(Self { base, layout, given, computed: OnceLock::new(), asked, id, read, freed })
    }

    /// A node in memory of its own, which is still to be written.
    pub fn fresh(session: &Session, base: View, layout: Layout) -> (Arc<Self>, Buffer) {
        let bytes = layout.local(&base).len() * base.dtype.itemsize();
        let memory = session.freed().array(bytes, &base);
        (Self::new(session, base, layout, State::Stored(memory.clone())), memory)
    }

    /// Which distributed array it is: the same on every rank, or the ranks diverged.
    pub fn id(&self) -> u64 {
        self.id.load(Ordering::Relaxed)
    }

    /// Gives it another identity, as a write does.
    pub fn set_id(&self, id: u64) {
        self.id.store(id, Ordering::Relaxed);
    }

    /// Itself with the identity of another: a version of it, or its memory under another name.
    pub fn as_version_of(self: Arc<Self>, other: &Node) -> Arc<Self> {
        self.set_id(other.id());
        self
    }

    fn asked(&self) -> MutexGuard<'_, Option<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn memory(&self) -> Option<&Buffer> {
        self.given.as_ref().or_else(|| self.computed.get())
    }

    pub fn state(&self) -> State {
        if let Some(memory) = self.memory() {
            return State::Stored(memory.clone());
        }
        match &*self.asked() {
            Some(Asked::Full(value)) => State::Full(*value),
            Some(Asked::Map(map)) => State::Map(map.clone()),
            Some(Asked::Chosen(choice)) => State::Chosen(choice.clone()),
            Some(Asked::Patched(patch)) => State::Patched(patch.clone()),
            None => State::Stored(self.memory().expect("stored before it is forgotten").clone()),
        }
    }

    /// From now on its value is known.
    pub fn store(&self, memory: Buffer) {
        let _ = self.computed.set(memory);
        let forgotten = self.asked().take();
        drop(forgotten);
    }

    /// From now on its value is that of another operation, which gives the same.
    pub fn redefine(&self, map: Map) {
        let forgotten = self.asked().replace(Asked::Map(map.into()));
        drop(forgotten);
    }

    /// Is its memory known?
    pub fn is_stored(&self) -> bool {
        self.memory().is_some()
    }

    /// Its memory, if that is known and all of it is here.
    #[inline]
    pub fn whole_memory(&self) -> Option<&Buffer> {
        self.memory().filter(|_| self.layout.is_whole())
    }

    /// Notes that it was computed on the way to something else, and says whether it was before.
    pub fn was_read(&self) -> bool {
        self.read.swap(true, Ordering::Relaxed)
    }

    /// Is it in pieces, or does it read what is?
    fn is_spread(&self) -> bool {
        !self.layout.is_whole() || self.of_map(|map| map.is_spread).unwrap_or(false)
    }

    /// What a pending operation says of itself.
    fn of_map<T>(&self, say: impl FnOnce(&Map) -> T) -> Option<T> {
        match &*self.asked() {
            Some(Asked::Map(map)) => Some(say(map)),
            _ => None,
        }
    }
}

impl Session {
    /// A stored array in memory of its own.
    pub(super) fn copy_of(&self, node: &Node, memory: &Buffer) -> Result<Arc<Node>, RunError> {
        let copy = self.freed().array(memory.len(), &node.base);
        copy.write()?.copy_from_slice(&memory.read()?);
        let state = State::Stored(copy);
        Ok(Node::new(self, node.base.clone(), node.layout.clone(), state).as_version_of(node))
    }
}

/// Local, and no message: the garbage may be collected at different times on different ranks.
impl Drop for Node {
    fn drop(&mut self) {
        if let Some(memory) = self.given.take().or_else(|| self.computed.take()) {
            match &self.freed {
                Some(freed) => freed.keep(memory),
                None => keep_small(memory),
            }
        }
    }
}

impl Arg {
    pub fn dtype(&self) -> DType {
        match self {
            Arg::Scalar(value) => value.dtype(),
            Arg::Part(_, view) => view.dtype,
        }
    }

    pub fn weight(&self) -> usize {
        match self {
            Arg::Scalar(_) => 0,
            Arg::Part(node, _) => node.of_map(|map| map.weight).unwrap_or(0),
        }
    }

    /// How many operations have to be done for it besides those found already. Where that is more
    /// than `most`, some may be left out.
    fn distinct(&self, most: usize, found: &mut Vec<*const Node>) -> usize {
        let Arg::Part(node, view) = self else { return 0 };
        let State::Map(map) = node.state() else { return 0 };
        if *view != node.base {
            // Seen in another way it is done again.
            return map.weight;
        }
        let known = Arc::as_ptr(node);
        if found.contains(&known) || found.len() > most {
            return 0;
        }
        found.push(known);
        1 + map.args.iter().map(|arg| arg.distinct(most, found)).sum::<usize>()
    }

    /// How many elements are read for it from memory.
    fn reads(&self) -> usize {
        let distinct = |view: &View| {
            let axes = view.shape.iter().zip(&view.strides);
            axes.filter(|&(_, &stride)| stride != 0).map(|(&length, _)| length).product()
        };
        match self {
            Arg::Scalar(_) => 0,
            Arg::Part(node, view) => node.of_map(|map| map.reads).unwrap_or_else(|| distinct(view)),
        }
    }

    /// Bytes of the largest array that is kept alive for it.
    ///
    /// Whether a replicated array is pending may differ by rank: for what is spread it counts itself.
    fn largest(&self, is_for_spread: bool) -> usize {
        let Arg::Part(node, _) = self else { return 0 };
        let of_map = |map: &Map| (!is_for_spread || map.is_spread).then_some(map.largest);
        let pending = node.of_map(of_map).flatten();
        pending.unwrap_or_else(|| node.base.len() * node.base.dtype.itemsize())
    }

    fn is_quick(&self) -> bool {
        match self {
            Arg::Scalar(_) => true,
            Arg::Part(node, _) => node.of_map(|map| map.is_quick).unwrap_or(true),
        }
    }

    /// Is it in pieces, or read from what is?
    pub fn is_spread(&self) -> bool {
        match self {
            Arg::Scalar(_) => false,
            Arg::Part(node, _) => node.is_spread(),
        }
    }

    /// The same argument where its operation's result is seen through a view of this base. None
    /// where the view does not follow the base's axes: then the result must be stored first.
    pub fn seen_through(&self, view: &View, base: &View) -> Option<Arg> {
        match self {
            Arg::Scalar(value) => Some(Arg::Scalar(*value)),
            Arg::Part(node, own) => Some(Arg::Part(node.clone(), seen(own, &through(view, base)?))),
        }
    }
}
