//! Reshaping: other shapes of the same elements.

use dappled_kernels::{Axes, View};

use super::ViewError;

/// Replaces the unknown length -1 of a shape.
pub fn resolve_shape(shape: &[i64], size: usize) -> Result<Axes<usize>, ViewError> {
    let fail = || ViewError::Size { size, shape: shape.to_vec() };
    let open = shape.iter().filter(|&&length| length < 0).count();
    if open > 1 {
        return Err(ViewError::Unknown);
    }
    let mut known = shape.iter().filter(|&&length| length >= 0);
    let known = known.try_fold(1usize, |all, &length| all.checked_mul(length as usize));
    let known = known.ok_or_else(fail)?;
    let missing = match open {
        0 => 1,
        _ if known == 0 || !size.is_multiple_of(known) => return Err(fail()),
        _ => size / known,
    };
    if known * missing != size {
        return Err(fail());
    }
    Ok(shape.iter().map(|&length| if length < 0 { missing } else { length as usize }).collect())
}

/// The view with another shape of the same size, in C order; None if it requires a copy.
///
/// Each group of old axes that becomes a group of new ones must be evenly strided.
pub fn reshape_view(view: &View, shape: &[usize]) -> Option<View> {
    if view.is_empty() {
        return Some(View { offset: view.offset, ..View::c_order(view.dtype, shape) });
    }
    if view.is_contiguous() {
        return Some(View { offset: view.offset, ..View::c_order(view.dtype, shape) });
    }
    let old: Axes<(usize, isize)> = view
        .shape
        .iter()
        .copied()
        .zip(view.strides.iter().copied())
        .filter(|axis| axis.0 != 1)
        .collect();
    let mut strides = Axes::new();
    let (mut from, mut to) = (0, 0);
    while from < old.len() {
        let (mut have, mut want, start) = (old[from].0, 1, from);
        from += 1;
        let first = to;
        while want != have {
            if want < have {
                want *= shape[to];
                to += 1;
            } else {
                have *= old[from].0;
                from += 1;
            }
        }
        if !is_evenly_strided(&old[start..from]) {
            return None;
        }
        strides.extend(split_stride(&shape[first..to], old[from - 1].1));
    }
    let last = strides.last().copied().unwrap_or(view.dtype.itemsize() as isize);
    strides.resize(shape.len(), last);
    Some(View { dtype: view.dtype, offset: view.offset, shape: shape.into(), strides })
}

/// Returns true if each stride continues the next axis without a gap.
fn is_evenly_strided(axes: &[(usize, isize)]) -> bool {
    axes.windows(2).all(|pair| pair[0].1 == pair[1].1 * pair[1].0 as isize)
}

/// The strides of the axes that one evenly strided axis is split into.
fn split_stride(shape: &[usize], stride: isize) -> Axes<isize> {
    let mut strides: Axes<isize> = shape.iter().map(|_| 0).collect();
    let mut step = stride;
    for (stride, &length) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step *= length as isize;
    }
    strides
}
