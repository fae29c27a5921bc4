//! The order of axes: transposes, and the memory order of results.

use dappled_kernels::View;

use super::ViewError;

/// Permutes the axes: axis `k` of the result is axis `axes[k]`.
pub fn permute_axes(view: &View, axes: &[usize]) -> View {
    View {
        dtype: view.dtype,
        offset: view.offset,
        shape: axes.iter().map(|&axis| view.shape[axis]).collect(),
        strides: axes.iter().map(|&axis| view.strides[axis]).collect(),
    }
}

/// Resolves a permutation of axes, which may be negative.
pub fn normalize_axes(axes: &[i64], ndim: usize) -> Result<Vec<usize>, ViewError> {
    if axes.len() != ndim {
        return Err(ViewError::Axes);
    }
    let mut order = Vec::with_capacity(ndim);
    for &given in axes {
        let axis = super::normalize_axis(given, ndim)?;
        if order.contains(&axis) {
            return Err(ViewError::RepeatedAxis);
        }
        order.push(axis);
    }
    Ok(order)
}

/// The inverse of a permutation.
pub fn inverse_permutation(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| inverse[from] = to);
    inverse
}

/// The axes from slowest to fastest, as NumPy's iterator sorts them (order 'K'); None for C order.
///
/// An axis precedes another if its strides are larger in every operand that distinguishes them.
pub(crate) fn memory_order(views: &[&View], ndim: usize) -> Option<Vec<usize>> {
    if views.iter().all(|view| has_descending_strides(view)) {
        return None;
    }
    let mut order: Vec<usize> = (0..ndim).collect();
    // Insertion sort from the last axis on: each axis moves behind those that are slower.
    for at in (0..ndim.saturating_sub(1)).rev() {
        let axis = order[at];
        let mut target = at;
        for (next, &other) in order.iter().enumerate().skip(at + 1) {
            match is_faster(views, axis, other) {
                Some(true) => target = next,
                Some(false) => break,
                None => {}
            }
        }
        order.remove(at);
        order.insert(target, axis);
    }
    (!order.is_sorted()).then_some(order)
}

/// The axes in the order of NumPy's iteration over one view (`ravel('K')`).
pub fn iteration_order(view: &View) -> Vec<usize> {
    memory_order(&[view], view.shape.len()).unwrap_or_else(|| (0..view.shape.len()).collect())
}

/// The axes from slowest to fastest in NumPy's `copy('K')`, broadcast axes last.
pub fn copy_order(view: &View) -> Vec<usize> {
    let mut order: Vec<usize> = (0..view.shape.len()).collect();
    if is_f_ordered(view) {
        order.reverse();
    } else if !view.is_contiguous() {
        order.sort_by_key(|&axis| std::cmp::Reverse(view.strides[axis].abs()));
    }
    order
}

/// The axes of a gathered copy from slowest to fastest, as in `copy('K')`.
///
/// If the last axis is the bytes of an item, it stays the fastest.
pub fn gathered_order(view: &View, are_items: bool) -> Vec<usize> {
    let ndim = view.shape.len() - usize::from(are_items);
    let (shape, strides) = (view.shape[..ndim].into(), view.strides[..ndim].into());
    let mut order = copy_order(&View { shape, strides, ..view.clone() });
    order.extend(ndim..view.shape.len());
    order
}

/// The view of a gathered copy, which is compact.
pub fn gathered_view(view: &View, are_items: bool) -> View {
    let order = gathered_order(view, are_items);
    let shape: Vec<usize> = order.iter().map(|&axis| view.shape[axis]).collect();
    let compact = permute_axes(&View::c_order(view.dtype, &shape), &inverse_permutation(&order));
    let same = |axis: usize| view.shape[axis] == 1 || view.strides[axis] == compact.strides[axis];
    // The stride of an axis of length 1 has no effect, and stays unchanged.
    match view.is_empty() || (0..view.shape.len()).all(same) {
        true => view.clone(),
        false => compact,
    }
}

/// Returns true if the view is F contiguous and not C contiguous.
pub(crate) fn is_f_ordered(view: &View) -> bool {
    !view.is_contiguous() && view.transposed().is_contiguous()
}

/// Returns true if absolute strides never increase from one axis to the next.
pub(crate) fn has_descending_strides(view: &View) -> bool {
    let mut last = usize::MAX;
    (0..view.shape.len()).map(|axis| effective_stride(view, axis)).filter(|&step| step != 0).all(
        |step| {
            let falls = step <= last;
            last = step;
            falls
        },
    )
}

/// The absolute stride of an axis; 0 for an axis of length 1.
fn effective_stride(view: &View, axis: usize) -> usize {
    if view.shape[axis] == 1 { 0 } else { view.strides[axis].unsigned_abs() }
}

/// Returns true if the first axis is faster in all operands; None if no operand distinguishes them.
fn is_faster(views: &[&View], first: usize, second: usize) -> Option<bool> {
    let mut is_first_faster = None;
    for view in views {
        let (first, second) = (effective_stride(view, first), effective_stride(view, second));
        if first == 0 || second == 0 {
            continue;
        }
        if second <= first {
            return Some(false);
        }
        is_first_faster = Some(true);
    }
    is_first_faster
}
