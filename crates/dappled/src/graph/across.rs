//! Views that do not follow the axes of an array in pieces: another shape, a diagonal, the parts of
//! complex numbers, windows. The array is brought into a shape of which the view is a part along the
//! axes, in pieces as it is; what has no such shape is taken slice by slice.

use std::sync::Arc;

use dappled_kernels::{DType, View};

use super::evaluate::{gathered, laid_out, value, write};
use super::items::in_bytes;
use super::layout::{Layout, Split};
use super::node::{Arg, Node, State};
use super::reshape::{in_shape, is_laid_out, moved, own_memory, plain};
use super::{Array, GraphError, Session};
use crate::view::{fitting_shape, through};

/// An input whose view follows the axes of its base, in pieces wherever it was. Collective, unless
/// it is whole.
pub(super) fn followed(
    session: &Session,
    (node, view): &(Arc<Node>, View),
) -> Result<(Arc<Node>, View), GraphError> {
    if through(view, &node.base).is_some() {
        return Ok((node.clone(), view.clone()));
    }
    if let Some((bytes, view)) = in_bytes(node, view) {
        return Ok((bytes.over(session, node, &value(session, node)?), view));
    }
    if !node.layout.is_whole()
        && let Some(turned) = along_axes(session, node, view)?
    {
        return Ok((turned, view.clone()));
    }
    let copy = match node.layout.is_whole() || shortest(view).1 > MOST_SLICES {
        false => by_slices(session, node, view)?,
        true => by_gathering(session, node, view)?,
    };
    let view = copy.base.clone();
    Ok((copy, view))
}

/// So many slices are copied one by one.
const MOST_SLICES: usize = 64;

/// The shortest axis, and its length.
fn shortest(view: &View) -> (usize, usize) {
    let axes = view.shape.iter().copied().enumerate().filter(|&(_, length)| length > 1);
    axes.min_by_key(|&(_, length)| length).unwrap_or((0, usize::MAX))
}

fn by_slices(session: &Session, node: &Arc<Node>, view: &View) -> Result<Arc<Node>, GraphError> {
    let (axis, length) = shortest(view);
    let base = View::c_order(view.dtype, &view.shape);
    let layout = session.layout(base.dtype, &base.shape);
    let (made, memory) = Node::fresh(session, base.clone(), layout);
    for at in 0..length {
        let part = Arg::Part(node.clone(), view.region(axis, at, 1, 1));
        write(session, &made, &base.region(axis, at, 1, 1), &memory, &part)?;
    }
    Ok(made)
}

fn by_gathering(session: &Session, node: &Arc<Node>, view: &View) -> Result<Arc<Node>, GraphError> {
    let base = match node.layout {
        Layout::Whole => node.clone(),
        Layout::Split(_) => {
            let all = Arg::Part(node.clone(), node.base.clone());
            gathered(session, &all, node.base.dtype, &node.base.shape)?
        }
    };
    gathered(session, &Arg::Part(base, view.clone()), view.dtype, &view.shape)
}

/// The bytes of an array in pieces as an array of which a view is a part along the axes; None where
/// there is no such array. Its memory may be the same. Collective.
fn along_axes(
    session: &Session,
    node: &Arc<Node>,
    view: &View,
) -> Result<Option<Arc<Node>>, GraphError> {
    let Some(same) = of_dtype(session, node, view.dtype)? else { return Ok(None) };
    match through(view, &same.base) {
        Some(_) => Ok(Some(same)),
        None => match fitting_shape(view, &same.base) {
            Some(shape) => in_shape(session, &same, &shape, None).map(Some),
            None => Ok(None),
        },
    }
}

