//! What a message carries.

use std::sync::Arc;

use dappled_base::memory::copied;

/// Bytes to be sent: a vector of their own, or memory that stays as it is until they are sent, so that
/// nothing is copied where the fabric can read it there.
///
/// ```
/// use std::sync::Arc;
/// use dappled_fabric::Payload;
/// let row: Arc<Vec<u8>> = Arc::new(vec![1, 2]);
/// assert_eq!(Payload::Kept(row.clone()).into_vec(), Payload::from(vec![1, 2]).into_vec());
/// ```
pub enum Payload {
    /// A vector.
    Own(Vec<u8>),
    /// Memory of somebody else, who is dropped when the bytes are sent.
    Kept(Arc<dyn AsRef<[u8]> + Send + Sync>),
}

impl Payload {
    /// A vector with the bytes: a copy, where they are kept.
    pub fn into_vec(self) -> Vec<u8> {
        match self {
            Self::Own(bytes) => bytes,
            Self::Kept(keeper) => copied((*keeper).as_ref()),
        }
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Kept(keeper) => (**keeper).as_ref(),
        }
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Own(bytes)
    }
}
