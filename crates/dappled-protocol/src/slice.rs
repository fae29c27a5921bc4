//! Slice arithmetic: canonical keys and their composition.
//!
//! A key is made canonical for a shape, as in the GAiN paper: an Ellipsis is expanded, slices are
//! resolved against the length, and negative indices become positive. Canonical keys compose:
//! [`SliceKey::then`] returns the key equivalent to two keys applied in sequence.

use crate::region::Region;

/// One item of a key in NumPy's basic indexing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyItem {
    /// An index, negative from the end; removes its axis.
    Index(i64),
    /// `start:stop:step`, each optional.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// Expands to as many full slices as needed.
    Ellipsis,
    /// A new axis of length 1.
    NewAxis,
}

/// One item of a canonical key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// An index of an axis of the base; removes the axis.
    Index(u64),
    /// A region of an axis of the base.
    Region(Region),
    /// A new axis of length 1, or 0 after slicing it to nothing.
    NewAxis(u64),
}

/// A slice key is the canonical form of a key for a base shape.
///
/// ```
/// use dappled_protocol::slice::{KeyItem, SliceKey};
/// let rows = SliceKey::new(&[KeyItem::Slice(None, None, Some(-2)), KeyItem::Ellipsis], &[5, 9])?;
/// let row = rows.then(&[KeyItem::Index(1)])?; // rows 4 2 0: the second is 2
/// assert_eq!(row, SliceKey::new(&[KeyItem::Index(2)], &[5, 9])?);
/// # Ok::<(), dappled_protocol::slice::KeyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceKey {
    parts: Vec<KeyPart>,
}

/// A key that does not fit its shape. The messages are NumPy's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key has more indices than the array has axes.
    #[error("too many indices for array: array is {ndim}-dimensional, but {given} were indexed")]
    TooMany {
        /// The number of axes.
        ndim: usize,
        /// The number of indices and slices in the key.
        given: usize,
    },
    /// An index is out of bounds.
    #[error("index {index} is out of bounds for axis {axis} with size {size}")]
    OutOfBounds {
        /// The index as the user wrote it.
        index: i64,
        /// The axis.
        axis: usize,
        /// The length of the axis.
        size: u64,
    },
    /// The key has two Ellipses.
    #[error("an index can only have a single ellipsis ('...')")]
    SecondEllipsis,
    /// A slice has the step 0.
    #[error("slice step cannot be zero")]
    ZeroStep,
}

impl SliceKey {
    /// Creates the canonical form of `items` for an array of this shape.
    pub fn new(items: &[KeyItem], shape: &[u64]) -> Result<SliceKey, KeyError> {
        let mut axes = shape.iter().copied().enumerate();
        let mut parts = Vec::with_capacity(shape.len());
        for item in without_ellipsis(items, shape.len())? {
            if item == KeyItem::NewAxis {
                parts.push(KeyPart::NewAxis(1));
            } else if let Some((axis, size)) = axes.next() {
                parts.push(KeyPart::new(item, axis, size)?);
            }
        }
        parts.extend(axes.map(|(_, size)| KeyPart::Region(Region::all(size))));
        Ok(SliceKey { parts })
    }

    /// Returns the parts in order; each axis of the base occurs once.
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Returns the shape of the selection.
    pub fn shape(&self) -> Vec<u64> {
        self.parts.iter().filter_map(|part| part.len()).collect()
    }

    /// Returns the key equivalent to this key followed by `items`.
    pub fn then(&self, items: &[KeyItem]) -> Result<SliceKey, KeyError> {
        Ok(self.of(&SliceKey::new(items, &self.shape())?))
    }

    /// Returns the key equivalent to this key followed by the canonical key `inner`.
    pub fn of(&self, inner: &SliceKey) -> SliceKey {
        let mut own = self.parts.iter().copied();
        let mut parts = Vec::with_capacity(self.parts.len());
        for &part in &inner.parts {
            if matches!(part, KeyPart::NewAxis(_)) {
                parts.push(part);
                continue;
            }
            // Axes that this key removed are not axes of the inner key.
            for outer in own.by_ref() {
                parts.extend(outer.then(part));
                if outer.len().is_some() {
                    break;
                }
            }
        }
        parts.extend(own);
        SliceKey { parts }
    }
}

impl KeyPart {
    /// Resolves an item for an axis; `axis` is for the message.
    fn new(item: KeyItem, axis: usize, size: u64) -> Result<KeyPart, KeyError> {
        Ok(match item {
            KeyItem::Index(index) => KeyPart::Index(resolve_index(index, axis, size)?),
            KeyItem::Slice(start, stop, step) => {
                KeyPart::Region(resolve_slice(start, stop, step, size)?)
            }
            KeyItem::Ellipsis | KeyItem::NewAxis => KeyPart::Region(Region::all(size)),
        })
    }

    /// Returns the length of the resulting axis; None if the axis is removed.
    fn len(self) -> Option<u64> {
        match self {
            KeyPart::Index(_) => None,
            KeyPart::Region(region) => Some(region.len()),
            KeyPart::NewAxis(len) => Some(len),
        }
    }

    /// Composes two parts; None if a new axis is removed again.
    fn then(self, inner: KeyPart) -> Option<KeyPart> {
        match (self, inner) {
            (KeyPart::Region(base), KeyPart::Index(at)) => Some(KeyPart::Index(base.at(at))),
            (KeyPart::Region(base), KeyPart::Region(region)) => {
                Some(KeyPart::Region(base.then(region)))
            }
            (KeyPart::NewAxis(_), KeyPart::Region(region)) => Some(KeyPart::NewAxis(region.len())),
            (KeyPart::NewAxis(_), KeyPart::Index(_)) => None,
            (part, _) => Some(part),
        }
    }
}

/// Replaces the Ellipsis by full slices.
fn without_ellipsis(items: &[KeyItem], ndim: usize) -> Result<Vec<KeyItem>, KeyError> {
    let given =
        items.iter().filter(|item| matches!(item, KeyItem::Index(_) | KeyItem::Slice(..))).count();
    let missing = ndim.checked_sub(given).ok_or(KeyError::TooMany { ndim, given })?;
    if items.iter().filter(|&&item| item == KeyItem::Ellipsis).count() > 1 {
        return Err(KeyError::SecondEllipsis);
    }
    let full = KeyItem::Slice(None, None, None);
    let expanded = items.iter().flat_map(|&item| match item {
        KeyItem::Ellipsis => vec![full; missing],
        item => vec![item],
    });
    Ok(expanded.collect())
}

/// Converts an index from either end to one from the start.
fn resolve_index(index: i64, axis: usize, size: u64) -> Result<u64, KeyError> {
    let from_start = if index < 0 { i128::from(index) + i128::from(size) } else { index.into() };
    match u64::try_from(from_start) {
        Ok(index) if index < size => Ok(index),
        _ => Err(KeyError::OutOfBounds { index, axis, size }),
    }
}

/// Resolves a slice as Python's `slice.indices`.
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
