//! Sets of dtypes: in which ones NumPy has a loop.

use crate::DType;

/// Some dtypes, in NumPy's order of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loops(u16);

impl Loops {
    /// Those of these one-letter codes, as in `numpy.ufunc.types`.
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

    /// The smaller ones of a kind first.
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |&dtype| self.contains(dtype))
    }
}
