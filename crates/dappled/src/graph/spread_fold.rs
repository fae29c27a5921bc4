//! Reductions of arrays in pieces, with the bits that one memory gives.
//!
//! Each rank folds what it has, where it lies. The ranks' results are folded in turn where the order
//! does not matter; those of float sums are joined along NumPy's trees ([`spread_sum`]); where values
//! are taken one by one, accumulators go from rank to rank ([`relay`]). Only what lies in another
//! order, or would cross ranks too often, is moved first.

use dappled_fabric::Tag;
use dappled_kernels::element::f16;
use dappled_kernels::{Buffer, DType, Fold, Kind, Runs, View};
use dappled_protocol::Distribution;
use dappled_protocol::slice::{Item, Key};
use num_complex::{Complex32, Complex64};

use super::evaluate::value;
use super::fold::{Folding, Values, fold_here};
use super::fuse::fused;
use super::layout::Layout;
use super::lies::{here, is_in_order, is_owned_once, lies, local_shape};
use super::node::{Arg, Node, State};
use super::spread::computed;
use super::spread_sum::sum;
use super::{Array, GraphError, Session, relay};
use crate::plan::for_reduction;

/// How values in pieces are folded.
enum Way {
    /// What is folded is here.
    Here,
    /// Each rank what it has, then the results.
    Each,
    /// From rank to rank along this axis.
    Relay(usize),
    /// Parts of sums, joined.
    Parts,
    /// On every rank, all of it.
    Gathered,
}

/// Folds values of which some are in pieces, their axes in the order of memory: a transposed array
/// lies as what it was transposed from. The reduction was noted under this tag. Collective.
pub(super) fn folded(
    session: &Session,
    values: Values,
    folding: &Folding,
    tag: Tag,
) -> Result<Array, GraphError> {
    if values.shape.contains(&0) || values.shape.is_empty() {
        return gathered(session, values, folding);
    }
    let mut folding = folding.clone();
    folding.axes.sort_unstable();
    let folding = &folding;
    let (target, way) = found(lies(session, &values), &values, folding);
    match way {
        Way::Here => along(session, values, folding, &target),
        Way::Each => each(session, values, folding, &target),
        Way::Relay(axis) => relay::folded(session, values, folding, (&target, axis), tag),
        Way::Parts => parts(session, values, folding, &target, tag),
        Way::Gathered => gathered(session, values, folding),
    }
}

/// How they are folded, and where they are to lie for it: where they lie, if that will do.
fn found(lies: Distribution, values: &Values, folding: &Folding) -> (Distribution, Way) {
    if let Some(way) = way(&lies, values, folding) {
        return (lies, way);
    }
    let target = for_reduction(&lies, &folding.axes);
    let way = way(&target, values, folding).unwrap_or(Way::Gathered);
    (target, way)
}

fn way(lies: &Distribution, values: &Values, folding: &Folding) -> Option<Way> {
    let Folding { fold, axes, dtype, .. } = folding;
    let map = |axis: usize| &lies.axes()[axis];
    let mut split = axes.iter().copied().filter(|&axis| map(axis).grid() > 1);
    let (first, more) = (split.next(), split.next().is_some());
    let is_exact = dtype.is_integral() || !matches!(fold, Fold::Add | Fold::Multiply);
    // Of several complex NaNs, and of equal numbers with zeros of both signs, the first one stays.
    if is_exact && dtype.kind() != Kind::Complex {
        let once = axes.iter().all(|&axis| is_owned_once(map(axis)));
        return once.then_some(if first.is_some() { Way::Each } else { Way::Here });
    }
    if !axes.iter().all(|&axis| is_in_order(map(axis))) {
        return None;
    }
    let Some(first) = first else { return Some(Way::Here) };
    let item = dtype.itemsize();
    let runs = Runs::new(&values.shape, &values.strides, axes, item, values.casts);
    let one_by_one = is_exact || (*fold == Fold::Multiply && *dtype != DType::Float16);
    let is_outermost = !axes.iter().any(|&axis| axis < first && values.shape[axis] > 1);
    if !more && is_outermost && (one_by_one || !runs.goes_over(first)) {
        return Some(Way::Relay(first));
    }
    let is_tree = *fold == Fold::Add && folding.initial.is_some() && !runs.by_rows;
    is_tree.then_some(Way::Parts)
}

