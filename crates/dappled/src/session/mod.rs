//! Session: the state that all arrays of a process share.
//!
//! Input: a fabric and a [`Config`]. Output: a [`Session`], of which every array holds a handle.
//! Ranks negotiate all limits at the start, so that every later decision is the same on all of
//! them; freeing memory never communicates.
//!
//! ```text
//! buffer_pool       reuse of freed memory
//! caches            programs and descriptions that loops use again
//! collective_guard  rejects collective operations where they would hang
//! fingerprint       hashes by which ranks detect that they diverged
//! fp_warnings       floating-point flags that were raised and not reported yet
//! layer_state       state that the layers above keep in the session
//! meminfo           memory of the machine
//! plan_log          plans of operations as text, while they are explained
//! ```

pub(crate) mod buffer_pool;
pub(crate) mod caches;
pub(crate) mod collective_guard;
pub(crate) mod fingerprint;
pub(crate) mod fp_warnings;
pub(crate) mod layer_state;
pub(crate) mod meminfo;
pub(crate) mod plan_log;

use std::convert::Infallible;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use dappled_base::memory::has_room;
use dappled_fabric::{Fabric, OperationLabel, Payload, Sends, Tag};
use dappled_kernels::{CpuVariant, DType, FpFlags, Interpreter, Program};
use dappled_linalg::{LocalLinalg, RustLinalg};
use dappled_protocol::Distribution;

use crate::config::{Config, Limits, MIN_CAPACITY_CHECK_BYTES};
use crate::error::Result;
use crate::session::buffer_pool::{BufferPool, MemoryStats, array_bytes, out_of_memory};
use crate::session::caches::Caches;
use crate::session::collective_guard::CollectiveGuard;
use crate::session::fingerprint::{Fingerprint, FingerprintField, fnv_hash, set_check_all};
use crate::session::fp_warnings::{FpWarning, FpWarnings, RequestContext};
use crate::session::layer_state::LayerStates;
use crate::session::plan_log::PlanLog;

/// The fabric, limits and caches that the arrays of a program share.
///
/// ```
/// use dappled::{Array, Session};
/// let session = Session::new(dappled_fabric::connect()?);
/// let ones = Array::full(&session, &[3], 1.0);
/// assert_eq!(ones.add(&ones)?.to_vec::<f64>()?, [2.0, 2.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Session(SessionHandle);

/// Handle of a session.
#[derive(Clone)]
enum SessionHandle {
    Shared(Arc<SessionState>),
    /// Lives until the program ends. Every array has a handle, and counting references takes a
    /// measurable part of a small operation.
    Static(&'static SessionState),
}

impl Deref for SessionHandle {
    type Target = SessionState;

    #[inline]
    fn deref(&self) -> &SessionState {
        match self {
            SessionHandle::Shared(shared) => shared,
            SessionHandle::Static(shared) => shared,
        }
    }
}

struct SessionState {
    fabric: Box<dyn Fabric>,
    limits: Limits,
    guard: CollectiveGuard,
    /// Maximum bytes of this rank's piece of one array; the minimum over all ranks.
    max_local_bytes: usize,
    /// Bytes that a redistribution may use in addition to the arrays.
    budget: AtomicU64,
    /// Bytes of distributed arrays that were gathered.
    gathered_bytes: AtomicU64,
    pool: Arc<BufferPool>,
    caches: Caches,
    fp_warnings: FpWarnings,
    layers: LayerStates,
    plan_log: PlanLog,
    /// The library of local linear algebra, unless it is the one in Rust.
    linalg: OnceLock<Box<dyn LocalLinalg>>,
    /// Running hash of all collective operations so far.
    last_hash: AtomicU64,
    /// Hash of the arguments of the running NumPy function; 0 outside of one.
    call_hash: AtomicU64,
}

impl Session {
    /// Creates a session with default limits.
    pub fn new(fabric: Box<dyn Fabric>) -> Self {
        Self::with_limits(fabric, Limits::default())
    }

