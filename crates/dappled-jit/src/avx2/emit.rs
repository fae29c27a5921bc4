//! Emits the AVX2 instructions of one operation.

use dappled_kernels::{DType, DTypeKind, Op, ProgramStep, Reg};

use super::encoder::{LOAD, Opcode, VexOperand, opcode};
use super::registers::RegisterAllocator;

const AND: Opcode = opcode(1, 1, 0xdb);
const AND_NOT: Opcode = opcode(1, 1, 0xdf);
const OR: Opcode = opcode(1, 1, 0xeb);
const XOR: Opcode = opcode(1, 1, 0xef);
const ADD_INT64: Opcode = opcode(1, 1, 0xd4);
const MULTIPLY_LOWER: Opcode = opcode(1, 1, 0xf4);
const SHIFT: Opcode = opcode(1, 1, 0x73);
/// The direction of a shift, encoded in place of its target.
const RIGHT: u8 = 2;
const LEFT: u8 = 6;

/// Predicates of the float comparison. As in the precompiled kernels, ordered comparisons signal
/// NaN.
const EQUAL: u8 = 0;
const UNORDERED: u8 = 3;
const NOT_EQUAL: u8 = 4;
const LESS: u8 = 1;
const GREATER: u8 = 14;
/// Less-than without a signal for NaN.
const QUIETLY_LESS: u8 = 17;

