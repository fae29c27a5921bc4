//! Ranks negotiate their settings. A binary of its own: the CPU variant is a setting of the process.

use dappled::config::Config;
use dappled::{Limits, Session};
use dappled_fabric::{Fabric, Threads};
use dappled_kernels::CpuVariant;

#[test]
fn lowest_limits_and_oldest_cpu_variant_win() {
    let requested = [
        (1 << 16, 0, CpuVariant::Avx512),
        (1 << 10, 7, CpuVariant::Plain),
        (0, 4096, CpuVariant::Avx2),
    ];
    let found = Threads::run(3, |fabric| {
        let (whole_below, at_once, variant) = requested[fabric.rank() as usize];
        let limits = Limits { replicate_below: whole_below, eager_max: at_once };
        let config = Config { limits, variant: Some(variant), ..Config::default() };
        let session = Session::with_config(Box::new(fabric), &config).unwrap();
        (session.limits().replicate_below, session.limits().eager_max, CpuVariant::active())
    });
    assert_eq!(found, [(0, 0, CpuVariant::Plain); 3]);
    CpuVariant::best().activate();
}
