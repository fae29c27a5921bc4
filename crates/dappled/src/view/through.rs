//! How the axes of a view run through those of its base.

use dappled_kernels::View;

use crate::plan::{Along, Through};

/// How a view runs through a base of this shape in C order, if each of its axes follows one axis of
/// the base and no two the same: slices, transposes, new and repeated axes. A diagonal does not, nor
/// what was reshaped or reads other bytes than the base's elements.
pub fn through(view: &View, base: &View) -> Option<Through> {
    let item = base.dtype.itemsize() as isize;
    if view.dtype != base.dtype || view.offset as isize % item != 0 {
        return None;
    }
    if view.is_empty() || base.is_empty() {
        return Some(nothing(view, base));
    }
    let starts = unraveled(view.offset, base)?;
    let mut taken = vec![false; base.shape.len()];
    let mut axes = Vec::with_capacity(view.shape.len());
    for (&length, &stride) in view.shape.iter().zip(&view.strides) {
        let along = match length == 1 || stride == 0 {
            true => None,
            false => Some(followed(base, &starts, length, stride)?),
        };
        if let Some((axis, _)) = along
            && std::mem::replace(&mut taken[axis], true)
        {
            return None;
        }
        axes.push(Along { length: length as u64, base: along });
    }
    Some(Through { starts, axes })
}

fn nothing(view: &View, base: &View) -> Through {
    let axis = |&length: &usize| Along { length: length as u64, base: None };
    Through { starts: vec![0; base.shape.len()], axes: view.shape.iter().map(axis).collect() }
}

/// The indices of the element at this byte.
fn unraveled(offset: usize, base: &View) -> Option<Vec<u64>> {
    let mut rest = offset;
    let mut index = |(&length, &stride): (&usize, &isize)| {
        let at = if length == 1 { 0 } else { rest / stride as usize };
        rest -= at * if length == 1 { 0 } else { stride as usize };
        (at < length).then_some(at as u64)
    };
    let starts: Option<Vec<u64>> = base.shape.iter().zip(&base.strides).map(&mut index).collect();
    starts.filter(|_| rest == 0)
}

/// The axis that a stride follows, and how many of its steps it is.
fn followed(base: &View, starts: &[u64], length: usize, stride: isize) -> Option<(usize, i64)> {
    let follows = |&axis: &usize| base.shape[axis] > 1 && base.strides[axis] <= stride.abs();
    let axis = (0..base.shape.len()).find(follows)?;
    let step = stride / base.strides[axis];
    let last = starts[axis] as i64 + step as i64 * (length as i64 - 1);
    let fits = stride % base.strides[axis] == 0 && (0..base.shape[axis] as i64).contains(&last);
    fits.then_some((axis, step as i64))
}

/// What a view of one array selects of another that has the base's shape: an operation on elements
/// commutes with taking a part of its result.
pub fn seen(view: &View, through: &Through) -> View {
    let starts = through.starts.iter().zip(&view.strides);
    let offset: isize = starts.map(|(&start, &stride)| start as isize * stride).sum();
    let stride =
        |along: &Along| along.base.map_or(0, |(axis, step)| view.strides[axis] * step as isize);
    View {
        dtype: view.dtype,
        offset: (view.offset as isize + offset) as usize,
        shape: through.axes.iter().map(|along| along.length as usize).collect(),
        strides: through.axes.iter().map(stride).collect(),
    }
}
