//! Plans of all ranks, carried out on pieces that hold the numbers of their elements.

#[path = "../../dappled-protocol/tests/common/mod.rs"]
mod common;

use std::collections::HashMap;

use common::{distribution, distribution_of, indices, item, signed};
use dappled::plan::{Cells, Operand, Plan, PlanError, Source, Tile, plan};
use dappled::protocol::slice::{Item, Key, Part};
use dappled::protocol::{Distribution, Runs};
use proptest::collection::vec;
use proptest::prelude::*;

/// An element of the base: its index.
type Element = Vec<i64>;
/// The cells of a box in row-major order.
type Message = Vec<Element>;

fn product(cells: &[Runs]) -> Vec<Vec<u64>> {
    let lists: Vec<Vec<u64>> = cells.iter().map(|runs| runs.iter().collect()).collect();
    let lengths: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
    let pick =
        |index: Vec<u64>| index.iter().zip(&lists).map(|(&at, list)| list[at as usize]).collect();
    indices(&lengths).into_iter().map(pick).collect()
}

/// Messages between each pair, in the order in which they are sent.
fn sent(plans: &[Plan], operands: &[Operand]) -> HashMap<(u64, u64), Vec<Message>> {
    let mut messages: HashMap<(u64, u64), Vec<Message>> = HashMap::new();
    for (rank, plan) in (0u64..).zip(plans) {
        for send in &plan.sends {
            let element =
                |cell: Vec<u64>| operands[send.operand].base().global(rank, &cell).unwrap();
            let message = product(&send.cells).into_iter().map(element).collect();
            messages.entry((rank, send.peer)).or_default().push(message);
        }
    }
    messages
}

/// What a rank receives, in the order of its plan.
fn received(rank: u64, plan: &Plan, messages: &HashMap<(u64, u64), Vec<Message>>) -> Vec<Message> {
    let mut taken: HashMap<u64, usize> = HashMap::new();
    let take = |receive: &dappled::plan::Receive| {
        let next = taken.entry(receive.peer).or_default();
        *next += 1;
        let message = &messages[&(receive.peer, rank)][*next - 1];
        assert_eq!(message.len() as u64, receive.shape.iter().product::<u64>());
        message.clone()
    };
    plan.receives.iter().map(take).collect()
}

/// The cell of memory for a cell of a tile.
fn cell(cells: &Cells, index: &[u64]) -> Vec<u64> {
    let mut found: Vec<i64> = signed(&cells.start);
    for (at, (axis, step)) in index.iter().zip(cells.axes.iter().zip(&cells.steps)) {
        if let Some(axis) = axis {
            found[*axis] += *at as i64 * step;
        }
    }
    found.into_iter().map(|at| at as u64).collect()
}

fn flat(index: &[u64], shape: &[u64]) -> usize {
    index.iter().zip(shape).fold(0, |flat, (at, length)| flat * length + at) as usize
}

fn read(
    source: &Source,
    operand: &Operand,
    rank: u64,
    plan: &Plan,
    got: &[Message],
    at: &[u64],
) -> Element {
    match source {
        Source::Piece(cells) => operand.base().global(rank, &cell(cells, at)).unwrap(),
        Source::Message(number, cells) => {
            let place = flat(&cell(cells, at), &plan.receives[*number].shape);
            got[*number][place].clone()
        }
    }
}

fn base_index(key: &Key, index: &[i64]) -> Element {
    let mut index = index.iter();
    let mut base = Vec::new();
    for part in key.parts() {
        match part {
            Part::Index(at) => base.push(*at as i64),
            Part::Region(region) => base.push(region.at(*index.next().unwrap() as u64) as i64),
            Part::NewAxis(_) => _ = index.next(),
        }
    }
    base
}

fn part(base: &Distribution, key: Key) -> (Operand, Key) {
    (Operand::new(base, key.clone()).unwrap(), key)
}

fn whole(base: &Distribution) -> (Operand, Key) {
    part(base, Key::new(&[], &base.shape()).unwrap())
}

/// Carries the plans of all ranks out; every owned cell must get every operand's element, once.
fn check(
    (written_part, key): &(Operand, Key),
    operands: &[(Operand, Key)],
) -> Result<(), PlanError> {
    let target = written_part.view();
    let parts: Vec<Operand> = operands.iter().map(|(operand, _)| operand.clone()).collect();
    let ranks = parts.iter().map(|operand| operand.base().nprocs()).max().unwrap_or(1);
    let ranks = ranks.max(target.nprocs());
    let plans =
        (0..ranks).map(|rank| plan(written_part, &parts, rank)).collect::<Result<Vec<_>, _>>()?;
    let messages = sent(&plans, &parts);
    for (rank, plan) in (0u64..).zip(&plans) {
        let got = received(rank, plan, &messages);
        let mut written = HashMap::new();
        for tile in &plan.tiles {
            check_target(tile, rank, written_part, key);
            check_tile(tile, rank, plan, &got, target, operands, &mut written);
        }
        let owned: u64 = match target.holds(rank) {
            true => target.owned_cells(rank).iter().map(|cells| cells.end - cells.start).product(),
            false => 0,
        };
        assert_eq!(written.len() as u64, owned, "rank {rank} of {target:?}");
    }
    Ok(())
}

