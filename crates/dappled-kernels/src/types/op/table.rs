//! The table of element-wise operations.

use super::dtype_set::DTypeSet;
use super::{OpInfo, ResultDType};
use crate::types::dtype::DType;

const ALL: DTypeSet = DTypeSet::of("?bhilBHILefdFD");
const NUMBERS: DTypeSet = DTypeSet::of("bhilBHILefdFD");
const BOOLS_AND_REALS: DTypeSet = DTypeSet::of("?bhilBHILefd");
const REALS: DTypeSet = DTypeSet::of("bhilBHILefd");
const BITS: DTypeSet = DTypeSet::of("?bhilBHIL");
const INTEGERS: DTypeSet = DTypeSet::of("bhilBHIL");
const INEXACT: DTypeSet = DTypeSet::of("efdFD");
const FLOATS: DTypeSet = DTypeSet::of("efd");
const DOUBLES: DTypeSet = DTypeSet::of("dD");
const COMPLEX: DTypeSet = DTypeSet::of("FD");

/// Defines the enum and the tables indexed by its variants from one list.
macro_rules! operations {
    ($($(#[$about:meta])* $Name:ident = $name:literal($arity:literal), $loops:ident => $result:ident;)*) => {
        /// An element-wise operation. `And`, `Or`, `Xor` and `Not` are bitwise, which is logical
        /// for bools.
        #[allow(missing_docs)] // Each is NumPy's function of that name, in its loop dtype.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $($(#[$about])* $Name,)*
            /// `numpy.where`: the first argument is a bool, the others have the loop's dtype.
            Select,
            /// A cast to another dtype; the dtype of the loop is the source.
            Cast(DType),
        }

        impl Op {
            /// Every operation but the casts.
            pub const ALL_BUT_CAST: [Op; [$($name),*].len() + 1] = [$(Op::$Name,)* Op::Select];

            const INFOS: [OpInfo; Op::ALL_BUT_CAST.len() + 1] = [
                $(OpInfo::new(Op::$Name, $name, $arity, $loops, ResultDType::$result),)*
                OpInfo::new(Op::Select, "select", 3, ALL, ResultDType::Same),
                OpInfo::new(Op::Cast(DType::Bool), "cast", 1, ALL, ResultDType::Same),
            ];

            /// The index in [`Op::ALL_BUT_CAST`]; casts share the index after the last.
            #[inline]
            pub(crate) const fn index(self) -> usize {
                match self {
                    $(Op::$Name => OpIndex::$Name as usize,)*
                    Op::Select => OpIndex::Select as usize,
                    Op::Cast(_) => Op::ALL_BUT_CAST.len(),
                }
            }

            #[inline]
            pub(crate) const fn info(self) -> &'static OpInfo {
                const INFOS: &[OpInfo] = &Op::INFOS;
                &INFOS[self.index()]
            }
        }

        /// Indices of the operations.
        enum OpIndex {
            $($Name,)*
            Select,
        }
    };
}

