//! Reductions of arrays in pieces, with the bits that one memory gives.
//!
//! Values that do not lie so are moved first so that each rank has all that its results need: folded
//! axes whole. Where all axes are folded, exact operations fold the ranks' results, whichever lies
//! where; float sums follow NumPy's order over the ranks ([`spread_sum`]); what is left is gathered.

use std::sync::Arc;

use dappled_kernels::{Buffer, DType, Fold, View};
use dappled_protocol::slice::{Item, Key};
use dappled_protocol::{Distribution, Held};
use num_complex::{Complex32, Complex64};

use super::evaluate::value;
use super::fold::{Folding, Values, fold_here};
use super::fuse::{Fused, fused};
use super::layout::Layout;
use super::node::{Arg, Node, State};
use super::spread::computed;
use super::spread_sum::sum;
use super::{Array, GraphError, Session};
use crate::plan::for_reduction;
use crate::run::RunError;

/// Folds values of which some are in pieces, their axes in the order of memory: a transposed array
/// lies as what it was transposed from. Collective.
pub(super) fn folded(
    session: &Session,
    values: Values,
    folding: &Folding,
) -> Result<Array, GraphError> {
    if values.shape.contains(&0) || values.shape.is_empty() {
        return gathered(session, values, folding);
    }
    let exact = folding.dtype.is_integral() || !matches!(folding.fold, Fold::Add | Fold::Multiply);
    let sums = folding.fold == Fold::Add && folding.initial.is_some();
    match folding.dtype {
        _ if folding.axes.len() < values.shape.len() => along(session, values, folding),
        _ if exact => each(session, values, folding),
        DType::Float32 if sums => sum::<f32>(session, values, folding),
        DType::Float64 if sums => sum::<f64>(session, values, folding),
        DType::Complex64 if sums => sum::<Complex32>(session, values, folding),
        DType::Complex128 if sums => sum::<Complex64>(session, values, folding),
        _ => gathered(session, values, folding),
    }
}

/// Where the values lie: as the first array of their shape that they are made of does.
fn lies(session: &Session, values: &Values) -> Distribution {
    let inputs = values.fused.inputs.iter();
    let mut found = inputs.filter_map(|(node, view)| match &node.layout {
        Layout::Split(split) if *view == node.base => Some(&split.distribution),
        _ => None,
    });
    let found = found.find(|found| found.held() == Held::Grid);
    found.cloned().unwrap_or_else(|| session.blocks(&values.shape))
}

/// A distribution in which these axes are whole, or parts in order if they are all; the one in which
/// the values lie, if it is such a one.
pub(super) fn ready(session: &Session, values: &Values, axes: &[usize]) -> Distribution {
    for_reduction(&lies(session, values), axes)
}

/// This rank's part of the values in a distribution without padding: what lies so is read as it is,
/// else they are computed there first.
pub(super) fn here(
    session: &Session,
    values: Values,
    target: &Distribution,
) -> Result<Values, GraphError> {
    let fits = |(node, view): &(Arc<Node>, View)| match &node.layout {
        Layout::Split(split) => *view == node.base && split.distribution == *target,
        Layout::Whole => false,
    };
    let fused = match values.fused.inputs.iter().all(fits) {
        true => {
            let inputs = values.fused.inputs.iter().map(|(node, _)| piece(session, node));
            Fused { inputs: inputs.collect::<Result<_, _>>()?, ..values.fused }
        }
        false => {
            let dtype = values.fused.program.dtype(values.fused.program.outputs[0]);
            let dtype = dtype.expect("a program has an output");
            let layout = Layout::split(target.clone(), dtype, session.fabric().rank());
            let base = View::c_order(dtype, &values.shape);
            let node = computed(session, &values.fused, base, layout)?;
            let (node, view) = piece(session, &node)?;
            fused(session, &Arg::Part(node, view), dtype)?
        }
    };
    Ok(Values { fused, ..values })
}

