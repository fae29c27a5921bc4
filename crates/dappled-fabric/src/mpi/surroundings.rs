//! What /proc and the environment say about where MPI may be. Where there is no /proc, less is
//! known and the loader's path decides.

use std::fs;
use std::path::{Path, PathBuf};

use super::find;
use crate::settings::process_variable;

/// All that the choice of a library depends on; made up, in tests.
pub(super) struct Surroundings<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// MPI libraries already in this process, brought by mpi4py or the program.
    pub mapped: Vec<PathBuf>,
    /// The programs that this process descends from, the nearest first.
    pub ancestors: Vec<PathBuf>,
    /// Python's `sys.prefix`.
    pub prefix: Option<PathBuf>,
}

impl Surroundings<'_> {
    pub fn of_this_process(prefix: Option<PathBuf>) -> Self {
        Self {
            variable: &process_variable,
            exists: &Path::exists,
            mapped: mapped_libraries(),
            ancestors: ancestors(),
            prefix,
        }
    }
}

/// The MPI libraries that are mapped into this process.
pub(super) fn mapped_libraries() -> Vec<PathBuf> {
    mapped_in(&fs::read_to_string("/proc/self/maps").unwrap_or_default())
}

fn mapped_in(maps: &str) -> Vec<PathBuf> {
    let files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut libraries: Vec<PathBuf> = Vec::new();
    for file in files.map(PathBuf::from).filter(|file| find::is_library(file)) {
        if !libraries.contains(&file) {
            libraries.push(file);
        }
    }
    libraries
}

fn ancestors() -> Vec<PathBuf> {
    let chain = std::iter::successors(parent("self"), |process| parent(process));
    chain.filter_map(|process| fs::read_link(format!("/proc/{process}/exe")).ok()).collect()
}

/// The process that started this one.
fn parent(process: &str) -> Option<String> {
    parent_in(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The fourth word; the second is the program's name in brackets and may hold anything.
fn parent_in(stat: &str) -> Option<String> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    let parent = after_name.split_whitespace().nth(1)?;
    (parent != "0").then(|| parent.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in("12 (a) b) 1) S 7 12 12").as_deref(), Some("7"));
        assert_eq!(parent_in("1 (init) S 0 1 1"), None);
    }

    #[test]
    fn mapped_libraries_are_listed_once() {
        let maps = "7f00-7f01 r-xp 0 08:01 42   /opt/lib/libmpi.so.12.3\n\
                    7f01-7f02 rw-p 0 08:01 42   /opt/lib/libmpi.so.12.3\n\
                    7f02-7f03 r-xp 0 08:01 43   /opt/lib/libmpifort.so.12\n\
                    7ffe-7fff rw-p 0 00:00 0    [stack]\n";
        assert_eq!(mapped_in(maps), [Path::new("/opt/lib/libmpi.so.12.3")]);
    }
}
