//! Pool of message buffers: touching fresh pages costs more than copying into used ones.

use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use dappled_base::OutOfMemory;
use dappled_base::memory::{resize, zeros};

use crate::config::{MAX_POOL_BYTES, MAX_POOLED_BUFFERS, MIN_POOLED_BYTES};

static POOL: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Returns a buffer of `length` bytes with unspecified contents, from the pool if possible.
pub fn take_buffer(length: usize) -> Vec<u8> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    // A much longer buffer stays in the pool: the next message may need it.
    let fits = |bytes: &Vec<u8>| bytes.capacity() >= length && bytes.capacity() / 2 <= length;
    match pool.iter().rposition(fits) {
        Some(at) if length >= MIN_POOLED_BYTES => {
            let mut bytes = pool.remove(at);
            resize(&mut bytes, length, 0);
            bytes
        }
        _ => {
            drop(pool);
            zeros(length)
        }
    }
}

/// Returns a buffer of `length` bytes, or an error if the allocation fails.
pub(crate) fn try_take_buffer(length: usize) -> Result<Vec<u8>, OutOfMemory> {
    catch_unwind(|| take_buffer(length)).map_err(|refused| match refused.downcast() {
        Ok(refused) => *refused,
        Err(panic) => resume_unwind(panic),
    })
}

/// Returns an empty buffer with a capacity of at least `length` bytes.
pub fn take_empty_buffer(length: usize) -> Vec<u8> {
    let mut bytes = take_buffer(length);
    bytes.clear();
    bytes
}

/// Returns the buffer of a message that is no longer needed to the pool.
pub fn keep(bytes: Vec<u8>) {
    if bytes.capacity() < MIN_POOLED_BYTES || bytes.capacity() > MAX_POOL_BYTES {
        return;
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let pooled_bytes = |pool: &[Vec<u8>]| pool.iter().map(Vec::capacity).sum::<usize>();
    while pool.len() >= MAX_POOLED_BUFFERS
        || pooled_bytes(&pool) + bytes.capacity() > MAX_POOL_BYTES && !pool.is_empty()
    {
        pool.remove(0);
    }
    pool.push(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_of_similar_length_is_reused() {
        let first = take_buffer(3 << 20);
        let address = first.as_ptr();
        keep(first);
        let short = take_buffer(1 << 20);
        assert_ne!(short.as_ptr(), address);
        let second = take_buffer(2 << 20);
        assert_eq!((second.as_ptr(), second.len()), (address, 2 << 20));
        keep(take_buffer(100));
        assert_eq!(take_buffer(100), [0; 100]);
    }
}
