//! Distributions derived from a distribution: one element per rank, and without padding.

use super::Distribution;
use crate::axis::{AxisKind, AxisMap, BlockBounds, BlockMap, EdgePadding};

impl Distribution {
    /// Returns the distribution of the partial results of a reduction along some axes.
    ///
    /// Along these axes there is one element for each rank that owns any, in rank order.
    ///
    /// ```
    /// use dappled_protocol::Distribution;
    /// let rows = Distribution::spec(&[5, 9]).grid_shape(&[4, 1]).build()?; // 2, 2, 1 and none
    /// let sums = rows.one_per_rank(&[0]);
    /// assert_eq!(sums.shape(), [3, 9]);
    /// assert_eq!((sums.local_shape(2), sums.local_shape(3)), (vec![1, 9], vec![0, 9]));
    /// # Ok::<(), dappled_protocol::ProtocolError>(())
    /// ```
    pub fn one_per_rank(&self, axes: &[usize]) -> Distribution {
        self.with_maps(
            |axis, map| if axes.contains(&axis) { one_index_per_rank(map) } else { map.clone() },
        )
    }

    /// Returns the distribution without padding; elements keep their owners.
    pub fn without_padding(&self) -> Distribution {
        let map = |_, map: &AxisMap| match &map.kind {
            AxisKind::Block(block) => {
                AxisMap { kind: AxisKind::Block(block.without_padding()), ..map.clone() }
            }
            _ => map.clone(),
        };
        Distribution { padding_exceptions: [].into(), ..self.with_maps(map) }
    }

    fn with_maps(&self, map: impl Fn(usize, &AxisMap) -> AxisMap) -> Distribution {
        let axes = self.axes.iter().enumerate().map(|(axis, old)| map(axis, old)).collect();
        Distribution { axes, padding_exceptions: self.padding_exceptions.clone(), ..*self }
    }
}

/// Returns a block map with one index for each rank that owns any.
fn one_index_per_rank(map: &AxisMap) -> AxisMap {
    let mut bounds = vec![0];
    for rank in 0..map.grid() {
        bounds.push(bounds[rank as usize] + map.owned(rank).min(1));
    }
    AxisKind::Block(BlockMap::new(BlockBounds::new(&bounds), EdgePadding::Uniform(0))).into()
}
