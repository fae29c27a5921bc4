//! The CPU variants that loops are compiled for.

use std::str::FromStr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::error::Error;

/// A variant is an instruction set that loops use.
///
/// The variants are ordered from the oldest to the newest. Their results have the same bits.
///
/// ```
/// use dappled_kernels::CpuVariant;
/// assert_eq!("avx2".parse(), Ok(CpuVariant::Avx2));
/// assert!(CpuVariant::active() <= CpuVariant::best());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CpuVariant {
    /// The baseline of the architecture.
    Plain,
    /// AVX2 and FMA: x86-64 since 2013.
    Avx2,
    /// AVX-512 F, VL, BW and DQ, and all of AVX2: servers since 2017.
    Avx512,
}

/// The value of `CHOSEN` before the first use.
const UNKNOWN: u8 = u8::MAX;

static BEST: LazyLock<CpuVariant> = LazyLock::new(|| {
    let mut newest_first = CpuVariant::ALL.into_iter().rev();
    newest_first.find(CpuVariant::is_supported).unwrap_or(CpuVariant::Plain)
});

static CHOSEN: AtomicU8 = AtomicU8::new(UNKNOWN);

impl CpuVariant {
    /// All variants, from the oldest to the newest.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Avx2, Self::Avx512];

    const NAMES: [&str; 3] = ["plain", "avx2", "avx512"];

    /// The newest variant that this CPU supports.
    pub fn best() -> Self {
        *BEST
    }

    /// The variants that this CPU supports.
    pub fn available() -> impl Iterator<Item = Self> {
        let best = Self::best();
        Self::ALL.into_iter().filter(move |&variant| variant <= best)
    }

    /// The variant that kernels use: the best one, unless limited by [`Self::activate`].
    #[inline]
    pub fn active() -> Self {
        match CHOSEN.load(Ordering::Relaxed) {
            0 => Self::Plain,
            1 => Self::Avx2,
            2 => Self::Avx512,
            _ => Self::best().activate(),
        }
    }

    /// Limits all kernels to this variant, or to the best one this CPU supports, and returns it.
    pub fn activate(self) -> Self {
        let chosen = self.min(Self::best());
        CHOSEN.store(chosen as u8, Ordering::Relaxed);
        chosen
    }

    #[cfg(target_arch = "x86_64")]
    fn is_supported(&self) -> bool {
        use std::arch::is_x86_feature_detected as has;
        match self {
            Self::Plain => true,
            Self::Avx2 => has!("avx2") && has!("fma"),
            Self::Avx512 => {
                let wide = has!("avx512f") && has!("avx512vl");
                wide && has!("avx512bw") && has!("avx512dq") && Self::Avx2.is_supported()
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_supported(&self) -> bool {
        *self == Self::Plain
    }
}

/// Parses the names of the setting `DAPPLED_CPU`.
impl FromStr for CpuVariant {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let index = Self::NAMES.iter().position(|&known| known == name);
        index.map(|at| Self::ALL[at]).ok_or_else(|| Error::UnknownVariant(name.into()))
    }
}
