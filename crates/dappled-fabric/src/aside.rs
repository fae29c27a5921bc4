//! What ranks say aside: questions after a while of waiting, and that something went wrong.

use std::collections::BTreeMap;

use crate::error::{FabricError, is_refusal};
use crate::ledger::Ledger;
use crate::notice::{Kind, Notice};
use crate::trouble::{Trouble, count, parted};
use crate::wire::Wire;

impl<W: Wire> Ledger<W> {
    /// This rank can't go on: all are told. Where messages themselves fail nobody can be.
    pub fn fail(&mut self, error: FabricError) {
        if matches!(error, FabricError::Mpi { .. }) {
            self.failed.get_or_insert(error);
            return;
        }
        let reason = error.to_string();
        self.begin_trouble(Some(error), &reason);
    }

    /// While there is trouble: hears the others out, then says what it was.
    pub fn settle(&mut self) {
        if self.trouble.is_none() || self.failed.is_some() {
            return;
        }
        self.hear();
        let own = self.notice(Kind::Failed, "", self.rank);
        let silent = |peer: &u64| *peer != self.rank && !self.wire.has_left(*peer);
        let others: Vec<u64> = (0..self.size).filter(silent).collect();
        if let Some(trouble) = self.trouble.as_ref().filter(|one| one.is_settled(&others)) {
            self.failed = Some(trouble.error(&own));
        }
    }

    /// Takes in what was said aside.
    pub fn hear(&mut self) {
        loop {
            match self.wire.hear() {
                Ok(Some(notice)) => self.take_in(notice),
                Ok(None) => return,
                Err(error) => {
                    self.failed.get_or_insert(error);
                    return;
                }
            }
        }
    }

    fn take_in(&mut self, notice: Notice) {
        self.asides.entry(notice.rank).or_default().heard += 1;
        match notice.kind {
            Kind::Asks => {
                let own = self.notice(Kind::Asks, "", notice.rank);
                let both = BTreeMap::from([(own.rank, &own), (notice.rank, &notice)]);
                let error = parted(&both).or_else(|| self.given_up(&own, &notice));
                if let Some(error) = error.filter(|_| self.trouble.is_none()) {
                    self.fail(error);
                }
            }
            _ => {
                let reason = notice.reason.clone();
                self.begin_trouble(None, &reason);
                if let Some(trouble) = &mut self.trouble {
                    trouble.heard.insert(notice.rank, notice);
                }
            }
        }
    }

    /// Says that what a rank waits for never comes, as memory was refused where it is made.
    fn given_up(&self, own: &Notice, asking: &Notice) -> Option<FabricError> {
        let (here, there) = (count(own), count(asking));
        let gave_up = match &self.refused {
            Some(refused) if refused.number == there && here > there => own,
            None if is_refusal(&asking.reason) && there > here => asking,
            _ => return None,
        };
        Some(FabricError::Failed { rank: gave_up.rank, reason: gave_up.reason.clone() })
    }

    fn begin_trouble(&mut self, error: Option<FabricError>, reason: &str) {
        if self.trouble.is_some() {
            return;
        }
        self.trouble = Some(Trouble::new(error, self.farewells.clone()));
        let rank = self.rank;
        for peer in (0..self.size).filter(|&peer| peer != rank) {
            self.tell(peer, Kind::Failed, reason);
        }
    }

    /// Tells the ranks that a post waits for what this rank has done so far: if they have done
    /// something else, they say so. A rank that leaves has said all in its farewell.
    pub fn ask_about(&mut self, post: u64) {
        if self.leaving.is_some() {
            return;
        }
        let rank = self.rank;
        for peer in self.awaited_by(post).into_iter().filter(|&peer| peer != rank) {
            self.tell(peer, Kind::Asks, "");
        }
    }

    fn tell(&mut self, peer: u64, kind: Kind, reason: &str) {
        let notice = self.notice(kind, reason, peer);
        self.asides.entry(peer).or_default().told += 1;
        if let Err(error) = self.wire.tell(peer, &notice) {
            self.failed.get_or_insert(error);
        }
    }

    /// What this rank says about itself to another.
    pub fn notice(&self, kind: Kind, reason: &str, to: u64) -> Notice {
        let told = self.asides.get(&to).map_or(0, |asides| asides.told);
        let refused = self.refused.as_ref().map(|refused| &*refused.reason);
        let reason = refused.unwrap_or(reason).to_string();
        let (rank, leaving) = (self.rank, self.leaving);
        Notice { rank, kind, log: self.logbook.last(), leaving, reason, told }
    }

    /// All have left: have they done the same, and is nothing on its way that was said aside? Not
    /// to this rank, and not from it: a long notice goes only while both sides poll.
    pub fn parting(&mut self) -> Result<bool, FabricError> {
        self.hear();
        let own = self.notice(Kind::Leaves, "", self.rank);
        let mut all: BTreeMap<u64, &Notice> =
            self.farewells.iter().map(|(rank, notice)| (*rank, notice)).collect();
        all.insert(self.rank, &own);
        let heard = |peer: &u64| self.asides.get(peer).map_or(0, |asides| asides.heard);
        let all_heard = self.farewells.iter().all(|(peer, notice)| heard(peer) >= notice.told);
        let all_said = all_heard && self.wire.is_heard();
        let parted = parted(&all);
        self.failed = self.failed.take().or(parted);
        self.failed.clone().map_or(Ok(all_said), Err)
    }
}
