//! What one element does in each operation: a method for each, implemented by family of dtypes.

pub(crate) use super::loops::{Binary, Unary};
use crate::element::{Bool, Element};

/// The operations of an element. Those that NumPy does not have for a dtype are not implemented
/// for it: no legal program reaches them.
pub(crate) trait Arithmetic: Element {
    /// The type of an absolute value.
    type Real: Element;

    fn add(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn minimum(self, other: Self) -> Self;
    fn maximum(self, other: Self) -> Self;
    fn absolute(self) -> Self::Real;
    fn equal(self, other: Self) -> bool;
    fn less(self, other: Self) -> bool;
    fn less_equal(self, other: Self) -> bool;

    fn subtract(self, _: Self) -> Self {
        no_loop()
    }
    fn divide(self, _: Self) -> Self {
        no_loop()
    }
    fn floor_divide(self, _: Self) -> Self {
        no_loop()
    }
    fn remainder(self, _: Self) -> Self {
        no_loop()
    }
    fn and(self, _: Self) -> Self {
        no_loop()
    }
    fn or(self, _: Self) -> Self {
        no_loop()
    }
    fn xor(self, _: Self) -> Self {
        no_loop()
    }
    fn negative(self) -> Self {
        no_loop()
    }
    fn sqrt(self) -> Self {
        no_loop()
    }
    fn not(self) -> Self {
        no_loop()
    }
}

#[cold]
fn no_loop() -> ! {
    unreachable!("Program::check lets no step through that has no loop")
}

/// An operation of one argument, as a type.
pub(crate) trait UnaryOp<T: Element> {
    type Out: Element;
    fn apply(a: T) -> Self::Out;
}

/// An operation of two arguments, as a type.
pub(crate) trait BinaryOp<T: Element> {
    type Out: Element;
    fn apply(a: T, b: T) -> Self::Out;
}

/// The operations as types: a loop takes one as a parameter and is compiled with it inlined.
pub(crate) mod ops {
    use super::*;

    macro_rules! op {
        ($Kind:ident $Name:ident ($($arg:ident),+) -> $Out:ty, $value:expr) => {
            pub(crate) struct $Name;
            impl<T: Arithmetic> $Kind<T> for $Name {
                type Out = $Out;
                #[inline(always)]
                fn apply($($arg: T),+) -> $Out {
                    $value
                }
            }
        };
    }

    op!(BinaryOp Add(a, b) -> T, a.add(b));
    op!(BinaryOp Subtract(a, b) -> T, a.subtract(b));
    op!(BinaryOp Multiply(a, b) -> T, a.multiply(b));
    op!(BinaryOp Divide(a, b) -> T, a.divide(b));
    op!(BinaryOp FloorDivide(a, b) -> T, a.floor_divide(b));
    op!(BinaryOp Remainder(a, b) -> T, a.remainder(b));
    op!(BinaryOp Minimum(a, b) -> T, a.minimum(b));
    op!(BinaryOp Maximum(a, b) -> T, a.maximum(b));
    op!(BinaryOp And(a, b) -> T, a.and(b));
    op!(BinaryOp Or(a, b) -> T, a.or(b));
    op!(BinaryOp Xor(a, b) -> T, a.xor(b));
    op!(BinaryOp Equal(a, b) -> Bool, a.equal(b).into());
    op!(BinaryOp NotEqual(a, b) -> Bool, (!a.equal(b)).into());
    op!(BinaryOp Less(a, b) -> Bool, a.less(b).into());
    op!(BinaryOp LessEqual(a, b) -> Bool, a.less_equal(b).into());
    op!(BinaryOp Greater(a, b) -> Bool, b.less(a).into());
    op!(BinaryOp GreaterEqual(a, b) -> Bool, b.less_equal(a).into());
    op!(UnaryOp Negative(a) -> T, a.negative());
    op!(UnaryOp Absolute(a) -> T::Real, a.absolute());
    op!(UnaryOp Sqrt(a) -> T, a.sqrt());
    op!(UnaryOp Square(a) -> T, a.multiply(a));
    op!(UnaryOp Not(a) -> T, a.not());
}
