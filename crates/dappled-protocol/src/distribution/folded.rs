//! The distribution of what ranks fold of their pieces.

use super::Distribution;
use crate::axis::{AxisMap, Block, Bounds, Edges, Kind};

impl Distribution {
    /// Where each rank's result is if it folds what it has along some axes: along these there is one
    /// element for each rank that had any, in the order of the ranks.
    ///
    /// ```
    /// use dappled_protocol::Distribution;
    /// let rows = Distribution::spec(&[5, 9]).grid_shape(&[4, 1]).build()?; // 2, 2, 1 and none
    /// let sums = rows.folded(&[0]);
    /// assert_eq!(sums.shape(), [3, 9]);
    /// assert_eq!((sums.local_shape(2), sums.local_shape(3)), (vec![1, 9], vec![0, 9]));
    /// # Ok::<(), dappled_protocol::ProtocolError>(())
    /// ```
    pub fn folded(&self, axes: &[usize]) -> Distribution {
        self.with_maps(|axis, map| if axes.contains(&axis) { ones(map) } else { map.clone() })
    }

    /// The same without padding: elements keep their owners.
    pub fn without_padding(&self) -> Distribution {
        let map = |_, map: &AxisMap| match &map.kind {
            Kind::Block(block) => {
                AxisMap { kind: Kind::Block(block.without_padding()), ..map.clone() }
            }
            _ => map.clone(),
        };
        Distribution { odd_edges: [].into(), ..self.with_maps(map) }
    }

    fn with_maps(&self, map: impl Fn(usize, &AxisMap) -> AxisMap) -> Distribution {
        let axes = self.axes.iter().enumerate().map(|(axis, old)| map(axis, old)).collect();
        Distribution { axes, odd_edges: self.odd_edges.clone(), ..*self }
    }
}

/// One index for each rank that has some.
fn ones(map: &AxisMap) -> AxisMap {
    let mut bounds = vec![0];
    for rank in 0..map.grid() {
        bounds.push(bounds[rank as usize] + map.owned(rank).min(1));
    }
    Kind::Block(Block::new(Bounds::new(&bounds), Edges::Uniform(0))).into()
}
