//! The export of one process, and of all together.

use crate::dim::Dim;
use crate::error::ProtocolError;
use crate::rules::{self, Along, Draft, ExportDraft};
use crate::value::{Buffer, Dict, Value};
use crate::version::{Meaning, Version};

/// What one process exports, once its rules were tried.
///
/// ```
/// use dappled_protocol::export::check_all;
/// use dappled_protocol::{Buffer, Export, Value};
/// let buffer = Buffer { shape: vec![10], format: "d".to_owned(), itemsize: 8 };
/// let export = Export::read(&Value::dict([
///     ("__version__", Value::from("0.10.0")),
///     ("buffer", Value::Buffer(buffer)),
///     ("dim_data", Value::List(vec![Value::dict::<&str>([])])),
/// ]))
/// .unwrap();
/// assert_eq!(export.dims[0].size, 10);
/// check_all(&[export]).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The version it was written in.
    pub version: Version,
    /// What that version means.
    pub meaning: Meaning,
    /// The rank's piece of the data; None where there are only dictionaries.
    pub buffer: Option<Buffer>,
    /// The rank's dimensions.
    pub dims: Vec<Dim>,
    /// Which dimensions have the key `padding`, be it (0, 0): 0.9 wants it on all ranks or none.
    pub padding_given: Vec<bool>,
}

impl Export {
    /// Reads what `__distarray__` gave, by the rules L01 to L18.
    pub fn read(found: &Value) -> Result<Export, ProtocolError> {
        let mut draft = ExportDraft::new(found);
        rules::try_export(&mut draft)?;
        let shape = draft.buffer.map(|buffer| &buffer.shape[..]);
        let export = Export::of_dicts(&draft.dicts, shape, draft.meaning)?;
        Ok(Export { version: draft.version, buffer: draft.buffer.cloned(), ..export })
    }

    /// Reads dimension dictionaries alone, by the rules L04 to L18. What needs the extents of
    /// the rank's piece is tried only where they are known.
    pub fn from_dim_data(
        dim_data: &Value,
        local_shape: Option<&[u64]>,
        meaning: Meaning,
    ) -> Result<Export, ProtocolError> {
        let dicts = rules::dimension_dicts(dim_data, local_shape.map(<[u64]>::len))?;
        Export::of_dicts(&dicts, local_shape, meaning)
    }

    fn of_dicts(
        dicts: &[&Dict],
        shape: Option<&[u64]>,
        meaning: Meaning,
    ) -> Result<Export, ProtocolError> {
        let extent = |dimension| shape.and_then(|shape| shape.get(dimension).copied());
        let (mut dims, mut padding_given) = (Vec::new(), Vec::new());
        for (dimension, dict) in dicts.iter().enumerate() {
            let mut draft = Draft::new(dict, extent(dimension), meaning);
            rules::try_dimension(&mut draft).map_err(|error| error.with_dimension(dimension))?;
            padding_given.push(draft.has_padding());
            dims.push(draft.finish());
        }
        Ok(Export { version: meaning.version(), meaning, buffer: None, dims, padding_given })
    }
}

/// Tries the collective rules C01 to C08 on the exports of all processes, in the order of
/// their ranks. All ranks that do so with the same exports get the same error.
pub fn check_all(exports: &[Export]) -> Result<(), ProtocolError> {
    rules::try_exports(exports)?;
    let dimensions = exports.first().map_or(0, |export| export.dims.len());
    (0..dimensions).try_for_each(|dimension| {
        let tried = rules::try_along(&Along { exports, dimension });
        tried.map_err(|error| error.with_dimension(dimension))
    })
}