/// The same memory as elements of another dtype, as large or smaller: then along one more axis. None
/// where they are larger.
fn of_dtype(
    session: &Session,
    node: &Arc<Node>,
    dtype: DType,
) -> Result<Option<Arc<Node>>, GraphError> {
    if node.base.dtype == dtype {
        return Ok((!node.base.shape.is_empty()).then(|| node.clone()));
    }
    let ratio = node.base.dtype.itemsize() / dtype.itemsize();
    if ratio == 0 || node.base.shape.is_empty() {
        return Ok(None);
    }
    let Layout::Split(split) = &node.layout else { return Ok(None) };
    let distribution = split.distribution.with_trailing(ratio as u64);
    let shape: Vec<usize> = node.base.shape.iter().copied().chain([ratio]).collect();
    let mut local = View { dtype, ..split.local.clone() };
    local.shape.push(ratio);
    local.strides.push(dtype.itemsize() as isize);
    let layout = Layout::Split(Arc::new(Split { distribution, local }));
    let state = State::Stored(value(session, node)?);
    let same = Node::new(session, View::c_order(dtype, &shape), layout, state);
    Ok(Some(same.as_version_of(node)))
}

impl Array {
    /// Writes over a view that does not follow the axes of what is in pieces.
    pub(super) fn store_across(&self, node: &Arc<Node>, arg: &Arg) -> Result<(), GraphError> {
        let session = self.session();
        let next = match along_axes(session, node, self.view())? {
            Some(turned) => {
                let turned = own_memory(session, &turned)?;
                write(session, &turned, self.view(), &value(session, &turned)?, arg)?;
                turned_back(session, &turned, node)?
            }
            None if shortest(self.view()).1 <= MOST_SLICES => return self.store_by_slices(arg),
            None => self.written_by_gathering(node, arg)?,
        };
        if !self.is_lent() {
            self.versions.replace(next);
            return Ok(());
        }
        let all = Arg::Part(next, node.base.clone());
        write(session, node, &node.base, &value(session, node)?, &all)
    }

    /// Slice by slice along the shortest axis, each of which is a view that can be written.
    fn store_by_slices(&self, arg: &Arg) -> Result<(), GraphError> {
        let (session, (axis, length)) = (self.session(), shortest(self.view()));
        let base = View::c_order(self.dtype(), self.shape());
        let layout = session.layout(base.dtype, &base.shape);
        let aside = laid_out(session, arg, base.clone(), layout)?;
        for at in 0..length {
            let part = Arg::Part(aside.clone(), base.region(axis, at, 1, 1));
            self.with_view(self.view().region(axis, at, 1, 1)).store(part, 0, false)?;
        }
        Ok(())
    }

    /// All is brought together, written, and shared out again.
    fn written_by_gathering(&self, node: &Arc<Node>, arg: &Arg) -> Result<Arc<Node>, GraphError> {
        let session = self.session();
        let all = Arg::Part(node.clone(), node.base.clone());
        let whole = gathered(session, &all, node.base.dtype, &node.base.shape)?;
        let aside = gathered(session, arg, self.dtype(), self.shape())?;
        let view = aside.base.clone();
        let memory = value(session, &whole)?;
        write(session, &whole, self.view(), &memory, &Arg::Part(aside, view))?;
        moved(session, &whole, plain(session, node))
    }
}

/// The bytes of `turned`, which [`along_axes`] made of a node, as that node has them.
fn turned_back(
    session: &Session,
    turned: &Arc<Node>,
    like: &Arc<Node>,
) -> Result<Arc<Node>, GraphError> {
    let same = of_dtype(session, like, turned.base.dtype)?.expect("as it was turned");
    let layout = plain(session, &same);
    let found = match turned.base.shape == same.base.shape {
        true => turned.clone(),
        false => in_shape(session, turned, &same.base.shape, None)?,
    };
    let found = match is_laid_out(&found, &layout) {
        true => found,
        false => moved(session, &found, layout)?,
    };
    let state = State::Stored(value(session, &found)?);
    let back = Node::new(session, like.base.clone(), plain(session, like), state);
    Ok(back.as_version_of(&found))
}
