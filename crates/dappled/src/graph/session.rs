//! What all arrays of a program share: the fabric, memory for reuse, and a count of what was done.

use std::convert::Infallible;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use dappled_base::memory::has_room;
use dappled_fabric::{Fabric, Payload, Place, Sends, Tag};
use dappled_kernels::{DType, Flags, Interpreter, Program, Variant};
use dappled_protocol::Distribution;

use super::cache::Known;
use super::layout::Layout;
use super::memory::{Freed, MemoryStats, refused, size_of_array};
use super::node::Node;
use super::notice::{Notice, Notices, Origin};
use super::pending::Pending;
use super::place::whole;
use super::tag::{Aspect, Fingerprint, check_all, hashed};
use super::ways::Ways;
use super::{GraphError, system};
use crate::config::Config;
use crate::run::RunError;

/// Pending operations are run when there are more than this: counted, never timed, so that every
/// rank does it at the same place.
pub(super) const HEAVIEST: usize = 128;

/// Bytes of an array that may be too large for a machine.
const LARGE: usize = 1 << 25;

/// From which size on arrays are treated as large. Constants of a program, the same on every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Arrays of fewer bytes are whole on every rank.
    pub whole_below: usize,
    /// Up to so many elements an operation is done at once: below it, asking costs more than doing.
    pub at_once: usize,
}

impl Limits {
    /// The same of elements of so many bytes: narrow ones are sooner done.
    pub(super) fn at_once_of(&self, itemsize: usize) -> usize {
        self.at_once * (8 / itemsize).max(1)
    }

    /// Up to so many elements a copy is made at once: nothing is gained by waiting or by threads.
    pub fn copied(&self) -> usize {
        8 * self.at_once
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { whole_below: 1 << 17, at_once: 1 << 14 }
    }
}

/// The ranks that arrays are shared among.
///
/// ```
/// use dappled::graph::{Array, Session};
/// let session = Session::new(dappled_fabric::connect()?);
/// let ones = Array::full(&session, &[3], 1.0);
/// assert_eq!(ones.add(&ones)?.to_vec::<f64>()?, [2.0, 2.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Session(Held);

/// How a session is held.
#[derive(Clone)]
enum Held {
    Counted(Arc<Shared>),
    /// Until the program ends: every array has one, and counting them takes a part of the time of a
    /// small operation.
    Forever(&'static Shared),
}

impl Deref for Held {
    type Target = Shared;

    #[inline]
    fn deref(&self) -> &Shared {
        match self {
            Held::Counted(shared) => shared,
            Held::Forever(shared) => shared,
        }
    }
}

struct Shared {
    fabric: Box<dyn Fabric>,
    limits: Limits,
    ways: Ways,
    /// Bytes that the part of one array on a rank may have at most, on any rank.
    capacity: usize,
    /// Bytes that a redistribution may use beside the arrays.
    budget: AtomicU64,
    /// Bytes of arrays in pieces that were brought together.
    gathered: AtomicU64,
    freed: Arc<Freed>,
    known: Known,
    notices: Notices,
    pending: Pending,
    /// The write that waits, if one does.
    waiting: Mutex<Weak<Node>>,
    /// The hash of the last operation, and of all before it.
    last: AtomicU64,
    /// A hash of the arguments of the function that the program has called; 0 outside of one.
    call: AtomicU64,
}

impl Session {
    /// A program on this fabric.
    pub fn new(fabric: Box<dyn Fabric>) -> Self {
        Self::with_limits(fabric, Limits::default())
    }

    /// The same, with other limits between small and large arrays.
    pub fn with_limits(fabric: Box<dyn Fabric>, limits: Limits) -> Self {
        let capacity = capacity(&*fabric);
        Self::with_capacity(fabric, limits, capacity)
    }

    fn with_capacity(fabric: Box<dyn Fabric>, limits: Limits, capacity: usize) -> Self {
        let freed = Arc::new(Freed::new(fabric.size()));
        Self(Held::Counted(Arc::new(Shared {
            fabric,
            limits,
            ways: Ways::default(),
            capacity,
            budget: AtomicU64::new(Config::default().budget),
            gathered: AtomicU64::new(0),
            freed,
            known: Known::default(),
            notices: Notices::default(),
            pending: Pending::default(),
            waiting: Mutex::default(),
            last: AtomicU64::new(0),
            call: AtomicU64::new(0),
        })))
    }

