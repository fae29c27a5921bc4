//! What may be set about a fabric.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::error::FabricError;

/// Where a fabric says what no result can: a wait that stalls, an end that fails.
pub type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// What may be set about a fabric; the same on every rank.
#[derive(Clone)]
pub struct Settings {
    /// A wait longer than this says what it waits for, once (`DAPPLED_STALL`, in seconds).
    pub stall: Duration,
    /// Where it says so: stderr, unless a test listens.
    pub report: Report,
    /// Python's `sys.prefix`, whose `lib` may hold the MPI library of a wheel.
    pub prefix: Option<PathBuf>,
    /// The communicator whose ranks these are, as the number of its handle; None for the world's.
    pub communicator: Option<u64>,
    /// The bytes of the longest MPI message; what is longer goes in pieces. At most 1 GiB, for
    /// MPI counts with ints; a test sets less.
    pub piece: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stall: Duration::from_secs(30),
            report: Arc::new(write_line),
            prefix: None,
            communicator: None,
            piece: 1 << 30,
        }
    }
}

impl Settings {
    /// The defaults, changed by the environment variables of this process.
    pub fn from_environment() -> Result<Self, FabricError> {
        Self::from_variables(&process_variable)
    }

    fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, FabricError> {
        let mut settings = Self::default();
        if let Some(value) = variable("DAPPLED_STALL") {
            settings.stall = seconds(&value).ok_or(FabricError::Setting {
                name: "DAPPLED_STALL",
                value,
                expected: "a number of seconds",
            })?;
        }
        Ok(settings)
    }
}

fn seconds(value: &str) -> Option<Duration> {
    let seconds = value.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// In one write: several ranks may share a stderr. Where it is closed nobody listens.
fn write_line(text: &str) {
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// An environment variable of this process, unless it is empty.
pub(crate) fn process_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stall_is_read_or_refused() {
        let stall = |value: &str| {
            Settings::from_variables(&|_| Some(value.into())).map(|settings| settings.stall)
        };
        assert_eq!(stall("2.5"), Ok(Duration::from_millis(2500)));
        let refused = stall("-1").unwrap_err().to_string();
        assert_eq!(refused, "DAPPLED_STALL=-1: expected a number of seconds");
        let default = Settings::from_variables(&|_| None).unwrap();
        assert_eq!(default.stall, Duration::from_secs(30));
    }
}
