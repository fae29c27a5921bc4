//! The protocol as a trait: any Rust type may offer its piece of a distributed array.

use std::ops::{Deref, DerefMut};

use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::rules::{self, Rule};

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
                Err(ProtocolError::new(extent_rule(&dims[axis]), format!("an extent of {extent}"))
                    .with_dimension(axis)
                    .with_value(format!("memory of length {length}")))
            }
            None => Ok(()),
        }
    }
}

/// The rule that ties the extent of memory to a dimension.
fn extent_rule(dim: &Dim) -> &'static Rule {
    match dim.kind {
        DimKind::Block { .. } => &rules::L11,
        DimKind::Cyclic { .. } => &rules::L16,
        DimKind::Unstructured { .. } => &rules::L17,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;

    /// A piece in Fortran order that can be written.
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
