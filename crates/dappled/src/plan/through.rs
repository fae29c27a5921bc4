//! How the axes of a view run through its base.

use dappled_protocol::Region;
use dappled_protocol::slice::{Key, Part};

/// How the axes of a view run through its base. Every axis of the base is run along by at most one
/// axis of the view, in any order; the others are taken at their start.
///
/// ```
/// use dappled::plan::{Along, Through};
/// // base[1, ::-1].T of a base of shape (4, 2, 3), repeated twice
/// let through = Through {
///     starts: vec![1, 1, 0],
///     axes: vec![
///         Along { length: 2, base: None },
///         Along { length: 3, base: Some((2, 1)) },
///         Along { length: 2, base: Some((1, -1)) },
///     ],
/// };
/// assert_eq!(through.shape(), [2, 3, 2]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Through {
    /// Where the view's element (0, 0, ...) is in the base, along each axis of the base.
    pub starts: Vec<u64>,
    /// The axes of the view.
    pub axes: Vec<Along>,
}

/// One axis of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Along {
    /// How many elements.
    pub length: u64,
    /// Which axis of the base it runs along, and how far the next element is: never 0, and
    /// backwards if negative. None where the same elements are repeated: a new axis, or
    /// broadcasting.
    pub base: Option<(usize, i64)>,
}

impl Through {
    /// All of a base of this shape.
    pub fn whole(shape: &[u64]) -> Self {
        let along = |(axis, &length): (usize, &u64)| Along { length, base: Some((axis, 1)) };
        Self { starts: vec![0; shape.len()], axes: shape.iter().enumerate().map(along).collect() }
    }

    /// What a key selects.
    pub fn of_key(key: &Key) -> Self {
        let mut through = Self { starts: Vec::new(), axes: Vec::new() };
        for part in key.parts() {
            match *part {
                Part::Index(index) => through.starts.push(index),
                Part::NewAxis(length) => through.axes.push(Along { length, base: None }),
                Part::Region(region) => {
                    let base = Some((through.starts.len(), region.step()));
                    through.axes.push(Along { length: region.len(), base });
                    through.starts.push(region.start());
                }
            }
        }
        through
    }

    /// The shape of the view.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(|along| along.length).collect()
    }

    /// The axis of the base that an axis of the view runs along, and which part of it.
    pub(super) fn region(&self, axis: usize) -> Option<(usize, Region)> {
        let Along { length, base } = self.axes[axis];
        base.map(|(base, step)| (base, Region::new(self.starts[base], step, length)))
    }
}
