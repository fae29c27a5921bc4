//! Exact splitters of sorted pieces, by iterated counting.
//!
//! Elements are in the order of (value, rank, position), so that ties are split, too. Rank j searches
//! the splitter at the start of its block: it keeps an interval of positions on each rank that
//! contains it. In each round it draws candidates from the intervals, all ranks count their elements
//! before each candidate, and the intervals shrink to those between two candidates.

use super::order::{ItemOrder, concatenate};
use super::{Peers, all_to_all, allgather};
use crate::config::{MAX_SPLITTER_CANDIDATES, MIN_SPLITTER_CANDIDATES, SPLITTER_CANDIDATES};
use crate::error::Result;
use crate::session::fingerprint::fnv_hash;

/// Returns where this rank's sorted items are split among the ranks. Collective.
///
/// The result has one more position than there are ranks. Rank r gets the elements from `starts[r]`
/// to `starts[r + 1]` of the global order.
pub(super) fn splitter_positions(
    peers: &Peers<'_>,
    order: &dyn ItemOrder,
    sorted: &[u8],
    starts: &[u64],
) -> Result<Vec<usize>> {
    let length = (sorted.len() / order.itemsize()) as u64;
    let lengths = concatenate(&allgather(peers, &[length])?);
    let mut own = Bracket::new(starts[peers.rank()], lengths);
    let pieces = Pieces { peers, order, sorted };
    let count = SPLITTER_CANDIDATES / peers.size();
    let count = count.clamp(MIN_SPLITTER_CANDIDATES, MAX_SPLITTER_CANDIDATES);
    for round in 0_u64.. {
        let candidates = own.candidates(count, fnv_hash([round, peers.rank() as u64]));
        match pieces.count_before(&candidates)? {
            Some(counts) => own.narrow(&candidates, &counts),
            None => break,
        }
    }
    let positions = all_to_all(peers, own.low.into_iter().map(|low| vec![low]).collect())?;
    let positions = concatenate(&positions).into_iter().map(|position| position as usize);
    Ok(positions.chain([length as usize]).collect())
}

/// The interval of positions on each rank that contains a splitter.
struct Bracket {
    /// The number of elements before the splitter, on all ranks.
    target: u64,
    low: Vec<u64>,
    high: Vec<u64>,
}

impl Bracket {
    fn new(target: u64, lengths: Vec<u64>) -> Self {
        let low = match lengths.iter().sum::<u64>() == target {
            true => lengths.clone(),
            false => vec![0; lengths.len()],
        };
        Self { target, low, high: lengths }
    }

    /// Returns up to `count` positions in the intervals, for each rank; none if the splitter is
    /// found.
    fn candidates(&self, count: usize, seed: u64) -> Vec<Vec<u64>> {
        let sizes = self.low.iter().zip(&self.high).map(|(low, high)| high - low);
        let total: u64 = sizes.clone().sum();
        let mut candidates = vec![Vec::new(); self.low.len()];
        if self.low.iter().sum::<u64>() == self.target {
            return candidates;
        }
        let count = total.min(count as u64);
        let bound = |at: u64| (u128::from(at) * u128::from(total) / u128::from(count)) as u64;
        // One random element of each of `count` parts of the candidates.
        let mut offsets = (0..count).map(|at| {
            let (start, end) = (bound(at), bound(at + 1));
            start + fnv_hash([seed, at]) % (end - start)
        });
        let mut next = offsets.next();
        let mut before = 0;
        for ((size, low), candidates) in sizes.zip(&self.low).zip(&mut candidates) {
            while let Some(offset) = next.filter(|&offset| offset < before + size) {
                candidates.push(low + offset - before);
                next = offsets.next();
            }
            before += size;
        }
        candidates
    }

    /// Shrinks the intervals: `counts[r]` are the numbers of elements on rank r before each
    /// candidate.
    fn narrow(&mut self, candidates: &[Vec<u64>], counts: &[Vec<u64>]) {
        let owners = candidates.iter().enumerate();
        let owners = owners.flat_map(|(rank, positions)| positions.iter().map(move |_| rank));
        let ranks_of_candidates = owners.enumerate().map(|(at, owner)| {
            let before: u64 = counts.iter().map(|counts| counts[at]).sum();
            (before, at, owner)
        });
        let (below, above): (Vec<_>, Vec<_>) =
            ranks_of_candidates.partition(|&(before, ..)| before < self.target);
        let (best_below, best_above) = (below.into_iter().max(), above.into_iter().min());
        if let Some((_, at, owner)) = best_below {
            self.low = counts.iter().map(|counts| counts[at]).collect();
            // The candidate is before the splitter.
            self.low[owner] += 1;
        }
        if let Some((before, at, _)) = best_above {
            self.high = counts.iter().map(|counts| counts[at]).collect();
            if before == self.target {
                self.low.clone_from(&self.high);
            }
        }
    }
}

/// The sorted pieces of all ranks.
struct Pieces<'a> {
    peers: &'a Peers<'a>,
    order: &'a dyn ItemOrder,
    sorted: &'a [u8],
}

impl Pieces<'_> {
    /// Counts on each rank the elements before each of this rank's candidates. Collective.
    ///
    /// `None` if no rank has candidates.
    fn count_before(&self, candidates: &[Vec<u64>]) -> Result<Option<Vec<Vec<u64>>>> {
        let requests = all_to_all(self.peers, candidates.to_vec())?;
        // Which rank asks for which position.
        let asked: Vec<[u64; 2]> = (0..)
            .zip(&requests)
            .flat_map(|(asker, positions)| positions.iter().map(move |&at| [asker, at]))
            .collect();
        let all_asked = allgather(self.peers, asked.as_flattened())?;
        if all_asked.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        let positions: Vec<i64> = asked.iter().map(|&[_, at]| at as i64).collect();
        let values = allgather(self.peers, &self.order.take(self.sorted, &positions))?;
        let bounds = self.order.search(self.sorted, &concatenate(&values))?;
        let mut replies = vec![Vec::new(); self.peers.size()];
        let all_asked = all_asked.iter().enumerate().flat_map(|(owner, asked)| {
            asked.as_chunks::<2>().0.iter().map(move |&[asker, at]| (owner, asker, at))
        });
        for ((owner, asker, position), [below, not_above]) in all_asked.zip(bounds) {
            replies[asker as usize].push(match self.peers.rank().cmp(&owner) {
                std::cmp::Ordering::Less => not_above as u64,
                std::cmp::Ordering::Equal => position,
                std::cmp::Ordering::Greater => below as u64,
            });
        }
        all_to_all(self.peers, replies).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_in_their_intervals() {
        let bracket = Bracket { target: 500, low: vec![0, 7, 100], high: vec![3, 7, 1000] };
        for count in [1, 4, 2000] {
            let candidates = bracket.candidates(count, 1);
            assert_eq!(concatenate(&candidates).len(), count.min(903));
            for (rank, candidates) in candidates.iter().enumerate() {
                let inside = bracket.low[rank]..bracket.high[rank];
                assert!(candidates.iter().all(|position| inside.contains(position)));
                assert!(candidates.is_sorted_by(|one, next| one < next));
            }
        }
    }
}
