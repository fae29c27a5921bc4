//! Several views of one array that need overlapping parts of a peer's piece: these are sent once.
//!
//! A stencil reads an array through many shifted views. Of each neighbour they need nearly the same
//! cells: one message brings the smallest box that has them all, wherever that is not more than what
//! the views would get one by one. Sender and receiver look at the same boxes, and so agree.

use std::collections::BTreeMap;
use std::ops::Range;

use dappled_protocol::Runs;

use super::sends::sends;
use super::{Operand, Origin, Plan, Receive, Send, Source};

/// A box of cells of a piece.
type Ranges = Vec<Range<u64>>;

/// Merges the messages of operands that are views of the same base.
pub(super) fn merge(
    plan: &mut Plan,
    (target, operands): (&Operand, &[Operand]),
    bases: &[usize],
    rank: u64,
) {
    let is_read_twice = |base: &usize| bases.iter().filter(|other| *other == base).count() > 1;
    if !bases.iter().any(is_read_twice) {
        return;
    }
    plan.sends = merged_sends(std::mem::take(&mut plan.sends), bases);
    let peers: Vec<u64> = plan.receives.iter().map(|receive| receive.peer).collect();
    let mut wanted = Wanted::default();
    for peer in dedup(peers) {
        let theirs = operands.iter().enumerate();
        let theirs = theirs.filter(|(number, _)| is_read_twice(&bases[*number]));
        let theirs = theirs.flat_map(|(number, operand)| sends(target, operand, number, peer));
        wanted.add(peer, &groups(theirs.filter(|send| send.peer == rank).collect(), bases));
    }
    wanted.apply(plan);
}

fn dedup(mut peers: Vec<u64>) -> Vec<u64> {
    peers.sort_unstable();
    peers.dedup();
    peers
}

/// Messages that go together: what each is of, and the box that has all.
struct Group {
    sends: Vec<Send>,
    union: Option<Ranges>,
}

/// Messages to one peer and of one base, in order.
fn groups(sends: Vec<Send>, bases: &[usize]) -> Vec<Group> {
    let mut found: BTreeMap<usize, Vec<Send>> = BTreeMap::new();
    for send in sends {
        found.entry(bases[send.operand]).or_default().push(send);
    }
    let group = |sends: Vec<Send>| Group { union: union(&sends), sends };
    found.into_values().map(group).collect()
}

/// The box that has all of several boxes, if it has no more cells than they have together.
fn union(sends: &[Send]) -> Option<Ranges> {
    let boxes: Vec<Ranges> = sends.iter().map(box_of).collect::<Option<_>>()?;
    let [first, others @ ..] = &boxes[..] else { return None };
    if others.is_empty() {
        return None;
    }
    let joined = |one: Ranges, other: &Ranges| {
        let both = one.iter().zip(other);
        both.map(|(one, other)| one.start.min(other.start)..one.end.max(other.end)).collect()
    };
    let union = others.iter().fold(first.clone(), joined);
    let cells: u64 = union.iter().map(|range| range.end - range.start).product();
    let before: u64 = sends.iter().map(Send::count).sum();
    (cells <= before).then_some(union)
}

/// The cells of a message, if they are a box.
fn box_of(send: &Send) -> Option<Ranges> {
    let range = |runs: &Runs| {
        let span = runs.span().filter(|span| span.step == 1 || runs.cells() == 1)?;
        Some(span.start..span.start + runs.cells())
    };
    send.cells.iter().map(range).collect()
}

fn merged_sends(sends: Vec<Send>, bases: &[usize]) -> Vec<Send> {
    let mut by_peer: BTreeMap<u64, Vec<Send>> = BTreeMap::new();
    for send in sends {
        by_peer.entry(send.peer).or_default().push(send);
    }
    let merged = |group: Group| match group.union {
        None => group.sends,
        Some(union) => vec![Send {
            cells: union
                .iter()
                .map(|range| Runs::one(range.start, range.end - range.start))
                .collect(),
            ..group.sends.into_iter().next().expect("a group has messages")
        }],
    };
    let mut found: Vec<Send> =
        by_peer.into_values().flat_map(|sends| groups(sends, bases)).flat_map(merged).collect();
    found.sort_by_key(|send| (send.operand, send.peer));
    found
}

/// For a peer and an operand: what brings its cells.
#[derive(Default)]
struct Wanted(BTreeMap<(u64, usize), Place>);

/// The operand whose message it is, where the cells begin in it, and the message's shape.
type Place = (usize, Vec<u64>, Vec<u64>);

impl Wanted {
    fn add(&mut self, peer: u64, groups: &[Group]) {
        for group in groups {
            let Some(union) = &group.union else { continue };
            let shape: Vec<u64> = union.iter().map(|range| range.end - range.start).collect();
            for send in &group.sends {
                let starts = box_of(send).expect("the union is of boxes");
                let shift = starts.iter().zip(union).map(|(own, all)| own.start - all.start);
                let place = (group.sends[0].operand, shift.collect(), shape.clone());
                self.0.insert((peer, send.operand), place);
            }
        }
    }

    /// Drops the messages that others bring, and looks for their cells there.
    fn apply(&self, plan: &mut Plan) {
        let before = std::mem::take(&mut plan.receives);
        let mut kept: Vec<Receive> = Vec::new();
        let mut numbers: BTreeMap<(u64, usize), usize> = BTreeMap::new();
        for receive in &before {
            let place = self.0.get(&(receive.peer, receive.operand));
            if place.is_some_and(|(first, ..)| *first != receive.operand) {
                continue;
            }
            let shape = place.map_or(&receive.shape, |(_, _, shape)| shape).clone();
            numbers.insert((receive.peer, receive.operand), kept.len());
            kept.push(Receive { shape, ..receive.clone() });
        }
        // The new number of each message, and where its cells begin in that.
        let moved = |receive: &Receive| match self.0.get(&(receive.peer, receive.operand)) {
            Some((first, shift, _)) => (numbers[&(receive.peer, *first)], shift.clone()),
            None => (numbers[&(receive.peer, receive.operand)], vec![0; receive.shape.len()]),
        };
        let places: Vec<(usize, Vec<u64>)> = before.iter().map(moved).collect();
        plan.receives = kept;
        renumber(plan, &places);
    }
}

fn renumber(plan: &mut Plan, places: &[(usize, Vec<u64>)]) {
    for source in plan.tiles.iter_mut().flat_map(|tile| &mut tile.sources) {
        if let Source::Message(number, cells) = source {
            let (new, shift) = &places[*number];
            *number = *new;
            cells.start.iter_mut().zip(shift).for_each(|(start, shift)| *start += shift);
        }
    }
    for part in plan.moves.iter_mut().flat_map(|moved| &mut moved.parts) {
        if let Origin::Message(number) = part.origin {
            let (new, shift) = &places[number];
            part.origin = Origin::Message(*new);
            part.copy
                .from
                .iter_mut()
                .zip(shift)
                .for_each(|(runs, shift)| *runs = runs.shifted(*shift));
        }
    }
}
