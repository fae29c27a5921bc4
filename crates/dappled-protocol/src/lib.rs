#![forbid(unsafe_code)]
//! The Distributed Array Protocol: what a distribution is, and who sends what to whom.
//!
//! A distributed array is one array in pieces over many ranks. This crate is its vocabulary and
//! nothing else: no memory, no messages, no Python. It reads the words from the bottom up:
//!
//! ```text
//! value, version     what was found, before any rule was tried
//! rules              every rule of the protocol, one entry each
//! dim, export        one rank's dimension; one rank's export
//! axis               an axis map: how one axis is shared among ranks
//! distribution       a grid of ranks, and an axis map for each axis
//! region, slice      parts of an axis; canonical keys; a key applied to a key
//! exchange           who sends which cells to whom; halos
//! piece              the trait by which a type offers its piece
//! ```
//!
//! Indices of structured axes are never tabulated: a distribution over a million ranks costs
//! what one over four does.

pub mod axis;
pub mod dim;
mod distribution;
pub mod error;
pub mod exchange;
pub mod export;
pub mod format;
mod piece;
mod region;
pub mod rules;
mod runs;
pub mod slice;
pub mod value;
pub mod version;

pub use axis::AxisMap;
pub use dim::{Dim, DimKind, Entries};
pub use distribution::{AxisSpec, Distribution, Held, Padding, Spec};
pub use error::ProtocolError;
pub use export::{Export, check_all};
pub use piece::{DistArray, Elements, ElementsMut, Strided};
pub use region::Region;
pub use runs::{Runs, Span, Transfer};
pub use value::{Buffer, Dict, Value};
pub use version::{Meaning, Version};
