//! Who awaits what from whom: posts matched with messages, in order.
//!
//! *In:* posts. *Out:* the received bytes of each, when all of them are here. Messages of one
//! peer are matched with what was asked from it in the order of asking, never by search: a
//! message that is not the one expected means that the ranks diverged: [`crate::aside`].

use std::collections::{BTreeMap, VecDeque};

use crate::error::FabricError;
use crate::fabric::{Receives, Sends};
use crate::header::{Expectation, Header, Stamp};
use crate::logbook::Logbook;
use crate::notice::Notice;
use crate::payload::Payload;
use crate::stats::Stats;
use crate::tag::{Aspects, Place, Tag};
use crate::trouble::Trouble;
use crate::wire::{Message, Ticket, Wire};

/// The posts of one rank that are on their way.
pub(crate) struct Ledger<W> {
    pub rank: u64,
    pub size: u64,
    pub wire: W,
    pub logbook: Logbook,
    pub stats: Stats,
    /// The exit status, once this rank is at the end of its program.
    pub leaving: Option<i32>,
    pub trouble: Option<Trouble>,
    /// The last words of ranks that have left.
    pub farewells: BTreeMap<u64, Notice>,
    /// Notices to and from each peer.
    pub asides: BTreeMap<u64, Asides>,
    /// That memory was refused in an operation, which this rank has left unfinished.
    pub refused: Option<Refused>,
    /// The first error, after which there is nothing but this error.
    pub failed: Option<FabricError>,
    to_self: VecDeque<Message>,
    /// The messages sent to, and asked from, each peer so far.
    counts: BTreeMap<u64, Counts>,
    awaited: BTreeMap<u64, VecDeque<Awaited>>,
    posts: BTreeMap<u64, Post>,
    next_post: u64,
}

/// An operation in which memory was refused.
pub(crate) struct Refused {
    /// Its number.
    pub number: u64,
    /// What was refused, for people.
    pub reason: String,
}

/// How often two ranks have spoken aside.
#[derive(Default)]
pub(crate) struct Asides {
    pub told: u64,
    pub heard: u64,
}

#[derive(Default)]
struct Counts {
    sent: u64,
    asked: u64,
}

/// The next message of a peer, and which post's which place it is for.
struct Awaited {
    expected: Expectation,
    post: u64,
    place: usize,
}

struct Post {
    /// The number of its operation.
    number: u64,
    sends: Vec<(u64, Ticket)>,
    received: Vec<Option<Vec<u8>>>,
}

impl<W: Wire> Ledger<W> {
    /// No posts yet.
    pub fn new(rank: u64, size: u64, wire: W) -> Self {
        Self {
            rank,
            size,
            wire,
            logbook: Logbook::default(),
            stats: Stats::default(),
            leaving: None,
            trouble: None,
            farewells: BTreeMap::new(),
            asides: BTreeMap::new(),
            refused: None,
            failed: None,
            to_self: VecDeque::new(),
            counts: BTreeMap::new(),
            awaited: BTreeMap::new(),
            posts: BTreeMap::new(),
            next_post: 0,
        }
    }

    /// The tag of the next operation.
    pub fn note(&mut self, hash: u64, aspects: Aspects, place: Place) -> Tag {
        self.logbook.note(hash, aspects, place)
    }

    /// Starts a post, and gives its number. A failure is told when the post is asked about.
    pub fn post(&mut self, tag: Tag, sends: Sends, receives: Receives) -> u64 {
        let post = self.next_post;
        self.next_post += 1;
        if self.failed.is_some() || self.trouble.is_some() {
            return post;
        }
        let received = receives.iter().map(|_| None).collect();
        for (place, (peer, bytes)) in receives.into_iter().enumerate() {
            self.ask(peer, tag, bytes, post, place);
        }
        let sent = sends.into_iter().map(|(peer, payload)| self.send(peer, tag, payload));
        match sent.collect::<Result<Vec<_>, _>>() {
            Ok(sent) => {
                let sends = sent.into_iter().flatten().collect();
                self.posts.insert(post, Post { number: tag.number, sends, received });
            }
            Err(error) => self.fail(error),
        }
        post
    }

    /// The received bytes of a post, once they are all here and its sends are done.
    pub fn take(&mut self, post: u64) -> Result<Option<Vec<Vec<u8>>>, FabricError> {
        if !self.is_done(post)? {
            return Ok(None);
        }
        let Some(done) = self.posts.remove(&post) else { return Ok(None) };
        // A message of a later operation has come: its sender has done the same as this rank.
        self.refused.take_if(|refused| refused.number < done.number && !done.received.is_empty());
        Ok(Some(done.received.into_iter().flatten().collect()))
    }