/// This rank's piece of a node as an array by itself.
fn piece(session: &Session, node: &Arc<Node>) -> Result<(Arc<Node>, View), GraphError> {
    let view = node.layout.local(&node.base).clone();
    let state = State::Stored(value(session, node)?);
    Ok((Node::new(session, view.clone(), Layout::Whole, state), view))
}

/// What is folded in no simpler way: on every rank.
fn gathered(session: &Session, values: Values, folding: &Folding) -> Result<Array, GraphError> {
    let (dtype, shape) = (folding.dtype, values.shape.clone());
    let base = View::c_order(dtype, &shape);
    let node = computed(session, &values.fused, base.clone(), Layout::Whole)?;
    let values = Values { fused: fused(session, &Arg::Part(node, base), dtype)?, ..values };
    fold_here(session, &values, folding, &shape)
}

/// Some axes stay: each rank has whole results.
fn along(session: &Session, values: Values, folding: &Folding) -> Result<Array, GraphError> {
    let rank = session.fabric().rank();
    let target = ready(session, &values, &folding.axes);
    let local: Vec<usize> = target.local_shape(rank).iter().map(|&len| len as usize).collect();
    let base = View::c_order(folding.dtype, &folding.folded(&values.shape));
    let values = here(session, values, &target)?;
    let result = fold_here(session, &values, folding, &local)?;
    let memory = value(session, &result.versions.current())?;
    let layout = Layout::split(kept(&target, &folding.axes), folding.dtype, rank);
    let small = session.layout(folding.dtype, &base.shape).is_whole();
    let pieces = Array::over(session, Node::new(session, base, layout, State::Stored(memory)));
    if small { pieces.gathered() } else { Ok(pieces) }
}

/// Where results lie: as the values did, with one element along folded axes, which were whole.
fn kept(target: &Distribution, axes: &[usize]) -> Distribution {
    let item = |axis: usize| match axes.contains(&axis) {
        true => Item::Slice(Some(0), Some(1), None),
        false => Item::Slice(None, None, None),
    };
    let items: Vec<Item> = (0..target.axes().len()).map(item).collect();
    let key = Key::new(&items, &target.shape()).expect("an item for each axis");
    target.slice(&key).expect("the labels were checked when the values were moved")
}

/// All axes go, and where parts are cut does not matter: the ranks' results are folded.
fn each(session: &Session, values: Values, folding: &Folding) -> Result<Array, GraphError> {
    let lies = lies(session, &values);
    let is_padded = (0..values.shape.len()).any(|axis| lies.is_padded(axis));
    // Of several complex NaNs, and of equal numbers with zeros of both signs, the first one stays.
    let in_order = matches!(folding.dtype, DType::Complex64 | DType::Complex128);
    let moves = is_padded || in_order;
    let target = if moves { for_reduction(&lies, &folding.axes) } else { lies };
    let values = here(session, values, &target)?;
    let local = target.local_shape(session.fabric().rank());
    let local: Vec<usize> = local.iter().map(|&length| length as usize).collect();
    let values = Values { shape: local.clone(), ..values };
    let inner = Folding { initial: folding.fold.identity(folding.dtype), ..folding.clone() };
    let bytes = match local.contains(&0) {
        true => Vec::new(),
        false => {
            let result = fold_here(session, &values, &inner, &local)?;
            let memory = value(session, &result.versions.current())?;
            memory.read().map_err(RunError::from)?.to_vec()
        }
    };
    let tag = session.next("a reduction", (folding.fold, folding.dtype, target.shape()))?;
    let bytes = session.fabric().gather_all(tag, bytes).map_err(RunError::from)?.concat();
    let all = View::c_order(folding.dtype, &[bytes.len() / folding.dtype.itemsize()]);
    let results = Array::whole(session, all, Buffer::from_slice(&bytes));
    let last = Folding { axes: vec![0], ..folding.clone() };
    let ones = vec![1; local.len()];
    Ok(results.fold(&last)?.with_view(View::c_order(folding.dtype, &ones)))
}