    /// The same for the only session of a program, which is never given back.
    pub fn forever(self) -> Self {
        match self.0 {
            Held::Counted(shared) => Self(Held::Forever(Box::leak(Box::new(shared)))),
            forever => Self(forever),
        }
    }

    /// A program with the lowest limits and the oldest CPU variant that any rank asks for.
    ///
    /// Replicated arrays are computed on every rank, and large and small told apart, in the same
    /// way. Collective.
    pub fn agreed(fabric: Box<dyn Fabric>, config: &Config) -> Result<Self, GraphError> {
        let Config { limits, budget, .. } = *config;
        let variant = config.variant.unwrap_or(Variant::best()).choose() as usize;
        let own =
            [limits.whole_below, limits.at_once, budget as usize, variant, capacity(&*fabric)];
        let [whole_below, at_once, budget, variant, most] = agree_on_lowest(&*fabric, own)?;
        Variant::ALL[variant].choose();
        let session = Self::with_capacity(fabric, Limits { whole_below, at_once }, most);
        session.set_budget(budget as u64);
        if let Some(bytes) = config.cache {
            session.set_cache(bytes);
        }
        check_all(config.check);
        dappled_jit::set_mode(config.compile);
        Ok(session)
    }

    /// The ranks and the bytes between them.
    pub fn fabric(&self) -> &dyn Fabric {
        &*self.0.fabric
    }

    /// From which size on arrays are treated as large.
    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    /// Bytes that a redistribution may use on each rank beside the arrays.
    pub fn budget(&self) -> u64 {
        self.0.budget.load(Ordering::Relaxed)
    }

