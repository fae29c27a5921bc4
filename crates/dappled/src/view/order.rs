//! The order of axes: transposes, and the order in which NumPy lays out a result.

use dappled_kernels::View;

use super::ViewError;

/// The axes in another order: axis `k` of the result is axis `axes[k]`.
pub fn permuted(view: &View, axes: &[usize]) -> View {
    View {
        dtype: view.dtype,
        offset: view.offset,
        shape: axes.iter().map(|&axis| view.shape[axis]).collect(),
        strides: axes.iter().map(|&axis| view.strides[axis]).collect(),
    }
}

/// An order of axes as it was given, counted from the end where negative.
pub fn axis_order(axes: &[i64], ndim: usize) -> Result<Vec<usize>, ViewError> {
    if axes.len() != ndim {
        return Err(ViewError::Axes);
    }
    let mut order = Vec::with_capacity(ndim);
    for &given in axes {
        let axis = super::axis(given, ndim)?;
        if order.contains(&axis) {
            return Err(ViewError::RepeatedAxis);
        }
        order.push(axis);
    }
    Ok(order)
}

/// The order that undoes another.
pub fn moved(order: &[usize]) -> Vec<usize> {
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| back[from] = to);
    back
}

/// The axes from the slowest to the fastest, as NumPy's iterator sorts them over all operands
/// (order 'K'): an axis goes before another if its strides are larger wherever both tell.
pub(crate) fn memory_order(views: &[&View], ndim: usize) -> Option<Vec<usize>> {
    if views.iter().all(|view| is_c_like(view)) {
        return None;
    }
    let mut order: Vec<usize> = (0..ndim).collect();
    // From the fastest axis on: each is moved in front of those it is faster than.
    for at in (0..ndim.saturating_sub(1)).rev() {
        let axis = order[at];
        let mut place = at;
        for (next, &other) in order.iter().enumerate().skip(at + 1) {
            match is_faster(views, axis, other) {
                Some(true) => place = next,
                Some(false) => break,
                None => {}
            }
        }
        order.remove(at);
        order.insert(place, axis);
    }
    (!order.is_sorted()).then_some(order)
}

/// The axes of one view in the order in which NumPy goes over its elements (`ravel('K')`).
pub fn iteration_order(view: &View) -> Vec<usize> {
    memory_order(&[view], view.shape.len()).unwrap_or_else(|| (0..view.shape.len()).collect())
}

/// The axes of one view from the slowest to the fastest, repeated ones last: how NumPy lays out
/// `copy('K')`.
pub fn kept_order(view: &View) -> Vec<usize> {
    let mut order: Vec<usize> = (0..view.shape.len()).collect();
    if is_reversed(view) {
        order.reverse();
    } else if !view.is_contiguous() {
        order.sort_by_key(|&axis| std::cmp::Reverse(view.strides[axis].abs()));
    }
    order
}

/// The axes of a gathered copy, from the slowest to the fastest: those of `copy('K')`.
///
/// Where the last axis is the bytes of an item, it stays the fastest.
pub fn gathered_order(view: &View, are_items: bool) -> Vec<usize> {
    let ndim = view.shape.len() - usize::from(are_items);
    let (shape, strides) = (view.shape[..ndim].into(), view.strides[..ndim].into());
    let mut order = kept_order(&View { shape, strides, ..view.clone() });
    order.extend(ndim..view.shape.len());
    order
}

/// How a gathered copy of a view lies in its memory, which has no gaps.
pub fn gathered_view(view: &View, are_items: bool) -> View {
    let order = gathered_order(view, are_items);
    let shape: Vec<usize> = order.iter().map(|&axis| view.shape[axis]).collect();
    let compact = permuted(&View::c_order(view.dtype, &shape), &moved(&order));
    let same = |axis: usize| view.shape[axis] == 1 || view.strides[axis] == compact.strides[axis];
    // The stride of an axis with one element says nothing: it stays as it is.
    match view.is_empty() || (0..view.shape.len()).all(same) {
        true => view.clone(),
        false => compact,
    }
}

/// Is it in F order, and not in C order as well?
pub(crate) fn is_reversed(view: &View) -> bool {
    !view.is_contiguous() && view.transposed().is_contiguous()
}

/// Do the strides never grow from one axis to the next?
pub(crate) fn is_c_like(view: &View) -> bool {
    let mut last = usize::MAX;
    (0..view.shape.len()).map(|axis| told(view, axis)).filter(|&step| step != 0).all(|step| {
        let falls = step <= last;
        last = step;
        falls
    })
}

/// How far apart elements along an axis are; nothing, where there is but one.
fn told(view: &View, axis: usize) -> usize {
    if view.shape[axis] == 1 { 0 } else { view.strides[axis].unsigned_abs() }
}

/// Is the first axis the faster one? None where no operand tells.
fn is_faster(views: &[&View], first: usize, second: usize) -> Option<bool> {
    let mut found = None;
    for view in views {
        let (first, second) = (told(view, first), told(view, second));
        if first == 0 || second == 0 {
            continue;
        }
        if second <= first {
            return Some(false);
        }
        found = Some(true);
    }
    found
}
