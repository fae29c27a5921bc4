//! Candidate files for the MPI library, in the order in which they are tried.
//!
//! Explicitly requested and already loaded libraries come first, then those of the launcher, then
//! those on search paths.

use std::path::{Path, PathBuf};

use super::environment::{LIBRARY_NAMES, ProcessEnvironment};
use crate::config::requested_mpi_library;

/// Prefixes of the names of launcher programs.
const LAUNCHER_PREFIXES: [&str; 8] =
    ["mpiexec", "mpirun", "hydra_", "pmi_proxy", "orte", "orted", "prte", "palsd"];

/// A file that may be the MPI library.
#[derive(Clone, Debug)]
pub(super) struct LibraryCandidate {
    pub file: PathBuf,
    pub reason: &'static str,
}

/// Returns the files to try. `DAPPLED_MPI_LIBRARY` makes its value the only candidate.
pub(super) fn library_candidates(environment: &ProcessEnvironment) -> Vec<LibraryCandidate> {
    if let Some(file) = requested_mpi_library(environment.variable) {
        return vec![LibraryCandidate { file, reason: "DAPPLED_MPI_LIBRARY names it" }];
    }
    let names = library_names(environment);
    let loaded = environment.loaded_libraries.iter().cloned();
    let loaded = loaded.map(|file| LibraryCandidate { file, reason: "it is already loaded" });
    let folders = search_folders(environment);
    let files = folders.iter().flat_map(|(folder, reason)| {
        names.iter().map(move |name| LibraryCandidate { file: folder.join(name), reason })
    });
    let files = files.filter(|candidate| (environment.exists)(&candidate.file));
    let by_name = names.iter().map(PathBuf::from);
    let by_name =
        by_name.map(|file| LibraryCandidate { file, reason: "it is on the loader's path" });
    let mut candidates: Vec<LibraryCandidate> = Vec::new();
    for candidate in loaded.chain(files).chain(by_name) {
        if candidates.iter().all(|known| known.file != candidate.file) {
            candidates.push(candidate);
        }
    }
    candidates
}

/// Returns the names to search; Open MPI's first if its launcher, not Hydra, started us.
fn library_names(environment: &ProcessEnvironment) -> Vec<&'static str> {
    let set = |name: &str| (environment.variable)(name).is_some();
    let open_mpi = set("OMPI_COMM_WORLD_SIZE") || set("PMIX_RANK");
    let mut names = LIBRARY_NAMES.to_vec();
    if open_mpi && !set("PMI_RANK") {
        names.swap(0, 1);
    }
    names
}

/// Returns the folders to search, each with a reason.
fn search_folders(environment: &ProcessEnvironment) -> Vec<(PathBuf, &'static str)> {
    let launcher = environment.ancestors.iter().filter(|program| is_launcher(program));
    let path = (environment.variable)("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("mpiexec"));
    let on_path = on_path.filter(|program| (environment.exists)(program)).take(1);
    let of_launcher = launcher.filter_map(|program| sibling_lib_folder(program));
    let of_launcher = of_launcher.map(|folder| (folder, "it is in the launcher's installation"));
    let prefix = environment.python_prefix.iter().map(|prefix| prefix.join("lib"));
    let prefix = prefix.map(|folder| (folder, "it is in Python's prefix"));
    let of_path = on_path.filter_map(|program| sibling_lib_folder(&program));
    let of_path =
        of_path.map(|folder| (folder, "it is in the installation of the mpiexec on PATH"));
    of_launcher.chain(prefix).chain(of_path).collect()
}

fn is_launcher(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    LAUNCHER_PREFIXES.iter().any(|launcher| name.starts_with(launcher))
}

/// Returns the `lib` folder of the installation that a program belongs to.
fn sibling_lib_folder(program: &Path) -> Option<PathBuf> {
    Some(program.parent()?.parent()?.join("lib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate_files(
        variables: &[(&str, &str)],
        files: &[&str],
        change: fn(&mut ProcessEnvironment),
    ) -> String {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        };
        let exists = |file: &Path| files.iter().any(|known| file == Path::new(known));
        let mut environment = ProcessEnvironment {
            variable: &variable,
            exists: &exists,
            loaded_libraries: vec![],
            ancestors: vec![],
            python_prefix: None,
        };
        change(&mut environment);
        let candidates = library_candidates(&environment);
        let shown: Vec<_> =
            candidates.iter().map(|candidate| candidate.file.display().to_string()).collect();
        shown.join(" ")
    }

    const LOADER: &str = "libmpi.so.12 libmpi.so.40 libmpich.so.12 libmpi_abi.so.1";

    #[test]
    fn a_requested_library_is_the_only_candidate() {
        let requested = [("DAPPLED_MPI_LIBRARY", "/opt/libmpi.so.12")];
        let change =
            |environment: &mut ProcessEnvironment| environment.loaded_libraries = vec!["/a".into()];
        assert_eq!(candidate_files(&requested, &[], change), "/opt/libmpi.so.12");
    }

    #[test]
    fn without_hints_the_loader_searches() {
        assert_eq!(candidate_files(&[], &[], |_| ()), LOADER);
        let open_mpi = candidate_files(&[("PMIX_RANK", "0")], &[], |_| ());
        assert!(open_mpi.starts_with("libmpi.so.40 libmpi.so.12"));
        let hydra = candidate_files(&[("PMIX_RANK", "0"), ("PMI_RANK", "0")], &[], |_| ());
        assert_eq!(hydra, LOADER);
    }

    #[test]
    fn candidates_are_ordered_by_certainty() {
        let files = [
            "/hydra/lib/libmpi.so.12",
            "/usr/lib/libmpi.so.12",
            "/venv/lib/libmpi_abi.so.1",
            "/path/bin/mpiexec",
            "/path/lib/libmpi.so.40",
        ];
        let files = candidate_files(&[("PATH", "/none:/path/bin")], &files, |environment| {
            environment.loaded_libraries = vec!["/mapped/libmpi.so.12".into()];
            // The folder of a shell, /usr/bin, says nothing about MPI.
            environment.ancestors =
                vec!["/usr/bin/bash".into(), "/hydra/bin/hydra_pmi_proxy".into()];
            environment.python_prefix = Some("/venv".into());
        });
        let right = "/mapped/libmpi.so.12 /hydra/lib/libmpi.so.12 /venv/lib/libmpi_abi.so.1 \
                     /path/lib/libmpi.so.40 ";
        assert_eq!(files, format!("{right}{LOADER}"));
    }
}
