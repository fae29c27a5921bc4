//! What an operation signals besides its values: the conditions that NumPy warns of.

use std::fmt;
use std::hint::black_box;
use std::ops::{BitAnd, BitOr, BitOrAssign};

use crate::kernels::status;

/// Which conditions occurred: a set of the constants below.
///
/// ```
/// use dappled_kernels::Flags;
/// let both = Flags::DIVIDE | Flags::INVALID;
/// assert!(both.contains(Flags::DIVIDE) && !both.contains(Flags::OVERFLOW));
/// assert_eq!(both.to_string(), "divide, invalid");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// Nothing occurred.
    pub const NONE: Self = Self(0);
    /// NumPy's "divide by zero encountered in".
    pub const DIVIDE: Self = Self(1);
    /// NumPy's "overflow encountered in".
    pub const OVERFLOW: Self = Self(2);
    /// NumPy's "underflow encountered in", which it ignores unless asked not to.
    pub const UNDERFLOW: Self = Self(4);
    /// NumPy's "invalid value encountered in".
    pub const INVALID: Self = Self(8);
    /// NumPy's ValueError "Integers to negative integer powers are not allowed.": the result
    /// holds nothing of use.
    pub const NEGATIVE_POWER: Self = Self(16);

    /// What the CPU's instructions can raise.
    pub(crate) const ARITHMETIC: Self = Self(15);

    /// The names of the conditions in `numpy.errstate`, and of the error.
    const NAMES: [(Self, &str); 5] = [
        (Self::DIVIDE, "divide"),
        (Self::OVERFLOW, "overflow"),
        (Self::UNDERFLOW, "underflow"),
        (Self::INVALID, "invalid"),
        (Self::NEGATIVE_POWER, "negative_power"),
    ];

    /// As a number, to be sent.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// From such a number.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Did nothing occur?
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Are all of `other` in it?
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Those of them that are not in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// These, if so; else none. Without a branch, so that loops with it become vector code.
    #[inline(always)]
    pub(crate) const fn when(self, condition: bool) -> Self {
        Self(self.0 * condition as u8)
    }
}

/// What the CPU's instructions raise in some arithmetic that is no loop of this crate: where the
/// results of several ranks are joined.
///
/// ```
/// use dappled_kernels::{Flags, watched};
/// let large = [f64::MAX, f64::MAX].to_vec();
/// let (sum, flags) = watched(|| large.iter().sum::<f64>());
/// assert_eq!(sum, f64::INFINITY);
/// # #[cfg(target_arch = "x86_64")]
/// assert_eq!(flags, Flags::OVERFLOW);
/// ```
pub fn watched<T>(work: impl FnOnce() -> T) -> (T, Flags) {
    status::clear();
    // The compiler knows nothing of flags: nothing is to be done before or after what it belongs to.
    let result = black_box(black_box(work)());
    (result, status::take() & Flags::ARITHMETIC)
}

impl BitOr for Flags {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Flags {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// `divide, invalid`
impl fmt::Display for Flags {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Self::NAMES.iter().filter(|(flag, _)| self.contains(*flag));
        let names: Vec<&str> = names.map(|(_, name)| *name).collect();
        out.write_str(&names.join(", "))
    }
}

/// What each step of a program signalled in a run. Nothing is allocated where none did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raised(Vec<Flags>);

impl Raised {
    /// Did no step signal anything?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What this step signalled.
    pub fn of(&self, step: usize) -> Flags {
        self.0.get(step).copied().unwrap_or_default()
    }

    /// The steps that signalled something, in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Flags)> {
        self.0.iter().copied().enumerate().filter(|(_, flags)| !flags.is_empty())
    }

    /// Adds what a step signalled.
    pub fn add(&mut self, step: usize, flags: Flags) {
        if !flags.is_empty() {
            self.0.resize(self.0.len().max(step + 1), Flags::NONE);
            self.0[step] |= flags;
        }
    }

    /// Both together: of two parts of a run.
    pub fn join(mut self, other: Self) -> Self {
        other.iter().for_each(|(step, flags)| self.add(step, flags));
        self
    }
}

/// What was signalled by a reduction or a scan of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// By the steps that made the values.
    pub steps: Raised,
    /// By what folded them: NumPy's "encountered in reduce", "encountered in accumulate".
    pub folding: Flags,
}

impl Folded {
    /// Both together: of two parts of a run.
    pub fn join(self, other: Self) -> Self {
        Self { steps: self.steps.join(other.steps), folding: self.folding | other.folding }
    }
}
