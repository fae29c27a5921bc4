//! Fabric whose ranks are threads of one process: runs any program without MPI, for tests.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::FabricConfig;
use crate::divergence::control_message::ControlMessage;
use crate::error::FabricError;
use crate::fabric::{ExchangeRequest, Fabric, Receives, Sends};
use crate::header::MessageHeader;
use crate::payload::Payload;
use crate::stats::FabricStats;
use crate::tag::{FieldHashes, OperationLabel, Tag};
use crate::transport::{ReceivedMessage, SendId, Transport};
use crate::transport_fabric::TransportFabric;

/// One rank of a thread fabric. Dropping it means leaving: ranks that wait for it get an error.
pub struct Threads {
    inner: TransportFabric<ThreadTransport>,
    mailboxes: Arc<Mailboxes>,
}

/// State shared by all ranks: a queue per pair, control messages, and who has left.
struct Mailboxes {
    messages: Vec<Mutex<VecDeque<ReceivedMessage>>>,
    control: Vec<Mutex<VecDeque<ControlMessage>>>,
    left: Vec<AtomicBool>,
}

struct ThreadTransport {
    rank: u64,
    mailboxes: Arc<Mailboxes>,
}

impl Threads {
    /// Creates `ranks` ranks for threads that the caller starts.
    pub fn new(ranks: u64) -> Vec<Self> {
        Self::with_config(ranks, &FabricConfig::default())
    }

    /// Creates `ranks` ranks with the given configuration.
    pub fn with_config(ranks: u64, config: &FabricConfig) -> Vec<Self> {
        let mailboxes = Arc::new(Mailboxes {
            messages: (0..ranks * ranks).map(|_| Mutex::default()).collect(),
            control: (0..ranks).map(|_| Mutex::default()).collect(),
            left: (0..ranks).map(|_| AtomicBool::new(false)).collect(),
        });
        let one = |rank| {
            let transport = ThreadTransport { rank, mailboxes: mailboxes.clone() };
            let inner =
                TransportFabric::new([rank, ranks, ranks], "threads".into(), transport, config);
            Self { inner, mailboxes: mailboxes.clone() }
        };
        (0..ranks).map(one).collect()
    }

    /// Runs `program` on every rank and returns the results in rank order. A panic on any rank is
    /// propagated with its rank and message; the first panic wins, because the others follow from
    /// it.
    pub fn run<T: Send>(ranks: u64, program: impl Fn(Self) -> T + Sync) -> Vec<T> {
        Self::run_on(Self::new(ranks), program)
    }

    /// Runs `program` on existing ranks; see [`Threads::run`].
    pub fn run_on<T: Send>(fabrics: Vec<Self>, program: impl Fn(Self) -> T + Sync) -> Vec<T> {
        let first_panic = Mutex::new(None);
        let one = |fabric: Self| {
            let (rank, mailboxes) = (fabric.rank(), fabric.mailboxes.clone());
            let result = catch_unwind(AssertUnwindSafe(|| program(fabric)));
            let result = result.map_err(|panic| {
                let mut first = first_panic.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| format!("rank {rank}: {}", panic_text(&*panic)));
            });
            // The program may still hold its fabric, but its rank has ended.
            mailboxes.leave(rank);
            result.ok()
        };
        let results: Option<Vec<T>> = std::thread::scope(|scope| {
            let started: Vec<_> =
                fabrics.into_iter().map(|fabric| scope.spawn(|| one(fabric))).collect();
            let joined = started.into_iter().map(|thread| thread.join().ok().flatten());
            joined.collect::<Vec<_>>().into_iter().collect()
        });
        let first_panic = first_panic.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.unwrap_or_else(|| resume_unwind(Box::new(first_panic.unwrap_or_default())))
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
    text.unwrap_or_else(|| "a panic without text".into())
}

impl Fabric for Threads {
    fn rank(&self) -> u64 {
        self.inner.rank
    }

    fn size(&self) -> u64 {
        self.inner.size
    }

    fn name(&self) -> &str {
        &self.inner.name
    }

    fn start_exchange(&self, tag: Tag, sends: Sends, receives: Receives) -> ExchangeRequest {
        self.inner.start_exchange(tag, sends, receives)
    }

    fn log_operation(&self, hash: u64, aspects: FieldHashes, place: OperationLabel) -> Tag {
        self.inner.log_operation(hash, aspects, place)
    }

    fn report_out_of_memory(&self, reason: String) {
        self.inner.report_out_of_memory(reason);
    }

    fn stats(&self) -> FabricStats {
        self.inner.stats()
    }

    fn leave(&self, _: i32) -> Result<(), FabricError> {
        self.mailboxes.leave(self.inner.rank);
        Ok(())
    }

    /// Ends this thread only; the other ranks fail when they wait for it.
    fn abort(&self, status: i32) -> ! {
        panic!("aborted with status {status}")
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.mailboxes.leave(self.inner.rank);
    }
}

impl Mailboxes {
    fn leave(&self, rank: u64) {
        self.left[rank as usize].store(true, Ordering::Release);
    }

    fn mailbox(&self, from: u64, to: u64) -> MutexGuard<'_, VecDeque<ReceivedMessage>> {
        let at = from as usize * self.left.len() + to as usize;
        self.messages[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn control(&self, to: u64) -> MutexGuard<'_, VecDeque<ControlMessage>> {
        self.control[to as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for ThreadTransport {
    fn send(
        &mut self,
        peer: u64,
        header: MessageHeader,
        payload: Payload,
    ) -> Result<SendId, FabricError> {
        let message = ReceivedMessage { header, payload: payload.into_vec() };
        self.mailboxes.mailbox(self.rank, peer).push_back(message);
        Ok(0)
    }

    fn progress(&mut self) -> Result<(), FabricError> {
        Ok(())
    }

    fn is_send_complete(&self, _: SendId) -> bool {
        true
    }

    fn is_transferring(&self) -> bool {
        false
    }

    fn receive(
        &mut self,
        peer: u64,
        _: Option<u64>,
    ) -> Result<Option<ReceivedMessage>, FabricError> {
        Ok(self.mailboxes.mailbox(peer, self.rank).pop_front())
    }

    fn has_left(&self, peer: u64) -> bool {
        self.mailboxes.left[peer as usize].load(Ordering::Acquire)
    }

    fn send_control(&mut self, peer: u64, message: &ControlMessage) -> Result<(), FabricError> {
        self.mailboxes.control(peer).push_back(message.clone());
        Ok(())
    }

    fn receive_control(&mut self) -> Result<Option<ControlMessage>, FabricError> {
        Ok(self.mailboxes.control(self.rank).pop_front())
    }
}
