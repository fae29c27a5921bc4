//! Loops over any number of arguments, compiled for each CPU variant.
//!
//! Loops take slices rather than pointers, so that the compiler vectorises them.

use super::variant::CpuVariant;

/// A compiled loop with its arguments and its result.
///
/// # Safety
/// The CPU must support the instructions of the kernel's variant.
pub(crate) type LoopKernel = unsafe fn(&[&[u8]], &mut [u8]);

/// A loop that can be compiled for any CPU variant.
///
/// Implementations are `inline(always)`, so that each variant compiles them with its own
/// instructions.
pub(crate) trait MultiversionLoop {
    fn run(args: &[&[u8]], out: &mut [u8]);
}

/// The loop compiled for a variant.
pub(crate) fn kernel_for<L: MultiversionLoop>(variant: CpuVariant) -> LoopKernel {
    match variant {
        #[cfg(target_arch = "x86_64")]
        CpuVariant::Avx512 => avx512::<L>,
        #[cfg(target_arch = "x86_64")]
        CpuVariant::Avx2 => avx2::<L>,
        _ => plain::<L>,
    }
}

fn plain<L: MultiversionLoop>(args: &[&[u8]], out: &mut [u8]) {
    L::run(args, out)
}

// FMA affects `mul_add` only: the compiler does not contract a product and a sum by itself.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<L: MultiversionLoop>(args: &[&[u8]], out: &mut [u8]) {
    L::run(args, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
fn avx512<L: MultiversionLoop>(args: &[&[u8]], out: &mut [u8]) {
    L::run(args, out)
}
