//! Memory that messages have used before: fresh pages cost more than the bytes that go through them.

use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use dappled_base::OutOfMemory;
use dappled_base::memory::{resize, zeros};

static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Less is not worth keeping.
const WORTH: usize = 8 << 10;
/// So many pieces are kept, and no more bytes than this; the oldest go first.
const PIECES: usize = 16;
const BYTES: usize = 256 << 20;

/// Memory for so many bytes; what is in it is of no meaning.
pub fn memory(length: usize) -> Vec<u8> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    // Not a long one for a short message: the next one may be long.
    let fits = |bytes: &Vec<u8>| bytes.capacity() >= length && bytes.capacity() / 2 <= length;
    match kept.iter().rposition(fits) {
        Some(at) if length >= WORTH => {
            let mut bytes = kept.remove(at);
            resize(&mut bytes, length, 0);
            bytes
        }
        _ => {
            drop(kept);
            zeros(length)
        }
    }
}

/// Returns a message buffer of this length, or an error if memory is refused.
pub(crate) fn try_memory(length: usize) -> Result<Vec<u8>, OutOfMemory> {
    catch_unwind(|| memory(length)).map_err(|refused| match refused.downcast() {
        Ok(refused) => *refused,
        Err(panic) => resume_unwind(panic),
    })
}

/// The same, empty, to be filled.
pub fn room(length: usize) -> Vec<u8> {
    let mut bytes = memory(length);
    bytes.clear();
    bytes
}

/// Keeps the memory of a message that is not needed any more.
pub fn keep(bytes: Vec<u8>) {
    if bytes.capacity() < WORTH || bytes.capacity() > BYTES {
        return;
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let held = |kept: &[Vec<u8>]| kept.iter().map(Vec::capacity).sum::<usize>();
    while kept.len() >= PIECES || held(&kept) + bytes.capacity() > BYTES && !kept.is_empty() {
        kept.remove(0);
    }
    kept.push(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_for_about_as_many_bytes() {
        let first = memory(3 << 20);
        let place = first.as_ptr();
        keep(first);
        let short = memory(1 << 20);
        assert_ne!(short.as_ptr(), place);
        let second = memory(2 << 20);
        assert_eq!((second.as_ptr(), second.len()), (place, 2 << 20));
        keep(memory(100));
        assert_eq!(memory(100), [0; 100]);
    }
}
