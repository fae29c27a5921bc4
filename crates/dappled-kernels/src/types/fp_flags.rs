//! Floating-point flags: the conditions that NumPy warns about.

use std::fmt;
use std::hint::black_box;
use std::ops::{BitAnd, BitOr, BitOrAssign};

use crate::loops::fp::status;

/// A set of floating-point conditions.
///
/// ```
/// use dappled_kernels::FpFlags;
/// let both = FpFlags::DIVIDE | FpFlags::INVALID;
/// assert!(both.contains(FpFlags::DIVIDE) && !both.contains(FpFlags::OVERFLOW));
/// assert_eq!(both.to_string(), "divide, invalid");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FpFlags(u8);

impl FpFlags {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// NumPy's "divide by zero encountered in".
    pub const DIVIDE: Self = Self(1);
    /// NumPy's "overflow encountered in".
    pub const OVERFLOW: Self = Self(2);
    /// NumPy's "underflow encountered in", which NumPy ignores by default.
    pub const UNDERFLOW: Self = Self(4);
    /// NumPy's "invalid value encountered in".
    pub const INVALID: Self = Self(8);
    /// NumPy's ValueError "Integers to negative integer powers are not allowed."
    ///
    /// The result of the operation is meaningless.
    pub const NEGATIVE_POWER: Self = Self(16);

    /// The conditions that the CPU's floating-point status register records.
    pub(crate) const ARITHMETIC: Self = Self(15);

    /// The names of the conditions in `numpy.errstate`, and of the error.
    const NAMES: [(Self, &str); 5] = [
        (Self::DIVIDE, "divide"),
        (Self::OVERFLOW, "overflow"),
        (Self::UNDERFLOW, "underflow"),
        (Self::INVALID, "invalid"),
        (Self::NEGATIVE_POWER, "negative_power"),
    ];

    /// The set as bits, for messages between ranks.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set of these bits; the inverse of [`Self::bits`].
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// True if no condition occurred.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if the set contains every condition of `other`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The conditions of the set that are not in `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The set if the condition holds, else the empty set. Branch-free, so that loops vectorise.
    #[inline(always)]
    pub const fn when(self, condition: bool) -> Self {
        Self(self.0 * condition as u8)
    }
}

/// Runs a closure and returns the flags that its floating-point instructions raise.
///
/// For arithmetic outside the loops of this crate, such as joining the partial results of several
/// ranks.
///
/// ```
/// use dappled_kernels::{FpFlags, capture_fp_flags};
/// let large = [f64::MAX, f64::MAX].to_vec();
/// let (sum, flags) = capture_fp_flags(|| large.iter().sum::<f64>());
/// assert_eq!(sum, f64::INFINITY);
/// # #[cfg(target_arch = "x86_64")]
/// assert_eq!(flags, FpFlags::OVERFLOW);
/// ```
pub fn capture_fp_flags<T>(work: impl FnOnce() -> T) -> (T, FpFlags) {
    status::clear();
    // The compiler does not model the flags: `black_box` keeps the work between `clear` and `take`.
    let result = black_box(black_box(work)());
    (result, status::take() & FpFlags::ARITHMETIC)
}

impl BitOr for FpFlags {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for FpFlags {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOrAssign for FpFlags {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// Writes `divide, invalid`.
impl fmt::Display for FpFlags {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Self::NAMES.iter().filter(|(flag, _)| self.contains(*flag));
        let names: Vec<&str> = names.map(|(_, name)| *name).collect();
        out.write_str(&names.join(", "))
    }
}

/// The flags that each step of a program raised in a run. Allocates only if a step raised one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepFlags(Vec<FpFlags>);

impl StepFlags {
    /// True if no step raised a flag.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The flags of one step.
    pub fn of(&self, step: usize) -> FpFlags {
        self.0.get(step).copied().unwrap_or_default()
    }

    /// The steps that raised a flag, in order, with their flags.
    pub fn iter(&self) -> impl Iterator<Item = (usize, FpFlags)> {
        self.0.iter().copied().enumerate().filter(|(_, flags)| !flags.is_empty())
    }

    /// Adds flags to those of a step.
    pub fn add(&mut self, step: usize, flags: FpFlags) {
        if !flags.is_empty() {
            self.0.resize(self.0.len().max(step + 1), FpFlags::NONE);
            self.0[step] |= flags;
        }
    }

    /// The union of the flags of two parts of a run.
    pub fn join(mut self, other: Self) -> Self {
        other.iter().for_each(|(step, flags)| self.add(step, flags));
        self
    }
}

/// The flags that a reduction or a scan of a program raised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReduceFlags {
    /// Flags of the program's steps.
    pub steps: StepFlags,
    /// Flags of the reduction: NumPy's "encountered in reduce", "encountered in accumulate".
    pub reduction: FpFlags,
}

impl ReduceFlags {
    /// The union of the flags of two parts of a run.
    pub fn join(self, other: Self) -> Self {
        Self { steps: self.steps.join(other.steps), reduction: self.reduction | other.reduction }
    }
}
