//! Rows asked of the ranks that have them, some numbers at a time.
//!
//! *In:* numbers, of which each rank has some. *Out:* their rows. *Promised:* places and answers are few
//! enough to stay in the cache; while a message is on its way, this rank looks up what it has itself.

use dappled_fabric::{Payload, Pending, keep, memory, room};
use dappled_sort::asked::{self, Asked};
use dappled_sort::route::{self, Rows, Wrong};

use super::by_number::{Found, Named, WHAT, end, ended, starts};
use super::{GraphError, Session};
use crate::run::RunError;

/// Numbers that are asked about at a time, for each rank.
const ROUND: usize = 1 << 16;
/// Bytes for the places that a rank is asked for in a round: a little more than if all are asked for as
/// many.
const ROOM: usize = ROUND * 9 / 2;

/// What was asked for in a round, and is on its way.
struct Round<'a> {
    asked: Vec<Asked>,
    answers: Pending,
    out: &'a mut [u8],
}

impl Session {
    /// Writes the rows of this rank's numbers, of which no rank has more than `most`. Collective.
    pub(super) fn take(
        &self,
        named: &Named<'_>,
        most: usize,
        piece: Rows<'_>,
        mut out: &mut [u8],
    ) -> Found<()> {
        let starts = starts(named.rows);
        let size = ROUND * (starts.len() - 1);
        let (mut chunks, mut before) = (named.numbers.chunks(size), None);
        for _ in 0..most.div_ceil(size) {
            let numbers = chunks.next().unwrap_or(&[]);
            let (here, rest) = std::mem::take(&mut out).split_at_mut(numbers.len() * piece.width);
            out = rest;
            let asked = route_all(numbers, &starts);
            let places = self.start_asking(&asked, starts.len() - 1)?;
            before.take().map_or(Ok(()), |round| self.finish(round, piece.width))?;
            asked::own(&asked.0, self.own(), piece, here);
            let Some(places) = heard(places, asked.1)? else {
                return self.first_wrong(named.numbers, &starts).map(Err);
            };
            let answers = self.start_answering(places, piece, route::place_bytes(&starts))?;
            before = Some(Round { asked: asked.0, answers, out: here });
        }
        before.map_or(Ok(()), |round| self.finish(round, piece.width)).map(Ok)
    }

    fn own(&self) -> usize {
        self.fabric().rank() as usize
    }

    /// Tells ranks the places that they are asked for, or that there is no such place.
    fn start_asking(
        &self,
        (asked, wrong): &(Vec<Asked>, Option<Wrong>),
        ranks: usize,
    ) -> Result<Pending, GraphError> {
        let column = |rank| {
            if rank == self.own() {
                return Payload::from(Vec::new());
            }
            let mut column = asked::column(asked, rank, room(ROOM));
            end(&mut column, *wrong);
            Payload::from(column)
        };
        self.start_to_each(WHAT, (0..ranks).map(column).collect())
    }

    /// Answers the others, in their order.
    fn start_answering(
        &self,
        places: Vec<Vec<u8>>,
        piece: Rows<'_>,
        place_bytes: usize,
    ) -> Result<Pending, GraphError> {
        let answer = |places: Vec<u8>| {
            let mut rows = memory(places.len() / place_bytes * piece.width);
            route::answered(piece, &places, place_bytes, &mut rows);
            keep(places);
            Payload::from(rows)
        };
        let mut answers: Vec<Payload> = places.into_iter().map(answer).collect();
        answers.insert(self.own(), Payload::from(Vec::new()));
        self.start_to_each(WHAT, answers)
    }

    /// Writes what the others have answered.
    fn finish(&self, round: Round<'_>, width: usize) -> Result<(), GraphError> {
        let answers = round.answers.wait().map_err(RunError::from)?;
        let others = (0..).filter(|&rank| rank != self.own());
        for (rank, answers) in others.zip(answers) {
            asked::join(&round.asked, rank, &answers, width, round.out);
            keep(answers);
        }
        Ok(())
    }

    /// The first number that is out of range, of the first rank that has one. Collective.
    fn first_wrong(&self, numbers: &[i64], starts: &[u64]) -> Result<Wrong, GraphError> {
        let mut told = Vec::new();
        end(&mut told, route::first_wrong(numbers, starts));
        let mut all = self.gather(WHAT, told)?;
        Ok(all.iter_mut().find_map(ended).expect("one rank has found it"))
    }
}

/// What numbers ask for; nothing where one is wrong.
fn route_all(numbers: &[i64], starts: &[u64]) -> (Vec<Asked>, Option<Wrong>) {
    match asked::ask_all(numbers, starts) {
        Ok(asked) => (asked, None),
        Err(wrong) => (Vec::new(), Some(wrong)),
    }
}

/// The places that others ask for; none where anybody has found a number that is wrong.
fn heard(places: Pending, wrong: Option<Wrong>) -> Result<Option<Vec<Vec<u8>>>, GraphError> {
    let mut places = places.wait().map_err(RunError::from)?;
    let theirs: Vec<Option<Wrong>> = places.iter_mut().map(ended).collect();
    let fine = wrong.is_none() && theirs.iter().all(Option::is_none);
    Ok(fine.then_some(places))
}
