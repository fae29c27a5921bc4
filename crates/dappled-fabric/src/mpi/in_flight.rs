//! Buffers of nonblocking MPI transfers.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::slice;
use std::sync::Arc;

use super::abi::MpiHandle;
use super::runtime::MpiRuntime;
use crate::error::FabricError;
use crate::message_pool::keep;
use crate::payload::Payload;

/// A buffer that MPI uses while `requests` are active. Dropping it early leaks the memory: MPI may
/// still access it, and no nonblocking call revokes that access.
pub(super) struct InFlight<H: MpiHandle> {
    runtime: Arc<MpiRuntime<H>>,
    /// A raw pointer, because no reference may point to bytes that MPI writes.
    start: *mut u8,
    length: usize,
    owner: BufferOwner,
    requests: Vec<H>,
}

/// The owner of the bytes after the transfer.
enum BufferOwner {
    /// A vector with this capacity.
    Vector { capacity: usize },
    /// Shared memory, only sent.
    Shared(Option<Arc<dyn AsRef<[u8]> + Send + Sync>>),
}

// SAFETY: the transfer owns its memory and MPI handles belong to the process. The lock of the
// matcher lets one thread at a time call MPI, and `MpiRuntime::check_open` restricts the calls to
// one thread if MPI requires that.
unsafe impl<H: MpiHandle> Send for InFlight<H> {}

/// Peer and tag of a transfer.
#[derive(Clone, Copy)]
pub(super) struct MessageRoute {
    pub peer: c_int,
    pub tag: c_int,
    /// The longest MPI message; a longer transfer is split.
    pub max_bytes: usize,
}

impl<H: MpiHandle> InFlight<H> {
    /// Starts to send the bytes.
    pub fn send(
        runtime: &Arc<MpiRuntime<H>>,
        bytes: Payload,
        to: MessageRoute,
    ) -> Result<Self, FabricError> {
        let (mpi, communicator) = (&runtime.mpi, runtime.communicator);
        let isend = mpi.functions.isend;
        Self::start(runtime, bytes, to, "MPI_Isend", |start, count, peer, request| {
            // SAFETY: `start` points to `count` bytes that live until the request is complete.
            unsafe {
                isend(start.cast(), count, mpi.constants.byte, peer, to.tag, communicator, request)
            }
        })
    }

    /// Starts to receive at most `room.len()` bytes.
    pub fn receive(
        runtime: &Arc<MpiRuntime<H>>,
        room: Vec<u8>,
        from: MessageRoute,
    ) -> Result<Self, FabricError> {
        let (mpi, communicator) = (&runtime.mpi, runtime.communicator);
        let irecv = mpi.functions.irecv;
        Self::start(runtime, room.into(), from, "MPI_Irecv", |start, count, peer, request| {
            // SAFETY: `start` points to `count` bytes that live until the request is complete and
            // that nothing else accesses before.
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
        runtime: &Arc<MpiRuntime<H>>,
        bytes: Payload,
        route: MessageRoute,
        function: &'static str,
        call: impl Fn(*mut u8, c_int, c_int, *mut H) -> c_int,
    ) -> Result<Self, FabricError> {
        let (start, length, owner) = into_raw_parts(bytes);
        let runtime = runtime.clone();
        let mut transfer = Self { runtime, start, length, owner, requests: Vec::new() };
        for at in (0..length).step_by(route.max_bytes) {
            let count = route.max_bytes.min(length - at) as c_int;
            let mut request = H::NULL;
            let code = call(start.wrapping_add(at), count, route.peer, &mut request);
            transfer.runtime.mpi.functions.check(function, code)?;
            transfer.requests.push(request);
        }
        // Requests are tested from the end, so in the order in which they were started.
        transfer.requests.reverse();
        Ok(transfer)
    }

    /// Makes progress; returns whether MPI has completed the transfer.
    pub fn is_complete(&mut self) -> Result<bool, FabricError> {
        let mpi = &self.runtime.mpi;
        let ignore = mpi.constants.status_ignore as *mut _;
        while let Some(request) = self.requests.last_mut() {
            let mut done = 0;
            // SAFETY: an active request of this runtime; `ignore` is the ABI's MPI_STATUS_IGNORE.
            let code = unsafe { (mpi.functions.test)(request, &mut done, ignore) };
            mpi.functions.check("MPI_Test", code)?;
            if done == 0 {
                return Ok(false);
            }
            self.requests.pop();
        }
        Ok(true)
    }

    /// Returns the bytes if the transfer is complete.
    pub fn completed_bytes(&mut self) -> Result<Option<&[u8]>, FabricError> {
        if !self.is_complete()? {
            return Ok(None);
        }
        // SAFETY: pointer and length are those of a vector, and no active request writes to it.
        Ok(Some(unsafe { slice::from_raw_parts(self.start, self.length) }))
    }

    /// Returns the received bytes of a completed transfer.
    pub fn into_bytes(mut self) -> Vec<u8> {
        assert!(self.requests.is_empty(), "MPI still uses these bytes");
        self.take_vector().unwrap_or_default()
    }

    /// Takes the vector out of the transfer, at most once.
    fn take_vector(&mut self) -> Option<Vec<u8>> {
        match std::mem::replace(&mut self.owner, BufferOwner::Shared(None)) {
            BufferOwner::Vector { capacity } => {
                // SAFETY: pointer, length and capacity are those of a vector, and the owner was
                // replaced, so it is taken once. No request is active, as both callers check.
                Some(unsafe { Vec::from_raw_parts(self.start, self.length, capacity) })
            }
            BufferOwner::Shared(_) => None,
        }
    }
}

/// Splits a payload into pointer, length and owner. The bytes stay in place while the owner lives.
fn into_raw_parts(bytes: Payload) -> (*mut u8, usize, BufferOwner) {
    match bytes {
        Payload::Owned(bytes) => {
            let mut bytes = ManuallyDrop::new(bytes);
            (bytes.as_mut_ptr(), bytes.len(), BufferOwner::Vector { capacity: bytes.capacity() })
        }
        Payload::Shared(keeper) => {
            let bytes = (*keeper).as_ref();
            (bytes.as_ptr().cast_mut(), bytes.len(), BufferOwner::Shared(Some(keeper)))
        }
    }
}

impl<H: MpiHandle> Drop for InFlight<H> {
    fn drop(&mut self) {
        if self.requests.is_empty() {
            self.take_vector().into_iter().for_each(keep);
        } else if let BufferOwner::Shared(keeper) = &mut self.owner {
            std::mem::forget(keeper.take());
        }
    }
}
