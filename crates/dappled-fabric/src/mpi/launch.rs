//! Detects an MPI launcher by environment variables.

use std::path::Path;

use crate::config::{RequestedFabric, requested_fabric};
use crate::error::FabricError;

/// Evidence that MPI launched this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The variable or file that shows it.
    pub evidence: String,
    /// The number of ranks, if the launcher provides it.
    pub size: Option<u64>,
}

/// Environment variables that identify a launcher; all of `variables` must be set.
struct LauncherSignature {
    variables: &'static [&'static str],
    size_variable: Option<&'static str>,
    /// Slurm sets its variables for every step, including steps without MPI.
    needs_several_ranks: bool,
}

const LAUNCHER_SIGNATURES: [LauncherSignature; 6] = [
    LauncherSignature {
        variables: &["PMI_RANK"],
        size_variable: Some("PMI_SIZE"),
        needs_several_ranks: false,
    },
    LauncherSignature {
        variables: &["OMPI_COMM_WORLD_SIZE"],
        size_variable: Some("OMPI_COMM_WORLD_SIZE"),
        needs_several_ranks: false,
    },
    LauncherSignature {
        variables: &["MV2_COMM_WORLD_SIZE"],
        size_variable: Some("MV2_COMM_WORLD_SIZE"),
        needs_several_ranks: false,
    },
    LauncherSignature {
        variables: &["PMIX_RANK", "PMIX_NAMESPACE"],
        size_variable: None,
        needs_several_ranks: false,
    },
    LauncherSignature {
        variables: &["PALS_RANKID"],
        size_variable: None,
        needs_several_ranks: false,
    },
    LauncherSignature {
        variables: &["SLURM_STEP_NUM_TASKS"],
        size_variable: Some("SLURM_STEP_NUM_TASKS"),
        needs_several_ranks: true,
    },
];

/// Evaluates the environment; `DAPPLED_FABRIC=solo` or `mpi` overrides the detection.
pub(super) fn detect_launch(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Launch>, FabricError> {
    // A PMI_FD that is not open here was inherited from a parent that is a rank.
    let is_own = variable("PMI_FD").is_none_or(|number| is_open_descriptor(&number));
    let detected =
        LAUNCHER_SIGNATURES.iter().filter(|_| is_own).find_map(|one| one.detect(variable));
    Ok(match requested_fabric(variable)? {
        None => detected,
        Some(RequestedFabric::Solo) => None,
        Some(RequestedFabric::Mpi) => {
            let requested = Launch { evidence: "DAPPLED_FABRIC=mpi".into(), size: None };
            Some(detected.unwrap_or(requested))
        }
    })
}

/// Returns the rank of this process according to the launcher.
pub(super) fn launcher_rank(variable: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    const RANKS: [&str; 5] =
        ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID"];
    RANKS.iter().find_map(|name| variable(name)?.parse().ok())
}

/// Returns whether a file descriptor is open in this process. A program started by a rank inherits
/// the variables of its parent but not the connection to the launcher, so it is not a rank. Without
/// /proc the descriptor counts as open.
fn is_open_descriptor(number: &str) -> bool {
    let files = Path::new("/proc/self/fd");
    !files.exists() || files.join(number).exists()
}

impl LauncherSignature {
    fn detect(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<Launch> {
        let present: Option<Vec<String>> =
            self.variables.iter().map(|name| variable(name)).collect();
        let first = present?.swap_remove(0);
        let size: Option<u64> =
            self.size_variable.and_then(variable).and_then(|size| size.parse().ok());
        if self.needs_several_ranks && size.is_none_or(|size| size < 2) {
            return None;
        }
        let evidence = match (self.size_variable, size) {
            (Some(name), Some(size)) => format!("{name}={size}"),
            _ => format!("{}={first}", self.variables[0]),
        };
        Some(Launch { evidence, size })
    }
}

impl Launch {
    /// Checks that the library reports as many ranks as the launcher started.
    pub(super) fn check(&self, size: u64, library: &str) -> Result<(), FabricError> {
        match self.size.is_none_or(|launched| launched == size) {
            true => Ok(()),
            false => Err(FabricError::LauncherMismatch {
                environment: self.evidence.clone(),
                library: format!("{library} sees {size} rank(s)"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_launch_in(variables: &[(&str, &str)]) -> Option<Launch> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        detect_launch(&variable).unwrap()
    }

    fn launch_of(evidence: &str, size: Option<u64>) -> Option<Launch> {
        Some(Launch { evidence: evidence.into(), size })
    }

    #[test]
    fn launchers_are_detected() {
        assert_eq!(detect_launch_in(&[]), None);
        assert_eq!(
            detect_launch_in(&[("PMI_RANK", "1"), ("PMI_SIZE", "4")]),
            launch_of("PMI_SIZE=4", Some(4))
        );
        assert_eq!(detect_launch_in(&[("PMI_RANK", "1")]), launch_of("PMI_RANK=1", None));
        assert_eq!(
            detect_launch_in(&[
                ("OMPI_COMM_WORLD_SIZE", "2"),
                ("PMIX_RANK", "0"),
                ("PMIX_NAMESPACE", "a")
            ]),
            launch_of("OMPI_COMM_WORLD_SIZE=2", Some(2))
        );
        assert_eq!(detect_launch_in(&[("PMIX_RANK", "0")]), None);
        let inherited = [("PMI_RANK", "1"), ("PMI_SIZE", "4"), ("PMI_FD", "987654")];
        assert_eq!(detect_launch_in(&inherited), None);
        assert_eq!(detect_launch_in(&[("SLURM_STEP_NUM_TASKS", "1")]), None);
        assert_eq!(
            detect_launch_in(&[("SLURM_STEP_NUM_TASKS", "2")]),
            launch_of("SLURM_STEP_NUM_TASKS=2", Some(2))
        );
    }

    #[test]
    fn the_override_wins() {
        assert_eq!(detect_launch_in(&[("PMI_RANK", "1"), ("DAPPLED_FABRIC", "solo")]), None);
        assert_eq!(
            detect_launch_in(&[("DAPPLED_FABRIC", "mpi")]),
            launch_of("DAPPLED_FABRIC=mpi", None)
        );
        assert!(detect_launch(&|_| Some("pigeons".into())).is_err());
    }

    #[test]
    fn a_launcher_mismatch_is_reported() {
        let launch = launch_of("PMI_SIZE=4", Some(4)).unwrap();
        assert_eq!(launch.check(4, "Open MPI"), Ok(()));
        let error = launch.check(1, "Open MPI").unwrap_err().to_string();
        assert!(error.contains("PMI_SIZE=4") && error.contains("Open MPI sees 1 rank(s)"));
    }
}
