//! Slice arithmetic: canonical keys, and a key applied to a key.
//!
//! A key is made canonical against a shape as in the GAiN paper: an Ellipsis becomes as many
//! full slices as it stands for, slices are resolved against the length, negative indices
//! become positive. Canonical keys compose: [`Key::then`] gives the one key that selects what
//! two keys, one after the other, select.

use crate::region::Region;

/// One item of a key, as NumPy's basic indexing knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// An index, negative from the end; its axis goes away.
    Index(i64),
    /// `start:stop:step`, each of which may be left out.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// As many full slices as are needed.
    Ellipsis,
    /// A new axis of length 1.
    NewAxis,
}

/// One item of a canonical key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// This index of an axis of the base, which goes away.
    Index(u64),
    /// This region of an axis of the base.
    Region(Region),
    /// An axis that the base does not have, of length 1, or 0 once it was sliced to nothing.
    NewAxis(u64),
}

/// A canonical key: what it selects of a base shape.
///
/// ```
/// use dappled_protocol::slice::{Item, Key};
/// let rows = Key::new(&[Item::Slice(None, None, Some(-2)), Item::Ellipsis], &[5, 9])?;
/// let then = rows.then(&[Item::Index(1)])?;
/// assert_eq!(then, Key::new(&[Item::Index(2)], &[5, 9])?); // rows 4 2 0: the second is 2
/// # Ok::<(), dappled_protocol::slice::KeyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    parts: Vec<Part>,
}

/// A key that does not fit its shape. The texts are NumPy's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// More indices than axes.
    #[error("too many indices for array: array is {ndim}-dimensional, but {given} were indexed")]
    TooMany {
        /// Axes of the shape.
        ndim: usize,
        /// Indices and slices of the key.
        given: usize,
    },
    /// An index that the axis does not have.
    #[error("index {index} is out of bounds for axis {axis} with size {size}")]
    OutOfBounds {
        /// The index as it was given.
        index: i64,
        /// The axis it was given for.
        axis: usize,
        /// The length of that axis.
        size: u64,
    },
    /// A second Ellipsis.
    #[error("an index can only have a single ellipsis ('...')")]
    SecondEllipsis,
    /// A slice with the step 0.
    #[error("slice step cannot be zero")]
    ZeroStep,
}

impl Key {
    /// The canonical form of `items` for an array of this shape.
    pub fn new(items: &[Item], shape: &[u64]) -> Result<Key, KeyError> {
        let mut axes = shape.iter().copied().enumerate();
        let mut parts = Vec::with_capacity(shape.len());
        for item in without_ellipsis(items, shape.len())? {
            if item == Item::NewAxis {
                parts.push(Part::NewAxis(1));
            } else if let Some((axis, size)) = axes.next() {
                parts.push(Part::new(item, axis, size)?);
            }
        }
        parts.extend(axes.map(|(_, size)| Part::Region(Region::all(size))));
        Ok(Key { parts })
    }

    /// The parts, in order; each axis of the base is named once.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The shape of what is selected.
    pub fn shape(&self) -> Vec<u64> {
        self.parts.iter().filter_map(|part| part.len()).collect()
    }

    /// The key that selects what `items` select of what this key selects.
    pub fn then(&self, items: &[Item]) -> Result<Key, KeyError> {
        Ok(self.of(&Key::new(items, &self.shape())?))
    }

    /// The key that selects what `inner`, a key of what this key selects, selects.
    pub fn of(&self, inner: &Key) -> Key {
        let mut own = self.parts.iter().copied();
        let mut parts = Vec::with_capacity(self.parts.len());
        for &part in &inner.parts {
            if matches!(part, Part::NewAxis(_)) {
                parts.push(part);
                continue;
            }
            // An axis that was taken away before is not one that the inner key counts.
            for outer in own.by_ref() {
                parts.extend(outer.then(part));
                if outer.len().is_some() {
                    break;
                }
            }
        }
        parts.extend(own);
        Key { parts }
    }
}

impl Part {
    /// The part of an axis that an item selects; `axis` is for the message.
    fn new(item: Item, axis: usize, size: u64) -> Result<Part, KeyError> {
        Ok(match item {
            Item::Index(index) => Part::Index(resolve_index(index, axis, size)?),
            Item::Slice(start, stop, step) => Part::Region(resolve_slice(start, stop, step, size)?),
            Item::Ellipsis | Item::NewAxis => Part::Region(Region::all(size)),
        })
    }

    /// The length of the axis it leaves, if it leaves one.
    fn len(self) -> Option<u64> {
        match self {
            Part::Index(_) => None,
            Part::Region(region) => Some(region.len()),
            Part::NewAxis(len) => Some(len),
        }
    }

    /// A part of the axis that this part leaves; None where a new axis is taken away again.
    fn then(self, inner: Part) -> Option<Part> {
        match (self, inner) {
            (Part::Region(base), Part::Index(at)) => Some(Part::Index(base.at(at))),
            (Part::Region(base), Part::Region(region)) => Some(Part::Region(base.then(region))),
            (Part::NewAxis(_), Part::Region(region)) => Some(Part::NewAxis(region.len())),
            (Part::NewAxis(_), Part::Index(_)) => None,
            (part, _) => Some(part),
        }
    }
}

/// The items with the Ellipsis replaced by the full slices that it stands for.
fn without_ellipsis(items: &[Item], ndim: usize) -> Result<Vec<Item>, KeyError> {
    let given =
        items.iter().filter(|item| matches!(item, Item::Index(_) | Item::Slice(..))).count();
    let missing = ndim.checked_sub(given).ok_or(KeyError::TooMany { ndim, given })?;
    if items.iter().filter(|&&item| item == Item::Ellipsis).count() > 1 {
        return Err(KeyError::SecondEllipsis);
    }
    let full = Item::Slice(None, None, None);
    let spelt = items.iter().flat_map(|&item| match item {
        Item::Ellipsis => vec![full; missing],
        item => vec![item],
    });
    Ok(spelt.collect())
}

/// An index from either end as one from the start.
fn resolve_index(index: i64, axis: usize, size: u64) -> Result<u64, KeyError> {
    let from_start = if index < 0 { i128::from(index) + i128::from(size) } else { index.into() };
    match u64::try_from(from_start) {
        Ok(found) if found < size => Ok(found),
        _ => Err(KeyError::OutOfBounds { index, axis, size }),
    }
}

/// What Python's `slice.indices` says, as a region.
fn resolve_slice(
    start: Option<i64>,
    stop: Option<i64>,
    step: Option<i64>,
    size: u64,
) -> Result<Region, KeyError> {
    let size = i128::from(size);
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(KeyError::ZeroStep);
    }
    let (lowest, highest) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let resolve = |bound: i64| {
        let bound = i128::from(bound);
        (if bound < 0 { bound + size } else { bound }).clamp(lowest, highest)
    };
    let (first, last) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
    let (start, stop) = (start.map_or(first, resolve), stop.map_or(last, resolve));
    let distance = if step > 0 { stop - start } else { start - stop };
    let len = (distance.max(0) as u128).div_ceil(step.unsigned_abs().into());
    Ok(Region::new(start.max(0) as u64, step, len as u64))
}
