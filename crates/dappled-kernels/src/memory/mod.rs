//! Memory that arrays live in, and strided views of it.
//!
//! ```text
//! buffer           shared, aligned memory with read and write claims
//! foreign_claims   claims on memory that another library owns, by address
//! stats            bytes in use and their peak
//! view, overlap    strided views; whether two views share a byte
//! copy, strided_copy, transpose   copies between views
//! ```
//!
//! Guarantee: no byte is read while it is written; every view is checked against its buffer.

#[allow(unsafe_code)]
pub mod buffer;
#[allow(unsafe_code)]
pub(crate) mod copy;
pub(crate) mod foreign_claims;
pub(crate) mod overlap;
pub(crate) mod stats;
#[allow(unsafe_code)]
pub(crate) mod strided_copy;
#[allow(unsafe_code)]
pub(crate) mod transpose;
pub(crate) mod view;
