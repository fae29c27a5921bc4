//! Loops for boolean masks: comparisons to bits, bit packing, stream compaction.
//!
//! `compare` and `compare_avx512` compare elements with one value and write one bit each; `compress` packs
//! bools into bits and gathers the elements whose bit is set.

#[allow(unsafe_code)]
pub(crate) mod compare;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub(crate) mod compare_avx512;
#[allow(unsafe_code)]
pub(crate) mod compress;
