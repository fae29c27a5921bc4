//! Other shapes of the same elements.

use dappled_kernels::{Axes, View};

use super::ViewError;

/// A shape with its open length, -1, filled in.
pub fn resolved(shape: &[i64], size: usize) -> Result<Axes<usize>, ViewError> {
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

/// The same elements, in C order, in another shape of the same size, where strides can say it:
/// each group of old axes that becomes a group of new ones must lie evenly.
pub fn reshaped(view: &View, shape: &[usize]) -> Option<View> {
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
        if !is_even(&old[start..from]) {
            return None;
        }
        strides.extend(split(&shape[first..to], old[from - 1].1));
    }
    let last = strides.last().copied().unwrap_or(view.dtype.itemsize() as isize);
    strides.resize(shape.len(), last);
    Some(View { dtype: view.dtype, offset: view.offset, shape: shape.into(), strides })
}

/// Is the step along each axis just past the end of the next one?
fn is_even(axes: &[(usize, isize)]) -> bool {
    axes.windows(2).all(|pair| pair[0].1 == pair[1].1 * pair[1].0 as isize)
}

/// The strides of axes that share what was one even run.
fn split(shape: &[usize], stride: isize) -> Axes<isize> {
    let mut strides: Axes<isize> = shape.iter().map(|_| 0).collect();
    let mut step = stride;
    for (stride, &length) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step *= length as isize;
    }
    strides
}
