//! MPI fabric. The library is found and loaded at run time, never linked, so one build runs with
//! every MPI implementation and without MPI.
//!
//! Input: the environment of the process. Output: a [`Fabric`] on a duplicate of the world
//! communicator. Guarantees: nothing is loaded unless MPI launched the process; launcher and
//! library are checked to match; no MPI call blocks, except initialisation and finalisation. All
//! `unsafe` code of this crate is here.
//!
//! ```text
//! launch          detects a launcher by its environment variables
//! environment     what /proc and the environment say about MPI installations
//! library_search  the candidate files for the library, in order
//! library_info    describes the library that would be loaded
//! abi, functions  the three ABIs as data; the table of functions
//! runtime         initialisation, communicator, thread level, finalisation
//! in_flight       buffers of nonblocking transfers
//! transport       whole messages: an envelope, and a body for long payloads
//! ```

#[allow(unsafe_code)]
mod abi;
mod environment;
#[allow(unsafe_code)]
mod functions;
#[allow(unsafe_code)]
mod in_flight;
mod launch;
mod library_info;
mod library_search;
#[allow(unsafe_code)]
mod runtime;
mod transport;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};

use self::abi::{MpiAbi, MpiHandle};
use self::environment::ProcessEnvironment;
use self::runtime::MpiRuntime;
use self::transport::MpiTransport;
use crate::config::{EXIT_GRACE, FabricConfig, ReportFn, environment_variable};
use crate::error::FabricError;
use crate::fabric::{ExchangeRequest, Fabric, Receives, Sends};
use crate::stats::FabricStats;
use crate::tag::{FieldHashes, OperationLabel, Tag};
use crate::transport_fabric::TransportFabric;

pub use launch::Launch;
pub use library_info::{LibraryInfo, library_info};

/// Returns the evidence that MPI launched or is initialised in this process, if any.
pub fn detect_launch() -> Result<Option<Launch>, FabricError> {
    let launch = launch::detect_launch(&environment_variable)?;
    Ok(launch.or_else(|| runtime::initialized_elsewhere(&environment::loaded_mpi_libraries())))
}

/// Connects to the ranks that MPI launched, with the configuration of the environment.
pub fn connect() -> Result<Box<dyn Fabric>, FabricError> {
    connect_with(&FabricConfig::from_environment()?)
}

/// Connects to the ranks that MPI launched, with the parent configuration.
pub fn connect_with(config: &FabricConfig) -> Result<Box<dyn Fabric>, FabricError> {
    let launch = detect_launch()?;
    let environment = ProcessEnvironment::current(config.python_prefix.clone());
    let candidates = library_search::library_candidates(&environment);
    let (library, abi, _) = abi::load_first(&candidates)?;
    match abi {
        MpiAbi::Mpich => MpiFabric::connect(abi::mpich(library)?, launch, config),
        MpiAbi::OpenMpi => MpiFabric::connect(abi::open_mpi(library)?, launch, config),
        MpiAbi::Standard => MpiFabric::connect(abi::standard(library)?, launch, config),
    }
}

struct MpiFabric<H: MpiHandle> {
    inner: TransportFabric<MpiTransport<H>>,
    runtime: Arc<MpiRuntime<H>>,
    report: ReportFn,
    left: AtomicBool,
}

impl<H: MpiHandle> MpiFabric<H> {
    fn connect(
        mpi: abi::MpiLibrary<H>,
        launch: Option<Launch>,
        config: &FabricConfig,
    ) -> Result<Box<dyn Fabric>, FabricError> {
        let parent = config.communicator.map(H::from_raw);
        let runtime = with_stall_report(config, || MpiRuntime::init(mpi, parent)).map(Arc::new)?;
        if let Some(launch) = launch.filter(|_| parent.is_none()) {
            launch.check(runtime.size, &runtime.name)?;
        }
        let transport = MpiTransport::new(runtime.clone(), config.max_message_bytes);
        let ranks = [runtime.rank, runtime.size, runtime.node_size];
        let inner = TransportFabric::new(ranks, runtime.name.clone(), transport, config);
        let (report, left) = (config.report.clone(), AtomicBool::new(false));
        Ok(Box::new(Self { inner, runtime, report, left }))
    }
}

/// Runs `begin`, which blocks inside MPI; another thread reports a stall.
fn with_stall_report<T>(config: &FabricConfig, begin: impl FnOnce() -> T) -> T {
    let (done, waiting) = mpsc::channel::<()>();
    let (stall, report) = (config.stall_timeout, config.report.clone());
    std::thread::spawn(move || {
        if waiting.recv_timeout(stall) == Err(RecvTimeoutError::Timeout) {
            let rank = launch::launcher_rank(&environment_variable);
            let rank = rank.map_or("a rank".to_string(), |rank| format!("rank {rank}"));
            report(&format!(
                "dappled: {rank} has waited {:.0} s for all ranks to begin: one of them may have ended \
                 before it used dappled, or have DAPPLED_FABRIC=solo set",
                stall.as_secs_f64()
            ));
        }
    });
    let result = begin();
    drop(done);
    result
}

impl<H: MpiHandle> Fabric for MpiFabric<H> {
    fn rank(&self) -> u64 {
        self.inner.rank
    }

    fn size(&self) -> u64 {
        self.inner.size
    }

    fn name(&self) -> &str {
        &self.inner.name
    }

    fn node_rank(&self) -> u64 {
        self.runtime.node_rank
    }

    fn node_size(&self) -> u64 {
        self.runtime.node_size
    }

    fn check_thread(&self) -> Result<(), FabricError> {
        self.runtime.check_thread()
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

    /// Returns once every rank has sent its goodbye. A rank that still expects a message of this
    /// rank gets the goodbye instead and fails. If the exit status is not 0, ranks that do not
    /// leave within [`EXIT_GRACE`] are aborted.
    fn leave(&self, status: i32) -> Result<(), FabricError> {
        if self.left.load(Ordering::Acquire) {
            return Ok(());
        }
        if !self.inner.leave(status, (status != 0).then_some(EXIT_GRACE))? {
            let rank = self.inner.rank;
            let text = format!(
                "dappled: rank {rank} left with exit status {status}: terminating all ranks"
            );
            (self.report)(&text);
            self.runtime.abort(status)
        }
        self.left.store(true, Ordering::Release);
        Ok(())
    }

    fn finalize(&self) -> Result<(), FabricError> {
        match self.left.load(Ordering::Acquire) {
            true => self.runtime.finalize(),
            false => Ok(()),
        }
    }

    fn abort(&self, status: i32) -> ! {
        self.runtime.abort(status)
    }
}

impl<H: MpiHandle> Drop for MpiFabric<H> {
    /// `MPI_Finalize` waits for all ranks. After a panic or an error the other ranks may be waiting
    /// elsewhere for this one, so the job is aborted instead.
    fn drop(&mut self) {
        let in_order = !std::thread::panicking() && !self.inner.has_failed();
        let left = self.left.load(Ordering::Acquire) || in_order && self.leave_or_report();
        if !left || self.runtime.finalize().is_err() {
            self.runtime.abort(1)
        }
    }
}

impl<H: MpiHandle> MpiFabric<H> {
    fn leave_or_report(&self) -> bool {
        let report = |error: &FabricError| (self.report)(&format!("dappled: {error}"));
        self.leave(0).inspect_err(report).is_ok()
    }
}
