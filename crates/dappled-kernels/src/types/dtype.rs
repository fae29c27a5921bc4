//! NumPy's native element types.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// A dtype is an element type of NumPy.
///
/// The discriminants index the tables of this crate.
///
/// ```
/// use dappled_kernels::{DType, DTypeKind};
/// let dtype: DType = "float64".parse()?;
/// assert_eq!((dtype.itemsize(), dtype.kind(), dtype.char()), (8, DTypeKind::Float, 'd'));
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

/// The family of a dtype, ordered as NumPy's `same_kind` casts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DTypeKind {
    /// True or false, one byte.
    Bool,
    /// Unsigned integers.
    Unsigned,
    /// Signed integers, in two's complement.
    Signed,
    /// IEEE 754 floating-point numbers.
    Float,
    /// A real and an imaginary floating-point part.
    Complex,
}

impl DType {
    /// All dtypes, in the order of their discriminants.
    pub const ALL: [DType; 14] = {
        use DType::*;
        [
            Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, Float32,
            Float64, Complex64, Complex128,
        ]
    };

    /// The number of bytes of one element.
    #[inline]
    pub const fn itemsize(self) -> usize {
        [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 8, 16][self as usize]
    }

    /// The family of the dtype.
    #[inline]
    pub const fn kind(self) -> DTypeKind {
        match self as usize {
            0 => DTypeKind::Bool,
            1..=4 => DTypeKind::Signed,
            5..=8 => DTypeKind::Unsigned,
            9..=11 => DTypeKind::Float,
            _ => DTypeKind::Complex,
        }
    }

    /// NumPy's name: `"float64"`.
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

    /// The dtype of the real part; for other than complex dtypes, the dtype itself.
    #[inline]
    pub const fn real(self) -> DType {
        match self {
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            other => other,
        }
    }

    /// True for bool and the integers.
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
        let dtype = DType::ALL.into_iter().find(|dtype| dtype.name() == name);
        dtype.ok_or_else(|| Error::UnknownDType(name.to_string()))
    }
}
