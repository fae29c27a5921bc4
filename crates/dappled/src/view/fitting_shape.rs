//! Shapes of a base for which a view has an axis mapping.

use dappled_kernels::View;

use super::axis_mapping;
use crate::config::MAX_FITTED_STRIDES;

/// A shape of the base, in C order, for which the view has an axis mapping.
///
/// It is the new shape of a reshaped view, and one axis for a diagonal. None if no shape has a
/// mapping, as for overlapping windows.
pub fn fitting_shape(view: &View, base: &View) -> Option<Vec<usize>> {
    let (item, size) = (base.dtype.itemsize(), base.len());
    let mut steps: Vec<usize> = effective_strides(view).map(|stride| stride / item).collect();
    steps.sort_unstable();
    steps.dedup();
    steps.retain(|&step| step > 1);
    let choices = 0..1usize << steps.len().min(MAX_FITTED_STRIDES);
    let shapes = choices.rev().filter_map(|choice| shape_from_steps(&subset(&steps, choice), size));
    let mut fitting =
        shapes.filter(|shape| axis_mapping(view, &View::c_order(base.dtype, shape)).is_some());
    fitting.next()
}

/// The absolute strides of axes with more than one element.
fn effective_strides(view: &View) -> impl Iterator<Item = usize> {
    let axes = view.shape.iter().zip(&view.strides);
    axes.filter(|&(&length, &stride)| length > 1 && stride != 0)
        .map(|(_, &stride)| stride.unsigned_abs())
}

fn subset(steps: &[usize], choice: usize) -> Vec<usize> {
    let is_in = |&(at, _): &(usize, &usize)| choice >> at & 1 == 1;
    steps.iter().enumerate().filter(is_in).map(|(_, &step)| step).collect()
}

/// The shape whose axes have these strides, in elements; None if they do not divide each other.
fn shape_from_steps(steps: &[usize], size: usize) -> Option<Vec<usize>> {
    let mut shape = Vec::new();
    let mut below = 1;
    for &step in steps.iter().chain([&size]) {
        if step == 0 || step % below != 0 {
            return None;
        }
        shape.push(step / below);
        below = step;
    }
    shape.reverse();
    Some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::diagonal;
    use crate::view::reshape::reshape_view;
    use dappled_kernels::DType;

    fn base(shape: &[usize]) -> View {
        View::c_order(DType::Float64, shape)
    }

    #[test]
    fn shapes_in_which_views_follow_the_axes() {
        let cube = base(&[4, 5, 6]);
        let wide = |shape: &[usize]| reshape_view(&cube, shape).expect("in C order");
        let table: [(View, Option<&[usize]>); 7] = [
            (wide(&[120]), Some(&[120])),
            (wide(&[10, 12]), Some(&[10, 12])),
            (wide(&[10, 12]).slice_axis(1, 3, 2, 4).slice_axis(0, 9, -1, 5), Some(&[10, 6, 2])),
            (wide(&[8, 15]).transposed(), Some(&[8, 15])),
            (diagonal(&base(&[5, 6]), 1, 0, 1), Some(&[30])),
            (diagonal(&cube, 0, 1, 2), Some(&[4, 30])),
            // Overlapping windows.
            (View { shape: [118, 3][..].into(), strides: [8, 8][..].into(), ..wide(&[120]) }, None),
        ];
        for (view, shape) in table {
            let of =
                if view.len() <= 6 && shape == Some(&[30]) { base(&[5, 6]) } else { cube.clone() };
            assert_eq!(fitting_shape(&view, &of).as_deref(), shape, "{view:?}");
        }
    }
}
