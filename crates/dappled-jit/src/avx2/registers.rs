//! Register allocation for the values of a program, one vector at a time.

use dappled_kernels::{DType, Program, Reg};

use super::encoder::{Avx2Encoder, LOAD, Opcode, STORE, VexOperand, opcode};
use crate::config::MAX_PINNED_BROADCASTS;
use crate::cranelift::lanes::LaneWidth;

/// The number of vector registers.
const VECTOR_REGISTERS: u8 = 16;

/// The number of bytes of a vector.
pub const VECTOR_BYTES: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueLocation {
    /// Not computed yet.
    Undefined,
    /// An input in memory, not loaded yet.
    Array,
    Register(u8),
    /// In a register for the whole loop.
    Fixed(u8),
    Frame(i32),
}

/// The locations of a program's values, and the code emitted so far.
pub struct RegisterAllocator<'a> {
    pub code: Avx2Encoder,
    pub program: &'a Program,
    pub width: LaneWidth,
    /// The general register with the address of each operand.
    pub bases: Vec<u8>,
    locations: Vec<ValueLocation>,
    /// The locations at the start of every vector, and the size of the stack frame they need.
    initial_locations: Vec<ValueLocation>,
    initial_frame_bytes: usize,
    /// The number of reads of each value still to come.
    reads_left: Vec<usize>,
    free: Vec<u8>,
    /// Registers that the current step uses.
    pinned: Vec<u8>,
    /// Pinned registers that hold no value of the program.
    temporary: Vec<u8>,
    step: usize,
    /// The index of the current vector in the block.
    vector_index: usize,
    /// The current and the maximal size of the stack frame.
    frame_bytes: usize,
    pub max_frame_bytes: usize,
}

impl<'a> RegisterAllocator<'a> {
    pub fn new(program: &'a Program, width: LaneWidth, bases: Vec<u8>) -> Self {
        Self {
            code: Avx2Encoder::default(),
            program,
            width,
            bases,
            locations: vec![ValueLocation::Undefined; program.len()],
            initial_locations: Vec::new(),
            initial_frame_bytes: 0,
            reads_left: Vec::new(),
            free: (0..VECTOR_REGISTERS).collect(),
            pinned: Vec::new(),
            temporary: Vec::new(),
            step: 0,
            vector_index: 0,
            frame_bytes: 0,
            max_frame_bytes: 0,
        }
    }

    /// The number of elements of a vector.
    pub fn lanes(&self) -> usize {
        VECTOR_BYTES / self.width.0
    }

    /// Broadcasts the input element at the address in `rax`, for the whole loop.
    pub fn broadcast_input(&mut self, input: usize) {
        let broadcast = opcode(2, 1, if self.width.0 == 8 { 0x19 } else { 0x18 });
        let fixed = self
            .locations
            .iter()
            .filter(|location| matches!(location, ValueLocation::Fixed(_)))
            .count();
        let register = self.free.pop().expect("a free register");
        self.code.vector(broadcast, register, 0, VexOperand::AtRax);
        self.locations[input] = if fixed < MAX_PINNED_BROADCASTS {
            ValueLocation::Fixed(register)
        } else {
            self.free.push(register);
            self.spill(register)
        };
    }

    /// Marks all inputs that are not broadcast as arrays.
    pub fn finish_preamble(&mut self) {
        for location in &mut self.locations[..self.program.inputs.len()] {
            *location = if *location == ValueLocation::Undefined {
                ValueLocation::Array
            } else {
                *location
            };
        }
        (self.initial_locations, self.initial_frame_bytes) =
            (self.locations.clone(), self.frame_bytes);
    }

    /// Starts a vector of the block.
    pub fn begin(&mut self, vector_index: usize) {
        self.vector_index = vector_index;
        self.locations.clone_from(&self.initial_locations);
        self.frame_bytes = self.initial_frame_bytes;
        let args = self.program.steps.iter().flat_map(|step| &step.args);
        self.reads_left = vec![0; self.program.len()];
        args.for_each(|arg| self.reads_left[usize::from(arg.0)] += 1);
    }

    /// Starts a step.
    pub fn begin_step(&mut self, step: usize) {
        self.step = step;
        self.pinned.clear();
        self.temporary.clear();
    }

    /// The location of a value, as the last operand of an instruction.
    pub fn operand(&mut self, value: Reg) -> VexOperand {
        let at = usize::from(value.0);
        match self.locations[at] {
            ValueLocation::Register(register) | ValueLocation::Fixed(register) => {
                self.pinned.push(register);
                VexOperand::Register(register)
            }
            ValueLocation::Frame(offset) => VexOperand::Frame(offset),
            ValueLocation::Array
                if self.reads_left[at] == 1 && self.program.inputs[at] != DType::Bool =>
            {
                self.element_operand(at, self.program.inputs[at])
            }
            ValueLocation::Array => {
                let register = self.load_input(at);
                self.temporary.retain(|&other| other != register);
                self.locations[at] = ValueLocation::Register(register);
                VexOperand::Register(register)
            }
            ValueLocation::Undefined => unreachable!("result before it is read"),
        }
    }

    /// A register that holds a value.
    pub fn register(&mut self, value: Reg) -> u8 {
        let operand = self.operand(value);
        self.in_register(operand)
    }

