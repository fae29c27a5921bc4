//! The positions of elements that are not zero.

use dappled_base::memory;
use dappled_kernels::{Buffer, DType, View};
use dappled_protocol::Distribution;

use crate::array::Array;
use crate::error::Result;
use crate::ops::index_arrays::{in_default_placement, is_local, local_elements, row_distribution};
use crate::run::mask::gather_bounds;

impl Array {
    /// The positions in C order of elements that are not zero: `numpy.flatnonzero`. Collective.
    pub fn flatnonzero(&self) -> Result<Array> {
        let positions = LocalPositions::new(self)?;
        positions.into_array(self, &[])
    }

    /// The indices of elements that are not zero, one row each: `numpy.argwhere`. Collective.
    pub fn argwhere(&self) -> Result<Array> {
        let mut positions = LocalPositions::new(self)?;
        let shape = self.shape();
        let mut indices = memory::zeros(positions.flat.len() * shape.len());
        for (row, &position) in indices.chunks_exact_mut(shape.len().max(1)).zip(&positions.flat) {
            let mut rest = position;
            for (index, &length) in row.iter_mut().zip(shape).rev() {
                (*index, rest) = (rest % length as i64, rest / length as i64);
            }
        }
        positions.flat = indices;
        positions.into_array(self, &[shape.len()])
    }
}

/// This rank's positions.
struct LocalPositions {
    flat: Vec<i64>,
    /// The number of positions on all lower ranks, for each rank; None if every rank has all.
    bounds: Option<Vec<u64>>,
    count: usize,
}

impl LocalPositions {
    /// Finds the positions in this rank's block of the flat array. Collective.
    fn new(array: &Array) -> Result<Self> {
        let session = array.session();
        let mask = match array.dtype() {
            DType::Bool => array.clone(),
            _ => array.cast(DType::Bool)?,
        };
        let flat = mask.reshaped(&[mask.view().len()])?;
        if is_local(&[&flat]) {
            let flat = nonzero(&flat.gather()?.local_buffer()?.read()?, 0);
            return Ok(Self { count: flat.len(), flat, bounds: None });
        }
        let rows = row_distribution(session, flat.shape());
        let (buffer, bytes) = local_elements(&flat, &rows)?;
        let rank = session.fabric().rank();
        let first: u64 = (0..rank).map(|lower| rows.local_shape(lower)[0]).sum();
        let flat = nonzero(&buffer.read()?[bytes], first as i64);
        let bounds = gather_bounds(session, flat.len())?;
        Ok(Self { flat, count: bounds[bounds.len() - 1] as usize, bounds: Some(bounds) })
    }

    /// The array of all positions, or of rows of this shape. Collective.
    fn into_array(self, source: &Array, row: &[usize]) -> Result<Array> {
        let session = source.session();
        let memory = Buffer::from_slice(&self.flat);
        let shape = [&[self.count], row].concat();
        let Some(bounds) = self.bounds.filter(|_| !shape.contains(&0)) else {
            return Ok(Array::from_owned(session, memory, View::c_order(DType::Int64, &shape)));
        };
        let rank = session.fabric().rank() as usize;
        let own = (bounds[rank + 1] - bounds[rank]) as usize;
        let local = View::c_order(DType::Int64, &[&[own], row].concat());
        let distribution = uneven_rows(&shape, &bounds);
        in_default_placement(&Array::from_owned_piece(session, distribution, memory, local), 0)
    }
}

/// The positions of bytes that are not zero, counted from `first`.
fn nonzero(bytes: &[u8], first: i64) -> Vec<i64> {
    let mask: Vec<bool> = memory::collect(bytes.iter().map(|&byte| byte != 0));
    let mut positions = memory::zeros(dappled_sort::nonzero::count_nonzero(&mask));
    dappled_sort::nonzero::nonzero(&mask, &mut positions);
    if first > 0 {
        positions.iter_mut().for_each(|position| *position += first);
    }
    positions
}

/// The distribution in blocks of rows between these bounds.
fn uneven_rows(shape: &[usize], bounds: &[u64]) -> Distribution {
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let mut spec = Distribution::spec(&lengths)
        .dist(&format!("b{}", "n".repeat(shape.len() - 1)))
        .nprocs(bounds.len() as u64 - 1);
    spec.axes[0].bounds = Some(bounds.to_vec());
    spec.build().expect("bounds ascend and there is one for each rank")
}
