#![forbid(unsafe_code)]
//! The Distributed Array Protocol: distributions, dimension data, rules and exchanges.
//!
//! Input: exports of other libraries (`__distarray__`), or specifications of distributions. Output:
//! validated distributions, slices of them, and the cells that ranks exchange. The crate has no
//! memory, no messages and no Python. Guarantees: every violated rule of the protocol is reported
//! with its id, and indices of structured axes are never tabulated, so a distribution over a
//! million ranks costs as much as one over four.
//!
//! ```text
//! config             limits
//! value, version     untyped values of an export; protocol versions
//! rules              every rule of the protocol, one entry each
//! dim, export        one rank's dimension; one rank's export
//! axis               axis maps: how one axis is distributed over ranks
//! distribution       a process grid, and an axis map for each axis
//! region, slice      regions of an axis; canonical keys and their composition
//! runs, exchange     cells to transfer; exchange sets between distributions; halo exchange
//! piece, format      the protocol as a Rust trait; canonical buffer formats
//! ```

pub mod axis;
mod config;
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
pub use runs::{CellRuns, Span, Transfer};
pub use value::{Buffer, Dict, Value};
pub use version::{Meaning, Version};
