//! The operations as types: a loop takes one as a parameter and is compiled with it inlined.

use super::arithmetic::Arithmetic;
use crate::Flags;
use crate::element::{Bool, Element};

/// An operation of one argument, as a type.
pub(crate) trait UnaryOp<T: Element> {
    type Out: Element;
    /// Does `raises` ever find something?
    const RAISES: bool = false;
    /// Are there arguments that `apply` cannot do?
    const HAS_RARE: bool = false;
    fn apply(a: T) -> Self::Out;
    #[inline(always)]
    fn is_rare(_: T) -> bool {
        false
    }
    /// The result for such an argument: one at a time, after the others.
    fn rare(a: T) -> Self::Out {
        Self::apply(a)
    }
    /// Does this result signal nothing, whatever the argument was? A quick look at all of them
    /// saves a longer one.
    #[inline(always)]
    fn is_plain(_: Self::Out) -> bool {
        false
    }
    /// Does this argument signal nothing, as a quick look at it tells?
    #[inline(always)]
    fn is_quiet(_: T) -> bool {
        false
    }
    /// What NumPy would signal, for operations whose instructions do not.
    #[inline(always)]
    fn raises(_: T, _: Self::Out) -> Flags {
        Flags::NONE
    }
}

/// An operation of two arguments, as a type.
pub(crate) trait BinaryOp<T: Element> {
    type Out: Element;
    /// As for one argument.
    const RAISES: bool = false;
    /// As for one argument.
    const HAS_RARE: bool = false;
    fn apply(a: T, b: T) -> Self::Out;
    #[inline(always)]
    fn is_rare(_: T, _: T) -> bool {
        false
    }
    /// As for one argument.
    fn rare(a: T, b: T) -> Self::Out {
        Self::apply(a, b)
    }
    /// As for one argument.
    #[inline(always)]
    fn is_plain(_: Self::Out) -> bool {
        false
    }
    /// As for one argument.
    #[inline(always)]
    fn is_quiet(_: T, _: T) -> bool {
        false
    }
    /// As for one argument.
    #[inline(always)]
    fn raises(_: T, _: T, _: Self::Out) -> Flags {
        Flags::NONE
    }
}

/// `op!(UnaryOp Name: Trait(a) -> Out, value)`: an operation on the elements of a trait.
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
    // With what it signals, a function of the arguments and the result; which results never do, or
    // which arguments; and where `value` has no answer, from where else to take it.
    ($Kind:ident $Name:ident: $Trait:ident($($arg:ident),+) -> $Out:ty, $value:expr, $raises:expr
        $(, unless $is_plain:path)? $(, quiet $is_quiet:path)? $(, if $is_rare:path, $rare:path)?) => {
        pub(crate) struct $Name;
        impl<T: $Trait> $Kind<T> for $Name {
            type Out = $Out;
            const RAISES: bool = true;
            #[inline(always)]
            fn apply($($arg: T),+) -> $Out {
                $value
            }
            $(#[inline(always)]
            fn is_plain(out: $Out) -> bool {
                $is_plain(out)
            })?
            $(op!(quiet $Kind, $is_quiet);)?
            $(op!(rare $Kind $Out, $is_rare, $rare);)?
            #[inline(always)]
            fn raises($($arg: T),+, out: $Out) -> $crate::Flags {
                $raises($($arg),+, out)
            }
        }
    };
    (quiet UnaryOp, $is_quiet:path) => {
        #[inline(always)]
        fn is_quiet(a: T) -> bool {
            $is_quiet(a)
        }
    };
    (quiet BinaryOp, $is_quiet:path) => {
        #[inline(always)]
        fn is_quiet(a: T, b: T) -> bool {
            $is_quiet(a, b)
        }
    };
    (rare UnaryOp $Out:ty, $is_rare:path, $rare:path) => {
        const HAS_RARE: bool = true;
        #[inline(always)]
        fn is_rare(a: T) -> bool {
            $is_rare(a)
        }
        fn rare(a: T) -> $Out {
            $rare(a)
        }
    };
    (rare BinaryOp $Out:ty, $is_rare:path, $rare:path) => {
        const HAS_RARE: bool = true;
        #[inline(always)]
        fn is_rare(a: T, b: T) -> bool {
            $is_rare(a, b)
        }
        fn rare(a: T, b: T) -> $Out {
            $rare(a, b)
        }
    };
}
pub(crate) use op;

