//! Which files may be the MPI library, in the order in which they are tried.
//!
//! First what cannot be wrong (asked for; already in the process), then what belongs to the
//! launcher, then what lies about.

use std::path::{Path, PathBuf};

use super::surroundings::Surroundings;

/// The standard ABI comes last: `libmpi.so.12` and `libmpi_abi.so.1` of one MPICH are two
/// runtimes that kill the job when both are loaded, and mpi4py loads the former.
const NAMES: [&str; 4] = ["libmpi.so.12", "libmpi.so.40", "libmpich.so.12", "libmpi_abi.so.1"];

/// Programs that start ranks, by the beginnings of their names.
const LAUNCHERS: [&str; 8] =
    ["mpiexec", "mpirun", "hydra_", "pmi_proxy", "orte", "orted", "prte", "palsd"];

/// A file that may be the MPI library.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub file: PathBuf,
    pub why: &'static str,
}

/// The files to try. `DAPPLED_MPI_LIBRARY` leaves no choice.
pub(super) fn candidates(surroundings: &Surroundings) -> Vec<Candidate> {
    if let Some(asked) = (surroundings.variable)("DAPPLED_MPI_LIBRARY") {
        return vec![Candidate { file: asked.into(), why: "DAPPLED_MPI_LIBRARY names it" }];
    }
    let names = names(surroundings);
    let mapped = surroundings.mapped.iter().cloned();
    let mapped = mapped.map(|file| Candidate { file, why: "it is in this process already" });
    let folders = folders(surroundings);
    let files = folders.iter().flat_map(|(folder, why)| {
        names.iter().map(move |name| Candidate { file: folder.join(name), why })
    });
    let files = files.filter(|found| (surroundings.exists)(&found.file));
    let loaders = names.iter().map(PathBuf::from);
    let loaders = loaders.map(|file| Candidate { file, why: "it is on the loader's path" });
    let mut candidates: Vec<Candidate> = Vec::new();
    for found in mapped.chain(files).chain(loaders) {
        if candidates.iter().all(|known| known.file != found.file) {
            candidates.push(found);
        }
    }
    candidates
}

/// Is this file an MPI library, by its name?
pub(super) fn is_library(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    NAMES.iter().any(|known| name.starts_with(known))
}

/// Open MPI's name first where its launcher, and not Hydra, started us.
fn names(surroundings: &Surroundings) -> Vec<&'static str> {
    let set = |name: &str| (surroundings.variable)(name).is_some();
    let open_mpi = set("OMPI_COMM_WORLD_SIZE") || set("PMIX_RANK");
    let mut names = NAMES.to_vec();
    if open_mpi && !set("PMI_RANK") {
        names.swap(0, 1);
    }
    names
}

/// Where to look, and why there.
fn folders(surroundings: &Surroundings) -> Vec<(PathBuf, &'static str)> {
    let launcher = surroundings.ancestors.iter().filter(|program| is_launcher(program));
    let path = (surroundings.variable)("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("mpiexec"));
    let on_path = on_path.filter(|program| (surroundings.exists)(program)).take(1);
    let beside = launcher.filter_map(|program| lib_beside(program));
    let beside = beside.map(|folder| (folder, "it lies beside the launcher"));
    let prefix = surroundings.prefix.iter().map(|prefix| prefix.join("lib"));
    let prefix = prefix.map(|folder| (folder, "it lies in Python's prefix"));
    let beside_path = on_path.filter_map(|program| lib_beside(&program));
    let beside_path = beside_path.map(|folder| (folder, "it lies beside the mpiexec on PATH"));
    beside.chain(prefix).chain(beside_path).collect()
}

fn is_launcher(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    LAUNCHERS.iter().any(|launcher| name.starts_with(launcher))
}

/// `../lib` beside a program.
fn lib_beside(program: &Path) -> Option<PathBuf> {
    Some(program.parent()?.parent()?.join("lib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], files: &[&str], change: fn(&mut Surroundings)) -> String {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        let exists = |file: &Path| files.iter().any(|known| file == Path::new(known));
        let mut surroundings = Surroundings {
            variable: &variable,
            exists: &exists,
            mapped: vec![],
            ancestors: vec![],
            prefix: None,
        };
        change(&mut surroundings);
        let candidates = candidates(&surroundings);
        let shown: Vec<_> =
            candidates.iter().map(|found| found.file.display().to_string()).collect();
        shown.join(" ")
    }

    const LOADER: &str = "libmpi.so.12 libmpi.so.40 libmpich.so.12 libmpi_abi.so.1";

    #[test]
    fn a_library_that_is_asked_for_is_the_only_one() {
        let asked = [("DAPPLED_MPI_LIBRARY", "/opt/libmpi.so.12")];
        let change = |surroundings: &mut Surroundings| surroundings.mapped = vec!["/a".into()];
        assert_eq!(found(&asked, &[], change), "/opt/libmpi.so.12");
    }

    #[test]
    fn nothing_known_leaves_the_loader() {
        assert_eq!(found(&[], &[], |_| ()), LOADER);
        let open_mpi = found(&[("PMIX_RANK", "0")], &[], |_| ());
        assert!(open_mpi.starts_with("libmpi.so.40 libmpi.so.12"));
        let hydra = found(&[("PMIX_RANK", "0"), ("PMI_RANK", "0")], &[], |_| ());
        assert_eq!(hydra, LOADER);
    }

    #[test]
    fn mapped_then_launcher_then_prefix_then_path() {
        let files = [
            "/hydra/lib/libmpi.so.12",
            "/usr/lib/libmpi.so.12",
            "/venv/lib/libmpi_abi.so.1",
            "/path/bin/mpiexec",
            "/path/lib/libmpi.so.40",
        ];
        let found = found(&[("PATH", "/none:/path/bin")], &files, |surroundings| {
            surroundings.mapped = vec!["/mapped/libmpi.so.12".into()];
            // A shell lies in /usr/bin too, and says nothing about MPI.
            surroundings.ancestors =
                vec!["/usr/bin/bash".into(), "/hydra/bin/hydra_pmi_proxy".into()];
            surroundings.prefix = Some("/venv".into());
        });
        let right = "/mapped/libmpi.so.12 /hydra/lib/libmpi.so.12 /venv/lib/libmpi_abi.so.1 \
                     /path/lib/libmpi.so.40 ";
        assert_eq!(found, format!("{right}{LOADER}"));
    }
}
