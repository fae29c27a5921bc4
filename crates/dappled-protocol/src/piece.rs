//! The protocol as a trait: any Rust type may offer its piece of a distributed array.

use std::ops::{Deref, DerefMut};

use crate::dim::Dim;
use crate::error::ProtocolError;
use crate::rules;

/// A type that holds one rank's piece of a distributed array and lends it out, without a copy.
///
/// ```
/// use dappled_protocol::{DistArray, Distribution, Elements};
///
/// struct Column { values: Vec<f64>, distribution: Distribution, rank: u64 }
///
/// impl DistArray for Column {
///     type Element = f64;
///     fn dims(&self) -> Vec<dappled_protocol::Dim> {
///         self.distribution.dim_data(self.rank).expect("a block has a description")
///     }
///     fn elements(&self) -> Elements<'_, f64> {
///         Elements::contiguous(&self.values, &[self.values.len()])
///     }
/// }
///
/// let distribution = Distribution::spec(&[5]).nprocs(2).build()?;
/// let column = Column { values: vec![0.0; 3], distribution, rank: 0 };
/// column.validate()?;
/// assert_eq!(column.elements().get(&[2]), Some(&0.0));
/// # Ok::<(), dappled_protocol::ProtocolError>(())
/// ```
pub trait DistArray {
    /// The type of an element.
    type Element;

    /// What the piece is a piece of: one dimension an axis.
    fn dims(&self) -> Vec<Dim>;

    /// The memory of the piece, padding included, as it lies.
    fn elements(&self) -> Elements<'_, Self::Element>;

    /// The same to write through; None where the piece is read-only.
    fn elements_mut(&mut self) -> Option<ElementsMut<'_, Self::Element>> {
        None
    }

    /// Does the memory have the shape that the dimensions say?
    fn validate(&self) -> Result<(), ProtocolError> {
        let (dims, elements) = (self.dims(), self.elements());
        if dims.len() != elements.shape.len() {
            return Err(ProtocolError::new(
                &rules::L04,
                format!("{} dimensions", elements.shape.len()),
            )
            .with_key("dim_data")
            .with_value(format!("{} dimensions", dims.len())));
        }
        let mut extents = dims.iter().map(Dim::extent).zip(&elements.shape).enumerate();
        match extents.find(|(_, (extent, length))| *extent != **length as u64) {
            Some((axis, (extent, length))) => {
                Err(ProtocolError::new(&rules::L11, format!("an extent of {extent}"))
                    .with_dimension(axis)
                    .with_value(format!("memory of length {length}")))
            }
            None => Ok(()),
        }
    }
}

/// Elements in memory, `strides` elements apart along each axis, from `offset` on.
#[derive(Clone, Debug)]
pub struct Strided<Memory> {
    memory: Memory,
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

/// Elements lent to be read.
pub type Elements<'a, T> = Strided<&'a [T]>;

/// Elements lent to be written.
pub type ElementsMut<'a, T> = Strided<&'a mut [T]>;

impl<T, Memory: Deref<Target = [T]>> Strided<Memory> {
    /// Elements in C order, without gaps.
    pub fn contiguous(memory: Memory, shape: &[usize]) -> Self {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis] as isize;
        }
        Self { memory, offset: 0, shape: shape.to_vec(), strides }
    }

    /// Elements as they lie: axis by axis a length and a stride, negative ones too.
    pub fn new(memory: Memory, offset: usize, shape: Vec<usize>, strides: Vec<isize>) -> Self {
        Self { memory, offset, shape, strides }
    }

    /// The length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements from one index to the next along each axis.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The element at a place; None where there is none.
    pub fn get(&self, index: &[usize]) -> Option<&T> {
        self.memory.get(self.position(index)?)
    }

    fn position(&self, index: &[usize]) -> Option<usize> {
        let is_inside = index.len() == self.shape.len()
            && index.iter().zip(&self.shape).all(|(at, length)| at < length);
        let steps = index.iter().zip(&self.strides).map(|(&at, &stride)| at as isize * stride);
        is_inside.then(|| self.offset.checked_add_signed(steps.sum())).flatten()
    }
}

impl<T, Memory: DerefMut<Target = [T]>> Strided<Memory> {
    /// The element at a place, to write; None where there is none.
    pub fn get_mut(&mut self, index: &[usize]) -> Option<&mut T> {
        let position = self.position(index)?;
        self.memory.get_mut(position)
    }
}