    /// Creates a session with the given limits between small and large arrays.
    pub fn with_limits(fabric: Box<dyn Fabric>, limits: Limits) -> Self {
        let capacity = local_capacity(&*fabric);
        Self::with_capacity(fabric, limits, capacity)
    }

    fn with_capacity(fabric: Box<dyn Fabric>, limits: Limits, capacity: usize) -> Self {
        let pool = Arc::new(BufferPool::new(fabric.size()));
        Self(SessionHandle::Shared(Arc::new(SessionState {
            fabric,
            limits,
            guard: CollectiveGuard::default(),
            max_local_bytes: capacity,
            budget: AtomicU64::new(Config::default().budget),
            gathered_bytes: AtomicU64::new(0),
            pool,
            caches: Caches::default(),
            fp_warnings: FpWarnings::default(),
            layers: LayerStates::default(),
            plan_log: PlanLog::default(),
            linalg: OnceLock::new(),
            last_hash: AtomicU64::new(0),
            call_hash: AtomicU64::new(0),
        })))
    }

    /// Makes the session live until the program ends, so that its handles need no reference
    /// counting.
    pub fn into_static(self) -> Self {
        match self.0 {
            SessionHandle::Shared(shared) => {
                Self(SessionHandle::Static(Box::leak(Box::new(shared))))
            }
            forever => Self(forever),
        }
    }

    /// Creates a session with the lowest limits and the oldest CPU variant of all ranks.
    /// Collective.
    ///
    /// Ranks thereby make the same decisions, and compute replicated arrays with the same
    /// instructions.
    pub fn with_config(fabric: Box<dyn Fabric>, config: &Config) -> Result<Self> {
        let Config { limits, budget, .. } = *config;
        let variant = config.variant.unwrap_or(CpuVariant::best()).activate() as usize;
        let local = [
            limits.replicate_below,
            limits.eager_max,
            budget as usize,
            variant,
            local_capacity(&*fabric),
        ];
        let [whole_below, at_once, budget, variant, most] = allreduce_min(&*fabric, local)?;
        CpuVariant::ALL[variant].activate();
        let session = Self::with_capacity(
            fabric,
            Limits { replicate_below: whole_below, eager_max: at_once },
            most,
        );
        session.set_budget(budget as u64);
        if let Some(bytes) = config.cache {
            session.set_pool_limit(bytes);
        }
        set_check_all(config.check);
        dappled_jit::set_mode(config.compile);
        Ok(session)
    }

    /// The fabric.
    pub fn fabric(&self) -> &dyn Fabric {
        &*self.0.fabric
    }

    /// Sizes that separate small arrays from large ones.
    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    /// Bytes that a redistribution may use on each rank in addition to the arrays.
    pub fn budget(&self) -> u64 {
        self.0.budget.load(Ordering::Relaxed)
    }

