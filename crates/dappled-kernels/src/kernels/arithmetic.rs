//! What one element does in each operation: a method for each, implemented by family of dtypes.

pub(crate) use super::ops::{self, BinaryOp};
use crate::Flags;
use crate::element::Element;

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
    fn is_true(self) -> bool;

    /// The absolute values of many.
    #[inline(always)]
    fn absolutes(many: &[Self], out: &mut [Self::Real]) {
        out.iter_mut().zip(many).for_each(|(out, one)| *out = one.absolute());
    }

    // What bools and integers do.
    #[inline(always)]
    fn fmin(self, other: Self) -> Self {
        self.minimum(other)
    }
    #[inline(always)]
    fn fmax(self, other: Self) -> Self {
        self.maximum(other)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn is_infinite(self) -> bool {
        false
    }
    #[inline(always)]
    fn floor(self) -> Self {
        self
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        self
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        self
    }
    #[inline(always)]
    fn conjugate(self) -> Self {
        self
    }

    fn subtract(self, _: Self) -> Self {
        no_loop()
    }
    fn divide(self, _: Self) -> Self {
        no_loop()
    }
    fn floor_divide(self, _: Self) -> Self {
        no_loop()
    }
    /// All of them by one; false, with nothing done, if that is not sooner done than one by one.
    #[inline(always)]
    fn floor_divided(_values: &[Self], _by: Self, _out: &mut [Self]) -> bool {
        false
    }
    fn remainder(self, _: Self) -> Self {
        no_loop()
    }
    fn fmod(self, _: Self) -> Self {
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
    fn sign(self) -> Self {
        no_loop()
    }
    fn reciprocal(self) -> Self {
        no_loop()
    }
    fn rint(self) -> Self {
        no_loop()
    }
    fn sqrt(self) -> Self {
        no_loop()
    }
    fn not(self) -> Self {
        no_loop()
    }

    // What NumPy signals where instructions do not tell.
    /// Is it seen at once that division signals nothing?
    #[inline(always)]
    fn divides_quietly(self, _: Self) -> bool {
        true
    }
    /// The same for being in order.
    #[inline(always)]
    fn orders_quietly(self, _: Self) -> bool {
        true
    }
    /// The same for the reciprocal.
    #[inline(always)]
    fn inverts_quietly(self) -> bool {
        false
    }
    #[inline(always)]
    fn divide_raises(self, _: Self, _: Self) -> Flags {
        Flags::NONE
    }
    #[inline(always)]
    fn order_raises(self, _: Self) -> Flags {
        Flags::NONE
    }
    #[inline(always)]
    fn sign_raises(self, _: Self) -> Flags {
        Flags::NONE
    }
    #[inline(always)]
    fn floor_divide_raises(self, _: Self, _: Self) -> Flags {
        Flags::NONE
    }
    /// Floats whose floor division signalled nothing, whatever was divided; the same for the
    /// remainder.
    #[inline(always)]
    fn is_plain_quotient(self) -> bool {
        false
    }
    #[inline(always)]
    fn is_plain_remainder(self) -> bool {
        false
    }
    #[inline(always)]
    fn remainder_raises(self, _: Self, _: Self) -> Flags {
        Flags::NONE
    }
    #[inline(always)]
    fn reciprocal_raises(self, _: Self) -> Flags {
        Flags::NONE
    }
}

#[cold]
fn no_loop() -> ! {
    unreachable!("Program::check lets no step through that has no loop")
}
