//! Collectives of elements, for the distributed algorithms of `ops/`.
//!
//! Every function is collective: all ranks call it, in the same order and with the same name.

use std::sync::Arc;

use dappled_base::memory;
use dappled_fabric::{ExchangeRequest, Payload, keep};
use dappled_kernels::element::{Element, bytes_of, bytes_of_mut};

use crate::error::Result;
use crate::session::Session;
use crate::session::fingerprint::Fingerprint;

/// Allgather: returns the elements of every rank, in rank order. Collective.
pub(crate) fn allgather<T: Element>(
    session: &Session,
    name: &str,
    elements: &[T],
) -> Result<Vec<Vec<T>>> {
    if session.fabric().size() == 1 {
        return Ok(vec![memory::copy_of(elements)]);
    }
    let all = session.allgather(name, memory::copy_of(bytes_of(elements)))?;
    Ok(all.into_iter().map(elements_of).collect())
}

/// All-to-all: sends `parts[r]` to rank r and returns the elements of each rank. Collective.
pub(crate) fn all_to_all<T: Element>(
    session: &Session,
    name: &str,
    mut parts: Vec<Vec<T>>,
) -> Result<Vec<Vec<T>>> {
    let rank = session.fabric().rank() as usize;
    let own = std::mem::take(&mut parts[rank]);
    let payload = |part: Vec<T>| Payload::Shared(Arc::new(MessageElements(part)));
    let received = session.all_to_all_remote(name, parts.into_iter().map(payload).collect())?;
    let mut all: Vec<Vec<T>> = received.into_iter().map(elements_of).collect();
    all[rank] = own;
    Ok(all)
}

/// All-to-all of bytes: sends `parts[r]` to rank r and returns the bytes of each rank. Collective.
pub(crate) fn all_to_all_bytes(
    session: &Session,
    name: &str,
    parts: Vec<Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    session.all_to_all(name, parts)
}

/// All-to-all of bytes without this rank's own part: its entry of the result is empty. Collective.
pub(crate) fn all_to_all_remote_bytes(
    session: &Session,
    name: &str,
    parts: impl Iterator<Item = Vec<u8>>,
) -> Result<Vec<Vec<u8>>> {
    session.all_to_all_remote(name, parts.map(Payload::from).collect())
}

/// Waits until all ranks have called it. Collective.
pub(crate) fn barrier(session: &Session) -> Result<()> {
    let tag = session.next_tag("barrier", Fingerprint::of("barrier"), String::new)?;
    Ok(session.fabric().barrier(tag)?)
}

/// Neighbor all-to-all: sends elements to some ranks and returns those of others. Collective.
pub(crate) fn neighbor_all_to_all<T: Element>(
    session: &Session,
    name: &str,
    sends: Vec<(u64, Vec<T>)>,
    receives: &[u64],
) -> Result<Vec<Vec<T>>> {
    let shared = |(peer, elements)| (peer, Arc::new(MessageElements(elements)));
    let sends = sends.into_iter().map(shared).collect();
    let received = start_neighbor_all_to_all(session, name, sends, receives)?.wait()?;
    Ok(received.into_iter().map(elements_of).collect())
}

/// Starts a neighbor all-to-all; the request completes with the messages of the other ranks.
/// Collective.
pub(crate) fn start_neighbor_all_to_all<T: Element>(
    session: &Session,
    name: &str,
    sends: Vec<(u64, Arc<MessageElements<T>>)>,
    receives: &[u64],
) -> Result<ExchangeRequest> {
    let payload = |elements: Arc<MessageElements<T>>| Payload::Shared(elements);
    let sends = sends.into_iter().map(|(peer, elements)| (peer, payload(elements))).collect();
    session.start_neighbor_all_to_all(name, sends, receives)
}

/// Allreduce: combines the values of all ranks element by element, in rank order. Collective.
pub(crate) fn allreduce<T: Element>(
    session: &Session,
    name: &str,
    values: &[T],
    combine: impl Fn(T, T) -> T,
) -> Result<Vec<T>> {
    let mut all = allgather(session, name, values)?.into_iter();
    let mut result = all.next().unwrap_or_default();
    for other in all {
        result.iter_mut().zip(other).for_each(|(sum, value)| *sum = combine(*sum, value));
    }
    Ok(result)
}

/// Broadcast: returns the elements of `root` on every rank. Collective.
pub(crate) fn broadcast<T: Element>(
    session: &Session,
    name: &str,
    root: u64,
    elements: Vec<T>,
) -> Result<Vec<T>> {
    if session.fabric().size() == 1 {
        return Ok(elements);
    }
    let shared = Arc::new(MessageElements(elements));
    let received = start_broadcast(session, name, root, shared.clone())?.wait()?;
    match received.into_iter().next() {
        Some(bytes) => Ok(elements_of(bytes)),
        None => Ok(Arc::into_inner(shared).map_or_else(Vec::new, |elements| elements.0)),
    }
}

/// Starts a broadcast; the request completes with the message on every rank but `root`.
/// Collective.
pub(crate) fn start_broadcast<T: Element>(
    session: &Session,
    name: &str,
    root: u64,
    elements: Arc<MessageElements<T>>,
) -> Result<ExchangeRequest> {
    session.start_broadcast(root, name, elements)
}

/// Elements that a message shares.
pub(crate) struct MessageElements<T>(pub(crate) Vec<T>);

impl<T: Element> AsRef<[u8]> for MessageElements<T> {
    fn as_ref(&self) -> &[u8] {
        bytes_of(&self.0)
    }
}

/// Copies the elements of a message, and returns its buffer to the pool.
pub(crate) fn elements_of<T: Element>(bytes: Vec<u8>) -> Vec<T> {
    let mut elements = memory::filled(T::default(), bytes.len() / size_of::<T>());
    bytes_of_mut(&mut elements).copy_from_slice(&bytes);
    keep(bytes);
    elements
}
