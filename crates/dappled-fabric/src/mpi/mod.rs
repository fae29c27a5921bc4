//! MPI, found and loaded when the program runs, never linked: one build runs without MPI and
//! with every MPI.
//!
//! *In:* the environment of the process. *Out:* a [`Fabric`] over a duplicate of the world's
//! communicator. *Promised:* nothing is loaded where the process was not launched by MPI;
//! launcher and library are checked to belong together; no MPI call blocks, but for those that
//! begin and end MPI. All of this crate's `unsafe` is here.
//!
//! ```text
//! launch        was this process launched by MPI?
//! surroundings  what /proc and the environment say about where MPI may be
//! find          which files to try, in order
//! found         which of them it would be, for who asks
//! functions     the functions as a table
//! abi           the three ABIs as data
//! session       MPI begun, the communicator, MPI ended
//! flight        memory that MPI reads or writes until it is done
//! wire          whole messages: an envelope, and a body where it does not fit
//! ```

#[allow(unsafe_code)]
mod abi;
mod find;
#[allow(unsafe_code)]
mod flight;
mod found;
#[allow(unsafe_code)]
mod functions;
mod launch;
#[allow(unsafe_code)]
mod session;
mod surroundings;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use self::abi::{Abi, Handle};
use self::session::Session;
use self::surroundings::Surroundings;
use self::wire::MpiWire;
use crate::error::FabricError;
use crate::fabric::{Fabric, Pending, Receives, Sends};
use crate::settings::{Report, Settings, process_variable};
use crate::stats::Stats;
use crate::tag::{Aspects, Place, Tag};
use crate::wired::Wired;

pub use found::{Found, found};
pub use launch::Launch;

/// Was this process launched by MPI, or has somebody begun MPI in it?
pub fn launched() -> Result<Option<Launch>, FabricError> {
    let launch = launch::launch(&process_variable)?;
    Ok(launch.or_else(|| session::begun_by_others(&surroundings::mapped_libraries())))
}

/// The ranks that MPI launched, this process among them.
pub fn connect() -> Result<Box<dyn Fabric>, FabricError> {
    connect_with(&Settings::from_environment()?)
}

/// The same with settings of one's own.
pub fn connect_with(settings: &Settings) -> Result<Box<dyn Fabric>, FabricError> {
    let launch = launched()?;
    let surroundings = Surroundings::of_this_process(settings.prefix.clone());
    let candidates = find::candidates(&surroundings);
    let (library, abi, _) = abi::open_first(&candidates)?;
    match abi {
        Abi::Mpich => Mpi::begin(abi::mpich(library)?, launch, settings),
        Abi::OpenMpi => Mpi::begin(abi::open_mpi(library)?, launch, settings),
        Abi::Standard => Mpi::begin(abi::standard(library)?, launch, settings),
    }
}

/// So long a rank that ends badly waits for the others to end, too.
const GRACE: Duration = Duration::from_secs(2);

struct Mpi<H: Handle> {
    wired: Wired<MpiWire<H>>,
    session: Arc<Session<H>>,
    report: Report,
    left: AtomicBool,
}

impl<H: Handle> Mpi<H> {
    fn begin(
        mpi: abi::Mpi<H>,
        launch: Option<Launch>,
        settings: &Settings,
    ) -> Result<Box<dyn Fabric>, FabricError> {
        let given = settings.communicator.map(H::from_number);
        let session = watched(settings, || Session::begin(mpi, given)).map(Arc::new)?;
        if let Some(launch) = launch.filter(|_| given.is_none()) {
            launch.check(session.size, &session.name)?;
        }
        let wire = MpiWire::new(session.clone(), settings.piece);
        let places = [session.rank, session.size, session.node_size];
        let wired = Wired::new(places, session.name.clone(), wire, settings);
        let (report, left) = (settings.report.clone(), AtomicBool::new(false));
        Ok(Box::new(Self { wired, session, report, left }))
    }
}

/// Begins MPI, which waits for all ranks inside the library: a wait that lasts is reported by another
/// thread.
fn watched<T>(settings: &Settings, begin: impl FnOnce() -> T) -> T {
    let (done, waiting) = mpsc::channel::<()>();
    let (stall, report) = (settings.stall, settings.report.clone());
    std::thread::spawn(move || {
        if waiting.recv_timeout(stall) == Err(RecvTimeoutError::Timeout) {
            let rank = launch::rank(&process_variable);
            let rank = rank.map_or("a rank".to_string(), |rank| format!("rank {rank}"));
            report(&format!(
                "dappled: {rank} has waited {:.0} s for all ranks to begin: has one of them ended \
                 before it used dappled, or is DAPPLED_FABRIC=solo set there?",
                stall.as_secs_f64()
            ));
        }
    });
    let begun = begin();
    drop(done);
    begun
}

impl<H: Handle> Fabric for Mpi<H> {
    fn rank(&self) -> u64 {
        self.wired.rank
    }

    fn size(&self) -> u64 {
        self.wired.size
    }

    fn name(&self) -> &str {
        &self.wired.name
    }

    fn node_rank(&self) -> u64 {
        self.session.node_rank
    }

    fn node_size(&self) -> u64 {
        self.session.node_size
    }

    fn check_thread(&self) -> Result<(), FabricError> {
        self.session.check_thread()
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

    /// Returns when every rank has said goodbye. A rank that still awaits a message of this one
    /// is given the goodbye instead, and fails. Where this rank ends badly, the others are ended if
    /// they do not end soon.
    fn leave(&self, status: i32) -> Result<(), FabricError> {
        if self.left.load(Ordering::Acquire) {
            return Ok(());
        }
        if !self.wired.say_goodbye(status, (status != 0).then_some(GRACE))? {
            let rank = self.wired.rank;
            let text = format!("dappled: rank {rank} left with exit status {status}: all end");
            (self.report)(&text);
            self.session.abort(status)
        }
        self.left.store(true, Ordering::Release);
        Ok(())
    }

    fn end(&self) -> Result<(), FabricError> {
        match self.left.load(Ordering::Acquire) {
            true => self.session.end(),
            false => Ok(()),
        }
    }

    fn abort(&self, status: i32) -> ! {
        self.session.abort(status)
    }
}

impl<H: Handle> Drop for Mpi<H> {
    /// Ending MPI waits for all ranks. After a panic or an error the others may wait for this
    /// one elsewhere, so that the job must be ended instead.
    fn drop(&mut self) {
        let in_order = !std::thread::panicking() && !self.wired.has_failed();
        let left = self.left.load(Ordering::Acquire) || in_order && self.leave_or_say_why();
        if !left || self.session.end().is_err() {
            self.session.abort(1)
        }
    }
}

impl<H: Handle> Mpi<H> {
    fn leave_or_say_why(&self) -> bool {
        let why = |error: &FabricError| (self.report)(&format!("dappled: {error}"));
        self.leave(0).inspect_err(why).is_ok()
    }
}
