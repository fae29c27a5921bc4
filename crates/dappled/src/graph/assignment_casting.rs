//! Casting of assigned values: `a[key] = value`.
//!
//! An assignment casts as NumPy does: any dtype to any other, except that values that raise or warn
//! in NumPy are left to NumPy, and integers that do not fit in a signed dtype raise.

use dappled_kernels::{Casting, DType, DTypeKind, Scalar, WeakScalar, can_cast};

use super::operand::UfuncOperand;
use crate::error::{Error, Result};

/// Returns true if a value can be written into a dtype without an error or a warning.
///
/// NumPy handles other casts.
pub fn can_assign(value: &UfuncOperand<'_>, target: DType) -> bool {
    let is_quiet =
        |from: DType| from.kind() != DTypeKind::Complex || target.kind() == DTypeKind::Complex;
    match value {
        UfuncOperand::Array(array) => is_quiet(array.dtype()),
        UfuncOperand::Strong(number) => {
            can_cast(number.dtype(), target, Casting::SameKind)
                && number.checked_cast(target).is_some()
        }
        UfuncOperand::Weak(WeakScalar::Float, number) if target.is_integral() => {
            fits_integer(*number, target)
        }
        UfuncOperand::Weak(_, number) if target.is_integral() => {
            !value.overflows(target) && is_quiet(number.dtype())
        }
        UfuncOperand::Weak(_, number) => {
            is_quiet(number.dtype()) && number.checked_cast(target).is_some()
        }
    }
}

/// Fails for an integer scalar that a signed dtype cannot hold; in other dtypes it wraps around.
pub fn check_integer_range(value: &UfuncOperand<'_>, target: DType) -> Result<()> {
    let number: i128 = match value {
        UfuncOperand::Strong(number) if number.dtype().is_integral() => match number.get::<u64>() {
            Some(number) => number.into(),
            None => number.cast(DType::Int64).get::<i64>().unwrap_or(0).into(),
        },
        _ => return Ok(()),
    };
    let limit = 1 << (8 * target.itemsize() - 1);
    match target.kind() != DTypeKind::Signed || (-limit..limit).contains(&number) {
        true => Ok(()),
        false => Err(Error::IntegerOutOfBounds { number, dtype: target }),
    }
}

/// Returns true if the integer part of a float is inside the range of an integer dtype.
fn fits_integer(value: Scalar, target: DType) -> bool {
    let bits = 8 * target.itemsize() as i32 - 1;
    let number = value.get::<f64>().unwrap_or(f64::NAN);
    target != DType::Bool
        && number.abs() < 2f64.powi(bits)
        && (number >= 0.0 || target.kind() == DTypeKind::Signed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(value: f64) -> UfuncOperand<'static> {
        UfuncOperand::Weak(WeakScalar::Float, Scalar::new(value))
    }

    fn int(value: i64) -> UfuncOperand<'static> {
        UfuncOperand::Weak(WeakScalar::Int, Scalar::new(value))
    }

    #[test]
    fn numbers_are_assigned_if_their_cast_is_quiet() {
        assert!(can_assign(&float(127.9), DType::Int8));
        assert!(!can_assign(&float(128.0), DType::Int8));
        assert!(!can_assign(&float(-1.0), DType::UInt8));
        assert!(!can_assign(&float(f64::NAN), DType::Int64));
        assert!(can_assign(&int(255), DType::UInt8));
        assert!(!can_assign(&int(256), DType::UInt8));
        assert!(!can_assign(&float(1e300), DType::Float32));
        let complex =
            UfuncOperand::Weak(WeakScalar::Complex, Scalar::new(num_complex::Complex64::I));
        assert!(!can_assign(&complex, DType::Float64));
        assert!(can_assign(&complex, DType::Complex64));
    }

    #[test]
    fn integer_scalars_wrap_around_in_unsigned_dtypes_only() {
        let number = UfuncOperand::Strong(Scalar::new(300i64));
        assert!(check_integer_range(&number, DType::UInt8).is_ok());
        let error = check_integer_range(&number, DType::Int8).unwrap_err();
        assert_eq!(error.to_string(), "Python integer 300 out of bounds for int8");
        let large = UfuncOperand::Strong(Scalar::new(u64::MAX));
        let error = check_integer_range(&large, DType::Int64).unwrap_err();
        assert_eq!(error.to_string(), "Python int too large to convert to C long");
    }
}
