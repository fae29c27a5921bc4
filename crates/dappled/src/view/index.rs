//! Basic indexing: integers, slices, Ellipsis, new axes.

use dappled_kernels::View;
use dappled_protocol::slice::{Item, Key, Part};

use super::ViewError;

/// What a key selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// The elements.
    pub view: View,
    /// Was one element named by integers alone? NumPy gives a scalar then, not an array.
    pub is_element: bool,
}

/// What `view[items]` selects.
pub fn indexed(view: &View, items: &[Item]) -> Result<Indexed, ViewError> {
    let is_element =
        items.iter().all(|item| matches!(item, Item::Index(_))) && items.len() == view.shape.len();
    let shape: Vec<u64> = view.shape.iter().map(|&length| length as u64).collect();
    let key = Key::new(items, &shape)?;
    let mut axes = view.shape.iter().zip(&view.strides);
    let mut found = View {
        dtype: view.dtype,
        offset: view.offset,
        shape: Default::default(),
        strides: Default::default(),
    };
    let mut offset = view.offset as isize;
    for part in key.parts() {
        let (length, stride) = match *part {
            Part::NewAxis(length) => (length as usize, 0),
            Part::Index(index) => {
                offset += index as isize * axes.next().expect("an axis each").1;
                continue;
            }
            Part::Region(region) => {
                let stride = axes.next().expect("an axis each").1;
                if region.len() > 0 {
                    offset += region.at(0) as isize * stride;
                }
                (region.len() as usize, stride * region.step() as isize)
            }
        };
        found.shape.push(length);
        found.strides.push(stride);
    }
    // An empty view may begin anywhere; where the base begins is always inside it.
    found.offset = if found.is_empty() { view.offset } else { offset as usize };
    Ok(Indexed { view: found, is_element })
}
