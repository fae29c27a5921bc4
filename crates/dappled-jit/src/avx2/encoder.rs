//! Encoder of AVX2 instructions on vectors of 32 bytes, and a few others.

/// A vector instruction: the fields of its VEX prefix, and its opcode.
#[derive(Clone, Copy)]
pub struct Opcode {
    map: u8,
    prefix: u8,
    opcode: u8,
}

/// An opcode of the map 0F (1), 0F 38 (2) or 0F 3A (3), with no prefix (0), 66 (1), F3 (2) or F2
/// (3).
pub const fn opcode(map: u8, prefix: u8, opcode: u8) -> Opcode {
    Opcode { map, prefix, opcode }
}

pub const LOAD: Opcode = opcode(1, 1, 0x10);
pub const STORE: Opcode = opcode(1, 1, 0x11);

/// The last operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum VexOperand {
    Register(u8),
    /// The element at index `rax` of the array at the address in `base`, plus `offset` bytes.
    /// Elements have `1 << shift` bytes.
    Element {
        base: u8,
        shift: u8,
        offset: i32,
    },
    /// The memory at the address in `rax`.
    AtRax,
    /// A byte offset in the stack frame.
    Frame(i32),
    /// A constant, by its index.
    Constant(usize),
}

/// The code of a function, followed by its constants.
#[derive(Default)]
pub struct Avx2Encoder {
    pub bytes: Vec<u8>,
    constants: Vec<u64>,
    /// References to constants: the position of the displacement, the address it is relative to,
    /// the constant.
    relocations: Vec<(usize, usize, usize)>,
}

impl Avx2Encoder {
    /// The operand of a constant repeated over a vector.
    pub fn constant(&mut self, value: u64) -> VexOperand {
        let known = self.constants.iter().position(|&known| known == value);
        VexOperand::Constant(known.unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        }))
    }

    /// Encodes an instruction on vectors of 32 bytes; `first` is 0 if there is no first operand.
    pub fn vector(&mut self, code: Opcode, target: u8, first: u8, operand: VexOperand) {
        self.vex(code, 1, target, first, operand, None);
    }

    /// Encodes an instruction on vectors of 32 bytes with an immediate.
    pub fn vector_with(
        &mut self,
        code: Opcode,
        target: u8,
        first: u8,
        operand: VexOperand,
        immediate: u8,
    ) {
        self.vex(code, 1, target, first, operand, Some(immediate));
    }

    /// Encodes an instruction on the lower 16 bytes of vectors.
    pub fn vector128(
        &mut self,
        code: Opcode,
        target: u8,
        first: u8,
        operand: VexOperand,
        immediate: Option<u8>,
    ) {
        self.vex(code, 0, target, first, operand, immediate);
    }

    fn vex(
        &mut self,
        Opcode { map, prefix, opcode }: Opcode,
        long: u8,
        target: u8,
        first: u8,
        operand: VexOperand,
        immediate: Option<u8>,
    ) {
        let high = match operand {
            VexOperand::Register(register) | VexOperand::Element { base: register, .. } => {
                register >> 3
            }
            _ => 0,
        };
        let extended = (target >> 3 ^ 1) << 7 | 1 << 6 | (high ^ 1) << 5;
        let second = (!first & 15) << 3 | long << 2 | prefix;
        self.bytes.extend([0xc4, extended | map, second, opcode]);
        let behind = usize::from(immediate.is_some());
        self.encode_operand(target & 7, operand, behind);
        self.bytes.extend(immediate);
    }

    /// Encodes the last operand, which is followed by `behind` more bytes of the instruction.
    fn encode_operand(&mut self, target: u8, operand: VexOperand, behind: usize) {
        let target = target << 3;
        match operand {
            VexOperand::Register(register) => self.bytes.push(0xc0 | target | register & 7),
            VexOperand::Element { base, shift, offset } => {
                self.bytes.extend([0x84 | target, shift << 6 | base & 7]);
                self.bytes.extend(offset.to_le_bytes());
            }
            VexOperand::AtRax => self.bytes.push(target),
            VexOperand::Frame(offset) => {
                self.bytes.extend([0x84 | target, 0x24]);
                self.bytes.extend(offset.to_le_bytes());
            }
            VexOperand::Constant(index) => {
                self.bytes.push(0x05 | target);
                let at = self.bytes.len();
                self.relocations.push((at, at + 4 + behind, index));
                self.bytes.extend([0; 4]);
            }
        }
    }

    /// Loads a general register from word `at` of the array in `rdi`.
    pub fn load_word(&mut self, register: u8, at: usize) {
        self.bytes.extend([0x48 | register >> 3 << 2, 0x8b, 0x87 | (register & 7) << 3]);
        self.bytes.extend((8 * at as i32).to_le_bytes());
    }

    /// Pushes general registers on the stack.
    pub fn push(&mut self, registers: &[u8]) {
        registers
            .iter()
            .for_each(|register| self.bytes.extend([0x40 | register >> 3, 0x50 | register & 7]));
    }

    /// Pops general registers in reverse order.
    pub fn pop(&mut self, registers: &[u8]) {
        registers
            .iter()
            .rev()
            .for_each(|register| self.bytes.extend([0x40 | register >> 3, 0x58 | register & 7]));
    }

    /// The code with the constants appended and the displacements resolved.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len().next_multiple_of(32), 0xcc);
        let first = self.bytes.len();
        for (at, from, index) in self.relocations {
            let distance = (first + 32 * index - from) as i32;
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        let repeated = self.constants.iter().flat_map(|&constant| [constant; 4]);
        self.bytes.extend(repeated.flat_map(u64::to_le_bytes));
        self.bytes
    }
}
