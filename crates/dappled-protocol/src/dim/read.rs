//! Reading of dimension dictionaries.

use super::Dim;
use crate::error::ProtocolError;
use crate::rules::{self, DimDraft};
use crate::value::Value;
use crate::version::Meaning;

impl Dim {
    /// Reads a dimension dictionary by the rules L05 to L18, in the given meaning. `extent` is that
    /// of the buffer along this axis; if it is unknown, rules that compare it are skipped.
    ///
    /// ```
    /// use dappled_protocol::{Dim, Meaning, Value};
    /// let dim = Dim::read(&Value::dict::<&str>([]), Some(10), Meaning::Current).unwrap();
    /// assert_eq!((dim.size, dim.grid_size, dim.owned()), (10, 1, 10));
    /// ```
    pub fn read(
        value: &Value,
        extent: Option<u64>,
        meaning: Meaning,
    ) -> Result<Dim, ProtocolError> {
        let mut draft = DimDraft::new(rules::dimension_dict(value)?, extent, meaning);
        rules::check_dimension(&mut draft)?;
        Ok(draft.finish())
    }
}
