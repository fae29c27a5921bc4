//! A fabric made of a wire: what Solo, Threads and MPI have in common.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dappled_base::interrupt;

use crate::error::FabricError;
use crate::fabric::{Pending, Receives, Sends, Waiting};
use crate::ledger::{Ledger, Refused};
use crate::notice::Kind;
use crate::patience::{Patience, is_crowded};
use crate::settings::{Report, Settings};
use crate::stats::Stats;
use crate::tag::{Aspects, Place, Tag};
use crate::wire::Wire;

/// One rank and its ledger, which posts on their way share.
pub(crate) struct Wired<W> {
    pub rank: u64,
    pub size: u64,
    pub name: String,
    shared: Arc<Shared<W>>,
}

struct Shared<W> {
    rank: u64,
    stall: Duration,
    crowded: bool,
    report: Report,
    ledger: Mutex<Ledger<W>>,
}

/// A post on its way.
struct Posted<W: Wire> {
    shared: Arc<Shared<W>>,
    post: u64,
}

impl<W: Wire> Wired<W> {
    /// A rank of `size`, of which so many are on this machine.
    pub fn new([rank, size, near]: [u64; 3], name: String, wire: W, settings: &Settings) -> Self {
        let ledger = Mutex::new(Ledger::new(rank, size, wire));
        let (Settings { stall, report, .. }, crowded) = (settings.clone(), is_crowded(near));
        Self { rank, size, name, shared: Arc::new(Shared { rank, stall, crowded, report, ledger }) }
    }

    pub fn start(&self, tag: Tag, sends: Sends, receives: Receives) -> Pending {
        let peers = sends.iter().map(|send| send.0).chain(receives.iter().map(|ask| ask.0));
        let (rank, size) = (self.rank, self.size);
        peers.for_each(|peer| assert!(peer < size, "rank {rank}: no rank {peer} among {size}"));
        let post = self.shared.ledger().post(tag, sends, receives);
        Pending::new(Posted { shared: self.shared.clone(), post })
    }

    pub fn note(&self, hash: u64, aspects: Aspects, place: Place) -> Tag {
        self.shared.ledger().note(hash, aspects, place)
    }

    pub fn refused(&self, reason: String) {
        let mut ledger = self.shared.ledger();
        let number = ledger.logbook.last().last().map_or(0, |tag| tag.number);
        ledger.refused = Some(Refused { number, reason });
    }

    pub fn stats(&self) -> Stats {
        self.shared.ledger().stats
    }

    /// The last message to every rank, and from every rank; false if the others do not leave
    /// within the limit. Then all have done the same, and nothing is on its way.
    pub fn say_goodbye(&self, status: i32, limit: Option<Duration>) -> Result<bool, FabricError> {
        self.shared.ledger().leaving = Some(status);
        let others = || (0..self.size).filter(|&peer| peer != self.rank);
        let farewell = |peer| self.shared.ledger().notice(Kind::Leaves, "", peer).encode();
        let sends = others().map(|peer| (peer, farewell(peer).into())).collect();
        let receives = others().map(|peer| (peer, None)).collect();
        let goodbye = self.start(Tag::leaving(), sends, receives);
        if goodbye.wait_for(limit)?.is_none() {
            return Ok(false);
        }
        while !self.shared.ledger().parting()? {
            std::thread::yield_now();
        }
        Ok(true)
    }

    /// Was there an error?
    pub fn has_failed(&self) -> bool {
        self.shared.ledger().failed.is_some()
    }
}

impl<W> Shared<W> {
    /// A panic while the ledger was held is an error of ours in one post; the others go on.
    fn ledger(&self) -> MutexGuard<'_, Ledger<W>> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Wire> Waiting for Posted<W> {
    fn poll(&mut self) -> Result<bool, FabricError> {
        self.shared.ledger().is_done(self.post)
    }

    fn wait(self: Box<Self>, limit: Option<Duration>) -> Result<Option<Vec<Vec<u8>>>, FabricError> {
        let mut patience = Patience::new(self.shared.stall, self.shared.crowded);
        loop {
            let mut ledger = self.shared.ledger();
            let taken = ledger.take(self.post);
            let late = || limit.is_some_and(|limit| patience.lasted() > limit);
            if !matches!(taken, Ok(None)) || late() {
                ledger.stats.waited += patience.lasted();
                return taken;
            }
            let moving = self.look_around(&mut ledger, &mut patience);
            drop(ledger);
            if patience.is_idle() {
                interrupt::poll();
            }
            patience.pause(moving);
        }
    }
}

impl<W: Wire> Posted<W> {
    /// What is done in a wait that lasts; are bytes on their way?
    fn look_around(&self, ledger: &mut Ledger<W>, patience: &mut Patience) -> bool {
        if patience.is_idle() {
            ledger.hear();
        }
        if patience.asks() {
            ledger.ask_about(self.post);
        }
        if let Some(waited) = patience.stalled() {
            let (rank, seconds) = (self.shared.rank, waited.as_secs_f64());
            let awaited = ledger.describe(self.post);
            let report = format!("dappled: rank {rank} has waited {seconds:.0} s {awaited}");
            (self.shared.report)(&report);
        }
        ledger.is_moving()
    }
}

impl<W: Wire> Drop for Posted<W> {
    fn drop(&mut self) {
        self.shared.ledger().forget(self.post);
    }
}
