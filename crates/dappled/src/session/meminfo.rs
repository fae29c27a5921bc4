//! Memory of the machine, as the operating system reports it.

use std::fs;

/// Memory sizes of the machine, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemMemory {
    pub total: usize,
    /// Swap space.
    pub swap: usize,
    /// Memory available without swapping.
    pub available: usize,
}

/// Maximum memory of a process on this machine, in bytes; None if the system does not report it.
///
/// The minimum of three limits: memory and swap space of the machine, of the container, and the
/// limit of the address space (`ulimit -v`). Linux refuses single allocations above it.
pub(crate) fn max_process_bytes() -> Option<usize> {
    let read_number = |file: &str| fs::read_to_string(file).ok()?.trim().parse::<usize>().ok();
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let container = container.into_iter().filter_map(read_number).min();
    let machine = system_memory()?;
    let physical = container.map_or(machine.total, |limit| limit.min(machine.total)) + machine.swap;
    Some(address_space_limit().map_or(physical, |limit| limit.min(physical)))
}

/// The limit of the address space of this process, in bytes.
fn address_space_limit() -> Option<usize> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Reads `/proc/meminfo`; None if it does not exist.
pub(crate) fn system_memory() -> Option<SystemMemory> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<usize>().ok()
    };
    let [total, available] = [kibibytes("MemTotal:")?, kibibytes("MemAvailable:")?];
    let swap = kibibytes("SwapTotal:").unwrap_or(0);
    Some(SystemMemory { total: total << 10, swap: swap << 10, available: available << 10 })
}
