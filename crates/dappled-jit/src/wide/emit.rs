//! One operation on vectors: as [`crate::emit`], instruction by instruction.

use dappled_kernels::{DType, Kind, Op, Reg, Step};

use super::encode::{Code, LOAD, Operand, code};
use super::values::Values;

const AND: Code = code(1, 1, 0xdb);
const AND_NOT: Code = code(1, 1, 0xdf);
const OR: Code = code(1, 1, 0xeb);
const XOR: Code = code(1, 1, 0xef);
const ADD_INT64: Code = code(1, 1, 0xd4);
const MULTIPLY_LOWER: Code = code(1, 1, 0xf4);
const SHIFT: Code = code(1, 1, 0x73);
/// In place of a shift's target, which comes first: its direction.
const RIGHT: u8 = 2;
const LEFT: u8 = 6;

/// Comparisons of floats, by the number that the instruction has for each. Like those of the
/// precompiled kernels, orders signal where there is no number.
const EQUAL: u8 = 0;
const UNORDERED: u8 = 3;
const NOT_EQUAL: u8 = 4;
const LESS: u8 = 1;
const GREATER: u8 = 14;
/// The same without a signal.
const QUIETLY_LESS: u8 = 17;

impl Values<'_> {
    /// The value of a step that the [table](crate::table::has) has, in a register of its own.
    pub fn step(&mut self, step: &Step) -> u8 {
        let &Step { op, dtype, ref args } = step;
        if op == Op::Select {
            return self.select_values(args);
        }
        let a = self.register(args[0]);
        let b = args.get(1).map_or(Operand::Register(a), |&arg| self.operand(arg));
        match (op, dtype.kind()) {
            (Op::Cast(to), _) => self.cast(dtype, to, a),
            (_, Kind::Bool) => self.of_masks(op, a, b),
            (Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor | Op::LogicalNot, _) => {
                let b = self.in_register(b);
                let (a, b) = (self.truth(dtype, a), self.truth(dtype, b));
                self.of_masks(op, a, Operand::Register(b))
            }
            (_, Kind::Float) => self.of_floats(op, dtype, a, b),
            _ => self.of_integers(op, dtype, a, b),
        }
    }

    fn is_wide(&self) -> bool {
        self.width.0 == 8
    }

    /// The instruction for the width of the loop's elements.
    fn sized(&self, wide: Code, narrow: Code) -> Code {
        if self.is_wide() { wide } else { narrow }
    }

    /// An instruction of floats that has the same opcode for both sizes.
    fn float(&self, opcode: u8) -> Code {
        code(1, u8::from(self.is_wide()), opcode)
    }

    fn copied(&mut self, a: u8) -> u8 {
        self.made(LOAD, 0, Operand::Register(a))
    }

    fn of_floats(&mut self, op: Op, dtype: DType, a: u8, b: Operand) -> u8 {
        use Op::*;
        let sign = self.repeated(dtype, -0.0);
        let size = self.size_digits();
        match op {
            Add => self.made(self.float(0x58), a, b),
            Subtract => self.made(self.float(0x5c), a, b),
            Multiply | Square => self.made(self.float(0x59), a, b),
            Divide => self.made(self.float(0x5e), a, b),
            Reciprocal => {
                let one = self.repeated(dtype, 1.0);
                let one = self.in_register(one);
                self.made(self.float(0x5e), one, b)
            }
            Negative => self.made(XOR, a, sign),
            Absolute | Fabs => self.made(AND, a, size),
            Positive | Conjugate => self.copied(a),
            Sqrt => self.made(self.float(0x51), 0, b),
            Rint => self.rounded(a, 8),
            Floor => self.rounded(a, 9),
            Ceil => self.rounded(a, 10),
            Trunc => self.rounded(a, 11),
            Copysign => {
                let size = self.made(AND, a, size);
                let b = self.in_register(b);
                let sign = self.made(AND, b, sign);
                self.made(OR, size, Operand::Register(sign))
            }
            Signbit => self.is_negative(a),
            Isnan => self.compared(UNORDERED, a, b),
            Isinf | Isfinite => {
                let size = self.made(AND, a, size);
                let infinity = self.repeated(dtype, f64::INFINITY);
                self.compared(if op == Isinf { EQUAL } else { QUIETLY_LESS }, size, infinity)
            }
            Minimum | Fmin | Maximum | Fmax => self.extreme(op, a, b),
            _ => self.compared(float_order(op), a, b),
        }
    }

    fn rounded(&mut self, a: u8, way: u8) -> u8 {
        let target = self.temporary();
        let round = code(3, 1, if self.is_wide() { 9 } else { 8 });
        self.code.vector_with(round, target, 0, Operand::Register(a), way);
        target
    }

    fn compared(&mut self, order: u8, a: u8, b: Operand) -> u8 {
        let target = self.temporary();
        self.code.vector_with(self.float(0xc2), target, a, b, order);
        target
    }

    /// The one of the two that wins, and the sign of a zero, are NumPy's: no instruction has both.
    fn extreme(&mut self, op: Op, a: u8, b: Operand) -> u8 {
        let b = self.in_register(b);
        let order = if matches!(op, Op::Minimum | Op::Fmin) { LESS } else { GREATER };
        let no_number = if matches!(op, Op::Minimum | Op::Maximum) { a } else { b };
        let no_number = self.compared(UNORDERED, no_number, Operand::Register(no_number));
        let better = self.compared(order, a, Operand::Register(b));
        let first = self.made(OR, no_number, Operand::Register(better));
        self.select(first, Operand::Register(a), b)
    }

    fn of_integers(&mut self, op: Op, dtype: DType, a: u8, b: Operand) -> u8 {
        use Op::*;
        let signed = dtype.kind() == Kind::Signed;
        match op {
            Add => self.made(self.sized(ADD_INT64, code(1, 1, 0xfe)), a, b),
            Subtract => self.made(self.subtract(), a, b),
            Multiply | Square if self.is_wide() => self.product(a, b),
            Multiply | Square => self.made(code(2, 1, 0x40), a, b),
            Negative => {
                let zero = self.zero();
                self.made(self.subtract(), zero, b)
            }
            Absolute if signed && self.is_wide() => {
                let negative = self.is_negative(a);
                let turned = self.made(XOR, a, Operand::Register(negative));
                self.made(self.subtract(), turned, Operand::Register(negative))
            }
            Absolute if signed => self.made(code(2, 1, 0x1e), 0, b),
            Absolute | Positive | Conjugate => self.copied(a),
            And => self.made(AND, a, b),
            Or => self.made(OR, a, b),
            Xor => self.made(XOR, a, b),
            Not => self.inverted(a),
            Minimum | Fmin | Maximum | Fmax => {
                let b = self.in_register(b);
                let order = if matches!(op, Minimum | Fmin) { Less } else { Greater };
                let first = self.ordered(order, signed, a, Operand::Register(b));
                self.select(first, Operand::Register(a), b)
            }
            _ => self.ordered(op, signed, a, b),
        }
    }

    fn subtract(&self) -> Code {
        self.sized(code(1, 1, 0xfb), code(1, 1, 0xfa))
    }

    /// A comparison of integers: the CPU knows equal and greater, with a sign.
    fn ordered(&mut self, op: Op, signed: bool, a: u8, b: Operand) -> u8 {
        let greater = self.sized(code(2, 1, 0x37), code(1, 1, 0x66));
        if matches!(op, Op::Equal | Op::NotEqual) {
            let equal = self.made(self.sized(code(2, 1, 0x29), code(1, 1, 0x76)), a, b);
            return if op == Op::Equal { equal } else { self.inverted(equal) };
        }
        let b = self.in_register(b);
        let [a, b] = if signed { [a, b] } else { [a, b].map(|each| self.with_sign_turned(each)) };
        let swaps = matches!(op, Op::Less | Op::GreaterEqual);
        let (more, less) = if swaps { (b, a) } else { (a, b) };
        let found = self.made(greater, more, Operand::Register(less));
        match op {
            Op::Less | Op::Greater => found,
            _ => self.inverted(found),
        }
    }

    fn with_sign_turned(&mut self, a: u8) -> u8 {
        let sign = if self.is_wide() { 1 << 63 } else { 0x8000_0000_8000_0000 };
        let sign = self.code.constant(sign);
        self.made(XOR, a, sign)
    }

    /// A product of integers of 8 bytes, from products of 4 bytes; few registers are taken.
    fn product(&mut self, a: u8, b: Operand) -> u8 {
        let b = self.in_register(b);
        let (left, right) = (self.upper(a), self.upper(b));
        for (code, target, first, second) in [
            (MULTIPLY_LOWER, left, left, b),
            (MULTIPLY_LOWER, right, right, a),
            (ADD_INT64, left, left, right),
            (MULTIPLY_LOWER, right, a, b),
        ] {
            self.code.vector(code, target, first, Operand::Register(second));
        }
        self.code.vector_with(SHIFT, LEFT, left, Operand::Register(left), 32);
        self.code.vector(ADD_INT64, right, right, Operand::Register(left));
        right
    }

    /// The upper half of each element's digits.
    fn upper(&mut self, a: u8) -> u8 {
        let target = self.temporary();
        self.code.vector_with(SHIFT, RIGHT, target, Operand::Register(a), 32);
        target
    }

    fn of_masks(&mut self, op: Op, a: u8, b: Operand) -> u8 {
        use Op::*;
        match op {
            Add | Or | Maximum | Fmax | LogicalOr => self.made(OR, a, b),
            Multiply | And | Minimum | Fmin | LogicalAnd => self.made(AND, a, b),
            Xor | NotEqual | LogicalXor => self.made(XOR, a, b),
            Not | LogicalNot => self.inverted(a),
            Equal => {
                let differ = self.made(XOR, a, b);
                self.inverted(differ)
            }
            Less => self.made(AND_NOT, a, b),
            GreaterEqual => {
                let less = self.made(AND_NOT, a, b);
                self.inverted(less)
            }
            Greater | LessEqual => {
                let b = self.in_register(b);
                let greater = self.made(AND_NOT, b, Operand::Register(a));
                if op == Greater { greater } else { self.inverted(greater) }
            }
            _ => self.copied(a),
        }
    }

    fn cast(&mut self, from: DType, to: DType, a: u8) -> u8 {
        match (from, to) {
            _ if from == to => self.copied(a),
            (_, DType::Bool) => self.truth(from, a),
            (DType::Bool, _) => {
                let one = match to.kind() {
                    Kind::Float => self.repeated(to, 1.0),
                    _ => self.code.constant(if self.is_wide() { 1 } else { 1 << 32 | 1 }),
                };
                self.made(AND, a, one)
            }
            (DType::Int32, DType::Float32) => self.made(code(1, 0, 0x5b), 0, Operand::Register(a)),
            (DType::Int64, DType::Float64) => self.doubles(a),
            _ => self.copied(a),
        }
    }

    /// There is no such instruction. The upper and the lower half of the digits are put into the
    /// digits of large numbers, 2^84 + 2^63 and 2^52; these are taken away again, the one exactly,
    /// and the only rounding is that of the sum.
    fn doubles(&mut self, a: u8) -> u8 {
        let [high_exponent, low_exponent, both] =
            [0x4530_0000_8000_0000, 0x4330_0000_0000_0000, 0x4530_0000_8010_0000]
                .map(|digits| self.code.constant(digits));
        let high = self.upper(a);
        let high = self.made(XOR, high, high_exponent);
        let low = self.temporary();
        // Every second half from the constant.
        self.code.vector_with(code(3, 1, 0x02), low, a, low_exponent, 0xaa);
        let high = self.made(self.float(0x5c), high, both);
        self.made(self.float(0x58), high, Operand::Register(low))
    }

    /// Not zero?
    fn truth(&mut self, dtype: DType, a: u8) -> u8 {
        let zero = self.code.constant(0);
        match dtype.kind() {
            Kind::Bool => self.copied(a),
            Kind::Float => self.compared(NOT_EQUAL, a, zero),
            _ => self.ordered(Op::NotEqual, true, a, zero),
        }
    }

    fn select_values(&mut self, args: &[Reg]) -> u8 {
        let mask = self.register(args[0]);
        let b = self.register(args[2]);
        let a = self.operand(args[1]);
        self.select(mask, a, b)
    }

    fn select(&mut self, mask: u8, a: Operand, b: u8) -> u8 {
        let target = self.temporary();
        let blend = code(3, 1, if self.is_wide() { 0x4b } else { 0x4a });
        self.code.vector_with(blend, target, b, a, mask << 4);
        target
    }

    fn is_negative(&mut self, a: u8) -> u8 {
        let zero = self.zero();
        self.ordered(Op::Greater, true, zero, Operand::Register(a))
    }

    fn inverted(&mut self, a: u8) -> u8 {
        let ones = self.code.constant(u64::MAX);
        self.made(XOR, a, ones)
    }

    fn zero(&mut self) -> u8 {
        let target = self.temporary();
        self.code.vector(XOR, target, target, Operand::Register(target));
        target
    }

    /// All digits of a float but its sign.
    fn size_digits(&mut self) -> Operand {
        self.code.constant(if self.is_wide() { !(1 << 63) } else { 0x7fff_ffff_7fff_ffff })
    }

    fn repeated(&mut self, dtype: DType, value: f64) -> Operand {
        let digits = match dtype {
            DType::Float32 => u64::from((value as f32).to_bits()) * (1 << 32 | 1),
            _ => value.to_bits(),
        };
        self.code.constant(digits)
    }
}

fn float_order(op: Op) -> u8 {
    match op {
        Op::Equal => EQUAL,
        Op::NotEqual => NOT_EQUAL,
        Op::Less => LESS,
        Op::LessEqual => 2,
        Op::Greater => GREATER,
        _ => 13,
    }
}
