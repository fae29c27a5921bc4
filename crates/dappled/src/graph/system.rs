//! How much memory the machine has.

/// In bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SystemMemory {
    pub total: usize,
    /// What could be had without swapping.
    pub available: usize,
}

/// What the system says; None where it says nothing.
pub(super) fn memory() -> Option<SystemMemory> {
    let said = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<usize>().ok()
    };
    let [total, available] = [kibibytes("MemTotal:")?, kibibytes("MemAvailable:")?];
    Some(SystemMemory { total: total << 10, available: available << 10 })
}