    /// A register that holds an operand.
    pub fn in_register(&mut self, operand: VexOperand) -> u8 {
        match operand {
            VexOperand::Register(register) => register,
            _ => self.emit(LOAD, 0, operand),
        }
    }

    /// Emits an instruction with its result in a temporary register.
    pub fn emit(&mut self, code: Opcode, first: u8, operand: VexOperand) -> u8 {
        let target = self.temporary();
        self.code.vector(code, target, first, operand);
        target
    }

    /// A register for the current step.
    pub fn temporary(&mut self) -> u8 {
        let register = self.free.pop().unwrap_or_else(|| self.evict());
        self.pinned.push(register);
        self.temporary.push(register);
        register
    }

    /// The memory of an operand's current vector.
    fn element_operand(&self, operand: usize, dtype: DType) -> VexOperand {
        let size = if dtype == DType::Bool { 1 } else { self.width.0 };
        let offset = (self.vector_index * self.lanes() * size) as i32;
        VexOperand::Element {
            base: self.bases[operand],
            shift: size.trailing_zeros() as u8,
            offset,
        }
    }

    /// Loads an input's vector; bools become masks.
    fn load_input(&mut self, input: usize) -> u8 {
        let dtype = self.program.inputs[input];
        let element = self.element_operand(input, dtype);
        if dtype != DType::Bool {
            return self.emit(LOAD, 0, element);
        }
        let wide = self.width.0 == 8;
        let widened = self.emit(opcode(2, 1, if wide { 0x22 } else { 0x21 }), 0, element);
        let equal = if wide { opcode(2, 1, 0x29) } else { opcode(1, 1, 0x76) };
        let (zero, ones) = (self.code.constant(0), self.code.constant(u64::MAX));
        self.code.vector(equal, widened, widened, zero);
        self.code.vector(opcode(1, 1, 0xef), widened, widened, ones);
        widened
    }

    /// Spills the value whose next read is the farthest, and returns its register.
    fn evict(&mut self) -> u8 {
        let next = |value: usize| {
            let steps = self.program.steps[self.step..].iter();
            steps.take_while(|step| !step.args.contains(&Reg(value as u16))).count()
        };
        let holders =
            self.locations.iter().enumerate().filter_map(|(at, &location)| match location {
                ValueLocation::Register(register) if !self.pinned.contains(&register) => {
                    Some((at, register))
                }
                _ => None,
            });
        let (value, register) =
            holders.max_by_key(|&(at, _)| next(at)).expect("an unpinned register");
        self.locations[value] = self.spill(register);
        register
    }

    /// Stores a register to the stack frame.
    fn spill(&mut self, register: u8) -> ValueLocation {
        let offset = self.frame_bytes as i32;
        self.frame_bytes += VECTOR_BYTES;
        self.max_frame_bytes = self.max_frame_bytes.max(self.frame_bytes);
        self.code.vector(STORE, register, 0, VexOperand::Frame(offset));
        ValueLocation::Frame(offset)
    }

    /// Ends a step whose result is in a register; stores it if it is an output.
    pub fn finish(&mut self, result: u8) {
        let program = self.program;
        let (step, value) = (&program.steps[self.step], program.inputs.len() + self.step);
        for output in 0..program.outputs.len() {
            if usize::from(program.outputs[output].0) == value {
                self.store(result, output);
            }
        }
        self.locations[value] = ValueLocation::Register(result);
        let temporary = std::mem::take(&mut self.temporary);
        self.free.extend(temporary.into_iter().filter(|&register| register != result));
        step.args.iter().for_each(|arg| self.reads_left[usize::from(arg.0)] -= 1);
        for value in step.args.iter().map(|arg| usize::from(arg.0)).chain([value]) {
            if let ValueLocation::Register(register) = self.locations[value]
                && self.reads_left[value] == 0
            {
                self.locations[value] = ValueLocation::Undefined;
                self.free.push(register);
            }
        }
    }

    fn store(&mut self, result: u8, output: usize) {
        let dtype = self.program.dtype(self.program.outputs[output]).expect("checked");
        let element = self.element_operand(self.program.inputs.len() + output, dtype);
        if dtype != DType::Bool {
            return self.code.vector(STORE, result, 0, element);
        }
        let (low, high) = (self.temporary(), self.temporary());
        self.code.vector_with(opcode(3, 1, 0x39), result, 0, VexOperand::Register(high), 1);
        if self.width.0 == 8 {
            // Shuffles the lower halves of all masks together.
            self.code.vector128(
                opcode(1, 0, 0xc6),
                low,
                result,
                VexOperand::Register(high),
                Some(0x88),
            );
            self.code.vector128(opcode(1, 1, 0x6b), low, low, VexOperand::Register(low), None);
        } else {
            self.code.vector128(opcode(1, 1, 0x6b), low, result, VexOperand::Register(high), None);
        }
        self.code.vector128(opcode(1, 1, 0x63), low, low, VexOperand::Register(low), None);
        let one = self.code.constant(0x0101_0101_0101_0101);
        self.code.vector128(opcode(1, 1, 0xdb), low, low, one, None);
        let store = opcode(1, 1, if self.width.0 == 8 { 0x7e } else { 0xd6 });
        self.code.vector128(store, low, 0, element, None);
    }
}
