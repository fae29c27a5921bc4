//! Merges messages of operands that are overlapping views of one array.
//!
//! A stencil reads an array through many shifted views, which need nearly the same cells of each
//! neighbour. One message then carries the bounding box of these cells, provided that it has no
//! more cells than the separate messages. Sender and receiver compare the same boxes, so they
//! agree.

use std::collections::BTreeMap;
use std::ops::Range;

use dappled_protocol::CellRuns;

use super::operand::PlanOperand;
use super::sends::plan_sends;
use super::step::{AssemblySource, Plan, ReceiveStep, SendStep, TileSource};

/// A box of cells of a local piece, as a range per axis.
type CellBox = Vec<Range<u64>>;

/// Merges the messages of operands that are views of the same base.
pub(crate) fn merge_messages(
    plan: &mut Plan,
    (target, operands): (&PlanOperand, &[PlanOperand]),
    bases: &[usize],
    rank: u64,
) {
    let is_read_twice = |base: &usize| bases.iter().filter(|other| *other == base).count() > 1;
    if !bases.iter().any(is_read_twice) {
        return;
    }
    plan.sends = merge_sends(std::mem::take(&mut plan.sends), bases);
    let peers: Vec<u64> = plan.receives.iter().map(|receive| receive.peer).collect();
    let mut merged = MergedReceives::default();
    for peer in sort_unique(peers) {
        let sends = operands.iter().enumerate();
        let sends = sends.filter(|(index, _)| is_read_twice(&bases[*index]));
        let sends = sends.flat_map(|(index, operand)| plan_sends(target, operand, index, peer));
        merged.add(peer, &group_by_base(sends.filter(|send| send.peer == rank).collect(), bases));
    }
    merged.apply(plan);
}

fn sort_unique(mut peers: Vec<u64>) -> Vec<u64> {
    peers.sort_unstable();
    peers.dedup();
    peers
}

/// Messages between two ranks of views of one base, and their bounding box if they are merged.
struct MergeGroup {
    sends: Vec<SendStep>,
    bounding_box: Option<CellBox>,
}

/// Groups the messages to one peer by base, in order.
fn group_by_base(sends: Vec<SendStep>, bases: &[usize]) -> Vec<MergeGroup> {
    let mut by_base: BTreeMap<usize, Vec<SendStep>> = BTreeMap::new();
    for send in sends {
        by_base.entry(bases[send.operand]).or_default().push(send);
    }
    let group = |sends: Vec<SendStep>| MergeGroup { bounding_box: bounding_box(&sends), sends };
    by_base.into_values().map(group).collect()
}

/// The bounding box of several messages, if it has no more cells than they have in total.
fn bounding_box(sends: &[SendStep]) -> Option<CellBox> {
    let boxes: Vec<CellBox> = sends.iter().map(cell_box).collect::<Option<_>>()?;
    let [first, others @ ..] = &boxes[..] else { return None };
    if others.is_empty() {
        return None;
    }
    let enclose = |bounds: CellBox, other: &CellBox| {
        let both = bounds.iter().zip(other);
        both.map(|(one, other)| one.start.min(other.start)..one.end.max(other.end)).collect()
    };
    let bounding_box = others.iter().fold(first.clone(), enclose);
    let cells: u64 = bounding_box.iter().map(|range| range.end - range.start).product();
    let separate: u64 = sends.iter().map(SendStep::count).sum();
    (cells <= separate).then_some(bounding_box)
}

/// The cells of a message, if they form a box.
fn cell_box(send: &SendStep) -> Option<CellBox> {
    let range = |runs: &CellRuns| {
        let span = runs.span().filter(|span| span.step == 1 || runs.cells() == 1)?;
        Some(span.start..span.start + runs.cells())
    };
    send.cells.iter().map(range).collect()
}

