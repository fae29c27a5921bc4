//! The trait, and what a post gives back.

use std::time::Duration;

use crate::collective;
use crate::error::FabricError;
use crate::payload::Payload;
use crate::stats::Stats;
use crate::tag::{Aspects, Place, Tag};

/// Messages to send: to whom, and what.
pub type Sends = Vec<(u64, Payload)>;

/// Messages to receive: from whom, and how many bytes; None for as many as were sent.
pub type Receives = Vec<(u64, Option<usize>)>;

/// Ranks and the bytes between them.
///
/// Every method with a [`Tag`] but `post` and `exchange` is collective: all ranks call it, in the
/// same order, with the same tag. What `post` sends, its receiver asks for in a post with the
/// same tag.
///
/// ```
/// use dappled_fabric::{Fabric, Tag, Threads};
/// let sums = Threads::run(3, |fabric| {
///     let all = fabric.gather_all(Tag::new(1, "here"), vec![fabric.rank() as u8])?;
///     Ok::<u8, dappled_fabric::FabricError>(all.iter().map(|bytes| bytes[0]).sum())
/// });
/// assert_eq!(sums, [Ok(3), Ok(3), Ok(3)]);
/// ```
pub trait Fabric: Send + Sync {
    /// Which of the ranks this is, from 0.
    fn rank(&self) -> u64;

    /// The number of ranks.
    fn size(&self) -> u64;

    /// What this fabric is, for people: "solo", or the version of MPI.
    fn name(&self) -> &str;

    /// May this thread send and receive? Asked before an operation is noted.
    fn check_thread(&self) -> Result<(), FabricError> {
        Ok(())
    }

    /// Starts sending and receiving, and returns at once: [`Pending::wait`] gives the bytes.
    /// Messages to the same rank keep their order, within a post and from post to post; a rank
    /// may send to itself.
    fn start(&self, tag: Tag, sends: Sends, receives: Receives) -> Pending;

    /// The next operation of the program, with a hash of what ranks must agree on about it, and
    /// hashes of its parts, which say what it was if they do not: its tag. Also for what needs no message, on every rank: so ranks that go different ways are found
    /// by the next message, or when they leave.
    fn note(&self, hash: u64, aspects: Aspects, place: Place) -> Tag;

    /// Memory was refused in the last operation, which this rank leaves unfinished. Ranks that wait for
    /// it, or part because of it, are told this reason.
    fn refused(&self, _reason: String) {}

    /// What this rank has sent so far.
    fn stats(&self) -> Stats;

    /// Which of the ranks on this machine this is, from 0.
    fn node_rank(&self) -> u64 {
        self.rank()
    }

    /// How many ranks are on this machine.
    fn node_size(&self) -> u64 {
        self.size()
    }

    /// The last message: tells the other ranks that nothing more will come, and with which exit
    /// status. Waits for them to leave too, where the fabric ends for all at once (MPI).
    fn leave(&self, status: i32) -> Result<(), FabricError>;

    /// Ends what carries the messages, once all have left: MPI, if it was begun for this fabric.
    /// Done when the fabric is dropped, if not before.
    fn end(&self) -> Result<(), FabricError> {
        Ok(())
    }

    /// Ends all ranks, now, with this exit status: for a rank that cannot go on.
    fn abort(&self, status: i32) -> !;

    /// [`Fabric::start`] where all lengths are known, and what is sent are vectors.
    fn post(&self, tag: Tag, sends: Vec<(u64, Vec<u8>)>, receives: Vec<(u64, usize)>) -> Pending {
        let sends = sends.into_iter().map(|(peer, bytes)| (peer, bytes.into()));
        let known = receives.into_iter().map(|(peer, bytes)| (peer, Some(bytes)));
        self.start(tag, sends.collect(), known.collect())
    }

    /// Sends, and waits for what is awaited, in the order asked for.
    fn exchange(
        &self,
        tag: Tag,
        sends: Vec<(u64, Vec<u8>)>,
        receives: Vec<(u64, usize)>,
    ) -> Result<Vec<Vec<u8>>, FabricError> {
        self.post(tag, sends, receives).wait()
    }

    /// Returns when every rank has come here.
    fn barrier(&self, tag: Tag) -> Result<(), FabricError> {
        collective::barrier(self, tag)
    }

    /// What `root` gives, on every rank; what the others give is dropped.
    fn broadcast(&self, tag: Tag, root: u64, bytes: Vec<u8>) -> Result<Vec<u8>, FabricError> {
        collective::broadcast(self, tag, root, bytes)
    }

    /// What every rank gives, in the order of the ranks; lengths may differ.
    fn gather_all(&self, tag: Tag, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, FabricError> {
        collective::gather_all(self, tag, bytes)
    }

    /// What the ranks give, folded in the order of the ranks whatever comes first: the same
    /// bytes on every rank, in every run. Each rank holds what all gave while it folds.
    fn combine(
        &self,
        tag: Tag,
        bytes: Vec<u8>,
        fold: &dyn Fn(&mut Vec<u8>, &[u8]),
    ) -> Result<Vec<u8>, FabricError> {
        collective::combine(self, tag, bytes, fold)
    }
}

/// A post on its way. Dropped without a wait, its messages still go and come, and what comes is
/// thrown away.
#[must_use = "the bytes are given by `wait`"]
pub struct Pending(Box<dyn Waiting>);

/// What a fabric does for a post on its way.
pub trait Waiting: Send {
    /// Moves messages on; is everything here, and everything sent?
    fn poll(&mut self) -> Result<bool, FabricError>;

    /// Waits for everything to be here and everything to be sent; None where that lasts longer
    /// than the limit.
    fn wait(self: Box<Self>, limit: Option<Duration>) -> Result<Option<Vec<Vec<u8>>>, FabricError>;
}

impl Pending {
    /// What a fabric's `post` gives back.
    pub fn new(waiting: impl Waiting + 'static) -> Self {
        Self(Box::new(waiting))
    }

    /// Moves messages on without waiting, and says whether `wait` would return at once. Messages
    /// move only while somebody polls or waits: call it now and then in long computations.
    pub fn poll(&mut self) -> Result<bool, FabricError> {
        self.0.poll()
    }

    /// Waits, and gives the received bytes in the order in which they were asked for.
    pub fn wait(self) -> Result<Vec<Vec<u8>>, FabricError> {
        Ok(self.0.wait(None)?.expect("without a limit a wait has an end"))
    }

    pub(crate) fn wait_for(
        self,
        limit: Option<Duration>,
    ) -> Result<Option<Vec<Vec<u8>>>, FabricError> {
        self.0.wait(limit)
    }
}
