#![forbid(unsafe_code)]
//! placeholder
pub mod dim;
pub mod error;
pub mod rules;
pub mod value;
pub mod version;

pub use dim::{Dim, DimKind};
pub use error::ProtocolError;
pub use value::{Buffer, Dict, Value};
pub use version::{Meaning, Version};
