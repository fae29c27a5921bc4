//! Was this process launched by MPI? Answered from environment variables alone.

use std::path::Path;

use crate::error::FabricError;

/// What says that this process was launched by MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What was seen.
    pub evidence: String,
    /// The number of ranks, where the launcher says it.
    pub size: Option<u64>,
}

/// What a launcher sets: all of `present`, and perhaps the number of ranks.
struct Sign {
    present: &'static [&'static str],
    size: Option<&'static str>,
    /// Slurm sets its variables for every step, also for one that has nothing to do with MPI.
    only_if_many: bool,
}

const SIGNS: [Sign; 6] = [
    Sign { present: &["PMI_RANK"], size: Some("PMI_SIZE"), only_if_many: false },
    Sign {
        present: &["OMPI_COMM_WORLD_SIZE"],
        size: Some("OMPI_COMM_WORLD_SIZE"),
        only_if_many: false,
    },
    Sign {
        present: &["MV2_COMM_WORLD_SIZE"],
        size: Some("MV2_COMM_WORLD_SIZE"),
        only_if_many: false,
    },
    Sign { present: &["PMIX_RANK", "PMIX_NAMESPACE"], size: None, only_if_many: false },
    Sign { present: &["PALS_RANKID"], size: None, only_if_many: false },
    Sign {
        present: &["SLURM_STEP_NUM_TASKS"],
        size: Some("SLURM_STEP_NUM_TASKS"),
        only_if_many: true,
    },
];

/// What the environment says; `DAPPLED_FABRIC=solo` or `mpi` overrides it.
pub(super) fn launch(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Launch>, FabricError> {
    let own = variable("PMI_FD").is_none_or(|number| is_open(&number));
    let seen = SIGNS.iter().filter(|_| own).find_map(|sign| sign.seen(variable));
    match variable("DAPPLED_FABRIC") {
        None => Ok(seen),
        Some(word) if word == "solo" => Ok(None),
        Some(word) if word == "mpi" => {
            let asked = Launch { evidence: "DAPPLED_FABRIC=mpi".into(), size: None };
            Ok(Some(seen.unwrap_or(asked)))
        }
        Some(value) => {
            Err(FabricError::Setting { name: "DAPPLED_FABRIC", value, expected: "'solo' or 'mpi'" })
        }
    }
}

/// Which rank the launcher says this process is.
pub(super) fn rank(variable: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    const RANKS: [&str; 5] =
        ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID"];
    RANKS.iter().find_map(|name| variable(name)?.parse().ok())
}

/// Is this file open here? A rank may start other programs, which inherit its variables and not its
/// line to the launcher: they are no ranks. Where there is no /proc nothing is known about it.
fn is_open(number: &str) -> bool {
    let files = Path::new("/proc/self/fd");
    !files.exists() || files.join(number).exists()
}

impl Sign {
    fn seen(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<Launch> {
        let present: Option<Vec<String>> = self.present.iter().map(|name| variable(name)).collect();
        let first = present?.swap_remove(0);
        let size: Option<u64> = self.size.and_then(variable).and_then(|size| size.parse().ok());
        if self.only_if_many && size.is_none_or(|size| size < 2) {
            return None;
        }
        let evidence = match (self.size, size) {
            (Some(name), Some(size)) => format!("{name}={size}"),
            _ => format!("{}={first}", self.present[0]),
        };
        Some(Launch { evidence, size })
    }
}

impl Launch {
    /// Does the library see as many ranks as the launcher started?
    pub(super) fn check(&self, size: u64, library: &str) -> Result<(), FabricError> {
        match self.size.is_none_or(|launched| launched == size) {
            true => Ok(()),
            false => Err(FabricError::WrongLauncher {
                environment: self.evidence.clone(),
                library: format!("{library} sees {size} rank(s)"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(variables: &[(&str, &str)]) -> Option<Launch> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        launch(&variable).unwrap()
    }

    fn said(evidence: &str, size: Option<u64>) -> Option<Launch> {
        Some(Launch { evidence: evidence.into(), size })
    }

    #[test]
    fn every_launcher_is_known() {
        assert_eq!(seen(&[]), None);
        assert_eq!(seen(&[("PMI_RANK", "1"), ("PMI_SIZE", "4")]), said("PMI_SIZE=4", Some(4)));
        assert_eq!(seen(&[("PMI_RANK", "1")]), said("PMI_RANK=1", None));
        assert_eq!(
            seen(&[("OMPI_COMM_WORLD_SIZE", "2"), ("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "a")]),
            said("OMPI_COMM_WORLD_SIZE=2", Some(2))
        );
        assert_eq!(seen(&[("PMIX_RANK", "0")]), None);
        let inherited = [("PMI_RANK", "1"), ("PMI_SIZE", "4"), ("PMI_FD", "987654")];
        assert_eq!(seen(&inherited), None);
        assert_eq!(seen(&[("SLURM_STEP_NUM_TASKS", "1")]), None);
        assert_eq!(seen(&[("SLURM_STEP_NUM_TASKS", "2")]), said("SLURM_STEP_NUM_TASKS=2", Some(2)));
    }

    #[test]
    fn the_override_wins() {
        assert_eq!(seen(&[("PMI_RANK", "1"), ("DAPPLED_FABRIC", "solo")]), None);
        assert_eq!(seen(&[("DAPPLED_FABRIC", "mpi")]), said("DAPPLED_FABRIC=mpi", None));
        assert!(launch(&|_| Some("pigeons".into())).is_err());
    }

    #[test]
    fn a_wrong_launcher_is_named() {
        let launch = said("PMI_SIZE=4", Some(4)).unwrap();
        assert_eq!(launch.check(4, "Open MPI"), Ok(()));
        let error = launch.check(1, "Open MPI").unwrap_err().to_string();
        assert!(error.contains("PMI_SIZE=4") && error.contains("Open MPI sees 1 rank(s)"));
    }
}
