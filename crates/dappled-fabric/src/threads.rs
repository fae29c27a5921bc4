//! N ranks as N threads of one process: every plan and exchange without MPI, for tests.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::FabricError;
use crate::fabric::{Fabric, Pending, Receives, Sends};
use crate::header::Header;
use crate::notice::Notice;
use crate::payload::Payload;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::tag::{Aspects, Place, Tag};
use crate::wire::{Message, Ticket, Wire};
use crate::wired::Wired;

/// One of the ranks. Dropped, it has left: who waits for it is told so.
pub struct Threads {
    wired: Wired<Mailboxes>,
    hall: Arc<Hall>,
}

/// What the ranks share: a mailbox for each pair, what is said aside to each, and who has left.
struct Hall {
    mailboxes: Vec<Mutex<VecDeque<Message>>>,
    aside: Vec<Mutex<VecDeque<Notice>>>,
    left: Vec<AtomicBool>,
}

struct Mailboxes {
    rank: u64,
    hall: Arc<Hall>,
}

impl Threads {
    /// `ranks` ranks, for threads that the caller starts.
    pub fn new(ranks: u64) -> Vec<Self> {
        Self::with_settings(ranks, &Settings::default())
    }

    /// The same with settings of one's own.
    pub fn with_settings(ranks: u64, settings: &Settings) -> Vec<Self> {
        let hall = Arc::new(Hall {
            mailboxes: (0..ranks * ranks).map(|_| Mutex::default()).collect(),
            aside: (0..ranks).map(|_| Mutex::default()).collect(),
            left: (0..ranks).map(|_| AtomicBool::new(false)).collect(),
        });
        let one = |rank| {
            let wire = Mailboxes { rank, hall: hall.clone() };
            let wired = Wired::new([rank, ranks, ranks], "threads".into(), wire, settings);
            Self { wired, hall: hall.clone() }
        };
        (0..ranks).map(one).collect()
    }

    /// Runs `program` on every rank, and gives what each returned. If ranks panic, so does
    /// this: with the rank and the message of the first of them, for the others panicked
    /// because of it.
    pub fn run<T: Send>(ranks: u64, program: impl Fn(Self) -> T + Sync) -> Vec<T> {
        Self::run_all(Self::new(ranks), program)
    }

    /// [`Threads::run`] on ranks that are there.
    pub fn run_all<T: Send>(fabrics: Vec<Self>, program: impl Fn(Self) -> T + Sync) -> Vec<T> {
        let first_panic = Mutex::new(None);
        let one = |fabric: Self| {
            let (rank, hall) = (fabric.rank(), fabric.hall.clone());
            let result = catch_unwind(AssertUnwindSafe(|| program(fabric)));
            let result = result.map_err(|panic| {
                let mut first = first_panic.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| format!("rank {rank}: {}", panic_text(&*panic)));
            });
            // The program may have kept its fabric; its rank is over all the same.
            hall.leave(rank);
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
        self.wired.rank
    }

    fn size(&self) -> u64 {
        self.wired.size
    }

    fn name(&self) -> &str {
        &self.wired.name
    }

    fn start(&self, tag: Tag, sends: Sends, receives: Receives) -> Pending {
        self.wired.start(tag, sends, receives)
    }

    fn note(&self, hash: u64, aspects: Aspects, place: Place) -> Tag {
        self.wired.note(hash, aspects, place)
    }

    fn refused(&self, reason: String) {
        self.wired.refused(reason);
    }

    fn stats(&self) -> Stats {
        self.wired.stats()
    }

    fn leave(&self, _: i32) -> Result<(), FabricError> {
        self.hall.leave(self.wired.rank);
        Ok(())
    }

    /// Ends this thread only: the others end when they wait for it.
    fn abort(&self, status: i32) -> ! {
        panic!("aborted with status {status}")
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.hall.leave(self.wired.rank);
    }
}

impl Hall {
    fn leave(&self, rank: u64) {
        self.left[rank as usize].store(true, Ordering::Release);
    }

    fn mailbox(&self, from: u64, to: u64) -> MutexGuard<'_, VecDeque<Message>> {
        let at = from as usize * self.left.len() + to as usize;
        self.mailboxes[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn aside(&self, to: u64) -> MutexGuard<'_, VecDeque<Notice>> {
        self.aside[to as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wire for Mailboxes {
    fn send(&mut self, peer: u64, header: Header, payload: Payload) -> Result<Ticket, FabricError> {
        let message = Message { header, payload: payload.into_vec() };
        self.hall.mailbox(self.rank, peer).push_back(message);
        Ok(0)
    }

    fn progress(&mut self) -> Result<(), FabricError> {
        Ok(())
    }

    fn is_sent(&self, _: Ticket) -> bool {
        true
    }

    fn is_moving(&self) -> bool {
        false
    }

    fn receive(&mut self, peer: u64, _: Option<u64>) -> Result<Option<Message>, FabricError> {
        Ok(self.hall.mailbox(peer, self.rank).pop_front())
    }

    fn has_left(&self, peer: u64) -> bool {
        self.hall.left[peer as usize].load(Ordering::Acquire)
    }

    fn tell(&mut self, peer: u64, notice: &Notice) -> Result<(), FabricError> {
        self.hall.aside(peer).push_back(notice.clone());
        Ok(())
    }

    fn hear(&mut self) -> Result<Option<Notice>, FabricError> {
        Ok(self.hall.aside(self.rank).pop_front())
    }
}
