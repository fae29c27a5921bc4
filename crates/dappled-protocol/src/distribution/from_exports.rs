//! Reconstruction of a distribution from the exports of all ranks.

use std::sync::Arc;

use super::{Distribution, PaddingException};
use crate::axis::{
    AxisKind, AxisMap, BlockBounds, BlockMap, CyclicMap, EdgePadding, UnstructuredMap,
};
use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::export::{Export, check_all};

impl Distribution {
    /// Returns the distribution that the exports of all ranks, in rank order, describe. Checks the
    /// collective rules; the local rules were checked when the exports were read.
    pub fn from_exports(exports: &[Export]) -> Result<Distribution, ProtocolError> {
        check_all(exports)?;
        let pieces: Vec<&[Dim]> = exports.iter().map(|export| &export.dims[..]).collect();
        let axes: Vec<AxisMap> =
            (0..pieces[0].len()).map(|axis| read_axis(&pieces, axis)).collect();
        let mut read = Distribution::on_grid(axes, pieces.len() as u64);
        read.padding_exceptions = find_padding_exceptions(&read, &pieces);
        Ok(read)
    }
}

/// Reads the axis map from the pieces at coordinate 0 along all other axes.
fn read_axis(pieces: &[&[Dim]], axis: usize) -> AxisMap {
    let stride: u64 = pieces[0][axis + 1..].iter().map(|dim| dim.grid_size).product();
    let first = &pieces[0][axis];
    let dims = (0..first.grid_size).map(|rank| &pieces[(rank * stride) as usize][axis]);
    match &first.kind {
        DimKind::Block { .. } => read_block(dims.collect()),
        DimKind::Cyclic { block_size } => {
            let mut map = CyclicMap::new(first.size, first.grid_size, *block_size);
            map.periodic = first.periodic;
            AxisKind::Cyclic(map).into()
        }
        DimKind::Unstructured { one_to_one, .. } => {
            let lists = dims.map(labels_of).collect();
            let mut map = UnstructuredMap::new(first.size, lists, *one_to_one);
            map.periodic = first.periodic;
            AxisKind::Unstructured(map).into()
        }
    }
}

fn labels_of(dim: &Dim) -> Arc<[i64]> {
    match &dim.kind {
        DimKind::Unstructured { indices, .. } => indices.clone(),
        _ => Arc::default(),
    }
}

fn read_block(dims: Vec<&Dim>) -> AxisMap {
    let start = |dim: &&Dim| match &dim.kind {
        DimKind::Block { owned, .. } => owned.start,
        _ => 0,
    };
    let bounds: Vec<u64> = dims.iter().map(start).chain([dims[0].size]).collect();
    let right = dims.last().map_or(0, |dim| padding_of(dim).1);
    let widths: Vec<u64> = dims.iter().map(|dim| padding_of(dim).0).chain([right]).collect();
    let has_outer = widths[0] > 0 || right > 0;
    let bounds = BlockBounds::new(&bounds);
    let edges = EdgePadding::new(&widths, &bounds);
    let mut block = BlockMap::new(bounds, edges);
    block.periodic = dims[0].periodic;
    if let DimKind::Block { wraps, undistributed, .. } = dims[0].kind {
        // Without outer padding nothing is outside the array, so all versions can express it.
        (block.wraps, block.undistributed) = (wraps && has_outer, undistributed);
    }
    AxisKind::Block(block).into()
}

fn padding_of(dim: &Dim) -> (u64, u64) {
    match dim.kind {
        DimKind::Block { padding, .. } => padding,
        _ => (0, 0),
    }
}

/// Returns the pieces whose boundary padding differs from the axis map.
fn find_padding_exceptions(read: &Distribution, pieces: &[&[Dim]]) -> Arc<[PaddingException]> {
    let of_piece = |(rank, dims): (u64, &&[Dim])| {
        let exception =
            |(axis, dim): (usize, &Dim)| PaddingException { rank, axis, padding: padding_of(dim) };
        dims.iter().enumerate().map(exception).collect::<Vec<_>>()
    };
    let all = (0u64..).zip(pieces).flat_map(of_piece);
    all.filter(|exception| exception.padding != read.padding(exception.rank, exception.axis))
        .collect()
}