operations! {
    Add = "add"(2), ALL => Same;
    Subtract = "subtract"(2), NUMBERS => Same;
    Multiply = "multiply"(2), ALL => Same;
    Divide = "divide"(2), INEXACT => Same;
    FloorDivide = "floor_divide"(2), REALS => Same;
    Remainder = "remainder"(2), REALS => Same;
    Fmod = "fmod"(2), REALS => Same;
    /// The power function, without NumPy's shortcuts for scalar exponents.
    ///
    /// Where the exponent is one element for the whole inner loop, NumPy's float32 and float64
    /// loops replace exponents 2, 1, 0.5, 0 and -1 by a square, a copy, a square root, 1 and a
    /// reciprocal (since 2.x in the loop itself, for `numpy.power` and `**`; not for float16,
    /// complex or an array of exponents). The results of `(-0.0)**0.5` and `(-inf)**0.5` and some
    /// last digits differ, so the caller must request `Square` or `Sqrt` for such exponents.
    Power = "power"(2), NUMBERS => Same;
    FloatPower = "float_power"(2), DOUBLES => Same;
    Minimum = "minimum"(2), ALL => Same;
    Maximum = "maximum"(2), ALL => Same;
    Fmin = "fmin"(2), ALL => Same;
    Fmax = "fmax"(2), ALL => Same;
    And = "bitwise_and"(2), BITS => Same;
    Or = "bitwise_or"(2), BITS => Same;
    Xor = "bitwise_xor"(2), BITS => Same;
    LeftShift = "left_shift"(2), INTEGERS => Same;
    RightShift = "right_shift"(2), INTEGERS => Same;
    Gcd = "gcd"(2), INTEGERS => Same;
    Lcm = "lcm"(2), INTEGERS => Same;
    Equal = "equal"(2), ALL => Bool;
    NotEqual = "not_equal"(2), ALL => Bool;
    Less = "less"(2), ALL => Bool;
    LessEqual = "less_equal"(2), ALL => Bool;
    Greater = "greater"(2), ALL => Bool;
    GreaterEqual = "greater_equal"(2), ALL => Bool;
    LogicalAnd = "logical_and"(2), ALL => Bool;
    LogicalOr = "logical_or"(2), ALL => Bool;
    LogicalXor = "logical_xor"(2), ALL => Bool;
    Copysign = "copysign"(2), FLOATS => Same;
    Nextafter = "nextafter"(2), FLOATS => Same;
    Heaviside = "heaviside"(2), FLOATS => Same;
    Hypot = "hypot"(2), FLOATS => Same;
    Arctan2 = "arctan2"(2), FLOATS => Same;
    Logaddexp = "logaddexp"(2), FLOATS => Same;
    Logaddexp2 = "logaddexp2"(2), FLOATS => Same;
    Negative = "negative"(1), NUMBERS => Same;
    Positive = "positive"(1), NUMBERS => Same;
    Absolute = "absolute"(1), ALL => Real;
    Fabs = "fabs"(1), FLOATS => Same;
    Sign = "sign"(1), NUMBERS => Same;
    Square = "square"(1), NUMBERS => Same;
    Sqrt = "sqrt"(1), INEXACT => Same;
    Cbrt = "cbrt"(1), FLOATS => Same;
    Reciprocal = "reciprocal"(1), NUMBERS => Same;
    Conjugate = "conjugate"(1), NUMBERS => Same;
    /// Not a ufunc: `numpy.real` of a complex array.
    Real = "real"(1), COMPLEX => Real;
    /// Not a ufunc: `numpy.imag` of a complex array.
    Imag = "imag"(1), COMPLEX => Real;
    /// Complex product without fused multiply-adds.
    ///
    /// NumPy runs this loop where complex64 has a negative stride; the caller must request it.
    UnfusedMultiply = "multiply"(2), COMPLEX => Same;
    /// Complex square without fused multiply-adds.
    ///
    /// NumPy runs this loop for negative strides, and where neither argument nor result is
    /// contiguous.
    UnfusedSquare = "square"(1), COMPLEX => Same;
    /// Complex absolute value without fused multiply-adds; see `UnfusedMultiply`.
    UnfusedAbsolute = "absolute"(1), COMPLEX => Real;
    Not = "invert"(1), BITS => Same;
    BitwiseCount = "bitwise_count"(1), INTEGERS => UInt8;
    LogicalNot = "logical_not"(1), ALL => Bool;
    Isnan = "isnan"(1), ALL => Bool;
    Isinf = "isinf"(1), ALL => Bool;
    Isfinite = "isfinite"(1), ALL => Bool;
    Signbit = "signbit"(1), FLOATS => Bool;
    Floor = "floor"(1), BOOLS_AND_REALS => Same;
    Ceil = "ceil"(1), BOOLS_AND_REALS => Same;
    Trunc = "trunc"(1), BOOLS_AND_REALS => Same;
    Rint = "rint"(1), INEXACT => Same;
    Spacing = "spacing"(1), FLOATS => Same;
    Deg2Rad = "deg2rad"(1), FLOATS => Same;
    Rad2Deg = "rad2deg"(1), FLOATS => Same;
    Exp = "exp"(1), INEXACT => Same;
    Exp2 = "exp2"(1), INEXACT => Same;
    Expm1 = "expm1"(1), INEXACT => Same;
    Log = "log"(1), INEXACT => Same;
    Log2 = "log2"(1), INEXACT => Same;
    Log10 = "log10"(1), INEXACT => Same;
    Log1p = "log1p"(1), INEXACT => Same;
    Sin = "sin"(1), INEXACT => Same;
    Cos = "cos"(1), INEXACT => Same;
    Tan = "tan"(1), INEXACT => Same;
    Arcsin = "arcsin"(1), INEXACT => Same;
    Arccos = "arccos"(1), INEXACT => Same;
    Arctan = "arctan"(1), INEXACT => Same;
    Sinh = "sinh"(1), INEXACT => Same;
    Cosh = "cosh"(1), INEXACT => Same;
    Tanh = "tanh"(1), INEXACT => Same;
    Arcsinh = "arcsinh"(1), INEXACT => Same;
    Arccosh = "arccosh"(1), INEXACT => Same;
    Arctanh = "arctanh"(1), INEXACT => Same;
}
