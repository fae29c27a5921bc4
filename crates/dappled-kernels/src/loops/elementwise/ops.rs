//! The operations as types, with which generic loops are instantiated.

use super::arithmetic::Arithmetic;
use crate::types::element::{Bool, Element};
use crate::types::fp_flags::FpFlags;

/// An operation with one argument, as a type.
pub(crate) trait UnaryOp<T: Element> {
    type Out: Element;
    /// True if `flags` may return a flag.
    const MAY_RAISE: bool = false;
    /// True if `apply` does not support all arguments.
    const HAS_SPECIAL_CASES: bool = false;
    fn apply(a: T) -> Self::Out;
    #[inline(always)]
    fn is_special(_: T) -> bool {
        false
    }
    /// The result for an argument that `apply` does not support; computed after the others, one at
    /// a time.
    fn special(a: T) -> Self::Out {
        Self::apply(a)
    }
    /// True if this result implies that no flag was raised. A cheap test that avoids evaluating
    /// `flags`.
    #[inline(always)]
    fn is_flagless_result(_: Self::Out) -> bool {
        false
    }
    /// True if this argument implies that no flag is raised. A cheap test that avoids evaluating
    /// `flags`.
    #[inline(always)]
    fn is_flagless_argument(_: T) -> bool {
        false
    }
    /// The flags that NumPy would raise, for operations whose CPU flags are unusable.
    #[inline(always)]
    fn flags(_: T, _: Self::Out) -> FpFlags {
        FpFlags::NONE
    }
}

/// An operation with two arguments, as a type. Its items correspond to those of [`UnaryOp`].
pub(crate) trait BinaryOp<T: Element> {
    type Out: Element;
    /// True if `flags` may return a flag.
    const MAY_RAISE: bool = false;
    /// True if `apply` does not support all arguments.
    const HAS_SPECIAL_CASES: bool = false;
    fn apply(a: T, b: T) -> Self::Out;
    #[inline(always)]
    fn is_special(_: T, _: T) -> bool {
        false
    }
    /// The result for arguments that `apply` does not support.
    fn special(a: T, b: T) -> Self::Out {
        Self::apply(a, b)
    }
    /// True if this result implies that no flag was raised.
    #[inline(always)]
    fn is_flagless_result(_: Self::Out) -> bool {
        false
    }
    /// True if these arguments imply that no flag is raised.
    #[inline(always)]
    fn is_flagless_argument(_: T, _: T) -> bool {
        false
    }
    /// The flags that NumPy would raise, for operations whose CPU flags are unusable.
    #[inline(always)]
    fn flags(_: T, _: T, _: Self::Out) -> FpFlags {
        FpFlags::NONE
    }
}

/// `op!(UnaryOp Name: Trait(a) -> Out, value)`: defines an operation on the elements of a trait.
macro_rules! op {
    ($Kind:ident $Name:ident: $Trait:ident($($arg:ident),+) -> $Out:ty, $value:expr) => {
        pub(crate) struct $Name;
        impl<T: $Trait> $Kind<T> for $Name {
            type Out = $Out;
            #[inline(always)]
            fn apply($($arg: T),+) -> $Out {
                $value
            }
        }
    };
    // The optional parts: the flags as a function of arguments and result; results or arguments
    // that raise none; and the function for arguments that `value` does not support.
    ($Kind:ident $Name:ident: $Trait:ident($($arg:ident),+) -> $Out:ty, $value:expr, $flags:expr
        $(, unless $is_flagless_result:path)? $(, quiet $is_flagless_argument:path)? $(, if $is_special:path, $special:path)?) => {
        pub(crate) struct $Name;
        impl<T: $Trait> $Kind<T> for $Name {
            type Out = $Out;
            const MAY_RAISE: bool = true;
            #[inline(always)]
            fn apply($($arg: T),+) -> $Out {
                $value
            }
            $(#[inline(always)]
            fn is_flagless_result(out: $Out) -> bool {
                $is_flagless_result(out)
            })?
            $(op!(quiet $Kind, $is_flagless_argument);)?
            $(op!(special $Kind $Out, $is_special, $special);)?
            #[inline(always)]
            fn flags($($arg: T),+, out: $Out) -> $crate::FpFlags {
                $flags($($arg),+, out)
            }
        }
    };
    (quiet UnaryOp, $is_flagless_argument:path) => {
        #[inline(always)]
        fn is_flagless_argument(a: T) -> bool {
            $is_flagless_argument(a)
        }
    };
    (quiet BinaryOp, $is_flagless_argument:path) => {
        #[inline(always)]
        fn is_flagless_argument(a: T, b: T) -> bool {
            $is_flagless_argument(a, b)
        }
    };
    (special UnaryOp $Out:ty, $is_special:path, $special:path) => {
        const HAS_SPECIAL_CASES: bool = true;
        #[inline(always)]
        fn is_special(a: T) -> bool {
            $is_special(a)
        }
        fn special(a: T) -> $Out {
            $special(a)
        }
    };
    (special BinaryOp $Out:ty, $is_special:path, $special:path) => {
        const HAS_SPECIAL_CASES: bool = true;
        #[inline(always)]
        fn is_special(a: T, b: T) -> bool {
            $is_special(a, b)
        }
        fn special(a: T, b: T) -> $Out {
            $special(a, b)
        }
    };
}
pub(crate) use op;

