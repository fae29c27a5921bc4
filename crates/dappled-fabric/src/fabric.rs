//! The `Fabric` trait, and the request that a nonblocking exchange returns.

use std::time::Duration;

use crate::collective;
use crate::error::FabricError;
use crate::payload::Payload;
use crate::stats::FabricStats;
use crate::tag::{FieldHashes, OperationLabel, Tag};

/// Messages to send: destination rank and payload.
pub type Sends = Vec<(u64, Payload)>;

/// Messages to receive: source rank and length in bytes; None accepts any length.
pub type Receives = Vec<(u64, Option<usize>)>;

/// A fabric sends bytes between the ranks of a program.
///
/// Every method with a [`Tag`] is collective, except the exchanges: all ranks call it in the same
/// order with the same tag. The receiver of a message posts the receive in an exchange with the
/// same tag.
///
/// ```
/// use dappled_fabric::{Fabric, Tag, Threads};
/// let sums = Threads::run(3, |fabric| {
///     let all = fabric.allgather(Tag::new(1, "allgather"), vec![fabric.rank() as u8])?;
///     Ok::<u8, dappled_fabric::FabricError>(all.iter().map(|bytes| bytes[0]).sum())
/// });
/// assert_eq!(sums, [Ok(3), Ok(3), Ok(3)]);
/// ```
pub trait Fabric: Send + Sync {
    /// Returns the rank of this process, counted from 0.
    fn rank(&self) -> u64;

    /// Returns the number of ranks.
    fn size(&self) -> u64;

    /// Returns the name of the implementation: "solo", "threads", or the MPI version.
    fn name(&self) -> &str;

    /// Checks that this thread may communicate. Called before an operation is logged.
    fn check_thread(&self) -> Result<(), FabricError> {
        Ok(())
    }

    /// Starts a nonblocking exchange; the `wait` method of the request returns the bytes. Messages
    /// to one rank keep their order, within an exchange and between exchanges. A rank may send to
    /// itself.
    fn start_exchange(&self, tag: Tag, sends: Sends, receives: Receives) -> ExchangeRequest;

    /// Logs the next operation of the program and returns its tag.
    ///
    /// `hash` covers everything that ranks must agree on; the short hashes of its fields tell which
    /// of them differs. All ranks log every operation, even one without messages, so that a
    /// divergence is detected by the next message or at exit.
    fn log_operation(&self, hash: u64, aspects: FieldHashes, place: OperationLabel) -> Tag;

    /// Records that the last operation was abandoned because an allocation failed. Ranks that wait
    /// for this operation, or diverge because of it, get this reason.
    fn report_out_of_memory(&self, _reason: String) {}

    /// Returns the communication statistics of this rank.
    fn stats(&self) -> FabricStats;

    /// Returns the index of this rank among the ranks on its machine, from 0.
    fn node_rank(&self) -> u64 {
        self.rank()
    }

    /// Returns the number of ranks on this machine.
    fn node_size(&self) -> u64 {
        self.size()
    }

    /// Announces that this rank sends nothing more, with its exit status. With MPI, which is
    /// finalised collectively, waits for the other ranks to leave.
    fn leave(&self, status: i32) -> Result<(), FabricError>;

    /// Finalises the communication library if this fabric initialised it, after all have left.
    /// Dropping the fabric does the same.
    fn finalize(&self) -> Result<(), FabricError> {
        Ok(())
    }

    /// Terminates all ranks immediately with this exit status.
    fn abort(&self, status: i32) -> !;

    /// Starts a nonblocking exchange of byte vectors whose lengths are all known.
    fn start_sized_exchange(
        &self,
        tag: Tag,
        sends: Vec<(u64, Vec<u8>)>,
        receives: Vec<(u64, usize)>,
    ) -> ExchangeRequest {
        let sends = sends.into_iter().map(|(peer, bytes)| (peer, bytes.into()));
        let known = receives.into_iter().map(|(peer, bytes)| (peer, Some(bytes)));
        self.start_exchange(tag, sends.collect(), known.collect())
    }

    /// Performs a blocking exchange; returns the received bytes in the order of `receives`.
    fn exchange(
        &self,
        tag: Tag,
        sends: Vec<(u64, Vec<u8>)>,
        receives: Vec<(u64, usize)>,
    ) -> Result<Vec<Vec<u8>>, FabricError> {
        self.start_sized_exchange(tag, sends, receives).wait()
    }

    /// Returns once every rank has entered the barrier. Collective.
    fn barrier(&self, tag: Tag) -> Result<(), FabricError> {
        collective::barrier(self, tag)
    }

    /// Broadcast: returns the bytes of `root` on every rank. Collective.
    fn broadcast(&self, tag: Tag, root: u64, bytes: Vec<u8>) -> Result<Vec<u8>, FabricError> {
        collective::broadcast(self, tag, root, bytes)
    }

    /// Allgather: returns the bytes of all ranks, in rank order; lengths may differ. Collective.
    fn allgather(&self, tag: Tag, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError> {
        collective::allgather(self, tag, bytes)
    }

    /// Allreduce: combines the bytes of all ranks in rank order. Collective.
    ///
    /// The fixed order makes the result identical on every rank and in every run. Each rank holds
    /// the contributions of all ranks while it combines them.
    fn allreduce(
        &self,
        tag: Tag,
        bytes: Vec<u8>,
        fold: &dyn Fn(&mut Vec<u8>, &[u8]),
    ) -> Result<Vec<u8>, FabricError> {
        collective::allreduce(self, tag, bytes, fold)
    }
}

/// A nonblocking exchange in progress. Dropping it without `wait` completes the transfers and
/// discards the received bytes.
#[must_use = "`wait` returns the received bytes"]
pub struct ExchangeRequest(Box<dyn RequestProgress>);

/// Implementation of a nonblocking request by a fabric.
pub trait RequestProgress: Send {
    /// Makes progress; returns whether all sends and receives are complete.
    fn poll(&mut self) -> Result<bool, FabricError>;

    /// Waits until all sends and receives are complete; returns None if `limit` passes first.
    fn wait(self: Box<Self>, limit: Option<Duration>) -> Result<Option<Vec<Vec<u8>>>, FabricError>;
}

impl ExchangeRequest {
    /// Wraps the request of a fabric.
    pub fn new(waiting: impl RequestProgress + 'static) -> Self {
        Self(Box::new(waiting))
    }

    /// Makes progress without blocking; returns whether `wait` would return immediately. Transfers
    /// advance only during polls and waits, so long computations should poll regularly.
    pub fn poll(&mut self) -> Result<bool, FabricError> {
        self.0.poll()
    }

    /// Waits for completion and returns the received bytes in the order of the receives.
    pub fn wait(self) -> Result<Vec<Vec<u8>>, FabricError> {
        Ok(self.0.wait(None)?.expect("without a limit a wait has an end"))
    }

    pub(crate) fn wait_timeout(
        self,
        limit: Option<Duration>,
    ) -> Result<Option<Vec<Vec<u8>>>, FabricError> {
        self.0.wait(limit)
    }
}