impl RegisterAllocator<'_> {
    /// Emits a [supported](crate::supported_ops::is_supported) step and returns the register of its
    /// result.
    pub fn step(&mut self, step: &ProgramStep) -> u8 {
        let &ProgramStep { op, dtype, ref args } = step;
        if op == Op::Select {
            return self.select_values(args);
        }
        let a = self.register(args[0]);
        let b = args.get(1).map_or(VexOperand::Register(a), |&arg| self.operand(arg));
        match (op, dtype.kind()) {
            (Op::Cast(to), _) => self.cast(dtype, to, a),
            (_, DTypeKind::Bool) => self.mask_op(op, a, b),
            (Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor | Op::LogicalNot, _) => {
                let b = self.in_register(b);
                let (a, b) = (self.is_nonzero(dtype, a), self.is_nonzero(dtype, b));
                self.mask_op(op, a, VexOperand::Register(b))
            }
            (_, DTypeKind::Float) => self.float_op(op, dtype, a, b),
            _ => self.integer_op(op, dtype, a, b),
        }
    }

    fn is_wide(&self) -> bool {
        self.width.0 == 8
    }

    /// The instruction for the element width of the loop.
    fn sized(&self, wide: Opcode, narrow: Opcode) -> Opcode {
        if self.is_wide() { wide } else { narrow }
    }

    /// A float instruction that has the same opcode for both widths.
    fn float(&self, byte: u8) -> Opcode {
        opcode(1, u8::from(self.is_wide()), byte)
    }

    fn copy(&mut self, a: u8) -> u8 {
        self.emit(LOAD, 0, VexOperand::Register(a))
    }

    fn float_op(&mut self, op: Op, dtype: DType, a: u8, b: VexOperand) -> u8 {
        use Op::*;
        let sign = self.broadcast_constant(dtype, -0.0);
        let size = self.magnitude_mask();
        match op {
            Add => self.emit(self.float(0x58), a, b),
            Subtract => self.emit(self.float(0x5c), a, b),
            Multiply | Square => self.emit(self.float(0x59), a, b),
            Divide => self.emit(self.float(0x5e), a, b),
            Reciprocal => {
                let one = self.broadcast_constant(dtype, 1.0);
                let one = self.in_register(one);
                self.emit(self.float(0x5e), one, b)
            }
            Negative => self.emit(XOR, a, sign),
            Absolute | Fabs => self.emit(AND, a, size),
            Positive | Conjugate => self.copy(a),
            Sqrt => self.emit(self.float(0x51), 0, b),
            Rint => self.round(a, 8),
            Floor => self.round(a, 9),
            Ceil => self.round(a, 10),
            Trunc => self.round(a, 11),
            Copysign => {
                let size = self.emit(AND, a, size);
                let b = self.in_register(b);
                let sign = self.emit(AND, b, sign);
                self.emit(OR, size, VexOperand::Register(sign))
            }
            Signbit => self.is_negative(a),
            Isnan => self.compare(UNORDERED, a, b),
            Isinf | Isfinite => {
                let size = self.emit(AND, a, size);
                let infinity = self.broadcast_constant(dtype, f64::INFINITY);
                self.compare(if op == Isinf { EQUAL } else { QUIETLY_LESS }, size, infinity)
            }
            Minimum | Fmin | Maximum | Fmax => self.minmax(op, a, b),
            _ => self.compare(float_order(op), a, b),
        }
    }

    fn round(&mut self, a: u8, mode: u8) -> u8 {
        let target = self.temporary();
        let round = opcode(3, 1, if self.is_wide() { 9 } else { 8 });
        self.code.vector_with(round, target, 0, VexOperand::Register(a), mode);
        target
    }

    fn compare(&mut self, order: u8, a: u8, b: VexOperand) -> u8 {
        let target = self.temporary();
        self.code.vector_with(self.float(0xc2), target, a, b, order);
        target
    }

    /// NumPy's choice between equal values and NaN, which no single instruction makes.
    fn minmax(&mut self, op: Op, a: u8, b: VexOperand) -> u8 {
        let b = self.in_register(b);
        let order = if matches!(op, Op::Minimum | Op::Fmin) { LESS } else { GREATER };
        let is_nan = if matches!(op, Op::Minimum | Op::Maximum) { a } else { b };
        let is_nan = self.compare(UNORDERED, is_nan, VexOperand::Register(is_nan));
        let better = self.compare(order, a, VexOperand::Register(b));
        let first = self.emit(OR, is_nan, VexOperand::Register(better));
        self.select(first, VexOperand::Register(a), b)
    }

    fn integer_op(&mut self, op: Op, dtype: DType, a: u8, b: VexOperand) -> u8 {
        use Op::*;
        let signed = dtype.kind() == DTypeKind::Signed;
        match op {
            Add => self.emit(self.sized(ADD_INT64, opcode(1, 1, 0xfe)), a, b),
            Subtract => self.emit(self.subtract(), a, b),
            Multiply | Square if self.is_wide() => self.multiply_int64(a, b),
            Multiply | Square => self.emit(opcode(2, 1, 0x40), a, b),
            Negative => {
                let zero = self.zero();
                self.emit(self.subtract(), zero, b)
            }
            Absolute if signed && self.is_wide() => {
                let negative = self.is_negative(a);
                let flipped = self.emit(XOR, a, VexOperand::Register(negative));
                self.emit(self.subtract(), flipped, VexOperand::Register(negative))
            }
            Absolute if signed => self.emit(opcode(2, 1, 0x1e), 0, b),
            Absolute | Positive | Conjugate => self.copy(a),
            And => self.emit(AND, a, b),
            Or => self.emit(OR, a, b),
            Xor => self.emit(XOR, a, b),
            Not => self.invert(a),
            Minimum | Fmin | Maximum | Fmax => {
                let b = self.in_register(b);
                let order = if matches!(op, Minimum | Fmin) { Less } else { Greater };
                let first = self.compare_integers(order, signed, a, VexOperand::Register(b));
                self.select(first, VexOperand::Register(a), b)
            }
            _ => self.compare_integers(op, signed, a, b),
        }
    }

    fn subtract(&self) -> Opcode {
        self.sized(opcode(1, 1, 0xfb), opcode(1, 1, 0xfa))
    }

    /// Compares integers: the CPU has equal and signed greater.
    fn compare_integers(&mut self, op: Op, signed: bool, a: u8, b: VexOperand) -> u8 {
        let greater = self.sized(opcode(2, 1, 0x37), opcode(1, 1, 0x66));
        if matches!(op, Op::Equal | Op::NotEqual) {
            let equal = self.emit(self.sized(opcode(2, 1, 0x29), opcode(1, 1, 0x76)), a, b);
            return if op == Op::Equal { equal } else { self.invert(equal) };
        }
        let b = self.in_register(b);
        let [a, b] = if signed { [a, b] } else { [a, b].map(|each| self.flip_sign(each)) };
        let swaps = matches!(op, Op::Less | Op::GreaterEqual);
        let (more, less) = if swaps { (b, a) } else { (a, b) };
        let found = self.emit(greater, more, VexOperand::Register(less));
        match op {
            Op::Less | Op::Greater => found,
            _ => self.invert(found),
        }
    }

    fn flip_sign(&mut self, a: u8) -> u8 {
        let sign = if self.is_wide() { 1 << 63 } else { 0x8000_0000_8000_0000 };
        let sign = self.code.constant(sign);
        self.emit(XOR, a, sign)
    }

    /// Multiplies 8-byte integers with 4-byte products, using few registers.
    fn multiply_int64(&mut self, a: u8, b: VexOperand) -> u8 {
        let b = self.in_register(b);
        let (left, right) = (self.upper_halves(a), self.upper_halves(b));
        for (code, target, first, second) in [
            (MULTIPLY_LOWER, left, left, b),
            (MULTIPLY_LOWER, right, right, a),
            (ADD_INT64, left, left, right),
            (MULTIPLY_LOWER, right, a, b),
        ] {
            self.code.vector(code, target, first, VexOperand::Register(second));
        }
        self.code.vector_with(SHIFT, LEFT, left, VexOperand::Register(left), 32);
        self.code.vector(ADD_INT64, right, right, VexOperand::Register(left));
        right
    }

    /// The upper half of each element's bits.
    fn upper_halves(&mut self, a: u8) -> u8 {
        let target = self.temporary();
        self.code.vector_with(SHIFT, RIGHT, target, VexOperand::Register(a), 32);
        target
    }

    fn mask_op(&mut self, op: Op, a: u8, b: VexOperand) -> u8 {
        use Op::*;
        match op {
            Add | Or | Maximum | Fmax | LogicalOr => self.emit(OR, a, b),
            Multiply | And | Minimum | Fmin | LogicalAnd => self.emit(AND, a, b),
            Xor | NotEqual | LogicalXor => self.emit(XOR, a, b),
            Not | LogicalNot => self.invert(a),
            Equal => {
                let differ = self.emit(XOR, a, b);
                self.invert(differ)
            }
            Less => self.emit(AND_NOT, a, b),
            GreaterEqual => {
                let less = self.emit(AND_NOT, a, b);
                self.invert(less)
            }
            Greater | LessEqual => {
                let b = self.in_register(b);
                let greater = self.emit(AND_NOT, b, VexOperand::Register(a));
                if op == Greater { greater } else { self.invert(greater) }
            }
            _ => self.copy(a),
        }
    }

    fn cast(&mut self, from: DType, to: DType, a: u8) -> u8 {
        match (from, to) {
            _ if from == to => self.copy(a),
            (_, DType::Bool) => self.is_nonzero(from, a),
            (DType::Bool, _) => {
                let one = match to.kind() {
                    DTypeKind::Float => self.broadcast_constant(to, 1.0),
                    _ => self.code.constant(if self.is_wide() { 1 } else { 1 << 32 | 1 }),
                };
                self.emit(AND, a, one)
            }
            (DType::Int32, DType::Float32) => {
                self.emit(opcode(1, 0, 0x5b), 0, VexOperand::Register(a))
            }
            (DType::Int64, DType::Float64) => self.int64_to_float64(a),
            _ => self.copy(a),
        }
    }

    /// Converts int64 to float64, for which AVX2 has no instruction.
    ///
    /// The upper and lower halves become the low mantissa bits of 2^84 + 2^63 and 2^52. Subtracting
    /// both is exact up to the final sum, which is the only rounding.
    fn int64_to_float64(&mut self, a: u8) -> u8 {
        let [high_exponent, low_exponent, both] =
            [0x4530_0000_8000_0000, 0x4330_0000_0000_0000, 0x4530_0000_8010_0000]
                .map(|digits| self.code.constant(digits));
        let high = self.upper_halves(a);
        let high = self.emit(XOR, high, high_exponent);
        let low = self.temporary();
        // Blends every second half from the constant.
        self.code.vector_with(opcode(3, 1, 0x02), low, a, low_exponent, 0xaa);
        let high = self.emit(self.float(0x5c), high, both);
        self.emit(self.float(0x58), high, VexOperand::Register(low))
    }

    /// The mask of nonzero elements.
    fn is_nonzero(&mut self, dtype: DType, a: u8) -> u8 {
        let zero = self.code.constant(0);
        match dtype.kind() {
            DTypeKind::Bool => self.copy(a),
            DTypeKind::Float => self.compare(NOT_EQUAL, a, zero),
            _ => self.compare_integers(Op::NotEqual, true, a, zero),
        }
    }

    fn select_values(&mut self, args: &[Reg]) -> u8 {
        let mask = self.register(args[0]);
        let b = self.register(args[2]);
        let a = self.operand(args[1]);
        self.select(mask, a, b)
    }

    fn select(&mut self, mask: u8, a: VexOperand, b: u8) -> u8 {
        let target = self.temporary();
        let blend = opcode(3, 1, if self.is_wide() { 0x4b } else { 0x4a });
        self.code.vector_with(blend, target, b, a, mask << 4);
        target
    }

    fn is_negative(&mut self, a: u8) -> u8 {
        let zero = self.zero();
        self.compare_integers(Op::Greater, true, zero, VexOperand::Register(a))
    }

    fn invert(&mut self, a: u8) -> u8 {
        let ones = self.code.constant(u64::MAX);
        self.emit(XOR, a, ones)
    }

    fn zero(&mut self) -> u8 {
        let target = self.temporary();
        self.code.vector(XOR, target, target, VexOperand::Register(target));
        target
    }

    /// All bits of a float but its sign.
    fn magnitude_mask(&mut self) -> VexOperand {
        self.code.constant(if self.is_wide() { !(1 << 63) } else { 0x7fff_ffff_7fff_ffff })
    }

    fn broadcast_constant(&mut self, dtype: DType, value: f64) -> VexOperand {
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
