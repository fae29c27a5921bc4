//! Views that do not follow the axes of a distributed array.
//!
//! Views without an axis mapping arise from reshapes, diagonals, the real and imaginary parts of complex numbers, and
//! sliding windows. The array is redistributed to a shape of whose axes the view is a slice. A view
//! without such a shape is copied slice by slice.

use std::sync::Arc;

use dappled_kernels::{DType, View};

use super::reshape::{
    c_order_placement, copy_to_own_memory, has_placement, redistribute_node, reshape_distributed,
};
use crate::array::Array;
use crate::array::byte_array::as_byte_array;
use crate::array::node::{Node, NodeInput, NodeState};
use crate::array::placement::{DistributedPlacement, Placement};
use crate::config::MAX_SLICES;
use crate::error::Result;
use crate::run::evaluate::{materialize, materialize_in, materialize_replicated, write_arg};
use crate::session::Session;
use crate::view::axis_mapping;
use crate::view::fitting_shape::fitting_shape;

/// An input whose view follows the axes of its base. Collective, unless it is replicated.
pub(crate) fn align_to_axes(
    session: &Session,
    (node, view): &(Arc<Node>, View),
) -> Result<(Arc<Node>, View)> {
    if axis_mapping(view, &node.base).is_some() {
        return Ok((node.clone(), view.clone()));
    }
    if let Some((bytes, view)) = as_byte_array(node, view) {
        return Ok((bytes.node_over(session, node, &materialize(session, node)?), view));
    }
    if !node.placement.is_replicated()
        && let Some(aligned) = reshape_to_axes(session, node, view)?
    {
        return Ok((aligned, view.clone()));
    }
    let copy = match node.placement.is_replicated() || shortest_axis(view).1 > MAX_SLICES {
        false => copy_by_slices(session, node, view)?,
        true => copy_by_gathering(session, node, view)?,
    };
    let view = copy.base.clone();
    Ok((copy, view))
}

/// The shortest axis that is longer than 1, and its length.
fn shortest_axis(view: &View) -> (usize, usize) {
    let axes = view.shape.iter().copied().enumerate().filter(|&(_, length)| length > 1);
    axes.min_by_key(|&(_, length)| length).unwrap_or((0, usize::MAX))
}

/// Copies a view slice by slice along its shortest axis.
fn copy_by_slices(session: &Session, node: &Arc<Node>, view: &View) -> Result<Arc<Node>> {
    let (axis, length) = shortest_axis(view);
    let base = View::c_order(view.dtype, &view.shape);
    let placement = session.default_placement(base.dtype, &base.shape);
    let (copy, memory) = Node::with_new_buffer(session, base.clone(), placement);
    for index in 0..length {
        let part = NodeInput::Array(node.clone(), view.slice_axis(axis, index, 1, 1));
        write_arg(session, &copy, &base.slice_axis(axis, index, 1, 1), &memory, &part)?;
    }
    Ok(copy)
}

/// Copies a view of the gathered array.
fn copy_by_gathering(session: &Session, node: &Arc<Node>, view: &View) -> Result<Arc<Node>> {
    let base = match node.placement {
        Placement::Replicated => node.clone(),
        Placement::Distributed(_) => {
            let array = NodeInput::Array(node.clone(), node.base.clone());
            materialize_replicated(session, &array, node.base.dtype, &node.base.shape)?
        }
    };
    materialize_replicated(session, &NodeInput::Array(base, view.clone()), view.dtype, &view.shape)
}

/// Reinterprets a distributed array in a shape of whose axes a view is a slice. Collective.
///
/// Returns `None` if there is no such shape. The memory may be shared.
fn reshape_to_axes(session: &Session, node: &Arc<Node>, view: &View) -> Result<Option<Arc<Node>>> {
    let Some(reinterpreted) = reinterpret_dtype(session, node, view.dtype)? else {
        return Ok(None);
    };
    match axis_mapping(view, &reinterpreted.base) {
        Some(_) => Ok(Some(reinterpreted)),
        None => match fitting_shape(view, &reinterpreted.base) {
            Some(shape) => reshape_distributed(session, &reinterpreted, &shape, None).map(Some),
            None => Ok(None),
        },
    }
}

