//! Basic indexing: integers, slices, Ellipsis, new axes.
//!
//! [`dappled_protocol::slice::Key`] says the same of distributions; this is asked for at every
//! `a[i]`, and allocates nothing.

use dappled_kernels::View;
use dappled_protocol::slice::{Item, KeyError};

use super::ViewError;

/// What a key selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// The elements.
    pub view: View,
    /// Was one element named by integers alone? NumPy gives a scalar then, not an array.
    pub is_element: bool,
}

/// A view under construction: the axes of another that are still to be named, and what was named.
struct Selection<'a> {
    from: &'a View,
    axis: usize,
    offset: isize,
    view: View,
}

/// What `view[items]` selects.
pub fn indexed(view: &View, items: &[Item]) -> Result<Indexed, ViewError> {
    let ndim = view.shape.len();
    let named = |item: &&Item| matches!(item, Item::Index(_) | Item::Slice(..));
    let given = items.iter().filter(named).count();
    let missing = ndim.checked_sub(given).ok_or(KeyError::TooMany { ndim, given })?;
    if items.iter().filter(|&&item| item == Item::Ellipsis).count() > 1 {
        return Err(KeyError::SecondEllipsis.into());
    }
    let empty = View { shape: Default::default(), strides: Default::default(), ..*view };
    let mut selection =
        Selection { from: view, axis: 0, offset: view.offset as isize, view: empty };
    for item in items {
        match *item {
            Item::NewAxis => selection.push(1, 0),
            Item::Ellipsis => selection.keep(missing),
            Item::Index(index) => selection.index(index)?,
            Item::Slice(start, stop, step) => selection.slice(start, stop, step)?,
        }
    }
    selection.keep(ndim - selection.axis);
    let is_element = ndim == items.len() && items.iter().all(|item| matches!(item, Item::Index(_)));
    Ok(Indexed { view: selection.finished(), is_element })
}

impl Selection<'_> {
    fn push(&mut self, length: usize, stride: isize) {
        self.view.shape.push(length);
        self.view.strides.push(stride);
    }

    /// So many axes as they are.
    fn keep(&mut self, axes: usize) {
        for axis in self.axis..self.axis + axes {
            self.push(self.from.shape[axis], self.from.strides[axis]);
        }
        self.axis += axes;
    }

    /// The next axis at an index, counted from the end where it is negative.
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

    /// A part of the next axis, as Python's `slice.indices` resolves it.
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
        // A step that is never taken may be as large as it likes; of nothing, NumPy takes steps of 1.
        let step = match length {
            0 => stride,
            1 => stride.wrapping_mul(step as isize),
            _ => stride * step as isize,
        };
        self.push(length, step);
        self.axis += 1;
        Ok(())
    }

    /// An empty view may begin anywhere; where the other begins is always inside the base.
    fn finished(mut self) -> View {
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
    use dappled_protocol::slice::{Key, Part};
    use proptest::prelude::*;

    fn item() -> impl Strategy<Value = Item> {
        let bound = || {
            proptest::option::of(
                prop_oneof![4 => -7i64..8, 1 => Just(i64::MIN), 1 => Just(i64::MAX)],
            )
        };
        prop_oneof![
            2 => (-6i64..6).prop_map(Item::Index),
            4 => (bound(), bound(), bound()).prop_map(|(start, stop, step)| Item::Slice(start, stop, step)),
            1 => Just(Item::Ellipsis),
            1 => Just(Item::NewAxis),
        ]
    }

    /// The elements that a key selects, in C order, as flat indices.
    fn by_key(items: &[Item], shape: &[usize]) -> Result<Vec<usize>, KeyError> {
        let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
        let key = Key::new(items, &lengths)?;
        let mut found = vec![0];
        let mut axes = shape.iter();
        for part in key.parts() {
            let indices: Vec<u64> = match *part {
                Part::NewAxis(_) => continue,
                Part::Index(index) => vec![index],
                Part::Region(region) => (0..region.len()).map(|at| region.at(at)).collect(),
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
            let found = indexed(&View::c_order(DType::Float64, &shape), &items);
            match by_key(&items, &shape) {
                Ok(wanted) => prop_assert_eq!(by_strides(&found.unwrap().view), wanted),
                Err(error) => prop_assert_eq!(found, Err(ViewError::Key(error))),
            }
        }
    }
}
