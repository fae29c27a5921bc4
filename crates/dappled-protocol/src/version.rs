//! Protocol versions: which are read and written, and their meaning.

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
    /// Incremented by incompatible changes.
    pub major: u64,
    /// Incremented by additions.
    pub minor: u64,
    /// Incremented by corrections.
    pub patch: u64,
}

/// The meaning of `start`, `stop`, `padding` and `periodic` in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// 0.9: `start` and `stop` exclude communication padding; `'n'` is a distribution type.
    V09,
    /// 0.10 and later: `start` and `stop` include the padding.
    Current,
}

/// The readable versions, for messages.
pub const READABLE: &str = "0.9.x, 0.10.x or later 0.x, 1.x";

impl Version {
    /// The version that is written by default.
    pub const CURRENT: Version = Version { major: 0, minor: 10, patch: 0 };
    /// The older version that is written on request.
    pub const V09: Version = Version { major: 0, minor: 9, patch: 0 };

    /// Returns the meaning of the version; None if it is not readable.
    pub fn meaning(self) -> Option<Meaning> {
        match (self.major, self.minor) {
            (0, 9) => Some(Meaning::V09),
            (0, 10..) | (1, _) => Some(Meaning::Current),
            _ => None,
        }
    }
}

impl Meaning {
    /// Returns the version that is written for this meaning.
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
        let error = || BadVersion(text.to_owned());
        // A number too large for 64 bits still is a very late version.
        let number = |part: &str| {
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse().unwrap_or(u64::MAX)).ok_or_else(error)
        };
        let parts: Vec<&str> = text.split('.').collect();
        let [major, minor, patch] = parts[..] else { return Err(error()) };
        Ok(Version { major: number(major)?, minor: number(minor)?, patch: number(patch)? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