op!(BinaryOp Add: Arithmetic(a, b) -> T, a.add(b));
op!(BinaryOp Subtract: Arithmetic(a, b) -> T, a.subtract(b));
op!(BinaryOp Multiply: Arithmetic(a, b) -> T, a.multiply(b));
op!(BinaryOp Divide: Arithmetic(a, b) -> T, a.divide(b), T::divide_raises, quiet T::divides_quietly);
op!(BinaryOp FloorDivide: Arithmetic(a, b) -> T, a.floor_divide(b), T::floor_divide_raises, unless T::is_plain_quotient);
op!(BinaryOp Remainder: Arithmetic(a, b) -> T, a.remainder(b), T::remainder_raises, unless T::is_plain_remainder);
op!(BinaryOp Fmod: Arithmetic(a, b) -> T, a.fmod(b), T::remainder_raises, unless T::is_plain_remainder);
op!(BinaryOp Minimum: Arithmetic(a, b) -> T, a.minimum(b));
op!(BinaryOp Maximum: Arithmetic(a, b) -> T, a.maximum(b));
op!(BinaryOp Fmin: Arithmetic(a, b) -> T, a.fmin(b));
op!(BinaryOp Fmax: Arithmetic(a, b) -> T, a.fmax(b));
op!(BinaryOp And: Arithmetic(a, b) -> T, a.and(b));
op!(BinaryOp Or: Arithmetic(a, b) -> T, a.or(b));
op!(BinaryOp Xor: Arithmetic(a, b) -> T, a.xor(b));
op!(BinaryOp Equal: Arithmetic(a, b) -> Bool, a.equal(b).into());
op!(BinaryOp NotEqual: Arithmetic(a, b) -> Bool, (!a.equal(b)).into());
op!(BinaryOp Less: Arithmetic(a, b) -> Bool, a.less(b).into(), |a, b, _| T::order_raises(a, b), quiet T::orders_quietly);
op!(BinaryOp LessEqual: Arithmetic(a, b) -> Bool, a.less_equal(b).into(), |a, b, _| T::order_raises(a, b), quiet T::orders_quietly);
op!(BinaryOp Greater: Arithmetic(a, b) -> Bool, b.less(a).into(), |a, b, _| T::order_raises(a, b), quiet T::orders_quietly);
op!(BinaryOp GreaterEqual: Arithmetic(a, b) -> Bool, b.less_equal(a).into(), |a, b, _| T::order_raises(a, b), quiet T::orders_quietly);
op!(BinaryOp LogicalAnd: Arithmetic(a, b) -> Bool, (a.is_true() & b.is_true()).into());
op!(BinaryOp LogicalOr: Arithmetic(a, b) -> Bool, (a.is_true() | b.is_true()).into());
op!(BinaryOp LogicalXor: Arithmetic(a, b) -> Bool, (a.is_true() ^ b.is_true()).into());
op!(UnaryOp LogicalNot: Arithmetic(a) -> Bool, (!a.is_true()).into());
op!(UnaryOp Negative: Arithmetic(a) -> T, a.negative());
op!(UnaryOp Positive: Arithmetic(a) -> T, a);
op!(UnaryOp Sign: Arithmetic(a) -> T, a.sign(), T::sign_raises);
op!(UnaryOp Square: Arithmetic(a) -> T, a.multiply(a));
op!(UnaryOp Sqrt: Arithmetic(a) -> T, a.sqrt());
op!(UnaryOp Reciprocal: Arithmetic(a) -> T, a.reciprocal(), T::reciprocal_raises, quiet T::inverts_quietly);
op!(UnaryOp Conjugate: Arithmetic(a) -> T, a.conjugate());
op!(UnaryOp Not: Arithmetic(a) -> T, a.not());
op!(UnaryOp Isnan: Arithmetic(a) -> Bool, a.is_nan().into());
op!(UnaryOp Isinf: Arithmetic(a) -> Bool, a.is_infinite().into());
op!(UnaryOp Isfinite: Arithmetic(a) -> Bool, (!a.is_nan() & !a.is_infinite()).into());
op!(UnaryOp Floor: Arithmetic(a) -> T, a.floor());
op!(UnaryOp Ceil: Arithmetic(a) -> T, a.ceil());
op!(UnaryOp Trunc: Arithmetic(a) -> T, a.trunc());
op!(UnaryOp Rint: Arithmetic(a) -> T, a.rint());