op!(BinaryOp Add: Arithmetic(a, b) -> T, a.add(b));
op!(BinaryOp Subtract: Arithmetic(a, b) -> T, a.subtract(b));
op!(BinaryOp Multiply: Arithmetic(a, b) -> T, a.multiply(b));
op!(BinaryOp Divide: Arithmetic(a, b) -> T, a.divide(b), T::divide_flags, quiet T::divides_without_flags);
op!(BinaryOp FloorDivide: Arithmetic(a, b) -> T, a.floor_divide(b), T::floor_divide_flags, unless T::is_flagless_quotient);
op!(BinaryOp Remainder: Arithmetic(a, b) -> T, a.remainder(b), T::remainder_flags, unless T::is_flagless_remainder);
op!(BinaryOp Fmod: Arithmetic(a, b) -> T, a.fmod(b), T::remainder_flags, unless T::is_flagless_remainder);
op!(BinaryOp Minimum: Arithmetic(a, b) -> T, a.minimum(b));
op!(BinaryOp Maximum: Arithmetic(a, b) -> T, a.maximum(b));
op!(BinaryOp Fmin: Arithmetic(a, b) -> T, a.fmin(b));
op!(BinaryOp Fmax: Arithmetic(a, b) -> T, a.fmax(b));
op!(BinaryOp And: Arithmetic(a, b) -> T, a.and(b));
op!(BinaryOp Or: Arithmetic(a, b) -> T, a.or(b));
op!(BinaryOp Xor: Arithmetic(a, b) -> T, a.xor(b));
op!(BinaryOp Equal: Arithmetic(a, b) -> Bool, a.equal(b).into());
op!(BinaryOp NotEqual: Arithmetic(a, b) -> Bool, (!a.equal(b)).into());
op!(BinaryOp Less: Arithmetic(a, b) -> Bool, a.less(b).into(), |a, b, _| T::compare_flags(a, b), quiet T::compares_without_flags);
op!(BinaryOp LessEqual: Arithmetic(a, b) -> Bool, a.less_equal(b).into(), |a, b, _| T::compare_flags(a, b), quiet T::compares_without_flags);
op!(BinaryOp Greater: Arithmetic(a, b) -> Bool, b.less(a).into(), |a, b, _| T::compare_flags(a, b), quiet T::compares_without_flags);
op!(BinaryOp GreaterEqual: Arithmetic(a, b) -> Bool, b.less_equal(a).into(), |a, b, _| T::compare_flags(a, b), quiet T::compares_without_flags);
op!(BinaryOp LogicalAnd: Arithmetic(a, b) -> Bool, (a.is_true() & b.is_true()).into());
op!(BinaryOp LogicalOr: Arithmetic(a, b) -> Bool, (a.is_true() | b.is_true()).into());
op!(BinaryOp LogicalXor: Arithmetic(a, b) -> Bool, (a.is_true() ^ b.is_true()).into());
op!(UnaryOp LogicalNot: Arithmetic(a) -> Bool, (!a.is_true()).into());
op!(UnaryOp Negative: Arithmetic(a) -> T, a.negative());
op!(UnaryOp Positive: Arithmetic(a) -> T, a);
op!(UnaryOp Sign: Arithmetic(a) -> T, a.sign(), T::sign_flags);
op!(UnaryOp Square: Arithmetic(a) -> T, a.multiply(a));
op!(UnaryOp Sqrt: Arithmetic(a) -> T, a.sqrt());
op!(UnaryOp Reciprocal: Arithmetic(a) -> T, a.reciprocal(), T::reciprocal_flags, quiet T::reciprocal_without_flags);
op!(UnaryOp Conjugate: Arithmetic(a) -> T, a.conjugate());
op!(UnaryOp Not: Arithmetic(a) -> T, a.not());
op!(UnaryOp Isnan: Arithmetic(a) -> Bool, a.is_nan().into());
op!(UnaryOp Isinf: Arithmetic(a) -> Bool, a.is_infinite().into());
op!(UnaryOp Isfinite: Arithmetic(a) -> Bool, (!a.is_nan() & !a.is_infinite()).into());
op!(UnaryOp Floor: Arithmetic(a) -> T, a.floor());
op!(UnaryOp Ceil: Arithmetic(a) -> T, a.ceil());
op!(UnaryOp Trunc: Arithmetic(a) -> T, a.trunc());
op!(UnaryOp Rint: Arithmetic(a) -> T, a.rint());
