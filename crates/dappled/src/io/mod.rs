//! Files: arrays in raw binary and `.npy` files, read and written by all ranks.
//!
//! Input: a path that every rank names, and a distribution or an array. Output: an array, or a
//! complete file. Every rank reads and writes its own block of elements, in rounds of bounded
//! memory. An error of one rank is returned on all ranks.
//!
//! ```text
//! raw      elements in C order at an offset of a file
//! npy      NumPy's format: a header, then the elements
//! outcome  agrees on the first error of any rank
//! ```

mod npy;
mod outcome;
mod raw;

pub use npy::NpyHeader;
