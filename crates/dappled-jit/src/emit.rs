//! One operation on vectors.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use dappled_kernels::{DType, Kind, Op, Step};

use crate::lanes::{Width, cast_bits};

/// The instructions of a step that the [table](crate::table::has) has.
pub struct Emit<'a, 'b> {
    pub build: &'a mut FunctionBuilder<'b>,
    pub width: Width,
}

impl Emit<'_, '_> {
    pub fn step(&mut self, step: &Step, args: &[Value]) -> Value {
        let &Step { op, dtype, .. } = step;
        match (op, dtype.kind()) {
            (Op::Cast(to), _) => self.cast(dtype, to, args[0]),
            (Op::Select, _) => self.select(args[0], args[1], args[2]),
            (_, Kind::Bool) => self.of_masks(op, args),
            (Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor | Op::LogicalNot, _) => {
                let truths: Vec<Value> = args.iter().map(|&arg| self.truth(dtype, arg)).collect();
                self.of_masks(op, &truths)
            }
            (_, Kind::Float) => self.of_floats(op, dtype, args),
            _ => self.of_integers(op, dtype, args),
        }
    }

    fn of_floats(&mut self, op: Op, dtype: DType, args: &[Value]) -> Value {
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
                let no_number = self.build.ins().fcmp(FloatCC::Unordered, a, a);
                let either = self.build.ins().bor(infinite, no_number);
                self.build.ins().bnot(either)
            }
            Minimum | Fmin | Maximum | Fmax => self.extreme(op, a, b),
            _ => self.build.ins().fcmp(float_order(op), a, b),
        }
    }

    /// The one of the two that wins, and the sign of a zero, are NumPy's: no instruction has both.
    fn extreme(&mut self, op: Op, a: Value, b: Value) -> Value {
        let order = match op {
            Op::Minimum | Op::Fmin => FloatCC::LessThan,
            _ => FloatCC::GreaterThan,
        };
        let no_number = if matches!(op, Op::Minimum | Op::Maximum) { a } else { b };
        let no_number = self.build.ins().fcmp(FloatCC::Unordered, no_number, no_number);
        let better = self.build.ins().fcmp(order, a, b);
        let first = self.build.ins().bor(no_number, better);
        self.select(first, a, b)
    }

    fn is_infinite(&mut self, dtype: DType, a: Value) -> Value {
        let size = self.build.ins().fabs(a);
        let infinity = self.repeated_float(dtype, f64::INFINITY);
        self.build.ins().fcmp(FloatCC::Equal, size, infinity)
    }

    fn of_integers(&mut self, op: Op, dtype: DType, args: &[Value]) -> Value {
        use Op::*;
        let (a, b) = (args[0], args[args.len() - 1]);
        let signed = dtype.kind() == Kind::Signed;
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

    fn of_masks(&mut self, op: Op, args: &[Value]) -> Value {
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
            (_, DType::Bool) => self.truth(from, a),
            (DType::Bool, _) => {
                let one = match to.kind() {
                    Kind::Float => self.repeated_float(to, 1.0),
                    _ => self.repeated_integer(1),
                };
                let one = cast_bits(self.build, one, self.width.mask());
                let value = self.build.ins().band(a, one);
                cast_bits(self.build, value, self.width.vector(to))
            }
            (DType::Int32, DType::Float32) => self.build.ins().fcvt_from_sint(types::F32X4, a),
            (DType::Int64, DType::Float64) => self.doubles(a),
            _ => a,
        }
    }

    /// One by one: there is no instruction of the vector.
    fn doubles(&mut self, a: Value) -> Value {
        let [low, high] = [0, 1].map(|lane| {
            let lane = self.build.ins().extractlane(a, lane);
            self.build.ins().fcvt_from_sint(types::F64, lane)
        });
        let vector = self.build.ins().scalar_to_vector(types::F64X2, low);
        self.build.ins().insertlane(vector, high, 1)
    }

    /// Not zero?
    fn truth(&mut self, dtype: DType, a: Value) -> Value {
        match dtype.kind() {
            Kind::Bool => a,
            Kind::Float => {
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

/// A NaN is unequal to all, and in no order.
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
