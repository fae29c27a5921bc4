//! The CPUs that loops are compiled for.

/// Which instructions loops use, from the oldest to the newest. The bits of results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// What every CPU of the architecture has.
    Plain,
    /// AVX2 and FMA: x86-64 since 2013.
    Avx2,
}

impl Variant {
    /// The newest that this CPU has.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            return Self::Avx2;
        }
        Self::Plain
    }
}
