//! One more axis behind the others, whole on every rank: what one element is made of.

use super::Distribution;
use crate::axis::AxisMap;

impl Distribution {
    /// The same with one more axis behind the others, which is not split.
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

    /// The same without its last axis, which must not be split.
    pub fn without_trailing(&self) -> Distribution {
        let (last, axes) = self.axes.split_last().expect("an axis to leave out");
        assert_eq!(last.grid(), 1, "the last axis is split");
        Distribution { axes: axes.into(), ..self.clone() }
    }
}
