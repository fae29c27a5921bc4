//! Boolean masks: bitmaps, and the selection of elements by a mask.
//!
//! `bitmap` evaluates a mask program to one bit per element; `selection` adds the count of selected elements
//! before each block, so that any range of the compacted result can be computed independently.

#[allow(unsafe_code)]
pub(crate) mod bitmap;
pub(crate) mod selection;
