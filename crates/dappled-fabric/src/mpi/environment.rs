//! The process environment that decides which MPI library is loaded.
//!
//! Reads /proc and environment variables. Without /proc the search path of the dynamic loader
//! decides.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::environment_variable;

/// Library names, most likely first. The standard ABI comes last: `libmpi.so.12` and
/// `libmpi_abi.so.1` of one MPICH are two runtimes that abort the job when both are loaded, and
/// mpi4py loads the former.
pub(super) const LIBRARY_NAMES: [&str; 4] =
    ["libmpi.so.12", "libmpi.so.40", "libmpich.so.12", "libmpi_abi.so.1"];

/// Everything that the choice of a library depends on; tests construct their own.
pub(super) struct ProcessEnvironment<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// MPI libraries already loaded into this process, by mpi4py or the program.
    pub loaded_libraries: Vec<PathBuf>,
    /// The programs of the ancestors of this process, the parent first.
    pub ancestors: Vec<PathBuf>,
    /// Python's `sys.prefix`.
    pub python_prefix: Option<PathBuf>,
}

impl ProcessEnvironment<'_> {
    pub fn current(prefix: Option<PathBuf>) -> Self {
        Self {
            variable: &environment_variable,
            exists: &Path::exists,
            loaded_libraries: loaded_mpi_libraries(),
            ancestors: ancestors(),
            python_prefix: prefix,
        }
    }
}

/// Returns the MPI libraries that are mapped into this process.
pub(super) fn loaded_mpi_libraries() -> Vec<PathBuf> {
    mpi_libraries_in_maps(&fs::read_to_string("/proc/self/maps").unwrap_or_default())
}

fn mpi_libraries_in_maps(maps: &str) -> Vec<PathBuf> {
    let files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut libraries: Vec<PathBuf> = Vec::new();
    for file in files.map(PathBuf::from).filter(|file| is_mpi_library(file)) {
        if !libraries.contains(&file) {
            libraries.push(file);
        }
    }
    libraries
}

/// Returns whether a file is an MPI library, judged by its name.
fn is_mpi_library(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    LIBRARY_NAMES.iter().any(|known| name.starts_with(known))
}

fn ancestors() -> Vec<PathBuf> {
    let chain = std::iter::successors(parent_process("self"), |process| parent_process(process));
    chain.filter_map(|process| fs::read_link(format!("/proc/{process}/exe")).ok()).collect()
}

/// Returns the process id of the parent of a process.
fn parent_process(process: &str) -> Option<String> {
    parent_in_stat(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Parses the fourth field; the second is the program name in parentheses, which may contain any
/// character.
fn parent_in_stat(stat: &str) -> Option<String> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    let parent = after_name.split_whitespace().nth(1)?;
    (parent != "0").then(|| parent.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_parsed_after_any_name() {
        assert_eq!(parent_in_stat("12 (a) b) 1) S 7 12 12").as_deref(), Some("7"));
        assert_eq!(parent_in_stat("1 (init) S 0 1 1"), None);
    }

    #[test]
    fn mapped_libraries_are_listed_once() {
        let maps = "7f00-7f01 r-xp 0 08:01 42   /opt/lib/libmpi.so.12.3\n\
                    7f01-7f02 rw-p 0 08:01 42   /opt/lib/libmpi.so.12.3\n\
                    7f02-7f03 r-xp 0 08:01 43   /opt/lib/libmpifort.so.12\n\
                    7ffe-7fff rw-p 0 00:00 0    [stack]\n";
        assert_eq!(mpi_libraries_in_maps(maps), [Path::new("/opt/lib/libmpi.so.12.3")]);
    }
}
