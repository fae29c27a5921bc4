//! The element types that are computed here, and what NumPy calls them.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// One of NumPy's element types. Their order is that of the tables indexed by them.
///
/// ```
/// use dappled_kernels::{DType, Kind};
/// let dtype: DType = "float64".parse()?;
/// assert_eq!((dtype.itemsize(), dtype.kind(), dtype.char()), (8, Kind::Float, 'd'));
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
#[allow(missing_docs)] // Each is named as NumPy names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DType {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    Float32,
    Float64,
    Complex64,
    Complex128,
}

/// The family of a dtype, in the order in which NumPy's `same_kind` casts may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// True or false, one byte.
    Bool,
    /// Integers from 0.
    Unsigned,
    /// Integers in two's complement.
    Signed,
    /// IEEE 754 numbers.
    Float,
    /// A real and an imaginary float.
    Complex,
}

impl DType {
    /// All of them, in order.
    pub const ALL: [DType; 14] = {
        use DType::*;
        [
            Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, Float32,
            Float64, Complex64, Complex128,
        ]
    };

    /// Bytes of one element.
    #[inline]
    pub const fn itemsize(self) -> usize {
        [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 8, 16][self as usize]
    }

    /// The family it belongs to.
    #[inline]
    pub const fn kind(self) -> Kind {
        match self as usize {
            0 => Kind::Bool,
            1..=4 => Kind::Signed,
            5..=8 => Kind::Unsigned,
            9..=11 => Kind::Float,
            _ => Kind::Complex,
        }
    }

    /// The name that NumPy gives it: `"float64"`.
    pub const fn name(self) -> &'static str {
        const NAMES: [&str; 14] = [
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "float16",
            "float32",
            "float64",
            "complex64",
            "complex128",
        ];
        NAMES[self as usize]
    }

    /// NumPy's one-letter code, as on 64-bit Linux: `'d'`.
    pub const fn char(self) -> char {
        b"?bhilBHILefdFD"[self as usize] as char
    }

    /// The dtype of a complex number's parts; any other dtype itself.
    #[inline]
    pub const fn real(self) -> DType {
        match self {
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            other => other,
        }
    }

    /// Is it a bool or an integer?
    #[inline]
    pub const fn is_integral(self) -> bool {
        (self as usize) < DType::Float16 as usize
    }
}

impl fmt::Display for DType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = DType::ALL.into_iter().find(|dtype| dtype.name() == name);
        found.ok_or_else(|| Error::UnknownDType(name.to_string()))
    }
}
