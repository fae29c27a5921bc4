//! Instructions of x86-64 as bytes: those of AVX2 on vectors of 32 bytes, and a few others.

/// An instruction on vectors, by the parts of its VEX prefix and its opcode.
#[derive(Clone, Copy)]
pub struct Code {
    map: u8,
    prefix: u8,
    opcode: u8,
}

/// One of the opcodes that begin with 0F (map 1), 0F 38 (2) or 0F 3A (3), after no prefix (0),
/// 66 (1), F3 (2) or F2 (3).
pub const fn code(map: u8, prefix: u8, opcode: u8) -> Code {
    Code { map, prefix, opcode }
}

pub const LOAD: Code = code(1, 1, 0x10);
pub const STORE: Code = code(1, 1, 0x11);

/// What the last operand of an instruction is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    Register(u8),
    /// An element of an array that begins where a general register says: that number `rax`, and
    /// so many bytes behind it. The size of elements is two to the power of `shift`.
    Element {
        base: u8,
        shift: u8,
        offset: i32,
    },
    /// What `rax` points to.
    Pointed,
    /// Bytes of the stack frame, from this one on.
    Frame(i32),
    /// A constant by its number.
    Constant(usize),
}

/// Bytes of a function, and the constants behind them.
#[derive(Default)]
pub struct Encoder {
    pub bytes: Vec<u8>,
    constants: Vec<u64>,
    /// Where the distance to a constant is to be written, and from where it counts.
    distances: Vec<(usize, usize, usize)>,
}

impl Encoder {
    /// The number of a constant that fills a vector.
    pub fn constant(&mut self, value: u64) -> Operand {
        let known = self.constants.iter().position(|&known| known == value);
        Operand::Constant(known.unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        }))
    }

    /// An instruction on vectors of 32 bytes: `target`, `first` (0 where there is none), `operand`.
    pub fn vector(&mut self, code: Code, target: u8, first: u8, operand: Operand) {
        self.vex(code, 1, target, first, operand, None);
    }

    /// The same with a number as its last part.
    pub fn vector_with(&mut self, code: Code, target: u8, first: u8, operand: Operand, number: u8) {
        self.vex(code, 1, target, first, operand, Some(number));
    }

    /// The same on the lower halves.
    pub fn half(
        &mut self,
        code: Code,
        target: u8,
        first: u8,
        operand: Operand,
        number: Option<u8>,
    ) {
        self.vex(code, 0, target, first, operand, number);
    }

    fn vex(
        &mut self,
        Code { map, prefix, opcode }: Code,
        long: u8,
        target: u8,
        first: u8,
        operand: Operand,
        number: Option<u8>,
    ) {
        let high = match operand {
            Operand::Register(register) | Operand::Element { base: register, .. } => register >> 3,
            _ => 0,
        };
        let extended = (target >> 3 ^ 1) << 7 | 1 << 6 | (high ^ 1) << 5;
        let second = (!first & 15) << 3 | long << 2 | prefix;
        self.bytes.extend([0xc4, extended | map, second, opcode]);
        let behind = usize::from(number.is_some());
        self.place(target & 7, operand, behind);
        self.bytes.extend(number);
    }

    /// The last operand, so many bytes before the end of its instruction.
    fn place(&mut self, target: u8, operand: Operand, behind: usize) {
        let target = target << 3;
        match operand {
            Operand::Register(register) => self.bytes.push(0xc0 | target | register & 7),
            Operand::Element { base, shift, offset } => {
                self.bytes.extend([0x84 | target, shift << 6 | base & 7]);
                self.bytes.extend(offset.to_le_bytes());
            }
            Operand::Pointed => self.bytes.push(target),
            Operand::Frame(offset) => {
                self.bytes.extend([0x84 | target, 0x24]);
                self.bytes.extend(offset.to_le_bytes());
            }
            Operand::Constant(number) => {
                self.bytes.push(0x05 | target);
                let at = self.bytes.len();
                self.distances.push((at, at + 4 + behind, number));
                self.bytes.extend([0; 4]);
            }
        }
    }

    /// A general register from the `at`th word of what `rdi` points to.
    pub fn load_word(&mut self, register: u8, at: usize) {
        self.bytes.extend([0x48 | register >> 3 << 2, 0x8b, 0x87 | (register & 7) << 3]);
        self.bytes.extend((8 * at as i32).to_le_bytes());
    }

    /// Puts general registers on the stack.
    pub fn push(&mut self, registers: &[u8]) {
        registers
            .iter()
            .for_each(|register| self.bytes.extend([0x40 | register >> 3, 0x50 | register & 7]));
    }

    /// Takes them back, in the other order.
    pub fn pop(&mut self, registers: &[u8]) {
        registers
            .iter()
            .rev()
            .for_each(|register| self.bytes.extend([0x40 | register >> 3, 0x58 | register & 7]));
    }

    /// The bytes with the constants behind them.
    pub fn finished(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len().next_multiple_of(32), 0xcc);
        let first = self.bytes.len();
        for (at, from, number) in self.distances {
            let distance = (first + 32 * number - from) as i32;
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        let repeated = self.constants.iter().flat_map(|&constant| [constant; 4]);
        self.bytes.extend(repeated.flat_map(u64::to_le_bytes));
        self.bytes
    }
}
