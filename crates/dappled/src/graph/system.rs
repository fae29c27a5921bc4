//! How much memory the machine has.

use std::fs;

/// In bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SystemMemory {
    pub total: usize,
    /// Space on disks for what is not in memory.
    pub swap: usize,
    /// What could be had without swapping.
    pub available: usize,
}

/// Bytes that a process on this machine could have at most; None where the system says nothing.
///
/// The memory and the swap space of the machine, or of the container, as Linux itself refuses more in
/// one piece; or the limit on the address space (`ulimit -v`).
pub(super) fn capacity() -> Option<usize> {
    let number = |file: &str| fs::read_to_string(file).ok()?.trim().parse::<usize>().ok();
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let container = container.into_iter().filter_map(number).min();
    let machine = memory()?;
    let physical = container.map_or(machine.total, |most| most.min(machine.total)) + machine.swap;
    Some(address_space().map_or(physical, |most| most.min(physical)))
}

/// The limit on the address space of this process, in bytes.
fn address_space() -> Option<usize> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What the system says; None where it says nothing.
pub(super) fn memory() -> Option<SystemMemory> {
    let said = fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<usize>().ok()
    };
    let [total, available] = [kibibytes("MemTotal:")?, kibibytes("MemAvailable:")?];
    let swap = kibibytes("SwapTotal:").unwrap_or(0);
    Some(SystemMemory { total: total << 10, swap: swap << 10, available: available << 10 })
}
