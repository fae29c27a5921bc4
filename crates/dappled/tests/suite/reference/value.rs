//! Elements, and NumPy's operations on them.

use dappled_kernels::{Bool, DType, Op, Scalar};

#[derive(Clone, Copy, Debug)]
pub enum Value {
    F64(f64),
    F32(f32),
    I64(i64),
    Truth(bool),
}

use Value::*;

/// From the narrowest to the widest.
pub const DTYPES: [DType; 4] = [DType::Bool, DType::Int64, DType::Float32, DType::Float64];

/// The common dtype of two dtypes.
pub fn common(a: DType, b: DType) -> DType {
    match (a.min(b), a.max(b)) {
        (DType::Int64, DType::Float32) => DType::Float64,
        (_, wider) => wider,
    }
}

impl Value {
    fn number(self) -> f64 {
        match self {
            F64(value) => value,
            F32(value) => value.into(),
            I64(value) => value as f64,
            Truth(value) => value.into(),
        }
    }

    pub fn cast(self, dtype: DType) -> Value {
        match (self, dtype) {
            (I64(value), DType::Int64) => I64(value),
            (I64(value), DType::Float32) => F32(value as f32),
            // Out-of-range casts give the CPU's result.
            (_, DType::Int64) => match self.number() {
                number if (-9.2e18..9.2e18).contains(&number) => I64(number as i64),
                _ => I64(i64::MIN),
            },
            (_, DType::Bool) => Truth(self.number() != 0.0),
            (_, DType::Float32) => F32(self.number() as f32),
            _ => F64(self.number()),
        }
    }

    pub fn from_scalar(scalar: Scalar) -> Self {
        match scalar.dtype() {
            DType::Bool => Truth(scalar.get::<Bool>().unwrap().is_true()),
            DType::Int64 => I64(scalar.get().unwrap()),
            DType::Float32 => F32(scalar.get().unwrap()),
            _ => F64(scalar.get().unwrap()),
        }
    }

    /// The bits of a value; all NaNs are equal, and both zeros.
    pub fn bits(self) -> u64 {
        match self {
            _ if self.number().is_nan() => u64::MAX,
            _ if self.number() == 0.0 => 0,
            F64(value) => value.to_bits(),
            F32(value) => value.to_bits().into(),
            I64(value) => value as u64,
            Truth(value) => value.into(),
        }
    }
}

pub fn apply(op: Op, dtype: DType, args: &[Value]) -> Value {
    let args: Vec<Value> =
        args.iter().enumerate().map(|(at, arg)| arg.cast(op.argument(dtype, at))).collect();
    match (op, &args[..]) {
        (Op::Cast(to), [a]) => a.cast(to),
        (Op::Select, [Truth(mask), a, b]) => {
            if *mask {
                *a
            } else {
                *b
            }
        }
        (_, &[F64(a), F64(b)]) => float(op, a, b).map_or_else(Truth, F64),
        (_, &[F32(a), F32(b)]) => match float(op, a.into(), b.into()) {
            // Rounding the double result gives the correctly rounded single result.
            Ok(value) => F32(value as f32),
            Err(truth) => Truth(truth),
        },
        (_, &[I64(a), I64(b)]) => whole(op, a, b),
        (_, &[Truth(a), Truth(b)]) => truth(op, a, b),
        _ => panic!("{op} of {args:?}"),
    }
}

/// The result, or the truth value of a comparison.
fn float(op: Op, a: f64, b: f64) -> Result<f64, bool> {
    Ok(match op {
        Op::Add => a + b,
        Op::Subtract => a - b,
        Op::Multiply => a * b,
        Op::Divide => a / b,
        Op::Minimum => {
            if a.is_nan() || a <= b {
                a
            } else {
                b
            }
        }
        Op::Maximum => {
            if a.is_nan() || a >= b {
                a
            } else {
                b
            }
        }
        _ => return Err(compared(op, a, b)),
    })
}

fn whole(op: Op, a: i64, b: i64) -> Value {
    I64(match op {
        Op::Add => a.wrapping_add(b),
        Op::Subtract => a.wrapping_sub(b),
        Op::Multiply => a.wrapping_mul(b),
        Op::Minimum => a.min(b),
        Op::Maximum => a.max(b),
        _ => return Truth(compared(op, a, b)),
    })
}

fn truth(op: Op, a: bool, b: bool) -> Value {
    Truth(match op {
        Op::Add | Op::Maximum => a | b,
        Op::Multiply | Op::Minimum => a & b,
        _ => compared(op, a, b),
    })
}

fn compared<T: PartialOrd>(op: Op, a: T, b: T) -> bool {
    match op {
        Op::Less => a < b,
        Op::LessEqual => a <= b,
        Op::Equal => a == b,
        Op::NotEqual => a != b,
        Op::Greater => a > b,
        _ => a >= b,
    }
}
