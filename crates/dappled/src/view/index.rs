//! Basic indexing: integers, slices, Ellipsis, new axes.
//!
//! [`dappled_protocol::slice::SliceKey`] indexes distributions. This version runs at every
//! `a[i]`, and does not allocate.

use dappled_kernels::View;
use dappled_protocol::slice::{KeyError, KeyItem};

use super::ViewError;

/// The result of basic indexing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedView {
    /// The selected elements.
    pub view: View,
    /// Whether the key consists of integers only: NumPy then returns a scalar, not an array.
    pub is_element: bool,
}

/// A view under construction, and the next axis of the indexed view.
struct IndexBuilder<'a> {
    from: &'a View,
    axis: usize,
    offset: isize,
    view: View,
}

/// The view `view[items]`.
pub fn index_view(view: &View, items: &[KeyItem]) -> Result<IndexedView, ViewError> {
    let ndim = view.shape.len();
    let named = |item: &&KeyItem| matches!(item, KeyItem::Index(_) | KeyItem::Slice(..));
    let index_count = items.iter().filter(named).count();
    let missing =
        ndim.checked_sub(index_count).ok_or(KeyError::TooMany { ndim, given: index_count })?;
    if items.iter().filter(|&&item| item == KeyItem::Ellipsis).count() > 1 {
        return Err(KeyError::SecondEllipsis.into());
    }
    let empty = View { shape: Default::default(), strides: Default::default(), ..*view };
    let mut selection =
        IndexBuilder { from: view, axis: 0, offset: view.offset as isize, view: empty };
    for item in items {
        match *item {
            KeyItem::NewAxis => selection.push(1, 0),
            KeyItem::Ellipsis => selection.keep(missing),
            KeyItem::Index(index) => selection.index(index)?,
            KeyItem::Slice(start, stop, step) => selection.slice(start, stop, step)?,
        }
    }
    selection.keep(ndim - selection.axis);
    let is_element =
        ndim == items.len() && items.iter().all(|item| matches!(item, KeyItem::Index(_)));
    Ok(IndexedView { view: selection.finish(), is_element })
}

impl IndexBuilder<'_> {
    fn push(&mut self, length: usize, stride: isize) {
        self.view.shape.push(length);
        self.view.strides.push(stride);
    }

    /// Takes the next axes unchanged.
    fn keep(&mut self, axes: usize) {
        for axis in self.axis..self.axis + axes {
            self.push(self.from.shape[axis], self.from.strides[axis]);
        }
        self.axis += axes;
    }

    /// Indexes the next axis with an integer, which may be negative.
    fn index(&mut self, index: i64) -> Result<(), KeyError> {
        let (axis, size) = (self.axis, self.from.shape[self.axis] as i64);
        let at = if index < 0 { index.saturating_add(size) } else { index };
        if !(0..size).contains(&at) {
            return Err(KeyError::OutOfBounds { index, axis, size: size as u64 });
        }
        self.offset += at as isize * self.from.strides[axis];
        self.axis += 1;
        Ok(())
    }

    /// Slices the next axis, as Python's `slice.indices` resolves it.
    fn slice(
        &mut self,
        start: Option<i64>,
        stop: Option<i64>,
        step: Option<i64>,
    ) -> Result<(), KeyError> {
        let (size, stride) = (self.from.shape[self.axis] as i64, self.from.strides[self.axis]);
        let step = step.unwrap_or(1);
        if step == 0 {
            return Err(KeyError::ZeroStep);
        }
        let (lowest, highest) = if step > 0 { (0, size) } else { (-1, size - 1) };
        let resolve = |bound: i64| {
            let from_start = if bound < 0 { bound.saturating_add(size) } else { bound };
            from_start.clamp(lowest, highest)
        };
        let (first, last) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
        let (start, stop) = (start.map_or(first, resolve), stop.map_or(last, resolve));
        let distance = if step > 0 { stop - start } else { start - stop };
        let length = (distance.max(0) as u64).div_ceil(step.unsigned_abs()) as usize;
        if length > 0 {
            self.offset += start as isize * stride;
        }
        // The step of a single element may be arbitrarily large; the step of an empty slice is 1 in
        // NumPy.
        let step = match length {
            0 => stride,
            1 => stride.wrapping_mul(step as isize),
            _ => stride * step as isize,
        };
        self.push(length, step);
        self.axis += 1;
        Ok(())
    }

    /// Returns the view. An empty one starts at the start of the indexed view, which is inside the
    /// base.
    fn finish(mut self) -> View {
        if !self.view.is_empty() {
            self.view.offset = self.offset as usize;
        }
        self.view
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dappled_kernels::DType;
    use dappled_protocol::slice::{KeyPart, SliceKey};
    use proptest::prelude::*;

    fn item() -> impl Strategy<Value = KeyItem> {
        let bound = || {
            proptest::option::of(
                prop_oneof![4 => -7i64..8, 1 => Just(i64::MIN), 1 => Just(i64::MAX)],
            )
        };
        prop_oneof![
            2 => (-6i64..6).prop_map(KeyItem::Index),
            4 => (bound(), bound(), bound()).prop_map(|(start, stop, step)| KeyItem::Slice(start, stop, step)),
            1 => Just(KeyItem::Ellipsis),
            1 => Just(KeyItem::NewAxis),
        ]
    }

    /// The flat indices that a key selects, in C order.
    fn by_key(items: &[KeyItem], shape: &[usize]) -> Result<Vec<usize>, KeyError> {
        let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
        let key = SliceKey::new(items, &lengths)?;
        let mut found = vec![0];
        let mut axes = shape.iter();
        for part in key.parts() {
            let indices: Vec<u64> = match *part {
                KeyPart::NewAxis(_) => continue,
                KeyPart::Index(index) => vec![index],
                KeyPart::Region(region) => (0..region.len()).map(|at| region.at(at)).collect(),
            };
            let length = axes.next().expect("an axis each");
            let flat =
                |&outer: &usize| indices.iter().map(move |&index| outer * length + index as usize);
            found = found.iter().flat_map(flat).collect();
        }
        Ok(found)
    }

    fn by_strides(view: &View) -> Vec<usize> {
        let mut found = vec![view.offset as isize];
        for (&length, &stride) in view.shape.iter().zip(&view.strides) {
            let next = |&at: &isize| (0..length as isize).map(move |index| at + index * stride);
            found = found.iter().flat_map(next).collect();
        }
        found.into_iter().map(|at| at as usize / 8).collect()
    }

    proptest! {
        #[test]
        fn selects_what_the_canonical_key_selects(
            items in proptest::collection::vec(item(), 0..5),
            shape in proptest::collection::vec(0usize..6, 0..4),
        ) {
            let found = index_view(&View::c_order(DType::Float64, &shape), &items);
            match by_key(&items, &shape) {
                Ok(wanted) => prop_assert_eq!(by_strides(&found.unwrap().view), wanted),
                Err(error) => prop_assert_eq!(found, Err(ViewError::Key(error))),
            }
        }
    }
}