    /// Sets them, to the same on every rank.
    pub fn set_budget(&self, bytes: u64) {
        self.0.budget.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of arrays in pieces that were brought together on every rank.
    pub fn gathered_bytes(&self) -> u64 {
        self.0.gathered.load(Ordering::Relaxed)
    }

    pub(super) fn note_gathered(&self, bytes: usize) {
        if self.fabric().size() > 1 {
            self.0.gathered.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    /// What was noted last were results that each rank had a part of, not an array.
    pub(super) fn were_results(&self, bytes: usize) {
        if self.fabric().size() > 1 {
            self.0.gathered.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
    }

    /// Memory that versions leave behind.
    pub(super) fn freed(&self) -> &Arc<Freed> {
        &self.0.freed
    }

    /// Sets how many bytes of freed memory this rank keeps for reuse, at most.
    pub fn set_cache(&self, bytes: usize) {
        self.0.freed.set_limit(bytes);
    }

    /// What was done with memory so far.
    pub fn memory_stats(&self) -> MemoryStats {
        self.0.freed.stats()
    }

    /// Has an operation signalled something that was not taken yet?
    #[inline]
    pub fn has_notices(&self) -> bool {
        self.0.notices.is_some()
    }

    /// What operations have signalled since this was last asked.
    pub fn take_notices(&self) -> Vec<Notice> {
        self.0.notices.take()
    }

    pub(super) fn notices(&self) -> &Notices {
        &self.0.notices
    }

    /// What is held and not computed yet.
    pub(super) fn pending(&self) -> &Pending {
        &self.0.pending
    }

    /// The write that waits.
    pub(super) fn waiting(&self) -> MutexGuard<'_, Weak<Node>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What every rank gives, in the order of the ranks. Collective.
    pub fn gather(&self, what: &str, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, GraphError> {
        let tag = self.next(what, Fingerprint::of(what), String::new)?;
        Ok(self.fabric().gather_all(tag, bytes).map_err(RunError::from)?)
    }

    /// Sends to every rank what is meant for it, and gives what every rank has for this one, both in
    /// the order of the ranks. Collective.
    pub fn exchange(
        &self,
        what: &str,
        mut sends: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, GraphError> {
        let own = self.fabric().rank() as usize;
        let kept = std::mem::take(&mut sends[own]);
        let mut all = self.send_to_each(what, sends.into_iter().map(Payload::from).collect())?;
        all[own] = kept;
        Ok(all)
    }

    /// The same but for what this rank has for itself, of which nothing is given. Collective.
    pub fn send_to_each(
        &self,
        what: &str,
        sends: Vec<Payload>,
    ) -> Result<Vec<Vec<u8>>, GraphError> {
        let received = self.start_to_each(what, sends)?.wait();
        let mut all = received.map_err(RunError::from)?;
        all.insert(self.fabric().rank() as usize, Vec::new());
        Ok(all)
    }

    /// Begins to; what comes is that of the other ranks. Collective.
    pub(super) fn start_to_each(
        &self,
        what: &str,
        sends: Vec<Payload>,
    ) -> Result<dappled_fabric::Pending, GraphError> {
        let tag = self.next(what, Fingerprint::of((what, "to each")), String::new)?;
        let mut to_others: Sends = (0..).zip(sends).collect();
        to_others.remove(self.fabric().rank() as usize);
        let awaited = to_others.iter().map(|&(peer, _)| (peer, None)).collect();
        Ok(self.fabric().start(tag, to_others, awaited))
    }

    /// Begins to send what one rank gives to all others, and nobody changes until then. Collective.
    pub fn start_from(
        &self,
        rank: u64,
        what: &str,
        bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    ) -> Result<dappled_fabric::Pending, GraphError> {
        let tag = self.next(what, Fingerprint::of((what, "from", rank)), String::new)?;
        let own = self.fabric().rank();
        if own != rank {
            return Ok(self.fabric().start(tag, Sends::new(), vec![(rank, None)]));
        }
        let others = (0..self.fabric().size()).filter(|&peer| peer != own);
        let sends: Sends = others.map(|peer| (peer, Payload::Kept(bytes.clone()))).collect();
        Ok(self.fabric().start(tag, sends, Vec::new()))
    }

    /// The next operation on distributed arrays. Every rank does the same: the fingerprint is compared
    /// with the next message. `say` describes it further, if it must be.
    pub(super) fn next(
        &self,
        kind: &str,
        print: Fingerprint,
        say: impl FnOnce() -> String,
    ) -> Result<Tag, GraphError> {
        self.0.ways.check(kind, self.fabric().size())?;
        self.fabric().check_thread().map_err(RunError::from)?;
        let print = print.with(Aspect::Operation, kind);
        let print = print.with(Aspect::Call, self.0.call.load(Ordering::Relaxed));
        let described = print.described();
        let Ok(said) = self.known().said.get(&described, || Ok::<_, Infallible>(say().into()));
        let place = Place::new(&self.0.ways.place(kind, &said));
        let tag = self.fabric().note(print.hash(), print.aspects(), place);
        self.0.last.store(tag.hash, Ordering::Relaxed);
        Ok(tag)
    }

    /// An identity for a distributed array that is made now: the same on every rank that has done the
    /// same so far.
    pub(super) fn identity(&self) -> u64 {
        hashed([self.0.last.load(Ordering::Relaxed), self.0.call.load(Ordering::Relaxed)])
    }

    /// Notes something that every rank does alike, without a message: bytes that ranks must agree on.
    /// Collective.
    pub fn note(&self, kind: &str, bytes: &[u8]) -> Result<(), GraphError> {
        match self.fabric().size() {
            1 => Ok(()),
            _ => {
                let print = Fingerprint::default().with(Aspect::Contents, bytes);
                self.next(kind, print, String::new).map(drop)
            }
        }
    }

    /// Runs a function of the program's, whose arguments have this hash: what is done in it is
    /// compared together with them. A call inside another one is a part of that.
    pub fn in_call<T>(&self, arguments: u64, run: impl FnOnce() -> T) -> T {
        let call = &self.0.call;
        let outermost =
            call.compare_exchange(0, arguments | 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        let result = run();
        if outermost {
            call.store(0, Ordering::Relaxed);
        }
        result
    }

    /// What this process may do, and how it says where it is.
    pub fn ways(&self) -> &Ways {
        &self.0.ways
    }

    /// Makes what an operation, asked for there and computed just now, and the casts of its
    /// operands signalled on one rank known to all: they raise together. Collective.
    pub fn share_notices(
        &self,
        name: &'static str,
        origin: Option<&Arc<Origin>>,
    ) -> Result<(), GraphError> {
        let names = ["cast", name];
        let sent = names.map(|name| self.0.notices.take_of(name, origin).bits());
        let all = self.gather("what was signalled", sent.to_vec())?;
        for (at, name) in names.into_iter().enumerate() {
            let bits = all.iter().filter_map(|sent| sent.get(at)).fold(0, |bits, more| bits | more);
            self.0.notices.add(name, Flags::from_bits(bits), origin);
        }
        Ok(())
    }

    /// A program ready to run: a loop prepares it once.
    pub(super) fn engine(&self, program: &Program) -> Result<Arc<Interpreter>, GraphError> {
        self.known().programs.get(program, || prepared(program))
    }

    /// What was worked out before.
    pub(super) fn known(&self) -> &Known {
        &self.0.known
    }

    /// Is a new array replicated if nobody says where it lies?
    ///
    /// It is if it is small, if there is one rank, and in a thread that may not communicate.
    pub fn replicates(&self, shape: &[usize], itemsize: usize) -> bool {
        let bytes = || shape.iter().fold(itemsize, |bytes, &length| bytes.saturating_mul(length));
        self.fabric().size() == 1
            || shape.is_empty()
            || bytes() < self.0.limits.whole_below
            || !self.0.ways.is_first_thread()
    }

    /// Unwinds with [`OutOfMemory`] if an array of this shape is larger than any rank could hold.
    ///
    /// That is decided by its size, so that all ranks do it alike. On one rank, which needs to agree
    /// with nobody, the address space for a large array is also asked for, and given back.
    pub fn expect_room(&self, dtype: DType, shape: &[usize]) {
        let all = size_of_array(dtype, shape);
        if all < LARGE as u128 {
            return;
        }
        let ranks = self.fabric().size();
        let parts = if self.replicates(shape, dtype.itemsize()) { 1 } else { u128::from(ranks) };
        let part = usize::try_from(all.div_ceil(parts)).unwrap_or(usize::MAX);
        if part > self.0.capacity || (ranks == 1 && !self.has_addresses(part)) {
            refused(dtype, shape, part).unwind();
        }
    }

    /// Could so much memory be had now?
    fn has_addresses(&self, bytes: usize) -> bool {
        has_room(bytes) || {
            self.freed().release();
            has_room(bytes)
        }
    }

    /// Where an array of this shape lies if nobody says: replicated, or in compact blocks.
    pub(super) fn layout(&self, dtype: DType, shape: &[usize]) -> Layout {
        if self.replicates(shape, dtype.itemsize()) {
            return Layout::Whole;
        }
        let made = || Layout::split(self.blocks(shape), dtype, self.fabric().rank());
        let Ok(layout) =
            self.known().layouts.get(&(dtype, shape.into()), || Ok::<Layout, Infallible>(made()));
        layout
    }

    /// In compact blocks, however small it is.
    pub(super) fn split_layout(&self, dtype: DType, shape: &[usize]) -> Layout {
        Layout::split(self.blocks(shape), dtype, self.fabric().rank())
    }

    /// All of it on every rank.
    pub fn everywhere(&self, shape: &[usize]) -> Distribution {
        whole(self, shape)
    }

    /// Compact blocks over all ranks.
    pub fn blocks(&self, shape: &[usize]) -> Distribution {
        let shape: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
        let spec = Distribution::spec(&shape).nprocs(self.fabric().size());
        spec.build().expect("blocks of any shape on any number of ranks")
    }
}

/// Bytes that the part of one array on this rank may have at most: its share of the machine.
fn capacity(fabric: &dyn Fabric) -> usize {
    system::capacity().map_or(isize::MAX as usize, |most| most / fabric.node_size().max(1) as usize)
}

/// A program, checked and ready to run, with loops compiled where they are worth it.
pub(super) fn prepared(program: &Program) -> Result<Arc<Interpreter>, GraphError> {
    let code = Interpreter::new(program).map_err(RunError::from)?;
    Ok(Arc::new(match dappled_jit::shared() {
        Some(compiler) => code.with_compiler(compiler),
        None => code,
    }))
}

/// The least of what the ranks give, number by number.
fn agree_on_lowest<const N: usize>(
    fabric: &dyn Fabric,
    own: [usize; N],
) -> Result<[usize; N], GraphError> {
    if fabric.size() == 1 {
        return Ok(own);
    }
    let place = "the start of the program";
    let bytes = own.iter().flat_map(|&number| (number as u64).to_le_bytes()).collect();
    let all = fabric.gather_all(Tag::new(hashed(place), place), bytes).map_err(RunError::from)?;
    let lowest = |at: usize| {
        let numbers = all.iter().map(|bytes| bytes.as_chunks().0[at]);
        numbers.map(|bytes| u64::from_le_bytes(bytes) as usize).min().expect("at least one rank")
    };
    Ok(std::array::from_fn(lowest))
}