fn parts(
    session: &Session,
    values: Values,
    folding: &Folding,
    target: &Distribution,
    tag: Tag,
) -> Result<Array, GraphError> {
    let at = (target, tag);
    match folding.dtype {
        DType::Float16 => {
            let halves = |acc: f16, sum: f32| f16::from_f32(acc.to_f32() + sum);
            sum(session, values, folding, at, halves)
        }
        DType::Float32 => sum(session, values, folding, at, |acc: f32, sum: f32| acc + sum),
        DType::Float64 => sum(session, values, folding, at, |acc: f64, sum: f64| acc + sum),
        DType::Complex64 => {
            sum(session, values, folding, at, |acc: Complex32, sum: Complex32| acc + sum)
        }
        _ => sum(session, values, folding, at, |acc: Complex64, sum: Complex64| acc + sum),
    }
}

/// What is folded in no simpler way: on every rank.
fn gathered(session: &Session, values: Values, folding: &Folding) -> Result<Array, GraphError> {
    let (dtype, shape) = (folding.dtype, values.shape.clone());
    let base = View::c_order(dtype, &shape);
    let node = computed(session, &values.fused, base.clone(), Layout::Whole)?;
    let values = Values { fused: fused(session, &Arg::Part(node, base), dtype)?, ..values };
    fold_here(session, &values, folding, &shape)
}

/// Each rank has all that its results need.
fn along(
    session: &Session,
    values: Values,
    folding: &Folding,
    target: &Distribution,
) -> Result<Array, GraphError> {
    let shape = folding.folded(&values.shape);
    let values = here(session, values, target)?;
    let result =
        fold_here(session, &values, folding, &local_shape(target, session.fabric().rank()))?;
    let memory = value(session, &result.versions.current())?;
    let lies = results(target, &folding.axes, End::First);
    in_pieces(session, View::c_order(folding.dtype, &shape), lies, memory, folding.axes.len())
}

/// Along axes that were folded, at which end a result is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

/// Where results are that lie with the first or the last of their values.
pub(super) fn results(target: &Distribution, axes: &[usize], end: End) -> Distribution {
    let item = |axis: usize| match axes.contains(&axis) {
        true if end == End::First => Item::Slice(Some(0), Some(1), None),
        true => Item::Slice(Some(-1), None, None),
        false => Item::Slice(None, None, None),
    };
    let items: Vec<Item> = (0..target.axes().len()).map(item).collect();
    let key = Key::new(&items, &target.shape()).expect("an item for each axis");
    target.slice(&key).expect("the labels were checked when the values were moved")
}

/// Results in pieces, which are this rank's; on every rank if they are small or all axes went.
pub(super) fn in_pieces(
    session: &Session,
    base: View,
    lies: Distribution,
    memory: Buffer,
    folded: usize,
) -> Result<Array, GraphError> {
    let small = session.layout(base.dtype, &base.shape).is_whole() || folded == base.shape.len();
    let layout = Layout::split(lies, base.dtype, session.fabric().rank());
    let array = Array::over(session, Node::new(session, base, layout, State::Stored(memory)));
    if !small {
        return Ok(array);
    }
    let all = array.gathered()?;
    session.were_results(all.view().len() * all.dtype().itemsize());
    Ok(all)
}

/// The order does not matter: each rank folds what it has, then the results are folded.
fn each(
    session: &Session,
    values: Values,
    folding: &Folding,
    target: &Distribution,
) -> Result<Array, GraphError> {
    let local = local_shape(target, session.fabric().rank());
    let values = here(session, values, target)?;
    let values = Values { shape: local.clone(), ..values };
    let partial = target.folded(&folding.axes);
    let shape: Vec<usize> = partial.shape().iter().map(|&length| length as usize).collect();
    let memory = match local.contains(&0) {
        true => Buffer::zeroed(0),
        false => {
            let initial = folding.fold.identity(folding.dtype);
            let inner = Folding { initial, reports: false, ..folding.clone() };
            let result = fold_here(session, &values, &inner, &local)?;
            value(session, &result.versions.current())?
        }
    };
    let base = View::c_order(folding.dtype, &shape);
    let results = in_pieces(session, base.clone(), partial.clone(), memory, folding.axes.len())?;
    let last = Folding { reports: false, ..folding.clone() };
    if results.is_whole() {
        return results.fold(&last);
    }
    let fused = fused(session, &results.arg(), folding.dtype)?;
    let values = Values { fused, shape, strides: base.strides.to_vec(), casts: false };
    along(session, values, &last, &for_reduction(&partial, &folding.axes))
}
