//! Exports: what `__distarray__` returns, for one rank and for all.

use crate::dim::Dim;
use crate::error::ProtocolError;
use crate::rules::{self, DimDraft, DimensionExports, ExportDraft};
use crate::value::{Buffer, Dict, Value};
use crate::version::{Meaning, Version};

/// The export of one rank, validated by the local rules.
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
    /// The protocol version of the export.
    pub version: Version,
    /// The meaning of that version.
    pub meaning: Meaning,
    /// The buffer of the rank's piece; None if there are only dictionaries.
    pub buffer: Option<Buffer>,
    /// The rank's dimensions.
    pub dims: Vec<Dim>,
    /// Whether each dimension has the key `padding`, even if (0, 0): 0.9 requires it on all ranks
    /// or none.
    pub has_padding_key: Vec<bool>,
}

impl Export {
    /// Reads the result of `__distarray__` by the rules L01 to L18.
    pub fn read(value: &Value) -> Result<Export, ProtocolError> {
        let mut draft = ExportDraft::new(value);
        rules::check_export(&mut draft)?;
        let shape = draft.buffer.map(|buffer| &buffer.shape[..]);
        let export = Export::from_dicts(&draft.dicts, shape, draft.meaning)?;
        Ok(Export { version: draft.version, buffer: draft.buffer.cloned(), ..export })
    }

    /// Reads dimension dictionaries alone, by the rules L04 to L18. Rules about extents are skipped
    /// if `local_shape` is unknown.
    pub fn from_dim_data(
        dim_data: &Value,
        local_shape: Option<&[u64]>,
        meaning: Meaning,
    ) -> Result<Export, ProtocolError> {
        let dicts = rules::dimension_dicts(dim_data, local_shape.map(<[u64]>::len))?;
        Export::from_dicts(&dicts, local_shape, meaning)
    }

    fn from_dicts(
        dicts: &[&Dict],
        shape: Option<&[u64]>,
        meaning: Meaning,
    ) -> Result<Export, ProtocolError> {
        let extent = |dimension| shape.and_then(|shape| shape.get(dimension).copied());
        let (mut dims, mut padding_given) = (Vec::new(), Vec::new());
        for (dimension, dict) in dicts.iter().enumerate() {
            let mut draft = DimDraft::new(dict, extent(dimension), meaning);
            rules::check_dimension(&mut draft).map_err(|error| error.with_dimension(dimension))?;
            padding_given.push(draft.has_padding());
            dims.push(draft.finish());
        }
        Ok(Export {
            version: meaning.version(),
            meaning,
            buffer: None,
            dims,
            has_padding_key: padding_given,
        })
    }
}

/// Checks the collective rules C01 to C08 on the exports of all ranks, in rank order. Ranks that
/// check the same exports get the same error.
pub fn check_all(exports: &[Export]) -> Result<(), ProtocolError> {
    rules::check_exports(exports)?;
    let dimensions = exports.first().map_or(0, |export| export.dims.len());
    (0..dimensions).try_for_each(|dimension| {
        let tried = rules::check_dimension_exports(&DimensionExports { exports, dimension });
        tried.map_err(|error| error.with_dimension(dimension))
    })
}
