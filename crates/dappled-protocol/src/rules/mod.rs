//! The rules of the protocol: one entry each, with the id that errors name.
//!
//! They are tried in the order of their ids, and the first that fails is reported:
//!
//! ```text
//! one process     L01 … L04 on the export, then dimension by dimension L05 … L18
//! all processes   C01, C02 on the exports, then dimension by dimension C03 … C08
//! ```
//!
//! A local rule also *reads* the keys that it names into a draft, so that the rules after
//! it find numbers, and nothing is looked up twice.

mod along;
mod block;
mod cyclic;
mod dimension;
mod draft;
mod export;
mod grid;
mod neighbours;
mod same;
mod unstructured;

use std::fmt;

pub use block::{L09, L10, L11, L12, L13};
pub use cyclic::{L14, L15, L16};
pub use dimension::{L05, L06, L07, L08};
pub use export::{L01, L02, L03, L04};
pub use grid::{C02, C06, C07};
pub use neighbours::{C04, C05, C08};
pub use same::{C01, C03};
pub use unstructured::{L17, L18};

pub(crate) use along::Along;
pub(crate) use draft::Draft;
pub(crate) use export::{ExportDraft, dimension_dict, dimension_dicts};

use crate::error::ProtocolError;
use crate::export::Export;

/// A rule of the protocol.
pub struct Rule {
    /// Its name, such as `L12`: L is seen from one process alone, C from all together.
    pub id: &'static str,
    /// What it says.
    pub text: &'static str,
    check: Check,
}

/// What a rule looks at, and how.
enum Check {
    /// The export of one process.
    Export(fn(&mut ExportDraft<'_>) -> Verdict),
    /// One dimension dictionary.
    Dimension(fn(&mut Draft<'_>) -> Verdict),
    /// The exports of all processes.
    Exports(fn(&[Export]) -> Verdict),
    /// One dimension over the exports of all processes.
    Along(fn(&Along<'_>) -> Verdict),
}

/// Whether a rule holds.
type Verdict = Result<(), ProtocolError>;

/// All rules, in the order of their ids.
///
/// ```
/// use dappled_protocol::rules::RULES;
/// assert_eq!(RULES[6].id, "L07");
/// assert_eq!(RULES[6].text, "`size` is an int >= 0");
/// ```
pub static RULES: [&Rule; 26] = [
    &L01, &L02, &L03, &L04, &L05, &L06, &L07, &L08, &L09, &L10, &L11, &L12, &L13, &L14, &L15, &L16,
    &L17, &L18, &C01, &C02, &C03, &C04, &C05, &C06, &C07, &C08,
];

/// Tries the rules of one export, and fills the draft.
pub(crate) fn try_export(draft: &mut ExportDraft<'_>) -> Verdict {
    RULES.iter().try_for_each(|rule| match rule.check {
        Check::Export(check) => check(draft),
        _ => Ok(()),
    })
}

/// Tries the rules of one dimension dictionary, and fills the draft.
pub(crate) fn try_dimension(draft: &mut Draft<'_>) -> Verdict {
    RULES.iter().try_for_each(|rule| match rule.check {
        Check::Dimension(check) => check(draft),
        _ => Ok(()),
    })
}

/// Tries the rules of all exports together.
pub(crate) fn try_exports(exports: &[Export]) -> Verdict {
    RULES.iter().try_for_each(|rule| match rule.check {
        Check::Exports(check) => check(exports),
        _ => Ok(()),
    })
}

/// Tries the rules of one dimension over all exports.
pub(crate) fn try_along(along: &Along<'_>) -> Verdict {
    RULES.iter().try_for_each(|rule| match rule.check {
        Check::Along(check) => check(along),
        _ => Ok(()),
    })
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Rule({})", self.id)
    }
}

/// `L07: `size` is an int >= 0`
impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.id, self.text)
    }
}
