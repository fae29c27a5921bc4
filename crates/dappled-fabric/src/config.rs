//! Configuration: environment variables, run-time settings and fixed thresholds.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `DAPPLED_STALL` | seconds of waiting after which a rank reports what it waits for | 30 |
//! | `DAPPLED_FABRIC` | `solo`: never MPI; `mpi`: MPI even if no launcher is detected | detected |
//! | `DAPPLED_MPI_LIBRARY` | path of the MPI library to load | searched |
//!
//! No other file of this crate reads these variables. The variables of MPI launchers are in
//! [`crate::mpi`].

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::error::FabricError;

/// Default of `DAPPLED_STALL`.
const DEFAULT_STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Polls that a wait spins before it yields, if each rank has a core.
pub(crate) const SPIN_POLLS: u32 = 200;

/// Polls before a wait yields, if there are more ranks than cores.
pub(crate) const OVERSUBSCRIBED_SPIN_POLLS: u32 = 20;

/// Time that a wait yields before it sleeps.
pub(crate) const YIELD_DURATION: Duration = Duration::from_millis(2);

/// Shortest sleep of a wait.
pub(crate) const MIN_SLEEP: Duration = Duration::from_micros(50);

/// Longest sleep of a wait.
pub(crate) const MAX_SLEEP: Duration = Duration::from_millis(1);

/// Time after which a waiting rank queries the ranks that it waits for.
pub(crate) const QUERY_DELAY: Duration = Duration::from_secs(1);

/// Time that a failing rank waits for the reports of the others, which may be busy.
pub(crate) const REPORT_TIMEOUT: Duration = Duration::from_secs(1);

/// Operations kept in the log for error messages.
pub(crate) const LOGGED_OPERATIONS: usize = 32;

/// Longest error text in a control message, in bytes.
pub(crate) const MAX_REASON_BYTES: usize = 2000;

/// Smallest buffer that the message pool keeps, in bytes.
pub(crate) const MIN_POOLED_BYTES: usize = 8 << 10;

/// Number of buffers that the message pool keeps; the oldest are freed first.
pub(crate) const MAX_POOLED_BUFFERS: usize = 16;

/// Total size of the message pool, in bytes.
pub(crate) const MAX_POOL_BYTES: usize = 256 << 20;

/// Longest payload sent inside its envelope, in bytes. It is copied twice, but takes one MPI
/// message instead of two; `examples/latency.rs` measures the difference.
pub(crate) const EAGER_BYTES: usize = 4 << 10;

/// Longest MPI message, in bytes: MPI counts with ints.
pub(crate) const MAX_MESSAGE_BYTES: usize = 1 << 30;

/// Ranks probed for control messages per poll.
pub(crate) const PROBED_RANKS: u64 = 16;

/// Time that a rank with a non-zero exit status waits for the others to leave.
pub(crate) const EXIT_GRACE: Duration = Duration::from_secs(2);

/// Delay before MPI_Abort. Hydra drops output of an aborting rank that it has not read yet.
pub(crate) const ABORT_DELAY: Duration = Duration::from_millis(100);

/// Longest text that an MPI function returns, in bytes: MPI_MAX_LIBRARY_VERSION_STRING is 8192
/// in the largest ABI, MPI_MAX_ERROR_STRING 512.
pub(crate) const MAX_TEXT_BYTES: usize = 8192;

/// Reports an event that no return value can carry: a stalled wait, a failed finalisation.
pub type ReportFn = Arc<dyn Fn(&str) + Send + Sync>;

/// Run-time settings of a fabric; equal on every rank.
#[derive(Clone)]
pub struct FabricConfig {
    /// A wait longer than this reports once what it waits for (`DAPPLED_STALL`, in seconds).
    pub stall_timeout: Duration,
    /// Receives the reports; writes to stderr by default.
    pub report: ReportFn,
    /// Python's `sys.prefix`, whose `lib` may contain the MPI library of a wheel.
    pub python_prefix: Option<PathBuf>,
    /// The handle of the communicator to duplicate, as a number; None for the world
    /// communicator.
    pub communicator: Option<u64>,
    /// The longest MPI message in bytes; longer payloads are split. At most 1 GiB, because MPI
    /// counts with ints; tests set less.
    pub max_message_bytes: usize,
}

impl Default for FabricConfig {
    fn default() -> Self {
        Self {
            stall_timeout: DEFAULT_STALL_TIMEOUT,
            report: Arc::new(write_stderr_line),
            python_prefix: None,
            communicator: None,
            max_message_bytes: MAX_MESSAGE_BYTES,
        }
    }
}

impl FabricConfig {
    /// Returns the defaults, overridden by the environment variables of this process.
    pub fn from_environment() -> Result<Self, FabricError> {
        Self::from_variables(&environment_variable)
    }

    fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, FabricError> {
        let mut settings = Self::default();
        if let Some(value) = variable("DAPPLED_STALL") {
            settings.stall_timeout = parse_seconds(&value).ok_or(FabricError::InvalidSetting {
                name: "DAPPLED_STALL",
                value,
                expected: "a number of seconds",
            })?;
        }
        Ok(settings)
    }
}

/// The fabric that `DAPPLED_FABRIC` requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedFabric {
    /// One rank, whatever the launcher says.
    Solo,
    /// MPI, even if no launcher is detected.
    Mpi,
}

/// Reads `DAPPLED_FABRIC`; None if it is not set.
pub(crate) fn requested_fabric(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<RequestedFabric>, FabricError> {
    let Some(value) = variable("DAPPLED_FABRIC") else { return Ok(None) };
    match &*value {
        "solo" => Ok(Some(RequestedFabric::Solo)),
        "mpi" => Ok(Some(RequestedFabric::Mpi)),
        _ => Err(FabricError::InvalidSetting {
            name: "DAPPLED_FABRIC",
            value,
            expected: "'solo' or 'mpi'",
        }),
    }
}

/// Reads `DAPPLED_MPI_LIBRARY`, the path of the MPI library to load.
pub(crate) fn requested_mpi_library(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    variable("DAPPLED_MPI_LIBRARY").map(PathBuf::from)
}

/// Returns an environment variable of this process, unless it is empty.
pub(crate) fn environment_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn parse_seconds(value: &str) -> Option<Duration> {
    let seconds = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Writes a line in one call, because several ranks may share a stderr. Ignores a closed stderr.
fn write_stderr_line(text: &str) {
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stall_timeout_is_parsed_or_rejected() {
        let stall_timeout = |value: &str| {
            FabricConfig::from_variables(&|_| Some(value.into()))
                .map(|settings| settings.stall_timeout)
        };
        assert_eq!(stall_timeout("2.5"), Ok(Duration::from_millis(2500)));
        let error = stall_timeout("-1").unwrap_err().to_string();
        assert_eq!(error, "DAPPLED_STALL=-1: expected a number of seconds");
        let default = FabricConfig::from_variables(&|_| None).unwrap();
        assert_eq!(default.stall_timeout, Duration::from_secs(30));
    }
}
