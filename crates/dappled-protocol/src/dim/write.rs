//! Writing of dimension dictionaries.

use super::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::rules;
use crate::value::Value;
use crate::version::Meaning;

/// The entries of a dimension dictionary.
pub type Entries = Vec<(&'static str, Value)>;

impl Dim {
    /// Returns the entries of the dimension dictionary: required keys, and optional keys that
    /// differ from their default. `padded` says that some rank of the dimension has padding, in
    /// which case 0.9 requires the key on all. Fails if the version cannot express the dimension.
    ///
    /// ```
    /// use dappled_protocol::{Dim, DimKind, Meaning, Value};
    /// let kind = DimKind::Cyclic { block_size: 2 };
    /// let dim = Dim { size: 7, grid_size: 2, grid_rank: 1, periodic: false, kind };
    /// let written = dim.write(Meaning::Current, false).unwrap();
    /// assert!(written.contains(&("start", Value::Int(2))));
    /// ```
    pub fn write(&self, meaning: Meaning, padded: bool) -> Result<Entries, ProtocolError> {
        self.check_expressible(meaning)?;
        let mut entries = self.common_entries(meaning);
        match &self.kind {
            DimKind::Block { .. } => entries.extend(self.block_entries(meaning, padded)?),
            DimKind::Cyclic { block_size } => entries.extend(self.cyclic_entries(*block_size)),
            DimKind::Unstructured { indices, one_to_one } => {
                entries.push(("indices", Value::Labels(indices.clone())));
                entries.extend(one_to_one.then_some(("one_to_one", Value::Bool(true))));
            }
        }
        entries.extend(self.periodic.then_some(("periodic", Value::Bool(true))));
        Ok(entries)
    }

    /// Returns `start` and `stop` of a block in the given meaning.
    pub(crate) fn bounds(&self, meaning: Meaning) -> Option<(i128, i128)> {
        let DimKind::Block { owned, .. } = &self.kind else { return None };
        let (left, right) = match meaning {
            Meaning::Current => self.communication_padding(),
            Meaning::V09 => (0, 0),
        };
        let (left, right) = (i128::from(left), i128::from(right));
        Some((i128::from(owned.start) - left, i128::from(owned.end) + right))
    }

    fn common_entries(&self, meaning: Meaning) -> Entries {
        let mut entries =
            vec![("dist_type", self.dist_type(meaning).into()), ("size", self.size.into())];
        if self.dist_type(meaning) != "n" {
            entries.push(("proc_grid_size", self.grid_size.into()));
            entries.push(("proc_grid_rank", self.grid_rank.into()));
        }
        entries
    }

    /// Returns the `dist_type` in the given meaning.
    pub(crate) fn dist_type(&self, meaning: Meaning) -> &'static str {
        match self.kind {
            DimKind::Block { undistributed: true, .. } if meaning == Meaning::V09 => "n",
            DimKind::Block { .. } => "b",
            DimKind::Cyclic { .. } => "c",
            DimKind::Unstructured { .. } => "u",
        }
    }

    fn block_entries(&self, meaning: Meaning, padded: bool) -> Result<Entries, ProtocolError> {
        let mut entries = Entries::new();
        if self.dist_type(meaning) != "n" {
            entries.extend(self.start_and_stop(meaning)?);
        }
        let (left, right) = self.padding();
        if (left, right) != (0, 0) || (padded && meaning == Meaning::V09) {
            entries.push(("padding", Value::List(vec![left.into(), right.into()])));
        }
        Ok(entries)
    }

    /// Returns `start` and `stop`, or an error if the padding they include is outside the array.
    fn start_and_stop(&self, meaning: Meaning) -> Result<Entries, ProtocolError> {
        let Some((start, stop)) = self.bounds(meaning) else { return Ok(Entries::new()) };
        let wrong = |key, value, expected: String| {
            Err(ProtocolError::new(&rules::L09, expected).with_key(key).with_value(value))
        };
        if start < 0 {
            return wrong("start", start, "left padding that starts at 0 or later".to_owned());
        }
        if stop > self.size.into() {
            return wrong(
                "stop",
                stop,
                format!("right padding that ends at {} or before", self.size),
            );
        }
        Ok(vec![("start", Value::Int(start)), ("stop", Value::Int(stop))])
    }

    fn cyclic_entries(&self, block_size: u64) -> Entries {
        let start = i128::from(self.grid_rank) * i128::from(block_size);
        let mut entries = vec![("start", Value::Int(start))];
        entries.extend((block_size != 1).then(|| ("block_size", block_size.into())));
        entries
    }

    /// Checks that the version can express the dimension; the meanings of `periodic` differ.
    fn check_expressible(&self, meaning: Meaning) -> Result<(), ProtocolError> {
        let (first, last) = self.is_first_and_last();
        let (left, right) = self.padding();
        let outer = (if first { left } else { 0 }, if last { right } else { 0 });
        let expected = match (&self.kind, meaning) {
            (DimKind::Block { wraps: true, .. }, Meaning::Current) if outer != (0, 0) => {
                format!("no padding {outer:?} that copies the other end: only 0.9 can say that")
            }
            (DimKind::Block { wraps: false, .. }, Meaning::V09)
                if self.periodic && outer != (0, 0) =>
            {
                format!("no boundary padding {outer:?} in the array: only 0.10 can say that")
            }
            (DimKind::Cyclic { .. } | DimKind::Unstructured { .. }, Meaning::Current)
                if self.periodic =>
            {
                "a block dimension: only 0.9 can say that another is periodic".to_owned()
            }
            _ => return Ok(()),
        };
        let error = ProtocolError::new(&rules::L13, expected);
        Err(error.with_key("periodic").with_value(Value::Bool(self.periodic)))
    }
}
