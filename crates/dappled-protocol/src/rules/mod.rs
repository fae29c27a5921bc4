//! The rules of the protocol, one entry each, with the id that errors carry.
//!
//! Rules are checked in the order of their ids, and the first violation is reported:
//!
//! ```text
//! one process     L01 … L04 on the export, then dimension by dimension L05 … L18
//! all processes   C01, C02 on the exports, then dimension by dimension C03 … C08
//! ```
//!
//! A local rule also *reads* the keys that it names into a draft, so the rules after it find parsed
//! values.

mod block;
mod consistency;
mod cyclic;
mod dim_draft;
mod dimension;
mod dimension_exports;
mod export;
mod grid;
mod neighbours;
mod unstructured;

use std::fmt;

pub use block::{L09, L10, L11, L12, L13};
pub use consistency::{C01, C03};
pub use cyclic::{L14, L15, L16};
pub use dimension::{L05, L06, L07, L08};
pub use export::{L01, L02, L03, L04};
pub use grid::{C02, C06, C07};
pub use neighbours::{C04, C05, C08};
pub use unstructured::{L17, L18};

pub(crate) use dim_draft::DimDraft;
pub(crate) use dimension_exports::DimensionExports;
pub(crate) use export::{ExportDraft, dimension_dict, dimension_dicts};

use crate::error::ProtocolError;
use crate::export::Export;

/// A rule of the protocol.
pub struct Rule {
    /// The id, such as `L12`: L rules concern one rank, C rules all ranks together.
    pub id: &'static str,
    /// The text of the rule.
    pub text: &'static str,
    check: RuleCheck,
}

/// The check of a rule, by what it examines.
enum RuleCheck {
    /// Examines the export of one rank.
    Export(fn(&mut ExportDraft<'_>) -> RuleResult),
    /// Examines one dimension dictionary.
    Dimension(fn(&mut DimDraft<'_>) -> RuleResult),
    /// Examines the exports of all ranks.
    Exports(fn(&[Export]) -> RuleResult),
    /// Examines one dimension of the exports of all ranks.
    DimensionExports(fn(&DimensionExports<'_>) -> RuleResult),
}

/// The result of checking a rule.
type RuleResult = Result<(), ProtocolError>;

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

/// Checks the rules of one export, and fills the draft.
pub(crate) fn check_export(draft: &mut ExportDraft<'_>) -> RuleResult {
    RULES.iter().try_for_each(|rule| match rule.check {
        RuleCheck::Export(check) => check(draft),
        _ => Ok(()),
    })
}

/// Checks the rules of one dimension dictionary, and fills the draft.
pub(crate) fn check_dimension(draft: &mut DimDraft<'_>) -> RuleResult {
    RULES.iter().try_for_each(|rule| match rule.check {
        RuleCheck::Dimension(check) => check(draft),
        _ => Ok(()),
    })
}

/// Checks the rules of the exports of all ranks.
pub(crate) fn check_exports(exports: &[Export]) -> RuleResult {
    RULES.iter().try_for_each(|rule| match rule.check {
        RuleCheck::Exports(check) => check(exports),
        _ => Ok(()),
    })
}

/// Checks the rules of one dimension of all exports.
pub(crate) fn check_dimension_exports(exports: &DimensionExports<'_>) -> RuleResult {
    RULES.iter().try_for_each(|rule| match rule.check {
        RuleCheck::DimensionExports(check) => check(exports),
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

/// Formats as `L07: `size` is an int >= 0`.
impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.id, self.text)
    }
}