/// Replaces each group of sends by one send of its bounding box.
fn merge_sends(sends: Vec<SendStep>, bases: &[usize]) -> Vec<SendStep> {
    let mut by_peer: BTreeMap<u64, Vec<SendStep>> = BTreeMap::new();
    for send in sends {
        by_peer.entry(send.peer).or_default().push(send);
    }
    let merged = |group: MergeGroup| match group.bounding_box {
        None => group.sends,
        Some(bounding_box) => vec![SendStep {
            cells: bounding_box
                .iter()
                .map(|range| CellRuns::contiguous(range.start, range.end - range.start))
                .collect(),
            ..group.sends.into_iter().next().expect("a group has messages")
        }],
    };
    let mut merged_sends: Vec<SendStep> = by_peer
        .into_values()
        .flat_map(|sends| group_by_base(sends, bases))
        .flat_map(merged)
        .collect();
    merged_sends.sort_by_key(|send| (send.operand, send.peer));
    merged_sends
}

/// The merged message that carries the cells of each peer and operand.
#[derive(Default)]
struct MergedReceives(BTreeMap<(u64, usize), MergedMessage>);

/// The operand of the merged message, the offset of the cells in it, and its shape.
type MergedMessage = (usize, Vec<u64>, Vec<u64>);

impl MergedReceives {
    fn add(&mut self, peer: u64, groups: &[MergeGroup]) {
        for group in groups {
            let Some(bounding_box) = &group.bounding_box else { continue };
            let shape: Vec<u64> =
                bounding_box.iter().map(|range| range.end - range.start).collect();
            for send in &group.sends {
                let starts = cell_box(send).expect("merged messages are boxes");
                let offset = starts
                    .iter()
                    .zip(bounding_box)
                    .map(|(cells, bounds)| cells.start - bounds.start);
                let merged = (group.sends[0].operand, offset.collect(), shape.clone());
                self.0.insert((peer, send.operand), merged);
            }
        }
    }

    /// Removes the messages that are merged into others, and redirects their readers.
    fn apply(&self, plan: &mut Plan) {
        let unmerged = std::mem::take(&mut plan.receives);
        let mut kept: Vec<ReceiveStep> = Vec::new();
        let mut indices: BTreeMap<(u64, usize), usize> = BTreeMap::new();
        for receive in &unmerged {
            let merged = self.0.get(&(receive.peer, receive.operand));
            if merged.is_some_and(|(first, ..)| *first != receive.operand) {
                continue;
            }
            let shape = merged.map_or(&receive.shape, |(_, _, shape)| shape).clone();
            indices.insert((receive.peer, receive.operand), kept.len());
            kept.push(ReceiveStep { shape, ..receive.clone() });
        }
        // The new index of each message, and the offset of its cells in the merged message.
        let redirect = |receive: &ReceiveStep| match self.0.get(&(receive.peer, receive.operand)) {
            Some((first, offset, _)) => (indices[&(receive.peer, *first)], offset.clone()),
            None => (indices[&(receive.peer, receive.operand)], vec![0; receive.shape.len()]),
        };
        let redirects: Vec<(usize, Vec<u64>)> = unmerged.iter().map(redirect).collect();
        plan.receives = kept;
        redirect_sources(plan, &redirects);
    }
}

/// Replaces the message indices in tiles and assemblies.
fn redirect_sources(plan: &mut Plan, redirects: &[(usize, Vec<u64>)]) {
    for source in plan.tiles.iter_mut().flat_map(|tile| &mut tile.sources) {
        if let TileSource::Message(index, cells) = source {
            let (new, offset) = &redirects[*index];
            *index = *new;
            cells.start.iter_mut().zip(offset).for_each(|(start, offset)| *start += offset);
        }
    }
    for part in plan.assemblies.iter_mut().flat_map(|step| &mut step.parts) {
        if let AssemblySource::Message(index) = part.source {
            let (new, offset) = &redirects[index];
            part.source = AssemblySource::Message(*new);
            part.copy
                .from
                .iter_mut()
                .zip(offset)
                .for_each(|(runs, offset)| *runs = runs.shifted(*offset));
        }
    }
}
