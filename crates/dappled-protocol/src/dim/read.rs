//! From a dimension dictionary to a [`Dim`].

use super::Dim;
use crate::error::ProtocolError;
use crate::rules::{self, Draft};
use crate::value::Value;
use crate::version::Meaning;

impl Dim {
    /// Reads a dimension dictionary of a version with this meaning, by the rules L05 to L18.
    /// The extent is the buffer's along this axis; where it is not known, what would compare
    /// it is not tried.
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
        let mut draft = Draft::new(rules::dimension_dict(value)?, extent, meaning);
        rules::try_dimension(&mut draft)?;
        Ok(draft.finish())
    }
}
