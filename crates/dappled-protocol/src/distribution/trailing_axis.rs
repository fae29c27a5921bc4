//! Distributions with an additional trailing axis, for the bytes or components of an element.

use super::Distribution;
use crate::axis::AxisMap;

impl Distribution {
    /// Appends an undistributed axis.
    ///
    /// ```
    /// use dappled_protocol::Distribution;
    /// let rows = Distribution::spec(&[6]).nprocs(2).build()?;
    /// let bytes = rows.with_trailing(8);
    /// assert_eq!((bytes.grid_shape(), bytes.local_shape(1)), (vec![2, 1], vec![3, 8]));
    /// assert_eq!(bytes.without_trailing(), rows);
    /// # Ok::<(), dappled_protocol::ProtocolError>(())
    /// ```
    pub fn with_trailing(&self, size: u64) -> Distribution {
        let axes = self.axes.iter().cloned().chain([AxisMap::whole(size)]);
        Distribution { axes: axes.collect(), ..self.clone() }
    }

    /// Removes the last axis, which must be undistributed.
    pub fn without_trailing(&self) -> Distribution {
        let (last, axes) = self.axes.split_last().expect("an axis to leave out");
        assert_eq!(last.grid(), 1, "the last axis is split");
        Distribution { axes: axes.into(), ..self.clone() }
    }
}