    /// Sets the memory budget of redistributions. Every rank must set the same value.
    pub fn set_budget(&self, bytes: u64) {
        self.0.budget.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of distributed arrays that were gathered on this rank.
    pub fn gathered_bytes(&self) -> u64 {
        self.0.gathered_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn note_gathered(&self, bytes: usize) {
        if self.fabric().size() > 1 {
            self.0.gathered_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    /// Subtracts bytes counted by [`Self::note_gathered`] for a reduction result, which is no
    /// gathered array.
    pub(crate) fn subtract_gathered(&self, bytes: usize) {
        if self.fabric().size() > 1 {
            self.0.gathered_bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
    }

    /// The pool of freed buffers.
    pub(crate) fn buffer_pool(&self) -> &Arc<BufferPool> {
        &self.0.pool
    }

    /// Sets the bytes that the buffer pool of this rank holds at most.
    pub fn set_pool_limit(&self, bytes: usize) {
        self.0.pool.set_limit(bytes);
    }

    /// Memory statistics of this process.
    pub fn memory_stats(&self) -> MemoryStats {
        self.0.pool.stats()
    }

    /// Returns true if there are floating-point warnings that were not taken.
    #[inline]
    pub fn has_fp_warnings(&self) -> bool {
        self.0.fp_warnings.is_pending()
    }

    /// Removes and returns the floating-point warnings.
    pub fn take_fp_warnings(&self) -> Vec<FpWarning> {
        self.0.fp_warnings.take_all()
    }

    pub(crate) fn fp_warnings(&self) -> &FpWarnings {
        &self.0.fp_warnings
    }

    /// The library of local linear algebra.
    pub(crate) fn linalg(&self) -> &dyn LocalLinalg {
        self.0.linalg.get().map_or(&RustLinalg, |library| &**library)
    }

    /// Sets the library of local linear algebra, unless one is set.
    pub fn set_linalg(&self, library: Box<dyn LocalLinalg>) {
        // The first library stays.
        let _ = self.0.linalg.set(library);
    }

    pub(crate) fn plan_log(&self) -> &PlanLog {
        &self.0.plan_log
    }

    /// Allgather: returns the bytes of every rank, in rank order. Collective.
    pub fn allgather(&self, name: &str, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.record_collective(|| {
            format!("allgather for {name}: {} bytes of this rank", bytes.len())
        });
        let tag = self.next_tag(name, Fingerprint::of(name), String::new)?;
        Ok(self.fabric().allgather(tag, bytes)?)
    }

    /// Allreduce: combines the bytes of all ranks in rank order. Collective.
    pub(crate) fn allreduce(
        &self,
        name: &str,
        bytes: Vec<u8>,
        combine: &dyn Fn(&mut Vec<u8>, &[u8]),
    ) -> Result<Vec<u8>> {
        self.record_collective(|| format!("allreduce for {name}: {} bytes", bytes.len()));
        let tag = self.next_tag(name, Fingerprint::of(name), String::new)?;
        Ok(self.fabric().allreduce(tag, bytes, combine)?)
    }

    /// All-to-all: sends `sends[r]` to rank r and returns the bytes that each rank sent.
    /// Collective.
    pub fn all_to_all(&self, name: &str, mut sends: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        let rank = self.fabric().rank() as usize;
        let own_part = std::mem::take(&mut sends[rank]);
        let mut all =
            self.all_to_all_remote(name, sends.into_iter().map(Payload::from).collect())?;
        all[rank] = own_part;
        Ok(all)
    }

    /// All-to-all without this rank's own part, for which an empty entry is returned. Collective.
    pub fn all_to_all_remote(&self, name: &str, sends: Vec<Payload>) -> Result<Vec<Vec<u8>>> {
        let received = self.start_all_to_all(name, sends)?.wait();
        let mut all = received?;
        all.insert(self.fabric().rank() as usize, Vec::new());
        Ok(all)
    }

    /// Starts an all-to-all; the request completes with the bytes of the other ranks. Collective.
    pub(crate) fn start_all_to_all(
        &self,
        name: &str,
        sends: Vec<Payload>,
    ) -> Result<dappled_fabric::ExchangeRequest> {
        let tag = self.next_tag(name, Fingerprint::of((name, "to each")), String::new)?;
        let mut to_others: Sends = (0..).zip(sends).collect();
        to_others.remove(self.fabric().rank() as usize);
        self.record_collective(|| {
            let bytes: usize = to_others.iter().map(|(_, payload)| payload.as_ref().len()).sum();
            let messages = to_others.len();
            format!("all-to-all for {name}: sends {messages} messages, {bytes} bytes in total")
        });
        let awaited = to_others.iter().map(|&(peer, _)| (peer, None)).collect();
        Ok(self.fabric().start_exchange(tag, to_others, awaited))
    }

    /// Starts a neighbor all-to-all: sends bytes to some ranks, and receives from others.
    /// Collective.
    pub(crate) fn start_neighbor_all_to_all(
        &self,
        name: &str,
        sends: Vec<(u64, Payload)>,
        receives: &[u64],
    ) -> Result<dappled_fabric::ExchangeRequest> {
        let tag = self.next_tag(name, Fingerprint::of((name, "to neighbors")), String::new)?;
        let receives = receives.iter().map(|&peer| (peer, None)).collect();
        Ok(self.fabric().start_exchange(tag, sends.into_iter().collect(), receives))
    }

    /// Starts a broadcast of `bytes` of one rank to all others. Collective.
    ///
    /// The bytes must not change until the request completes.
    pub fn start_broadcast(
        &self,
        rank: u64,
        name: &str,
        bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    ) -> Result<dappled_fabric::ExchangeRequest> {
        self.record_collective(|| format!("broadcast for {name} from rank {rank}"));
        let tag = self.next_tag(name, Fingerprint::of((name, "from", rank)), String::new)?;
        let own_rank = self.fabric().rank();
        if own_rank != rank {
            return Ok(self.fabric().start_exchange(tag, Sends::new(), vec![(rank, None)]));
        }
        let others = (0..self.fabric().size()).filter(|&peer| peer != own_rank);
        let sends: Sends = others.map(|peer| (peer, Payload::Shared(bytes.clone()))).collect();
        Ok(self.fabric().start_exchange(tag, sends, Vec::new()))
    }

    /// Starts the next collective operation and returns its message tag.
    ///
    /// Ranks compare the fingerprint with the next message. `describe` is called if the
    /// operation has not been described before.
    pub(crate) fn next_tag(
        &self,
        kind: &str,
        fingerprint: Fingerprint,
        describe: impl FnOnce() -> String,
    ) -> Result<Tag> {
        self.0.guard.check(kind, self.fabric().size())?;
        self.fabric().check_thread()?;
        let fingerprint = fingerprint.with(FingerprintField::Operation, kind);
        let fingerprint =
            fingerprint.with(FingerprintField::Call, self.0.call_hash.load(Ordering::Relaxed));
        let key = fingerprint.description_hash();
        let Ok(description) = self
            .caches()
            .descriptions
            .get_or_insert_with(&key, || Ok::<_, Infallible>(describe().into()));
        let label = OperationLabel::new(&self.0.guard.operation_label(kind, &description));
        let tag =
            self.fabric().log_operation(fingerprint.hash(), fingerprint.field_hashes(), label);
        self.0.last_hash.store(tag.hash, Ordering::Relaxed);
        Ok(tag)
    }

    /// The identity of a distributed array created now; equal on all ranks that did not diverge.
    pub(crate) fn next_array_id(&self) -> u64 {
        fnv_hash([
            self.0.last_hash.load(Ordering::Relaxed),
            self.0.call_hash.load(Ordering::Relaxed),
        ])
    }

    /// Logs bytes that ranks must agree on, without a message. Collective.
    ///
    /// Ranks compare them with the next message.
    pub fn log_collective(&self, kind: &str, bytes: &[u8]) -> Result<()> {
        match self.fabric().size() {
            1 => Ok(()),
            _ => {
                let fingerprint = Fingerprint::default().with(FingerprintField::Contents, bytes);
                self.next_tag(kind, fingerprint, String::new).map(drop)
            }
        }
    }

    /// Runs `run` as a NumPy function whose arguments have this hash.
    ///
    /// Ranks compare the hash with every operation inside. Nested calls belong to the outermost
    /// one.
    pub fn in_call<T>(&self, arguments: u64, run: impl FnOnce() -> T) -> T {
        let call = &self.0.call_hash;
        let is_outermost =
            call.compare_exchange(0, arguments | 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        let result = run();
        if is_outermost {
            call.store(0, Ordering::Relaxed);
        }
        result
    }

    /// The guard of collective operations.
    pub fn collective_guard(&self) -> &CollectiveGuard {
        &self.0.guard
    }

    /// Allreduce of the floating-point flags of an eager operation and the casts of its operands.
    /// Collective.
    ///
    /// All ranks then raise together.
    pub fn allreduce_fp_warnings(
        &self,
        name: &'static str,
        origin: Option<&Arc<RequestContext>>,
    ) -> Result<()> {
        let names = ["cast", name];
        let sent = names.map(|name| self.0.fp_warnings.take_matching(name, origin).bits());
        let all = self.allgather("floating-point flags", sent.to_vec())?;
        for (at, name) in names.into_iter().enumerate() {
            let bits = all.iter().filter_map(|sent| sent.get(at)).fold(0, |bits, more| bits | more);
            self.0.fp_warnings.add(name, FpFlags::from_bits(bits), origin);
        }
        Ok(())
    }

    /// The interpreter of a program, from the cache if it ran before.
    pub(crate) fn interpreter(&self, program: &Program) -> Result<Arc<Interpreter>> {
        self.caches().programs.get_or_insert_with(program, || build_interpreter(program))
    }

    /// The caches of this session.
    pub(crate) fn caches(&self) -> &Caches {
        &self.0.caches
    }

    /// Returns true if new arrays of this size are replicated by default.
    ///
    /// Arrays are replicated if they are small, on a single rank, and in threads that may not
    /// communicate.
    pub fn should_replicate(&self, shape: &[usize], itemsize: usize) -> bool {
        let bytes = || shape.iter().fold(itemsize, |bytes, &length| bytes.saturating_mul(length));
        self.fabric().size() == 1
            || shape.is_empty()
            || bytes() < self.0.limits.replicate_below
            || !self.0.guard.is_communicating_thread()
    }

    /// Unwinds with [`OutOfMemory`](dappled_base::OutOfMemory) if the array exceeds the memory of a
    /// rank.
    ///
    /// The decision depends on the size only, so that all ranks agree. A single rank also reserves
    /// the address space of a large array, and releases it at once.
    pub fn check_capacity(&self, dtype: DType, shape: &[usize]) {
        let all = array_bytes(dtype, shape);
        if all < MIN_CAPACITY_CHECK_BYTES as u128 {
            return;
        }
        let ranks = self.fabric().size();
        let shares =
            if self.should_replicate(shape, dtype.itemsize()) { 1 } else { u128::from(ranks) };
        let local_bytes = usize::try_from(all.div_ceil(shares)).unwrap_or(usize::MAX);
        if local_bytes > self.0.max_local_bytes || (ranks == 1 && !self.can_allocate(local_bytes)) {
            out_of_memory(dtype, shape, local_bytes).unwind();
        }
    }

    /// Returns true if an allocation of this size would succeed.
    fn can_allocate(&self, bytes: usize) -> bool {
        has_room(bytes) || {
            self.buffer_pool().clear();
            has_room(bytes)
        }
    }

    /// The block distribution over all ranks.
    pub fn block_distribution(&self, shape: &[usize]) -> Distribution {
        let shape: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
        let spec = Distribution::spec(&shape).nprocs(self.fabric().size());
        spec.build().expect("a block distribution exists for any shape and number of ranks")
    }
}

/// Maximum bytes of one array on this rank: its share of the machine.
fn local_capacity(fabric: &dyn Fabric) -> usize {
    meminfo::max_process_bytes()
        .map_or(isize::MAX as usize, |most| most / fabric.node_size().max(1) as usize)
}

/// Builds the interpreter of a program, with a JIT compiler where one is available.
pub(crate) fn build_interpreter(program: &Program) -> Result<Arc<Interpreter>> {
    let code = Interpreter::new(program)?;
    Ok(Arc::new(match dappled_jit::shared_cache() {
        Some(compiler) => code.with_compiler(compiler),
        None => code,
    }))
}

/// Element-wise minimum over all ranks. Collective.
fn allreduce_min<const N: usize>(fabric: &dyn Fabric, values: [usize; N]) -> Result<[usize; N]> {
    if fabric.size() == 1 {
        return Ok(values);
    }
    let label = "the start of the program";
    let bytes = values.iter().flat_map(|&value| (value as u64).to_le_bytes()).collect();
    let all = fabric.allgather(Tag::new(fnv_hash(label), label), bytes)?;
    let lowest = |at: usize| {
        let column = all.iter().map(|bytes| bytes.as_chunks().0[at]);
        column
            .map(|bytes| u64::from_le_bytes(bytes) as usize)
            .min()
            .expect("there is at least one rank")
    };
    Ok(std::array::from_fn(lowest))
}
