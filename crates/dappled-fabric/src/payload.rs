//! The payload of a message.

use std::sync::Arc;

use dappled_base::memory::copy_of;

/// A payload is the bytes of a message: a vector, or shared memory.
///
/// Shared memory stays unchanged until it is sent. It avoids a copy if the fabric can send it
/// directly.
///
/// ```
/// use std::sync::Arc;
/// use dappled_fabric::Payload;
/// let row: Arc<Vec<u8>> = Arc::new(vec![1, 2]);
/// assert_eq!(Payload::Shared(row.clone()).into_vec(), Payload::from(vec![1, 2]).into_vec());
/// ```
pub enum Payload {
    /// A vector that the message owns.
    Owned(Vec<u8>),
    /// Shared memory, released when the message is sent.
    Shared(Arc<dyn AsRef<[u8]> + Send + Sync>),
}

impl Payload {
    /// Returns the bytes as a vector; copies shared memory.
    pub fn into_vec(self) -> Vec<u8> {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Shared(keeper) => copy_of((*keeper).as_ref()),
        }
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Shared(keeper) => (**keeper).as_ref(),
        }
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Owned(bytes)
    }
}