/// Reinterprets memory as elements of another dtype; smaller elements add a trailing axis.
///
/// Returns `None` for larger elements.
fn reinterpret_dtype(
    session: &Session,
    node: &Arc<Node>,
    dtype: DType,
) -> Result<Option<Arc<Node>>> {
    if node.base.dtype == dtype {
        return Ok((!node.base.shape.is_empty()).then(|| node.clone()));
    }
    let ratio = node.base.dtype.itemsize() / dtype.itemsize();
    if ratio == 0 || node.base.shape.is_empty() {
        return Ok(None);
    }
    let Placement::Distributed(placement) = &node.placement else { return Ok(None) };
    let distribution = placement.distribution.with_trailing(ratio as u64);
    let shape: Vec<usize> = node.base.shape.iter().copied().chain([ratio]).collect();
    let mut local = View { dtype, ..placement.local_view.clone() };
    local.shape.push(ratio);
    local.strides.push(dtype.itemsize() as isize);
    let placement =
        Placement::Distributed(Arc::new(DistributedPlacement { distribution, local_view: local }));
    let state = NodeState::Stored(materialize(session, node)?);
    let reinterpreted = Node::new(session, View::c_order(dtype, &shape), placement, state);
    Ok(Some(reinterpreted.with_id_of(node)))
}

impl Array {
    /// Writes through a view that does not follow the axes of a distributed array. Collective.
    pub(crate) fn store_reindexed(&self, node: &Arc<Node>, arg: &NodeInput) -> Result<()> {
        let session = self.session();
        let next = match reshape_to_axes(session, node, self.view())? {
            Some(reshaped) => {
                let reshaped = copy_to_own_memory(session, &reshaped)?;
                write_arg(session, &reshaped, self.view(), &materialize(session, &reshaped)?, arg)?;
                restore_shape(session, &reshaped, node)?
            }
            None if shortest_axis(self.view()).1 <= MAX_SLICES => return self.store_by_slices(arg),
            None => self.write_by_gathering(node, arg)?,
        };
        if !self.is_lent() {
            self.storage.replace(next);
            return Ok(());
        }
        let array = NodeInput::Array(next, node.base.clone());
        write_arg(session, node, &node.base, &materialize(session, node)?, &array)
    }

    /// Writes slice by slice along the shortest axis; each slice follows the axes.
    fn store_by_slices(&self, arg: &NodeInput) -> Result<()> {
        let (session, (axis, length)) = (self.session(), shortest_axis(self.view()));
        let base = View::c_order(self.dtype(), self.shape());
        let placement = session.default_placement(base.dtype, &base.shape);
        let temporary = materialize_in(session, arg, base.clone(), placement)?;
        for index in 0..length {
            let part = NodeInput::Array(temporary.clone(), base.slice_axis(axis, index, 1, 1));
            self.with_view(self.view().slice_axis(axis, index, 1, 1))
                .store_input(part, 0, false)?;
        }
        Ok(())
    }

    /// Gathers the array, writes to it, and distributes it again.
    fn write_by_gathering(&self, node: &Arc<Node>, arg: &NodeInput) -> Result<Arc<Node>> {
        let session = self.session();
        let array = NodeInput::Array(node.clone(), node.base.clone());
        let gathered = materialize_replicated(session, &array, node.base.dtype, &node.base.shape)?;
        let temporary = materialize_replicated(session, arg, self.dtype(), self.shape())?;
        let view = temporary.base.clone();
        let memory = materialize(session, &gathered)?;
        write_arg(session, &gathered, self.view(), &memory, &NodeInput::Array(temporary, view))?;
        redistribute_node(session, &gathered, c_order_placement(session, node))
    }
}

/// Reinterprets an array from [`reshape_to_axes`] in the shape and dtype of the original node.
fn restore_shape(
    session: &Session,
    reshaped: &Arc<Node>,
    original: &Arc<Node>,
) -> Result<Arc<Node>> {
    let reinterpreted = reinterpret_dtype(session, original, reshaped.base.dtype)?
        .expect("it was reinterpreted before");
    let placement = c_order_placement(session, &reinterpreted);
    let aligned = match reshaped.base.shape == reinterpreted.base.shape {
        true => reshaped.clone(),
        false => reshape_distributed(session, reshaped, &reinterpreted.base.shape, None)?,
    };
    let aligned = match has_placement(&aligned, &placement) {
        true => aligned,
        false => redistribute_node(session, &aligned, placement)?,
    };
    let state = NodeState::Stored(materialize(session, &aligned)?);
    let restored =
        Node::new(session, original.base.clone(), c_order_placement(session, original), state);
    Ok(restored.with_id_of(&aligned))
}
