//! Conversion of a distribution back to its specification.

use super::{AxisSpec, Distribution, Held, Padding, Spec};
use crate::axis::{AxisKind, AxisMap, BlockBounds, EdgePadding, StructuredMap};

impl Distribution {
    /// Returns a specification that builds this distribution. None for views and for distributions
    /// that only exports can express: 0.9's periodic padding, boundaries that differ.
    pub fn to_spec(&self) -> Option<Spec> {
        if matches!(self.held, Held::One(_)) || self.has_padding_exceptions() {
            return None;
        }
        let axes = self.axes.iter().map(axis_spec).collect::<Option<_>>()?;
        Some(Spec { axes, nprocs: Some(self.nprocs) })
    }
}

fn axis_spec(axis: &AxisMap) -> Option<AxisSpec> {
    let common = AxisSpec {
        size: axis.size(),
        kind: Some(axis.dist_type()),
        grid: Some(axis.grid()),
        ..AxisSpec::default()
    };
    match &axis.kind {
        AxisKind::Block(map)
            if !map.wraps && map.is_axis() && axis.placement.is_identity(map.grid()) =>
        {
            Some(AxisSpec {
                bounds: match &map.bounds {
                    BlockBounds::Regular { .. } => None,
                    BlockBounds::Irregular(bounds) => Some(bounds.to_vec()),
                },
                padding: match &map.edges {
                    EdgePadding::Uniform(0) => None,
                    EdgePadding::Uniform(width) => Some(Padding::Uniform(*width)),
                    EdgePadding::Each(widths) => Some(Padding::Edges(widths.to_vec())),
                },
                periodic: map.periodic,
                ..common
            })
        }
        AxisKind::Cyclic(map) if common.kind == Some('c') && !map.periodic => {
            Some(AxisSpec { block_size: Some(map.block_size), ..common })
        }
        AxisKind::Unstructured(map)
            if map.is_axis() && !map.periodic && axis.placement.is_identity(map.grid()) =>
        {
            let lists = (0..map.grid()).map(|rank| map.labels(rank).to_vec()).collect();
            Some(AxisSpec { indices: Some(lists), one_to_one: map.one_to_one, ..common })
        }
        _ => None,
    }
}
