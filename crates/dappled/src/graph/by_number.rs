//! Rows by numbers that are values: asked of the ranks that have them, or sent there.
//!
//! *In:* an array in blocks of rows, and numbers of which each rank has some. *Out:* those rows, where
//! their numbers are; or the array, written in place. *Promised:* an exchange of places, and one of
//! rows, where they are asked for in rounds ([`super::rounds`]); a number out of range is found before
//! anything is written, and by all.

use std::sync::Arc;

use dappled_fabric::{Payload, Pending, keep, room};
use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;
use dappled_sort::receive;
use dappled_sort::route::{self, Rows, Wrong};

use super::evaluate::value;
use super::layout::Layout;
use super::node::Node;
use super::{Array, GraphError, Session};
use crate::run::RunError;

/// What messages are about, for people.
pub(super) const WHAT: &str = "rows by number";

/// Rows that are asked for or written by their numbers, which may count from the end.
pub struct Named<'a> {
    /// The blocks of rows that they are of.
    pub rows: &'a Distribution,
    /// Which rows, as far as this rank says.
    pub numbers: &'a [i64],
}

/// Rows to be written, as their bytes.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    /// One for each number.
    Each(&'a [u8]),
    /// One for all of them.
    Same(&'a [u8]),
}

impl<'a> Values<'a> {
    fn rows(self) -> &'a [u8] {
        match self {
            Values::Each(rows) | Values::Same(rows) => rows,
        }
    }
}

/// What was done; or the first number that is out of range, the same on every rank.
pub type Found<T> = Result<Result<T, Wrong>, GraphError>;

impl Array {
    /// Rows in the order of numbers, in a distribution in which each rank has those of its numbers.
    /// `piece` has this rank's of the rows. Collective.
    pub fn rows_by_number(
        &self,
        named: &Named<'_>,
        piece: &[u8],
        target: &Distribution,
    ) -> Found<Array> {
        let session = self.session();
        let shape: Vec<usize> = target.shape().iter().map(|&length| length as usize).collect();
        let layout = Layout::split(target.clone(), self.dtype(), session.fabric().rank());
        let (made, memory) = Node::fresh(session, View::c_order(self.dtype(), &shape), layout);
        let width = self.width();
        let mut out = memory.write().map_err(RunError::from)?;
        let axes = 1 + shape.len() - self.shape().len();
        let count = |rank| target.local_shape(rank)[..axes].iter().product::<u64>() as usize;
        let most = (0..target.nprocs()).map(count).max().unwrap_or(0);
        let done = session.take(named, most, Rows { bytes: piece, width }, &mut out)?;
        drop(out);
        Ok(done.map(|()| Array::over(session, made)))
    }

    /// Writes a row for each number, or one for all, into the array, which lies in blocks of rows; of
    /// several for one row the last stays. None where it does not lie so, or somebody outside sees
    /// its memory. Collective.
    pub fn put_by_number(&self, named: &Named<'_>, values: Values<'_>) -> Found<Option<()>> {
        let session = self.session();
        let mut node = self.versions.current();
        let lies_so = match &node.layout {
            Layout::Split(split) => split.distribution == *named.rows,
            Layout::Whole => false,
        };
        if !lies_so || *self.view() != node.base || self.versions.is_lent() {
            return Ok(Ok(None));
        }
        self.versions.count_write();
        let mut memory = value(session, &node)?;
        let sent = match session.send(named, values, self.width())? {
            Ok(sent) => sent,
            Err(wrong) => return Ok(Err(wrong)),
        };
        // Two holders: the box and this function. One more needs the old values, as does who writes
        // what lies there itself.
        let read_there = touches(&memory, values.rows()) || touches(&memory, named.numbers);
        if Arc::strong_count(&node) > 2 || read_there {
            node = session.copy_of(&node, &memory)?;
            self.versions.replace(node.clone());
            memory = value(session, &node)?;
        }
        let mut target = memory.write().map_err(RunError::from)?;
        session.receive(named, sent, values, self.width(), &mut target)?;
        node.set_id(session.identity());
        Ok(Ok(Some(())))
    }

    /// The bytes of a row.
    fn width(&self) -> usize {
        self.shape()[1..].iter().product::<usize>() * self.dtype().itemsize()
    }
}