/// The cells that a tile is written to are those of the target's elements.
fn check_target(tile: &Tile, rank: u64, target: &Operand, key: &Key) {
    for at in indices(&tile.shape) {
        let place: Vec<u64> = at.iter().zip(&tile.start).map(|(at, start)| at + start).collect();
        let index = target.view().global(rank, &place).unwrap();
        let found = target.base().global(rank, &cell(&tile.target, &at)).unwrap();
        assert_eq!(found, base_index(key, &index), "{tile}");
    }
}

fn check_tile(
    tile: &Tile,
    rank: u64,
    plan: &Plan,
    got: &[Message],
    target: &Distribution,
    operands: &[(Operand, Key)],
    written: &mut HashMap<Vec<u64>, ()>,
) {
    for at in indices(&tile.shape) {
        let place: Vec<u64> = at.iter().zip(&tile.start).map(|(at, start)| at + start).collect();
        let index = target.global(rank, &place).unwrap();
        for (source, (operand, key)) in tile.sources.iter().zip(operands) {
            assert_eq!(
                read(source, operand, rank, plan, got, &at),
                base_index(key, &index),
                "{tile}"
            );
        }
        assert!(written.insert(place, ()).is_none(), "a cell twice");
    }
}

/// A distribution, a key of it, and another distribution of what the key selects.
fn operand() -> impl Strategy<Value = (Distribution, Key)> {
    (distribution(), vec(item(), 0..4)).prop_filter_map("no key of that shape", |(base, items)| {
        let key = Key::new(&items, &base.shape()).ok()?;
        Some((base, key))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn every_element_gets_its_operands((base, key, second, target) in operand().prop_flat_map(|(base, key)| {
        let shape = key.shape();
        (Just(base), Just(key), distribution_of(shape.clone()), distribution_of(shape))
    })) {
        let scattered = PlanError::ScatteredTarget;
        for (target, operands) in [
            (whole(&target), [part(&base, key.clone()), whole(&second)]),
            (part(&base, key.clone()), [whole(&second), whole(&target)]),
        ] {
            match check(&target, &operands) {
                Ok(()) | Err(PlanError::Scattered(_)) => {}
                Err(error) => prop_assert_eq!(error, scattered.clone()),
            }
        }
    }
}

/// Of blocks, nothing is ever scattered: any part, in any direction, onto any blocks.
#[test]
fn blocks_are_never_scattered() {
    for (ranks, other) in [(1, 3), (3, 1), (4, 4), (7, 3), (3, 7)] {
        let base = Distribution::spec(&[20, 5]).nprocs(ranks).build().unwrap();
        let backwards = [Item::Slice(Some(17), Some(1), Some(-3)), Item::Ellipsis];
        let key = Key::new(&backwards, &[20, 5]).unwrap();
        let target = Distribution::spec(&key.shape()).nprocs(other).build().unwrap();
        check(&whole(&target), &[part(&base, key)]).unwrap();
    }
}

/// The interior of an array, and the same shifted by one.
fn laplace(ranks: u64, rank: u64) -> Plan {
    let u = Distribution::spec(&[10, 6]).dist("bn").nprocs(ranks).build().unwrap();
    let part = |rows: (i64, i64), columns: (i64, i64)| {
        let slice = |(start, stop): (i64, i64)| Item::Slice(Some(start), Some(stop), None);
        Key::new(&[slice(rows), slice(columns)], &[10, 6]).unwrap()
    };
    let target = Operand::new(&u, part((1, 9), (1, 5))).unwrap();
    let parts =
        [part((0, 8), (1, 5)), part((2, 10), (1, 5)), part((1, 9), (0, 4)), part((1, 9), (2, 6))];
    let operands: Vec<Operand> =
        parts.into_iter().map(|key| Operand::new(&u, key).unwrap()).collect();
    plan(&target, &operands, rank).unwrap()
}

#[test]
fn laplace_moves_one_row_to_each_side() {
    let text = laplace(3, 1).to_string();
    let expected = "\
send 4 of operand 0 to rank 2
send 4 of operand 1 to rank 0
receive 4 of operand 0 from rank 0
receive 4 of operand 1 from rank 2
tile (0, 0):(1, 4) at (0, 1), operand 0 in message 0 at (0, 0), operand 1 in the piece at (1, 1), operand 2 in the piece at (0, 0), operand 3 in the piece at (0, 2)
tile (1, 0):(3, 4) at (1, 1), operand 0 in the piece at (0, 1), operand 1 in the piece at (2, 1), operand 2 in the piece at (1, 0), operand 3 in the piece at (1, 2)
tile (3, 0):(4, 4) at (3, 1), operand 0 in the piece at (2, 1), operand 1 in message 1 at (0, 0), operand 2 in the piece at (3, 0), operand 3 in the piece at (3, 2)
";
    assert_eq!(text, expected);
    assert_eq!(laplace(1, 0).tiles.len(), 1);
    assert!(laplace(1, 0).tiles[0].is_local());
}
