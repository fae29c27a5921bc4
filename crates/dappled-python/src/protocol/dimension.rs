//! One rank's dimension, described by its dimension dictionary alone.

use std::collections::HashMap;

use dappled_protocol::{Dim, DimKind, rules};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use super::convert;
use super::export::VersionArgument;
use super::index::parse_index;
use crate::errors::Raise;

/// Return the number of indices that a rank owns, from its dimension dictionary alone.
///
/// Communication padding is not owned, boundary padding is. `extent` is `buffer.shape[i]`,
/// needed only for `{}`.
///
/// >>> from dappled import protocol
/// >>> common = {'dist_type': 'c', 'size': 7, 'proc_grid_size': 2, 'block_size': 2}
/// >>> [protocol.num_owned_indices(common | {'proc_grid_rank': rank, 'start': 2 * rank})
/// ...  for rank in range(2)]
/// [4, 3]
/// >>> protocol.num_owned_indices({}, 10)
/// 10
#[pyfunction]
#[pyo3(signature = (dim_dict, extent=None, *, version=VersionArgument::CURRENT), text_signature = "(dim_dict, extent=None, *, version='0.10.0')")]
pub fn num_owned_indices(
    dim_dict: &Bound<'_, PyAny>,
    extent: Option<&Bound<'_, PyAny>>,
    version: VersionArgument,
) -> PyResult<u64> {
    Ok(read_dim(dim_dict, extent, version)?.owned())
}

fn read_dim(
    dim_dict: &Bound<'_, PyAny>,
    extent: Option<&Bound<'_, PyAny>>,
    version: VersionArgument,
) -> PyResult<Dim> {
    let meaning = version.meaning()?;
    let extent = extent.map(read_extent).transpose()?;
    Dim::read(&convert::dimension_value(dim_dict, extent), extent, meaning).map_err(Raise::raise)
}

fn read_extent(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    let extent = convert::is_int(object).then(|| object.extract::<u64>().ok()).flatten();
    extent.filter(|&extent| i64::try_from(extent).is_ok()).ok_or_else(|| {
        dappled_protocol::ProtocolError::new(&rules::L05, "the buffer's extent, an int >= 0")
            .with_key("extent")
            .with_value(convert::repr_or_class(object))
            .raise()
    })
}

/// One rank's dimension: the map between global indices and positions in its buffer.
///
/// Positions count from the start of the buffer, padding included.
///
/// >>> from dappled import protocol
/// >>> dimension = protocol.Dimension({'dist_type': 'b', 'size': 18, 'proc_grid_size': 2,
/// ...     'proc_grid_rank': 1, 'start': 8, 'stop': 18, 'padding': (1, 1)})
/// >>> dimension.size, dimension.owned, dimension.extent
/// (18, 9, 10)
/// >>> dimension.local_index(9), dimension.global_index(0)
/// (1, 8)
/// >>> dimension.local_index(7)
/// Traceback (most recent call last):
/// ...
/// IndexError: global index 7 is not in this buffer
#[pyclass(frozen, module = "dappled.protocol")]
pub struct Dimension {
    dim: Dim,
    /// Positions by label, for unstructured axes.
    positions: HashMap<i64, u64>,
}

#[pymethods]
impl Dimension {
    #[new]
    #[pyo3(signature = (dim_dict, extent=None, *, version=VersionArgument::CURRENT), text_signature = "(dim_dict, extent=None, *, version='0.10.0')")]
    fn new(
        dim_dict: &Bound<'_, PyAny>,
        extent: Option<&Bound<'_, PyAny>>,
        version: VersionArgument,
    ) -> PyResult<Self> {
        let dim = read_dim(dim_dict, extent, version)?;
        let positions = match &dim.kind {
            DimKind::Unstructured { indices, .. } => indices.iter().copied().zip(0..).collect(),
            _ => HashMap::new(),
        };
        Ok(Self { dim, positions })
    }

    /// The number of elements of the global array along this axis.
    #[getter]
    fn size(&self) -> u64 {
        self.dim.size
    }

    /// The number of indices that this rank owns.
    #[getter]
    fn owned(&self) -> u64 {
        self.dim.owned()
    }

    /// The length of the rank's buffer along this axis, padding included.
    #[getter]
    fn extent(&self) -> u64 {
        self.dim.extent()
    }

    /// Return the position of a global index in the buffer; IndexError if the buffer lacks it.
    #[pyo3(signature = (global_index, /))]
    fn local_index(&self, global_index: &Bound<'_, PyAny>) -> PyResult<u64> {
        let global = parse_index(global_index)?;
        let position = match self.dim.kind {
            DimKind::Unstructured { .. } => self.positions.get(&global).copied(),
            _ => self.dim.local_index(global),
        };
        position.ok_or_else(|| {
            PyIndexError::new_err(format!("global index {global} is not in this buffer"))
        })
    }

    /// Return the global index at a position of the buffer; IndexError if the position is out of
    /// range.
    #[pyo3(signature = (local_index, /))]
    fn global_index(&self, local_index: &Bound<'_, PyAny>) -> PyResult<i64> {
        let local = parse_index(local_index)?;
        let global = u64::try_from(local).ok().and_then(|local| self.dim.global_index(local));
        global.ok_or_else(|| {
            let extent = self.dim.extent();
            PyIndexError::new_err(format!("position {local} is not in a buffer of extent {extent}"))
        })
    }

    fn __repr__(&self) -> String {
        let Dim { size, grid_rank, grid_size, .. } = self.dim;
        format!(
            "<Dimension of size {size}: {} owned by rank {grid_rank} of {grid_size}>",
            self.dim.owned()
        )
    }
}