/// The places that each rank has sent, and the rows for them, which are on their way.
struct Sent {
    places: Vec<Vec<u8>>,
    rows: Option<Pending>,
}

impl Session {
    /// Sends rows to the ranks that have their places; where there is one row for all, only places.
    fn send(&self, named: &Named<'_>, values: Values<'_>, width: usize) -> Found<Sent> {
        let (ranks, own) = (self.fabric().size() as usize, self.fabric().rank() as usize);
        let (starts, others) = (starts(named.rows), (0..ranks).filter(|&rank| rank != own));
        let bytes = route::place_bytes(&starts);
        // A little more than if all are asked for as many.
        let share = |bytes: usize| room(bytes / ranks + bytes / ranks / 8);
        let (mut places, mut rows) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        for rank in others.clone() {
            places[rank] = share(named.numbers.len() * bytes);
            rows[rank] = share(if let Values::Each(rows) = values { rows.len() } else { 0 });
        }
        let done =
            route::ask(named.numbers, &starts, others, &mut places, |rank, first, chosen| {
                if let Values::Each(bytes) = values {
                    route::append_rows(&mut rows[rank], Rows { bytes, width }, first, chosen);
                }
            });
        places.iter_mut().for_each(|column| end(column, done.err()));
        let kept = std::mem::take(&mut places[own]);
        let start = |columns: Vec<Vec<u8>>| {
            self.start_to_each(WHAT, columns.into_iter().map(Payload::from).collect())
        };
        let places = start(places)?;
        let rows = if let Values::Each(_) = values { Some(start(rows)?) } else { None };
        let mut places = places.wait().map_err(RunError::from)?;
        places.insert(own, kept);
        let wrong: Vec<Option<Wrong>> = places.iter_mut().map(ended).collect();
        Ok(wrong.into_iter().flatten().next().map_or(Ok(Sent { places, rows }), Err))
    }

    /// Writes what the ranks have sent, in their order, and in its turn what is this rank's own.
    fn receive(
        &self,
        named: &Named<'_>,
        sent: Sent,
        values: Values<'_>,
        width: usize,
        target: &mut [u8],
    ) -> Result<(), GraphError> {
        let (starts, own) = (starts(named.rows), self.fabric().rank() as usize);
        let (start, length) = (starts[own] as usize, starts[starts.len() - 1] as usize);
        let place_bytes = route::place_bytes(&starts);
        let (mut awaited, mut came) = (sent.rows, Vec::new().into_iter());
        for (rank, places) in sent.places.into_iter().enumerate() {
            if rank == own {
                receive::write_own(target, width, named.numbers, (start, length), values.rows());
                continue;
            }
            // Not before they are needed: what the first rank has itself comes first.
            if let Some(rows) = awaited.take() {
                came = rows.wait().map_err(RunError::from)?.into_iter();
            }
            let rows: Vec<u8> = came.next().unwrap_or_default();
            let each = if let Values::Same(row) = values { row } else { &rows };
            receive::write(target, width, &places, place_bytes, each);
            keep(places);
            keep(rows);
        }
        Ok(())
    }
}

/// The first row of each rank, and at last how many rows there are.
pub(super) fn starts(rows: &Distribution) -> Vec<u64> {
    let lengths = (0..rows.nprocs()).map(|rank| rows.local_shape(rank)[0]);
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Ends a message with the number that is out of range, if one is.
pub(super) fn end(column: &mut Vec<u8>, wrong: Option<Wrong>) {
    if wrong.is_some() {
        column.clear();
    }
    column.extend(wrong.map_or(0, |Wrong(number)| number).to_le_bytes());
    column.push(wrong.is_some().into());
}

/// Takes that off again.
pub(super) fn ended(column: &mut Vec<u8>) -> Option<Wrong> {
    let is_wrong = column.pop() == Some(1);
    let (rest, number) = column.split_last_chunk::<8>()?;
    let (length, number) = (rest.len(), i64::from_le_bytes(*number));
    column.truncate(length);
    is_wrong.then_some(Wrong(number))
}

/// Do elements lie in this memory?
fn touches<T>(memory: &Buffer, elements: &[T]) -> bool {
    let (start, other) = (memory.as_ptr() as usize, elements.as_ptr() as usize);
    start < other + size_of_val(elements) && other < start + memory.len()
}
