//! Loops over any number of arguments, written once, and compiled for each CPU variant.
//!
//! Loops go over slices, not pointers: that is what the compiler turns into vector code.

use super::Variant;

/// A compiled loop: arguments, result.
///
/// # Safety
/// Call it on a CPU that has its variant's instructions.
pub(crate) type Kernel = unsafe fn(&[&[u8]], &mut [u8]);

/// A loop that can be compiled for any CPU. Implementations are `inline(always)`: they are
/// compiled into each variant with that variant's instructions.
pub(crate) trait Loop {
    fn run(args: &[&[u8]], out: &mut [u8]);
}

/// A loop compiled for a variant.
pub(crate) fn choose<L: Loop>(variant: Variant) -> Kernel {
    match variant {
        #[cfg(target_arch = "x86_64")]
        Variant::Avx512 => avx512::<L>,
        #[cfg(target_arch = "x86_64")]
        Variant::Avx2 => avx2::<L>,
        _ => plain::<L>,
    }
}

fn plain<L: Loop>(args: &[&[u8]], out: &mut [u8]) {
    L::run(args, out)
}

// FMA serves `mul_add` alone: the compiler does not contract a product and a sum by itself.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<L: Loop>(args: &[&[u8]], out: &mut [u8]) {
    L::run(args, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
fn avx512<L: Loop>(args: &[&[u8]], out: &mut [u8]) {
    L::run(args, out)
}
