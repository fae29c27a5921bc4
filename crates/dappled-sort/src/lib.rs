//! Elements taken, put, chosen, sorted and counted by their values or by places that are values: what
//! no fused loop does. Plain slices in, plain slices out, on all threads; knows no arrays and no ranks.
//!
//! Values are ordered as NumPy orders them ([`order::Key`]): NaN comes last, and -0.0 is 0.0.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod ahead;
pub mod asked;
pub mod compact;
pub mod count;
mod dealt;
pub mod divide;
pub mod exact;
pub mod histogram;
#[allow(unsafe_code)]
mod marks;
pub mod merge;
#[allow(unsafe_code)]
mod near;
pub mod order;
pub mod put;
mod radix;
pub mod rank;
pub mod receive;
pub mod route;
mod scale;
pub mod select;
pub mod sort;
pub mod take;

/// Elements that one thread does at a time: enough to make starting it cheap.
const CHUNK: usize = 1 << 15;

/// The place among so many elements that an index means, which may count from the end. What is too
/// large or too small becomes a place that there is not.
#[inline(always)]
fn place(index: i64, length: usize) -> usize {
    (if index < 0 { index.wrapping_add(length as i64) } else { index }) as usize
}
