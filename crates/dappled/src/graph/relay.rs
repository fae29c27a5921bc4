//! Folds and scans that take values one by one: accumulators go from rank to rank.
//!
//! The ranks along the axis that is cut are a chain. Each goes on from where the one before it ended,
//! with some of the accumulators at a time, so that the next one can begin with those meanwhile.

use std::ops::Range;

use dappled_base::memory::copied;
use dappled_fabric::{Pending, Tag};
use dappled_kernels::{Buffer, Fold, Operand as Memory, View, scan};
use dappled_protocol::Distribution;

use super::evaluate::{buffers, operands};
use super::fold::{Folding, Values, fold_into, note_scan};
use super::lies::{here, local_shape};
use super::small::collected;
use super::spread_fold::{End, in_pieces, results};
use super::{Array, GraphError, Session};
use crate::run::RunError;

/// Accumulators go on in at most so many messages,
const MESSAGES: usize = 16;
/// of at least so many bytes.
const BYTES: usize = 1 << 16;

/// Folds values that are in blocks along one of the axes that go, the outermost. Collective.
pub(super) fn folded(
    session: &Session,
    values: Values,
    folding: &Folding,
    (target, axis): (&Distribution, usize),
    tag: Tag,
) -> Result<Array, GraphError> {
    let base = View::c_order(folding.dtype, &folding.folded(&values.shape));
    let local = local_shape(target, session.fabric().rank());
    let values = here(session, values, target)?;
    let out = View::c_order(folding.dtype, &folding.folded(&local));
    let mut memory = session.freed().array(out.len() * out.dtype.itemsize(), &base);
    let chain = Chain::new(session, tag, target, axis);
    if !local.contains(&0) {
        chain.run(&out, |before, along, range| {
            let part = cut(&out, along, &range);
            let bytes = part.offset..part.offset + part.len() * part.dtype.itemsize();
            if let Some(before) = &before {
                memory.write().map_err(RunError::from)?[bytes.clone()].copy_from_slice(before);
            }
            let values = values.part(along, &range);
            fold_into(session, &values, folding, before.is_some(), &memory, &part)?;
            Ok(copied(&memory.read().map_err(RunError::from)?[bytes]))
        })?;
    }
    if chain.after.is_some() || local[axis] == 0 {
        memory = Buffer::zeroed(0);
    }
    in_pieces(session, base, results(target, &folding.axes, End::Last), memory, folding.axes.len())
}

/// Scans values along an axis that is in blocks. Collective.
pub(super) fn scanned(
    session: &Session,
    values: Values,
    fold: Fold,
    (target, axis): (&Distribution, usize),
    tag: Tag,
) -> Result<Array, GraphError> {
    let dtype = values.dtype();
    let base = View::c_order(dtype, &values.shape);
    let local = local_shape(target, session.fabric().rank());
    let values = here(session, values, target)?;
    let out = View::c_order(dtype, &local);
    let memory = session.freed().array(out.len() * dtype.itemsize(), &base);
    if !local.contains(&0) {
        let row = View::c_order(dtype, &with_one(&local, axis));
        Chain::new(session, tag, target, axis).run(&row, |before, along, range| {
            let (part, values) = (cut(&out, along, &range), values.part(along, &range));
            let engine = session.engine(&values.fused.program)?;
            let buffers = buffers(session, &values.fused.inputs)?;
            let inputs = operands(&buffers, &values.fused.inputs)?;
            let place = Memory::new(&memory, &part).map_err(RunError::from)?;
            // In memory that is aligned for any element.
            let before = before.map(|before| Buffer::from_slice(&before));
            let before = before.as_ref().map(Buffer::read).transpose().map_err(RunError::from)?;
            let folded = scan(&engine, &inputs, fold, axis, before.as_deref(), &place);
            note_scan(session, &values, &folded.map_err(RunError::from)?);
            let last = part.region(axis, local[axis] - 1, 1, 1);
            Ok(copied(&collected(&memory, &last)?.read().map_err(RunError::from)?))
        })?;
    }
    in_pieces(session, base, target.clone(), memory, 0)
}

fn with_one(shape: &[usize], axis: usize) -> Vec<usize> {
    shape.iter().enumerate().map(|(at, &length)| if at == axis { 1 } else { length }).collect()
}

/// The part of a view along an axis; all of it if there is none.
fn cut(view: &View, along: Option<usize>, range: &Range<usize>) -> View {
    match along {
        Some(axis) => view.region(axis, range.start, 1, range.len()),
        None => view.clone(),
    }
}

impl Values {
    /// The part along an axis; all of them if there is none.
    fn part(&self, along: Option<usize>, range: &Range<usize>) -> Values {
        let mut values = self.clone();
        for (_, view) in &mut values.fused.inputs {
            *view = cut(view, along, range);
        }
        values
    }
}

/// Where a rank stands among those that have parts of an axis.
struct Chain<'a> {
    session: &'a Session,
    tag: Tag,
    before: Option<u64>,
    after: Option<u64>,
}

impl<'a> Chain<'a> {
    fn new(session: &'a Session, tag: Tag, target: &Distribution, axis: usize) -> Self {
        let (map, coords) = (&target.axes()[axis], target.coords(session.fabric().rank()));
        let rank_at = |at: u64| {
            let mut coords = coords.clone();
            coords[axis] = at;
            target.rank(&coords)
        };
        let has_some = |at: &u64| map.owned(*at) > 0;
        let before = (0..coords[axis]).rev().find(has_some).map(rank_at);
        let after = (coords[axis] + 1..map.grid()).find(has_some).map(rank_at);
        Self { session, tag, before, after }
    }

    /// Lets `act` go on from what the rank before sends, and sends what it gives to the rank after:
    /// accumulators that lie so, some of them at a time, from along an axis.
    fn run(
        &self,
        accs: &View,
        mut act: impl FnMut(Option<Vec<u8>>, Option<usize>, Range<usize>) -> Result<Vec<u8>, GraphError>,
    ) -> Result<(), GraphError> {
        let (along, ranges) = shares(accs);
        let mut sent: Vec<Pending> = Vec::new();
        for range in ranges {
            let bytes = cut(accs, along, &range).len() * accs.dtype.itemsize();
            let before = self.before.map(|rank| self.receive(rank, bytes)).transpose()?;
            let after = act(before, along, range)?;
            if let Some(rank) = self.after {
                sent.push(self.session.fabric().post(self.tag, vec![(rank, after)], vec![]));
            }
            for pending in &mut sent {
                pending.poll().map_err(RunError::from)?;
            }
        }
        sent.into_iter()
            .try_for_each(|pending| pending.wait().map(drop))
            .map_err(RunError::from)?;
        Ok(())
    }

    fn receive(&self, rank: u64, bytes: usize) -> Result<Vec<u8>, GraphError> {
        let received = self.session.fabric().exchange(self.tag, vec![], vec![(rank, bytes)]);
        Ok(received.map_err(RunError::from)?.pop().unwrap_or_default())
    }
}

/// The first axis that is longer than one, and its ranges that go on at a time: one behind the other
/// in memory.
fn shares(accs: &View) -> (Option<usize>, Vec<Range<usize>>) {
    let Some(axis) = accs.shape.iter().position(|&length| length > 1) else {
        return (None, vec![0..1]);
    };
    let (length, bytes) = (accs.shape[axis], accs.len() * accs.dtype.itemsize());
    let most = (bytes / BYTES).clamp(1, MESSAGES).min(length);
    let step = length.div_ceil(most);
    let ranges = (0..length).step_by(step).map(|start| start..length.min(start + step));
    (Some(axis), ranges.collect())
}
