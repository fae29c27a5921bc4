//! Emits the Cranelift instructions of one operation.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use dappled_kernels::{DType, DTypeKind, Op, ProgramStep};

use super::lanes::{LaneWidth, cast_bits};

/// Emits the instructions of [supported](crate::supported_ops::is_supported) steps.
pub struct VectorEmitter<'a, 'b> {
    pub build: &'a mut FunctionBuilder<'b>,
    pub width: LaneWidth,
}

impl VectorEmitter<'_, '_> {
    pub fn step(&mut self, step: &ProgramStep, args: &[Value]) -> Value {
        let &ProgramStep { op, dtype, .. } = step;
        match (op, dtype.kind()) {
            (Op::Cast(to), _) => self.cast(dtype, to, args[0]),
            (Op::Select, _) => self.select(args[0], args[1], args[2]),
            (_, DTypeKind::Bool) => self.mask_op(op, args),
            (Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor | Op::LogicalNot, _) => {
                let masks: Vec<Value> =
                    args.iter().map(|&arg| self.is_nonzero(dtype, arg)).collect();
                self.mask_op(op, &masks)
            }
            (_, DTypeKind::Float) => self.float_op(op, dtype, args),
            _ => self.integer_op(op, dtype, args),
        }
    }

    fn float_op(&mut self, op: Op, dtype: DType, args: &[Value]) -> Value {
        use Op::*;
        let (a, b) = (args[0], args[args.len() - 1]);
        match op {
            Add => self.build.ins().fadd(a, b),
            Subtract => self.build.ins().fsub(a, b),
            Multiply | Square => self.build.ins().fmul(a, b),
            Divide => self.build.ins().fdiv(a, b),
            Reciprocal => {
                let one = self.repeated_float(dtype, 1.0);
                self.build.ins().fdiv(one, a)
            }
            Negative => self.build.ins().fneg(a),
            Absolute | Fabs => self.build.ins().fabs(a),
            Positive | Conjugate => a,
            Sqrt => self.build.ins().sqrt(a),
            Floor => self.build.ins().floor(a),
            Ceil => self.build.ins().ceil(a),
            Trunc => self.build.ins().trunc(a),
            Rint => self.build.ins().nearest(a),
            Copysign => {
                let sign = self.repeated_float(dtype, -0.0);
                self.build.ins().bitselect(sign, b, a)
            }
            Signbit => {
                let bits = cast_bits(self.build, a, self.width.mask());
                let zero = self.repeated_integer(0);
                self.build.ins().icmp(IntCC::SignedLessThan, bits, zero)
            }
            Isnan => self.build.ins().fcmp(FloatCC::Unordered, a, a),
            Isinf => self.is_infinite(dtype, a),
            Isfinite => {
                let infinite = self.is_infinite(dtype, a);
                let is_nan = self.build.ins().fcmp(FloatCC::Unordered, a, a);
                let either = self.build.ins().bor(infinite, is_nan);
                self.build.ins().bnot(either)
            }
            Minimum | Fmin | Maximum | Fmax => self.minmax(op, a, b),
            _ => self.build.ins().fcmp(float_order(op), a, b),
        }
    }

    /// NumPy's choice between equal values and NaN, which no single instruction makes.
    fn minmax(&mut self, op: Op, a: Value, b: Value) -> Value {
        let order = match op {
            Op::Minimum | Op::Fmin => FloatCC::LessThan,
            _ => FloatCC::GreaterThan,
        };
        let is_nan = if matches!(op, Op::Minimum | Op::Maximum) { a } else { b };
        let is_nan = self.build.ins().fcmp(FloatCC::Unordered, is_nan, is_nan);
        let better = self.build.ins().fcmp(order, a, b);
        let first = self.build.ins().bor(is_nan, better);
        self.select(first, a, b)
    }

    fn is_infinite(&mut self, dtype: DType, a: Value) -> Value {
        let size = self.build.ins().fabs(a);
        let infinity = self.repeated_float(dtype, f64::INFINITY);
        self.build.ins().fcmp(FloatCC::Equal, size, infinity)
    }

    fn integer_op(&mut self, op: Op, dtype: DType, args: &[Value]) -> Value {
        use Op::*;
        let (a, b) = (args[0], args[args.len() - 1]);
        let signed = dtype.kind() == DTypeKind::Signed;
        match op {
            Add => self.build.ins().iadd(a, b),
            Subtract => self.build.ins().isub(a, b),
            Multiply | Square => self.build.ins().imul(a, b),
            Negative => self.build.ins().ineg(a),
            Absolute if signed => self.build.ins().iabs(a),
            Absolute | Positive | Conjugate => a,
            And => self.build.ins().band(a, b),
            Or => self.build.ins().bor(a, b),
            Xor => self.build.ins().bxor(a, b),
            Not => self.build.ins().bnot(a),
            Minimum | Fmin => {
                let less = self.build.ins().icmp(integer_order(Less, signed), a, b);
                self.select(less, a, b)
            }
            Maximum | Fmax => {
                let greater = self.build.ins().icmp(integer_order(Greater, signed), a, b);
                self.select(greater, a, b)
            }
            _ => self.build.ins().icmp(integer_order(op, signed), a, b),
        }
    }

