//! The protocol as a Rust trait, for types that hold a piece of a distributed array.

use std::ops::{Deref, DerefMut};

use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::rules::{self, Rule};

/// A type that holds one rank's piece of a distributed array and lends it without a copy.
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
    /// The element type.
    type Element;

    /// Returns the dimension data of the piece, one dimension per axis.
    fn dims(&self) -> Vec<Dim>;

    /// Returns a view of the memory of the piece, padding included.
    fn elements(&self) -> Elements<'_, Self::Element>;

    /// Returns a mutable view; None if the piece is read-only.
    fn elements_mut(&mut self) -> Option<ElementsMut<'_, Self::Element>> {
        None
    }

    /// Checks that the memory has the shape that the dimensions imply.
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
                Err(ProtocolError::new(extent_rule(&dims[axis]), format!("an extent of {extent}"))
                    .with_dimension(axis)
                    .with_value(format!("memory of length {length}")))
            }
            None => Ok(()),
        }
    }
}

/// Returns the rule about the extent of a dimension's memory.
fn extent_rule(dim: &Dim) -> &'static Rule {
    match dim.kind {
        DimKind::Block { .. } => &rules::L11,
        DimKind::Cyclic { .. } => &rules::L16,
        DimKind::Unstructured { .. } => &rules::L17,
    }
}

/// A strided view of memory; offset and strides are in elements.
#[derive(Clone, Debug)]
pub struct Strided<Memory> {
    memory: Memory,
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

/// A read-only view.
pub type Elements<'a, T> = Strided<&'a [T]>;

/// A mutable view.
pub type ElementsMut<'a, T> = Strided<&'a mut [T]>;

impl<T, Memory: Deref<Target = [T]>> Strided<Memory> {
    /// Creates a C-contiguous view.
    pub fn contiguous(memory: Memory, shape: &[usize]) -> Self {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis] as isize;
        }
        Self { memory, offset: 0, shape: shape.to_vec(), strides }
    }

    /// Creates a view from lengths and strides, which may be negative.
    pub fn new(memory: Memory, offset: usize, shape: Vec<usize>, strides: Vec<isize>) -> Self {
        Self { memory, offset, shape, strides }
    }

    /// Returns the length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the stride of each axis, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Returns the element at an index; None if out of bounds.
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
    /// Returns the element at an index mutably; None if out of bounds.
    pub fn get_mut(&mut self, index: &[usize]) -> Option<&mut T> {
        let position = self.position(index)?;
        self.memory.get_mut(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;

    /// A writable piece in Fortran order.
    struct Columns {
        memory: Vec<i32>,
        shape: Vec<usize>,
        dims: Vec<Dim>,
    }

    impl DistArray for Columns {
        type Element = i32;

        fn dims(&self) -> Vec<Dim> {
            self.dims.clone()
        }

        fn elements(&self) -> Elements<'_, i32> {
            Strided::new(&self.memory, 0, self.shape.clone(), vec![1, self.shape[0] as isize])
        }

        fn elements_mut(&mut self) -> Option<ElementsMut<'_, i32>> {
            let strides = vec![1, self.shape[0] as isize];
            Some(Strided::new(&mut self.memory, 0, self.shape.clone(), strides))
        }
    }

    fn columns(shape: [usize; 2]) -> Columns {
        let distribution = Distribution::spec(&[4, 3]).nprocs(2).build().unwrap();
        let dims = distribution.dim_data(1).unwrap();
        Columns { memory: (0..6).collect(), shape: shape.to_vec(), dims }
    }

    #[test]
    fn memory_is_lent_as_it_lies() {
        let mut piece = columns([2, 3]);
        piece.validate().unwrap();
        assert_eq!(piece.elements().get(&[1, 2]), Some(&5));
        assert_eq!(piece.elements().get(&[2, 0]), None);
        assert_eq!(piece.elements().get(&[0]), None);
        *piece.elements_mut().unwrap().get_mut(&[0, 1]).unwrap() = 7;
        assert_eq!(piece.memory, [0, 1, 7, 3, 4, 5]);
    }

    #[test]
    fn another_shape_than_the_dimensions_say_is_refused() {
        let error = columns([3, 2]).validate().unwrap_err();
        let expected = "L11: dimension 0: got memory of length 3, expected an extent of 2";
        assert_eq!(error.to_string(), expected);
        let mut piece = columns([2, 3]);
        piece.dims.pop();
        assert_eq!(piece.validate().unwrap_err().rule.id, "L04");
    }

    #[test]
    fn strides_may_be_negative() {
        let backwards = Strided::new(&[1, 2, 3][..], 2, vec![3], vec![-1]);
        let read: Vec<i32> = (0..3).filter_map(|at| backwards.get(&[at]).copied()).collect();
        assert_eq!(read, [3, 2, 1]);
        assert_eq!((backwards.shape(), backwards.strides()), (&[3][..], &[-1][..]));
    }
}
