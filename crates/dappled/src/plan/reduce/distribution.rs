//! The distribution in which an array is reduced in NumPy's order, to obtain NumPy's bits.
//!
//! Partial sums that depend on the number of ranks round differently. Values that are reduced
//! together must therefore be on one rank, in order: the array is redistributed if necessary, and
//! each rank then reduces its values alone.

use dappled_protocol::{AxisMap, Distribution, Held};

/// Returns a distribution of the same array in which no reduced axis is distributed.
///
/// The other axes are in blocks over all ranks. If all axes are reduced, the array is in blocks
/// along the first one. A distribution that has this form is returned as it is.
///
/// ```
/// use dappled::plan::reduction_distribution;
/// use dappled::protocol::Distribution;
/// let rows = Distribution::spec(&[8, 6]).grid_shape(&[4, 1]).build()?;
/// assert_eq!(reduction_distribution(&rows, &[1]).grid_shape(), [4, 1]); // unchanged
/// assert_eq!(reduction_distribution(&rows, &[0]).grid_shape(), [1, 4]);
/// assert_eq!(reduction_distribution(&rows, &[0, 1]).grid_shape(), [4, 1]);
/// # Ok::<(), dappled::protocol::ProtocolError>(())
/// ```
pub fn reduction_distribution(base: &Distribution, reduced: &[usize]) -> Distribution {
    let ndim = base.axes().len();
    // If all axes are reduced, the first is distributed: its partial results are combined in order.
    let is_full_reduction = (0..ndim).all(|axis| reduced.contains(&axis));
    let is_undistributed =
        |axis: usize| reduced.contains(&axis) && !(is_full_reduction && axis == 0);
    if base.held() != Held::Grid || is_ready(base, is_undistributed, is_full_reduction) {
        return base.clone();
    }
    let kinds: String =
        (0..ndim).map(|axis| if is_undistributed(axis) { 'n' } else { 'b' }).collect();
    let spec = Distribution::spec(&base.shape()).dist(&kinds).nprocs(base.nprocs());
    spec.build().expect("blocks are valid for any shape and number of ranks")
}

/// Returns true if reduced axes are undistributed and in order, and a first axis that stays
/// distributed is in ascending blocks.
fn is_ready(
    base: &Distribution,
    is_undistributed: impl Fn(usize) -> bool,
    is_full_reduction: bool,
) -> bool {
    let fits = |(axis, map): (usize, &AxisMap)| match is_undistributed(axis) {
        true => map.grid() == 1 && map.dist_type() != 'u',
        false if is_full_reduction => matches!(map.dist_type(), 'b' | 'n'),
        false => true,
    };
    let is_padded = (0..base.axes().len()).any(|axis| base.is_padded(axis));
    !is_padded && base.axes().iter().enumerate().all(fits)
}
