//! Memory that MPI reads or writes until it is done.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::slice;
use std::sync::Arc;

use super::abi::Handle;
use super::session::Session;
use crate::error::FabricError;
use crate::memory::keep;
use crate::payload::Payload;

/// Bytes that belong to MPI while `requests` are open. Dropped before they are done, the memory
/// is leaked: MPI may still use it, and there is no call that takes it back without blocking.
pub(super) struct Flight<H: Handle> {
    session: Arc<Session<H>>,
    /// Raw, because no reference may see bytes that MPI writes.
    start: *mut u8,
    length: usize,
    owner: Owner,
    requests: Vec<H>,
}

/// To whom the bytes belong when MPI is done with them.
enum Owner {
    /// They are a vector's, with room for so many.
    Vector { capacity: usize },
    /// They are only sent.
    Keeper(Option<Arc<dyn AsRef<[u8]> + Send + Sync>>),
}

// SAFETY: the memory is owned by the flight, MPI's handles belong to the process, and the
// ledger's lock lets one thread at a time call MPI, which `Session::check_open` keeps to the one
// thread that may where MPI does not allow others.
unsafe impl<H: Handle> Send for Flight<H> {}

/// Where a flight goes to or comes from.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub peer: c_int,
    pub tag: c_int,
    /// The longest message; what is longer goes in pieces.
    pub piece: usize,
}

impl<H: Handle> Flight<H> {
    /// Starts to send the bytes.
    pub fn send(session: &Arc<Session<H>>, bytes: Payload, to: Route) -> Result<Self, FabricError> {
        let (mpi, communicator) = (&session.mpi, session.communicator);
        let isend = mpi.functions.isend;
        Self::start(session, bytes, to, "MPI_Isend", |start, count, peer, request| {
            // SAFETY: `start` begins `count` bytes that live until the request is done.
            unsafe {
                isend(start.cast(), count, mpi.constants.byte, peer, to.tag, communicator, request)
            }
        })
    }

    /// Starts to receive at most as many bytes as there is room for.
    pub fn receive(
        session: &Arc<Session<H>>,
        room: Vec<u8>,
        from: Route,
    ) -> Result<Self, FabricError> {
        let (mpi, communicator) = (&session.mpi, session.communicator);
        let irecv = mpi.functions.irecv;
        Self::start(session, room.into(), from, "MPI_Irecv", |start, count, peer, request| {
            // SAFETY: `start` begins `count` bytes that live until the request is done and that
            // nobody else looks at before.
            unsafe {
                irecv(
                    start.cast(),
                    count,
                    mpi.constants.byte,
                    peer,
                    from.tag,
                    communicator,
                    request,
                )
            }
        })
    }

    fn start(
        session: &Arc<Session<H>>,
        bytes: Payload,
        route: Route,
        function: &'static str,
        call: impl Fn(*mut u8, c_int, c_int, *mut H) -> c_int,
    ) -> Result<Self, FabricError> {
        let (start, length, owner) = parts(bytes);
        let session = session.clone();
        let mut flight = Self { session, start, length, owner, requests: Vec::new() };
        for at in (0..length).step_by(route.piece) {
            let count = route.piece.min(length - at) as c_int;
            let mut request = H::NONE;
            let code = call(start.wrapping_add(at), count, route.peer, &mut request);
            flight.session.mpi.functions.check(function, code)?;
            flight.requests.push(request);
        }
        // Tested from the end, and so in the order of starting.
        flight.requests.reverse();
        Ok(flight)
    }

    /// Moves the bytes on; is MPI done with them?
    pub fn is_done(&mut self) -> Result<bool, FabricError> {
        let mpi = &self.session.mpi;
        let ignore = mpi.constants.status_ignore as *mut _;
        while let Some(request) = self.requests.last_mut() {
            let mut done = 0;
            // SAFETY: an open request of this session; the ABI's own word for "no status".
            let code = unsafe { (mpi.functions.test)(request, &mut done, ignore) };
            mpi.functions.check("MPI_Test", code)?;
            if done == 0 {
                return Ok(false);
            }
            self.requests.pop();
        }
        Ok(true)
    }

    /// The bytes, once MPI is done with them.
    pub fn bytes(&mut self) -> Result<Option<&[u8]>, FabricError> {
        if !self.is_done()? {
            return Ok(None);
        }
        // SAFETY: these are the parts of a vector, and no request is open that may write them.
        Ok(Some(unsafe { slice::from_raw_parts(self.start, self.length) }))
    }

    /// The bytes that came, when MPI is done with them.
    pub fn into_bytes(mut self) -> Vec<u8> {
        assert!(self.requests.is_empty(), "MPI still uses these bytes");
        self.take_vector().unwrap_or_default()
    }

    /// The vector, given away once.
    fn take_vector(&mut self) -> Option<Vec<u8>> {
        match std::mem::replace(&mut self.owner, Owner::Keeper(None)) {
            Owner::Vector { capacity } => {
                // SAFETY: these are the parts of a vector, given away once: the owner is now nobody.
                // No request is open, as both callers check.
                Some(unsafe { Vec::from_raw_parts(self.start, self.length, capacity) })
            }
            Owner::Keeper(_) => None,
        }
    }
}

/// Where the bytes are, and whose. They stay there while their owner lives.
fn parts(bytes: Payload) -> (*mut u8, usize, Owner) {
    match bytes {
        Payload::Own(bytes) => {
            let mut bytes = ManuallyDrop::new(bytes);
            (bytes.as_mut_ptr(), bytes.len(), Owner::Vector { capacity: bytes.capacity() })
        }
        Payload::Kept(keeper) => {
            let bytes = (*keeper).as_ref();
            (bytes.as_ptr().cast_mut(), bytes.len(), Owner::Keeper(Some(keeper)))
        }
    }
}

impl<H: Handle> Drop for Flight<H> {
    fn drop(&mut self) {
        if self.requests.is_empty() {
            self.take_vector().into_iter().for_each(keep);
        } else if let Owner::Keeper(keeper) = &mut self.owner {
            std::mem::forget(keeper.take());
        }
    }
}
