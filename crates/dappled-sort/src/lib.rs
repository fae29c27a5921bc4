//! Sorting, selection, counting and indexing of slices, on all threads.
//!
//! Input: slices of numbers, masks, indices. Output: slices that the caller provides. The crate
//! knows no arrays, dtypes or ranks; functions for distributed arrays work on the local parts.
//! Guarantees: results do not depend on the number of threads, and values are in NumPy's order
//! ([`numpy_order`]): NaN last, -0.0 equal to 0.0.
//!
//! ```text
//! config                               thresholds
//! numpy_order, sort_key                NumPy's sort order; invertible sort keys
//! sort                                 parallel sort: linear buckets, then a radix sort of each
//! argsort                              stable argsort
//! merge, select, search                merge; selection of value ranges; binary search
//! bincount, histogram, nonzero         bincount and counting sort; histogram; positions of a mask
//! take, put, prefetch                  reads and writes at indices; software prefetch
//! route, take_requests, put_received   take and put of rows in parts: routing, requests, rows
//! ```

#![deny(unsafe_code)]

pub mod argsort;
pub mod bincount;
mod config;
pub mod histogram;
pub mod merge;
pub mod nonzero;
pub mod numpy_order;
#[allow(unsafe_code)]
mod prefetch;
pub mod put;
pub mod put_received;
pub mod route;
pub mod search;
pub mod select;
pub mod sort;
pub mod sort_key;
pub mod take;
pub mod take_requests;

/// Converts an index, negative ones counted from the end, to a position. An index out of bounds gives a
/// position that is not below `length`.
#[inline(always)]
fn wrap_index(index: i64, length: usize) -> usize {
    (if index < 0 { index.wrapping_add(length as i64) } else { index }) as usize
}