    /// Moves messages on; are all messages of the post here, and its sends done?
    pub fn is_done(&mut self, post: u64) -> Result<bool, FabricError> {
        self.progress()?;
        if self.trouble.is_some() {
            return Ok(false);
        }
        let Some(Post { sends, received, .. }) = self.posts.get(&post) else { return Ok(true) };
        Ok(received.iter().all(Option::is_some)
            && sends.iter().all(|&(_, ticket)| self.wire.is_sent(ticket)))
    }

    /// Nobody will ask about this post: what comes for it is thrown away.
    pub fn forget(&mut self, post: u64) {
        self.posts.remove(&post);
    }

    /// The ranks that a post waits for.
    pub fn awaited_by(&self, post: u64) -> Vec<u64> {
        let asked = |queue: &VecDeque<Awaited>| queue.iter().any(|awaited| awaited.post == post);
        self.awaited.iter().filter(|(_, queue)| asked(queue)).map(|(&peer, _)| peer).collect()
    }

    /// Are bytes on their way, which move while this rank polls?
    pub fn is_moving(&self) -> bool {
        self.wire.is_moving()
    }

    /// What a post waits for, for people.
    pub fn describe(&self, post: u64) -> String {
        let mine = self.awaited.iter().flat_map(|(peer, queue)| {
            let mine = queue.iter().filter(|awaited| awaited.post == post);
            mine.map(move |awaited| format!("for rank {peer} in {}", awaited.expected.stamp.tag))
        });
        let sends = self.posts.get(&post).map_or(&[][..], |post| &post.sends);
        let unsent = sends.iter().filter(|&&(_, ticket)| !self.wire.is_sent(ticket));
        let unsent = unsent.map(|(peer, _)| format!("for rank {peer} to take a message"));
        mine.chain(unsent).collect::<Vec<_>>().join("; ")
    }

    fn ask(&mut self, peer: u64, tag: Tag, bytes: Option<usize>, post: u64, place: usize) {
        let count = &mut self.counts.entry(peer).or_default().asked;
        *count += 1;
        let stamp = Stamp { sequence: *count, tag };
        let expected = Expectation { stamp, bytes: bytes.map(|bytes| bytes as u64) };
        self.awaited.entry(peer).or_default().push_back(Awaited { expected, post, place });
    }

    fn send(
        &mut self,
        peer: u64,
        tag: Tag,
        payload: Payload,
    ) -> Result<Option<(u64, Ticket)>, FabricError> {
        // Copied first, where it is: nothing is counted if there is no memory.
        let payload = if peer == self.rank { payload.into_vec().into() } else { payload };
        let count = &mut self.counts.entry(peer).or_default().sent;
        *count += 1;
        let stamp = Stamp { sequence: *count, tag };
        let header = Header { stamp, bytes: payload.as_ref().len() as u64 };
        if peer == self.rank {
            self.to_self.push_back(Message { header, payload: payload.into_vec() });
            return Ok(None);
        }
        self.stats.messages += 1;
        self.stats.bytes += header.bytes;
        Ok(Some((peer, self.wire.send(peer, header, payload)?)))
    }

    /// Moves messages on; the first error is kept, for messages after it mean nothing.
    fn progress(&mut self) -> Result<(), FabricError> {
        if self.failed.is_none() && self.trouble.is_none() {
            let moved = self.wire.progress().and_then(|()| self.receive());
            moved.unwrap_or_else(|error| self.fail(error));
        }
        self.settle();
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Hands out what is here, peer by peer, as far as it goes.
    fn receive(&mut self) -> Result<(), FabricError> {
        let Self { rank, wire, to_self, awaited, posts, farewells, .. } = self;
        for (&peer, queue) in awaited.iter_mut() {
            while let Some(next) = queue.front() {
                let message = match peer == *rank {
                    true => to_self.pop_front(),
                    false => next_of(wire, *rank, peer, next)?,
                };
                let Some(message) = message else { break };
                if message.header.stamp.tag.hash == Tag::LEAVING {
                    farewells.extend(Notice::decode(&message.payload).map(|notice| (peer, notice)));
                }
                next.expected.check(*rank, peer, &message.header)?;
                if let Some(post) = posts.get_mut(&next.post) {
                    post.received[next.place] = Some(message.payload);
                }
                queue.pop_front();
            }
        }
        awaited.retain(|_, queue| !queue.is_empty());
        Ok(())
    }
}

/// The next message of `peer`, if it is here; an error if it will never be.
fn next_of<W: Wire>(
    wire: &mut W,
    rank: u64,
    peer: u64,
    next: &Awaited,
) -> Result<Option<Message>, FabricError> {
    // Asked first: what was sent before leaving is then surely seen by `receive`.
    let left = wire.has_left(peer);
    match wire.receive(peer, next.expected.bytes)? {
        None if left => Err(FabricError::left(peer, rank, next.expected.stamp.tag)),
        message => Ok(message),
    }
}
