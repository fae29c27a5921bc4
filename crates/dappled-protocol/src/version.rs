//! Versions of the protocol: which we read, which we write, and what they mean.

use std::fmt;
use std::str::FromStr;

/// A version of the protocol, `major.minor.patch`.
///
/// ```
/// use dappled_protocol::{Meaning, Version};
/// let version: Version = "0.9.1".parse().unwrap();
/// assert_eq!(version.meaning(), Some(Meaning::V09));
/// assert_eq!("2.0.0".parse::<Version>().unwrap().meaning(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Breaks what was before.
    pub major: u64,
    /// Adds to what was before.
    pub minor: u64,
    /// Mends.
    pub patch: u64,
}

/// What a version means by `start`, `stop`, `padding` and `periodic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// 0.9: `start` and `stop` exclude communication padding; `'n'` is a distribution type.
    V09,
    /// 0.10 and all later: `start` and `stop` include the padding.
    Current,
}

/// The versions we read, for messages.
pub const READABLE: &str = "0.9.x, 0.10.x or later 0.x, 1.x";

impl Version {
    /// The version that we write.
    pub const CURRENT: Version = Version { major: 0, minor: 10, patch: 0 };
    /// The older version that we write on request.
    pub const V09: Version = Version { major: 0, minor: 9, patch: 0 };

    /// What the version means, or None where we do not read it.
    pub fn meaning(self) -> Option<Meaning> {
        match (self.major, self.minor) {
            (0, 9) => Some(Meaning::V09),
            (0, 10..) | (1, _) => Some(Meaning::Current),
            _ => None,
        }
    }
}

impl Meaning {
    /// The version that we write for this meaning.
    pub fn version(self) -> Version {
        match self {
            Meaning::V09 => Version::V09,
            Meaning::Current => Version::CURRENT,
        }
    }
}

/// The text is not `major.minor.patch` with digits only.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a version major.minor.patch, digits only")]
pub struct BadVersion(String);

impl FromStr for Version {
    type Err = BadVersion;

    fn from_str(text: &str) -> Result<Self, BadVersion> {
        let bad = || BadVersion(text.to_owned());
        // Digits that do not fit are a very late version all the same.
        let number = |part: &str| {
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse().unwrap_or(u64::MAX)).ok_or_else(bad)
        };
        let parts: Vec<&str> = text.split('.').collect();
        let [major, minor, patch] = parts[..] else { return Err(bad()) };
        Ok(Version { major: number(major)?, minor: number(minor)?, patch: number(patch)? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
