//! The operations as a table.

use super::rule::Loops;
use super::{Gives, Row};
use crate::DType;

const ALL: Loops = Loops::of("?bhilBHILefdFD");
const NUMBERS: Loops = Loops::of("bhilBHILefdFD");
const BOOLS_AND_REALS: Loops = Loops::of("?bhilBHILefd");
const REALS: Loops = Loops::of("bhilBHILefd");
const BITS: Loops = Loops::of("?bhilBHIL");
const INTEGERS: Loops = Loops::of("bhilBHIL");
const INEXACT: Loops = Loops::of("efdFD");
const FLOATS: Loops = Loops::of("efd");
const DOUBLES: Loops = Loops::of("dD");
const COMPLEX: Loops = Loops::of("FD");

/// Makes the enum and what is looked up by its variants. A macro, as nothing else keeps the list
/// of variants in one place.
macro_rules! operations {
    ($($(#[$about:meta])* $Name:ident = $name:literal($arity:literal), $loops:ident => $gives:ident;)*) => {
        /// An operation on elements. `And`, `Or`, `Xor` and `Not` are bitwise; on bools that is
        /// logical.
        #[allow(missing_docs)] // Each is NumPy's function of that name, in its loop dtype.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $($(#[$about])* $Name,)*
            /// `numpy.where`: the first argument is a bool, the others have the loop's dtype.
            Select,
            /// To another dtype; the loop's is the one it comes from.
            Cast(DType),
        }

        impl Op {
            /// All but the casts.
            pub const PLAIN: [Op; [$($name),*].len() + 1] = [$(Op::$Name,)* Op::Select];

            const ROWS: [Row; Op::PLAIN.len() + 1] = [
                $(Row::new(Op::$Name, $name, $arity, $loops, Gives::$gives),)*
                Row::new(Op::Select, "select", 3, ALL, Gives::Same),
                Row::new(Op::Cast(DType::Bool), "cast", 1, ALL, Gives::Same),
            ];

            /// Its place in [`Op::PLAIN`]; all casts come after them.
            #[inline]
            pub(crate) const fn number(self) -> usize {
                match self {
                    $(Op::$Name => Numbers::$Name as usize,)*
                    Op::Select => Numbers::Select as usize,
                    Op::Cast(_) => Op::PLAIN.len(),
                }
            }

            #[inline]
            pub(crate) const fn row(self) -> &'static Row {
                const ROWS: &[Row] = &Op::ROWS;
                &ROWS[self.number()]
            }
        }

        /// The operations counted.
        enum Numbers {
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
    /// Always the power itself. NumPy's loops of float32 and float64 take 2, 1, 0.5, 0 and -1 for
    /// a square, the number, its root, 1 and its reciprocal, where the exponent is one element for
    /// the whole inner loop (since 2.x in the loop itself: `numpy.power` and `**` alike; not for
    /// float16, complex or an exponent array). That shows in `(-0.0)**0.5`, `(-inf)**0.5` and some
    /// last digits: it is for the caller to ask for `Square` or `Sqrt` then.
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
    Equal = "equal"(2), ALL => Truth;
    NotEqual = "not_equal"(2), ALL => Truth;
    Less = "less"(2), ALL => Truth;
    LessEqual = "less_equal"(2), ALL => Truth;
    Greater = "greater"(2), ALL => Truth;
    GreaterEqual = "greater_equal"(2), ALL => Truth;
    LogicalAnd = "logical_and"(2), ALL => Truth;
    LogicalOr = "logical_or"(2), ALL => Truth;
    LogicalXor = "logical_xor"(2), ALL => Truth;
    Copysign = "copysign"(2), FLOATS => Same;
    Nextafter = "nextafter"(2), FLOATS => Same;
    Heaviside = "heaviside"(2), FLOATS => Same;
    Hypot = "hypot"(2), FLOATS => Same;
    Arctan2 = "arctan2"(2), FLOATS => Same;
    Logaddexp = "logaddexp"(2), FLOATS => Same;
    Logaddexp2 = "logaddexp2"(2), FLOATS => Same;
    Negative = "negative"(1), NUMBERS => Same;
    Positive = "positive"(1), NUMBERS => Same;
    Absolute = "absolute"(1), ALL => Parts;
    Fabs = "fabs"(1), FLOATS => Same;
    Sign = "sign"(1), NUMBERS => Same;
    Square = "square"(1), NUMBERS => Same;
    Sqrt = "sqrt"(1), INEXACT => Same;
    Cbrt = "cbrt"(1), FLOATS => Same;
    Reciprocal = "reciprocal"(1), NUMBERS => Same;
    Conjugate = "conjugate"(1), NUMBERS => Same;
    /// Not a ufunc: `numpy.real` of a complex array.
    Real = "real"(1), COMPLEX => Parts;
    /// Not a ufunc: `numpy.imag` of a complex array.
    Imag = "imag"(1), COMPLEX => Parts;
    /// NumPy's loop without fused multiply-adds, which it runs where complex64 lies backwards: it
    /// is for the caller to ask for it then.
    UnfusedMultiply = "multiply"(2), COMPLEX => Same;
    /// The same of squares: also where neither number nor result is contiguous.
    UnfusedSquare = "square"(1), COMPLEX => Same;
    /// The same of absolute values.
    UnfusedAbsolute = "absolute"(1), COMPLEX => Parts;
    Not = "invert"(1), BITS => Same;
    BitwiseCount = "bitwise_count"(1), INTEGERS => Count;
    LogicalNot = "logical_not"(1), ALL => Truth;
    Isnan = "isnan"(1), ALL => Truth;
    Isinf = "isinf"(1), ALL => Truth;
    Isfinite = "isfinite"(1), ALL => Truth;
    Signbit = "signbit"(1), FLOATS => Truth;
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
