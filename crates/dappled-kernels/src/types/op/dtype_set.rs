//! Sets of dtypes, used for the dtypes an operation has a loop for.

use crate::types::dtype::DType;

/// A set of dtypes, as one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DTypeSet(u16);

impl DTypeSet {
    /// The set of these one-letter codes, as in `numpy.ufunc.types`.
    pub const fn of(codes: &str) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < DType::ALL.len() {
            let mut code = 0;
            while code < codes.len() {
                if codes.as_bytes()[code] == DType::ALL[at].char() as u8 {
                    set |= 1 << at;
                }
                code += 1;
            }
            at += 1;
        }
        Self(set)
    }

    pub const fn without(self, dtype: DType) -> Self {
        Self(self.0 & !(1 << dtype as u8))
    }

    pub const fn contains(self, dtype: DType) -> bool {
        self.0 >> dtype as u8 & 1 == 1
    }

    /// The dtypes of the set; within a kind the smaller ones first.
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |&dtype| self.contains(dtype))
    }
}
