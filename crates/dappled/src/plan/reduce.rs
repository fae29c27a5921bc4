//! Where an array has to lie so that reductions keep NumPy's order, and with it its bits.
//!
//! What is reduced must lie on one rank, in order: sums of parts that depend on the number of ranks
//! would round differently. So an array is first redistributed, if it has to be, and then reduced
//! by each rank alone.

use dappled_protocol::{AxisMap, Distribution, Held};

/// A distribution of the same array on the same ranks in which the axes to be reduced are whole, and
/// the others are in blocks over all ranks; if all axes are reduced, blocks along the first one
/// alone. The distribution itself if it is such a one.
///
/// ```
/// use dappled::plan::for_reduction;
/// use dappled::protocol::Distribution;
/// let rows = Distribution::spec(&[8, 6]).grid_shape(&[4, 1]).build()?;
/// assert_eq!(for_reduction(&rows, &[1]).grid_shape(), [4, 1]); // as it is
/// assert_eq!(for_reduction(&rows, &[0]).grid_shape(), [1, 4]);
/// assert_eq!(for_reduction(&rows, &[0, 1]).grid_shape(), [4, 1]);
/// # Ok::<(), dappled::protocol::ProtocolError>(())
/// ```
pub fn for_reduction(base: &Distribution, reduced: &[usize]) -> Distribution {
    let ndim = base.axes().len();
    // Of no axis to split, the first is split all the same: its parts are put together in order.
    let all = (0..ndim).all(|axis| reduced.contains(&axis));
    let is_whole = |axis: usize| reduced.contains(&axis) && !(all && axis == 0);
    if base.held() != Held::Grid || is_ready(base, is_whole, all) {
        return base.clone();
    }
    let kinds: String = (0..ndim).map(|axis| if is_whole(axis) { 'n' } else { 'b' }).collect();
    let spec = Distribution::spec(&base.shape()).dist(&kinds).nprocs(base.nprocs());
    spec.build().expect("blocks of any shape on any number of ranks")
}

/// Is it as it has to be: whole axes in order, and a first axis that is split along its order?
fn is_ready(base: &Distribution, is_whole: impl Fn(usize) -> bool, all: bool) -> bool {
    let fits = |(axis, map): (usize, &AxisMap)| match is_whole(axis) {
        true => map.grid() == 1 && map.dist_type() != 'u',
        false if all => matches!(map.dist_type(), 'b' | 'n'),
        false => true,
    };
    let is_padded = (0..base.axes().len()).any(|axis| base.is_padded(axis));
    !is_padded && base.axes().iter().enumerate().all(fits)
}