    fn mask_op(&mut self, op: Op, args: &[Value]) -> Value {
        use Op::*;
        let (a, b) = (args[0], args[args.len() - 1]);
        match op {
            Add | Or | Maximum | Fmax | LogicalOr => self.build.ins().bor(a, b),
            Multiply | And | Minimum | Fmin | LogicalAnd => self.build.ins().band(a, b),
            Xor | NotEqual | LogicalXor => self.build.ins().bxor(a, b),
            Not | LogicalNot => self.build.ins().bnot(a),
            Equal => {
                let differ = self.build.ins().bxor(a, b);
                self.build.ins().bnot(differ)
            }
            Less => self.build.ins().band_not(b, a),
            LessEqual => self.build.ins().bor_not(b, a),
            Greater => self.build.ins().band_not(a, b),
            GreaterEqual => self.build.ins().bor_not(a, b),
            _ => a,
        }
    }

    fn cast(&mut self, from: DType, to: DType, a: Value) -> Value {
        match (from, to) {
            _ if from == to => a,
            (_, DType::Bool) => self.is_nonzero(from, a),
            (DType::Bool, _) => {
                let one = match to.kind() {
                    DTypeKind::Float => self.repeated_float(to, 1.0),
                    _ => self.repeated_integer(1),
                };
                let one = cast_bits(self.build, one, self.width.mask());
                let value = self.build.ins().band(a, one);
                cast_bits(self.build, value, self.width.vector(to))
            }
            (DType::Int32, DType::Float32) => self.build.ins().fcvt_from_sint(types::F32X4, a),
            (DType::Int64, DType::Float64) => self.int64_to_float64(a),
            _ => a,
        }
    }

    /// Converts int64 to float64 lane by lane, as there is no vector instruction.
    fn int64_to_float64(&mut self, a: Value) -> Value {
        let [low, high] = [0, 1].map(|lane| {
            let lane = self.build.ins().extractlane(a, lane);
            self.build.ins().fcvt_from_sint(types::F64, lane)
        });
        let vector = self.build.ins().scalar_to_vector(types::F64X2, low);
        self.build.ins().insertlane(vector, high, 1)
    }

    /// The mask of nonzero elements.
    fn is_nonzero(&mut self, dtype: DType, a: Value) -> Value {
        match dtype.kind() {
            DTypeKind::Bool => a,
            DTypeKind::Float => {
                let zero = self.repeated_float(dtype, 0.0);
                self.build.ins().fcmp(FloatCC::NotEqual, a, zero)
            }
            _ => {
                let zero = self.repeated_integer(0);
                self.build.ins().icmp(IntCC::NotEqual, a, zero)
            }
        }
    }

    fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let vector = self.build.func.dfg.value_type(a);
        let mask = cast_bits(self.build, mask, vector);
        self.build.ins().bitselect(mask, a, b)
    }

    fn repeated_float(&mut self, dtype: DType, value: f64) -> Value {
        let one = match dtype {
            DType::Float32 => self.build.ins().f32const(value as f32),
            _ => self.build.ins().f64const(value),
        };
        self.build.ins().splat(self.width.vector(dtype), one)
    }

    fn repeated_integer(&mut self, value: i64) -> Value {
        let vector = self.width.mask();
        let one = self.build.ins().iconst(vector.lane_type(), value);
        self.build.ins().splat(vector, one)
    }
}

/// The condition of a float comparison: NaN is unequal to everything, and unordered.
fn float_order(op: Op) -> FloatCC {
    match op {
        Op::Equal => FloatCC::Equal,
        Op::NotEqual => FloatCC::NotEqual,
        Op::Less => FloatCC::LessThan,
        Op::LessEqual => FloatCC::LessThanOrEqual,
        Op::Greater => FloatCC::GreaterThan,
        _ => FloatCC::GreaterThanOrEqual,
    }
}

fn integer_order(op: Op, signed: bool) -> IntCC {
    let order = match op {
        Op::Equal => return IntCC::Equal,
        Op::NotEqual => return IntCC::NotEqual,
        Op::Less => IntCC::SignedLessThan,
        Op::LessEqual => IntCC::SignedLessThanOrEqual,
        Op::Greater => IntCC::SignedGreaterThan,
        _ => IntCC::SignedGreaterThanOrEqual,
    };
    if signed { order } else { order.unsigned() }
}
