//! Axis mappings: which axis of its base each axis of a view follows.

use dappled_kernels::View;
use dappled_protocol::Region;
use dappled_protocol::slice::{KeyPart, SliceKey};

/// Maps the axes of a view to axes of its base.
///
/// At most one axis of the view follows each axis of the base, in any order. The view is at a fixed
/// index, its start, along the other axes of the base.
///
/// ```
/// use dappled::plan::{AxisMapping, MappedAxis};
/// // base[1, ::-1].T of a base of shape (4, 2, 3), broadcast to two copies
/// let mapping = AxisMapping {
///     starts: vec![1, 1, 0],
///     axes: vec![
///         MappedAxis { length: 2, base_axis: None },
///         MappedAxis { length: 3, base_axis: Some((2, 1)) },
///         MappedAxis { length: 2, base_axis: Some((1, -1)) },
///     ],
/// };
/// assert_eq!(mapping.shape(), [2, 3, 2]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AxisMapping {
    /// Index in the base of the view's first element, along each axis of the base.
    pub starts: Vec<u64>,
    /// The axes of the view.
    pub axes: Vec<MappedAxis>,
}

/// One axis of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MappedAxis {
    /// Number of elements.
    pub length: u64,
    /// The axis of the base and the step along it, which is never 0 and may be negative. None for
    /// new and broadcast axes.
    pub base_axis: Option<(usize, i64)>,
}

impl AxisMapping {
    /// The mapping of a full view of a base of this shape.
    pub fn identity(shape: &[u64]) -> Self {
        let along =
            |(axis, &length): (usize, &u64)| MappedAxis { length, base_axis: Some((axis, 1)) };
        Self { starts: vec![0; shape.len()], axes: shape.iter().enumerate().map(along).collect() }
    }

    /// The mapping of a basic index.
    pub fn from_key(key: &SliceKey) -> Self {
        let mut mapping = Self { starts: Vec::new(), axes: Vec::new() };
        for part in key.parts() {
            match *part {
                KeyPart::Index(index) => mapping.starts.push(index),
                KeyPart::NewAxis(length) => {
                    mapping.axes.push(MappedAxis { length, base_axis: None })
                }
                KeyPart::Region(region) => {
                    let base = Some((mapping.starts.len(), region.step()));
                    mapping.axes.push(MappedAxis { length: region.len(), base_axis: base });
                    mapping.starts.push(region.start());
                }
            }
        }
        mapping
    }

    /// The shape of the view.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(|along| along.length).collect()
    }

    /// The axis of the base that an axis of the view follows, and the indices along it.
    pub(crate) fn region(&self, axis: usize) -> Option<(usize, Region)> {
        let MappedAxis { length, base_axis: base } = self.axes[axis];
        base.map(|(base, step)| (base, Region::new(self.starts[base], step, length)))
    }
}

/// Computes the axis mapping of a view of a base in C order.
///
/// It exists if each axis of the view follows one axis of the base, and no two the same: for
/// slices, transposes, new axes and broadcasting. It does not exist for diagonals, reshaped views,
/// and views of other bytes than the elements.
pub fn axis_mapping(view: &View, base: &View) -> Option<AxisMapping> {
    let item = base.dtype.itemsize() as isize;
    if view.dtype != base.dtype || view.offset as isize % item != 0 {
        return None;
    }
    if view.is_empty() || base.is_empty() {
        return Some(empty_mapping(view, base));
    }
    let starts = unravel_offset(view.offset, base)?;
    let mut is_used = vec![false; base.shape.len()];
    let mut axes = Vec::with_capacity(view.shape.len());
    for (&length, &stride) in view.shape.iter().zip(&view.strides) {
        let along = match length == 1 || stride == 0 {
            true => None,
            false => Some(followed_axis(base, &starts, length, stride)?),
        };
        if let Some((axis, _)) = along
            && std::mem::replace(&mut is_used[axis], true)
        {
            return None;
        }
        axes.push(MappedAxis { length: length as u64, base_axis: along });
    }
    Some(AxisMapping { starts, axes })
}

fn empty_mapping(view: &View, base: &View) -> AxisMapping {
    let axis = |&length: &usize| MappedAxis { length: length as u64, base_axis: None };
    AxisMapping { starts: vec![0; base.shape.len()], axes: view.shape.iter().map(axis).collect() }
}

/// The indices of the element at a byte offset.
fn unravel_offset(offset: usize, base: &View) -> Option<Vec<u64>> {
    let mut rest = offset;
    let mut index = |(&length, &stride): (&usize, &isize)| {
        let at = if length == 1 { 0 } else { rest / stride as usize };
        rest -= at * if length == 1 { 0 } else { stride as usize };
        (at < length).then_some(at as u64)
    };
    let starts: Option<Vec<u64>> = base.shape.iter().zip(&base.strides).map(&mut index).collect();
    starts.filter(|_| rest == 0)
}

/// The axis of the base that a stride follows, and the stride in steps of that axis.
fn followed_axis(
    base: &View,
    starts: &[u64],
    length: usize,
    stride: isize,
) -> Option<(usize, i64)> {
    let follows = |&axis: &usize| base.shape[axis] > 1 && base.strides[axis] <= stride.abs();
    let axis = (0..base.shape.len()).find(follows)?;
    let step = stride / base.strides[axis];
    let last = starts[axis] as i64 + step as i64 * (length as i64 - 1);
    let fits = stride % base.strides[axis] == 0 && (0..base.shape[axis] as i64).contains(&last);
    fits.then_some((axis, step as i64))
}

/// Applies an axis mapping to a view of an array of the base's shape.
///
/// Element-wise operations commute with slicing: the slice of a result is the result of the sliced
/// operands.
pub fn map_view(view: &View, mapping: &AxisMapping) -> View {
    let starts = mapping.starts.iter().zip(&view.strides);
    let offset: isize = starts.map(|(&start, &stride)| start as isize * stride).sum();
    let stride = |along: &MappedAxis| {
        along.base_axis.map_or(0, |(axis, step)| view.strides[axis] * step as isize)
    };
    View {
        dtype: view.dtype,
        offset: (view.offset as isize + offset) as usize,
        shape: mapping.axes.iter().map(|along| along.length as usize).collect(),
        strides: mapping.axes.iter().map(stride).collect(),
    }
}
