//! The connection of a Rust program to its ranks.

use dappled_fabric::{Fabric, FabricConfig, connect_with};
use dappled_kernels::set_thread_count;
use dappled_protocol::Distribution;

use crate::config::Config;
use crate::config::Limits;
use crate::error::{Error, Result};
use crate::run::collective;
use crate::session::Session;

/// The connection of this process to the ranks of its job.
///
/// Every array belongs to a context. Dropping the context leaves the job: it waits for the other
/// ranks. If the program panics, dropping it aborts all ranks, since they may be waiting for this
/// one. A program has one context.
///
/// ```
/// use dappled::prelude::*;
///
/// let cx = Context::init()?;
/// assert!(cx.rank() < cx.size());
/// # Ok::<(), dappled::Error>(())
/// ```
pub struct Context {
    session: Session,
    /// Whether a panic ends the job. Ranks that are threads of one process do not: the fabric
    /// reports the panic to the other ranks.
    aborts: bool,
}

impl Context {
    /// Connects to the ranks of the job with the settings of the environment. Collective.
    ///
    /// Under `mpiexec` or Slurm the ranks are those of MPI; otherwise there is one. The variables
    /// are listed in `docs/running.md`.
    pub fn init() -> Result<Self> {
        let setting = |error: &dyn std::fmt::Display| Error::Setting(error.to_string());
        let config = Config::from_environment().map_err(|error| setting(&error))?;
        let fabric = FabricConfig::from_environment().map_err(|error| setting(&error))?;
        if let Some(threads) = config.threads {
            set_thread_count(threads.get());
        }
        let fabric = connect_with(&fabric)?;
        let aborts = fabric.size() > 1;
        Ok(Self { session: Session::with_config(fabric, &config)?, aborts })
    }

    /// Creates the context of a fabric that the program has connected, such as a thread of
    /// [`Threads`](dappled_fabric::Threads).
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let sums = Threads::run(3, |fabric| {
    ///     let cx = Context::with_fabric(Box::new(fabric), Limits::default());
    ///     Array::<f64>::ones(&cx, [100, 100]).sum().unwrap()
    /// });
    /// assert_eq!(sums, [10_000.0; 3]);
    /// ```
    pub fn with_fabric(fabric: Box<dyn Fabric>, limits: Limits) -> Self {
        Self { session: Session::with_limits(fabric, limits), aborts: false }
    }

    /// The number of this rank.
    pub fn rank(&self) -> usize {
        self.session.fabric().rank() as usize
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.session.fabric().size() as usize
    }

    /// Waits until all ranks have called it. Collective.
    pub fn barrier(&self) -> Result<()> {
        collective::barrier(&self.session)
    }

    /// Builds a distribution over all ranks, with one letter for each axis.
    ///
    /// `b` is block, `c` is cyclic, `n` is not distributed. Axes without a letter are block. Other
    /// distributions are built with [`Distribution::spec`].
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let columns = cx.distribution([100, 100], "nb")?;
    /// let a = Array::<f64>::zeros(&cx, [100, 100]).redistribute(&columns)?;
    /// assert_eq!(a.local()?.shape()[0], 100);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn distribution(&self, shape: impl AsRef<[usize]>, kinds: &str) -> Result<Distribution> {
        let shape: Vec<u64> = shape.as_ref().iter().map(|&length| length as u64).collect();
        let spec = Distribution::spec(&shape).dist(kinds).nprocs(self.session.fabric().size());
        Ok(spec.build()?)
    }

    /// The session, which the dynamic arrays use.
    #[doc(hidden)]
    pub fn session(&self) -> &Session {
        &self.session
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let fabric = self.session.fabric();
        match std::thread::panicking() {
            true if self.aborts => fabric.abort(1),
            true => {}
            false => {
                if let Err(error) = fabric.leave(0) {
                    eprintln!("dappled: rank {}: {error}", fabric.rank());
                }
            }
        }
    }
}
