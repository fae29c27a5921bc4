//! Settings of a process, read from environment variables.

use std::num::NonZeroUsize;
use std::str::FromStr;

use dappled_jit::Mode;
use dappled_kernels::Variant;
use thiserror::Error;

use crate::graph::Limits;

/// An environment variable with a value that it cannot have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{name}={value}: expected {expected}")]
pub struct ConfigError {
    /// The variable.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// The values that it may have.
    pub expected: &'static str,
}

/// Settings that environment variables change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `DAPPLED_WHOLE_BELOW` and `DAPPLED_AT_ONCE`: sizes that tell small arrays from large ones.
    pub limits: Limits,
    /// `DAPPLED_TOGETHER`: elements from which operations of one small expression are fused.
    pub fuse_from: usize,
    /// `DAPPLED_BUDGET`: bytes of temporary memory of a redistribution on each rank.
    pub budget: u64,
    /// `DAPPLED_CACHE`: bytes of freed memory that a rank keeps; a share of the machine's if not set.
    pub cache: Option<usize>,
    /// `DAPPLED_CHECK`: whether replicated operands of any size are compared between ranks.
    pub check: bool,
    /// `DAPPLED_THREADS`: threads of this process; all cores if not set.
    pub threads: Option<NonZeroUsize>,
    /// `DAPPLED_COMPILE`: when fused loops are compiled.
    pub compile: Mode,
    /// `DAPPLED_CPU`: the newest instructions that loops use; those of this CPU if not set.
    pub variant: Option<Variant>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            // benches/speed.py, the chains of 100, 1,000 and 10,000 elements
            fuse_from: 800,
            // part of any machine's memory, and enough for messages at full speed
            budget: 1 << 28,
            cache: None,
            check: false,
            threads: None,
            compile: Mode::Worth,
            variant: None,
        }
    }
}

impl Config {
    /// The defaults, changed by the environment variables of this process.
    pub fn from_environment() -> Result<Self, ConfigError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The defaults, changed by variables that a function returns. Empty ones count as not set.
    ///
    /// ```
    /// use dappled::config::Config;
    /// let cache = |text: &'static str| {
    ///     Config::from_variables(move |name| (name == "DAPPLED_CACHE").then(|| text.into()))
    /// };
    /// assert_eq!(cache("1000").unwrap().cache, Some(1000));
    /// assert_eq!(
    ///     cache("abc").unwrap_err().to_string(),
    ///     "DAPPLED_CACHE=abc: expected a number of bytes"
    /// );
    /// ```
    pub fn from_variables(
        variable: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let variables = Variables(&variable);
        let usual = Self::default();
        let limits = Limits {
            whole_below: variables
                .bytes("DAPPLED_WHOLE_BELOW")?
                .unwrap_or(usual.limits.whole_below),
            at_once: variables.elements("DAPPLED_AT_ONCE")?.unwrap_or(usual.limits.at_once),
        };
        let is_checked = variables.parsed("DAPPLED_CHECK", "0 or 1", |text| match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        })?;
        let modes = "'always', 'never' or 'refused'";
        let compile = variables.parsed("DAPPLED_COMPILE", modes, |text| match text {
            "always" => Some(Mode::Always),
            "never" => Some(Mode::Never),
            "refused" => Some(Mode::Refused),
            _ => None,
        })?;
        Ok(Self {
            limits,
            fuse_from: variables.elements("DAPPLED_TOGETHER")?.unwrap_or(usual.fuse_from).max(1),
            budget: variables.bytes("DAPPLED_BUDGET")?.unwrap_or(usual.budget),
            cache: variables.bytes("DAPPLED_CACHE")?,
            check: is_checked.unwrap_or(usual.check),
            threads: variables.parsed("DAPPLED_THREADS", "a number of threads", number)?,
            compile: compile.unwrap_or(usual.compile),
            variant: variables.parsed("DAPPLED_CPU", "'plain', 'avx2' or 'avx512'", number)?,
        })
    }
}

/// Reads variables, each as one kind of value.
struct Variables<'a>(&'a dyn Fn(&'static str) -> Option<String>);

impl Variables<'_> {
    fn bytes<T: FromStr>(&self, name: &'static str) -> Result<Option<T>, ConfigError> {
        self.parsed(name, "a number of bytes", number)
    }

    fn elements(&self, name: &'static str) -> Result<Option<usize>, ConfigError> {
        self.parsed(name, "a number of elements", number)
    }

    fn parsed<T>(
        &self,
        name: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.0(name).filter(|value| !value.is_empty()) else { return Ok(None) };
        match parse(value.trim()) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(ConfigError { name, value, expected }),
        }
    }
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &str) -> Result<Config, ConfigError> {
        let value = value.to_string();
        Config::from_variables(move |asked| (asked == name).then(|| value.clone()))
    }

    #[test]
    fn no_variable_means_the_defaults() {
        assert_eq!(Config::from_variables(|_| None), Ok(Config::default()));
        assert_eq!(Config::from_variables(|_| Some(String::new())), Ok(Config::default()));
    }

    #[test]
    fn a_value_that_cannot_be_is_an_error() {
        let numbers = ["WHOLE_BELOW", "AT_ONCE", "TOGETHER", "BUDGET", "CACHE", "THREADS"];
        let names = numbers.into_iter().chain(["CHECK", "COMPILE", "CPU"]);
        for name in names.map(|name| &*Box::leak(format!("DAPPLED_{name}").into_boxed_str())) {
            for value in ["abc", "-1", "1.5", "99999999999999999999999"] {
                let error = with(name, value).unwrap_err();
                assert_eq!((error.name, &*error.value), (name, value));
            }
        }
        assert!(with("DAPPLED_THREADS", "0").is_err());
    }

    #[test]
    fn values_are_read() {
        assert_eq!(with("DAPPLED_CACHE", " 0 ").unwrap().cache, Some(0));
        assert_eq!(with("DAPPLED_TOGETHER", "0").unwrap().fuse_from, 1);
        assert_eq!(with("DAPPLED_WHOLE_BELOW", "7").unwrap().limits.whole_below, 7);
        assert_eq!(with("DAPPLED_COMPILE", "never").unwrap().compile, Mode::Never);
        assert_eq!(with("DAPPLED_CPU", "plain").unwrap().variant, Some(Variant::Plain));
        assert!(with("DAPPLED_CHECK", "1").unwrap().check);
    }
}
