//! The specification that a distribution could be built from again.

use super::{AxisSpec, Distribution, Held, Padding, Spec};
use crate::axis::{AxisMap, Bounds, Edges, Kind, Structured};

impl Distribution {
    /// What [`Spec::build`] would make this distribution of; None for parts of arrays and for
    /// what only exports can say (0.9's periodic padding, boundaries that differ).
    pub fn to_spec(&self) -> Option<Spec> {
        if matches!(self.held, Held::One(_)) || self.has_odd_edges() {
            return None;
        }
        let axes = self.axes.iter().map(respec).collect::<Option<_>>()?;
        Some(Spec { axes, nprocs: Some(self.nprocs) })
    }
}

fn respec(axis: &AxisMap) -> Option<AxisSpec> {
    let common = AxisSpec {
        size: axis.size(),
        kind: Some(axis.dist_type()),
        grid: Some(axis.grid()),
        ..AxisSpec::default()
    };
    match &axis.kind {
        Kind::Block(map) if !map.wraps && map.is_axis() && axis.place.is_same(map.grid()) => {
            Some(AxisSpec {
                bounds: match &map.bounds {
                    Bounds::Regular { .. } => None,
                    Bounds::Irregular(bounds) => Some(bounds.to_vec()),
                },
                padding: match &map.edges {
                    Edges::Uniform(0) => None,
                    Edges::Uniform(width) => Some(Padding::Uniform(*width)),
                    Edges::Each(widths) => Some(Padding::Edges(widths.to_vec())),
                },
                periodic: map.periodic,
                ..common
            })
        }
        Kind::Cyclic(map) if common.kind == Some('c') && !map.periodic => {
            Some(AxisSpec { block_size: Some(map.block_size), ..common })
        }
        Kind::Unstructured(map)
            if map.is_axis() && !map.periodic && axis.place.is_same(map.grid()) =>
        {
            let lists = (0..map.grid()).map(|rank| map.labels(rank).to_vec()).collect();
            Some(AxisSpec { indices: Some(lists), one_to_one: map.one_to_one, ..common })
        }
        _ => None,
    }
}
