//! The CPUs that loops are compiled for.

use std::str::FromStr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::Error;

/// Which instructions loops use, from the oldest to the newest. The bits of results are the same.
///
/// ```
/// use dappled_kernels::Variant;
/// assert_eq!("avx2".parse(), Ok(Variant::Avx2));
/// assert!(Variant::chosen() <= Variant::best());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Variant {
    /// What every CPU of the architecture has.
    Plain,
    /// AVX2 and FMA: x86-64 since 2013.
    Avx2,
    /// AVX-512 with vectors of all lengths, and all of AVX2: servers since 2017.
    Avx512,
}

/// In place of the chosen variant, before anybody asked.
const UNKNOWN: u8 = u8::MAX;

static BEST: LazyLock<Variant> = LazyLock::new(|| {
    let mut newest_first = Variant::ALL.into_iter().rev();
    newest_first.find(Variant::is_here).unwrap_or(Variant::Plain)
});

static CHOSEN: AtomicU8 = AtomicU8::new(UNKNOWN);

impl Variant {
    /// All, from the oldest to the newest.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Avx2, Self::Avx512];

    const NAMES: [&str; 3] = ["plain", "avx2", "avx512"];

    /// The newest that this CPU has.
    pub fn best() -> Self {
        *BEST
    }

    /// Those that this CPU has.
    pub fn available() -> impl Iterator<Item = Self> {
        let best = Self::best();
        Self::ALL.into_iter().filter(move |&variant| variant <= best)
    }

    /// The one that operations use: the best, unless a program was limited to an older one.
    #[inline]
    pub fn chosen() -> Self {
        match CHOSEN.load(Ordering::Relaxed) {
            0 => Self::Plain,
            1 => Self::Avx2,
            2 => Self::Avx512,
            _ => Self::best().choose(),
        }
    }

    /// Lets all operations from now on use it, or the best that the CPU has, and says which.
    pub fn choose(self) -> Self {
        let chosen = self.min(Self::best());
        CHOSEN.store(chosen as u8, Ordering::Relaxed);
        chosen
    }

    #[cfg(target_arch = "x86_64")]
    fn is_here(&self) -> bool {
        use std::arch::is_x86_feature_detected as has;
        match self {
            Self::Plain => true,
            Self::Avx2 => has!("avx2") && has!("fma"),
            Self::Avx512 => {
                let wide = has!("avx512f") && has!("avx512vl");
                wide && has!("avx512bw") && has!("avx512dq") && Self::Avx2.is_here()
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_here(&self) -> bool {
        *self == Self::Plain
    }
}

/// As in the setting `DAPPLED_CPU`.
impl FromStr for Variant {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::NAMES.iter().position(|&known| known == name);
        found.map(|at| Self::ALL[at]).ok_or_else(|| Error::UnknownVariant(name.into()))
    }
}
