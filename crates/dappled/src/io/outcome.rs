//! Errors of file operations that all ranks return together.

use std::io;

use crate::error::{FileError, Result};
use crate::session::Session;

impl FileError {
    fn new(error: &io::Error, path: &str, rank: u64) -> Self {
        let (code, path) = (error.raw_os_error(), path.to_string());
        Self { code, message: error.to_string(), path, rank }
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = self.rank.to_le_bytes().to_vec();
        bytes.extend(self.code.unwrap_or(0).to_le_bytes());
        bytes.extend(self.message.as_bytes());
        bytes
    }

    fn decode(bytes: &[u8], path: &str) -> Option<Self> {
        let (rank, rest) = bytes.split_first_chunk()?;
        let (code, message) = rest.split_first_chunk()?;
        Some(Self {
            code: Some(i32::from_le_bytes(*code)).filter(|&code| code != 0),
            message: String::from_utf8_lossy(message).into_owned(),
            path: path.to_string(),
            rank: u64::from_le_bytes(*rank),
        })
    }
}

/// Returns the error of the first rank that failed, on all ranks. Collective.
///
/// It is also a barrier: when it returns, every rank has finished the operation.
pub(super) fn share_outcome(
    session: &Session,
    operation: &str,
    path: &str,
    outcome: io::Result<()>,
) -> Result<()> {
    let rank = session.fabric().rank();
    let failed = outcome.err().map(|error| FileError::new(&error, path, rank));
    let bytes = failed.map_or_else(Vec::new, |error| error.encode());
    // The lowest rank comes first.
    let keep_first = |all: &mut Vec<u8>, other: &[u8]| {
        if all.is_empty() {
            all.extend(other);
        }
    };
    let first = session.allreduce(operation, bytes, &keep_first)?;
    FileError::decode(&first, path).map_or(Ok(()), |error| Err(error.into()))
}
