//! Where the values of a program are while a vector of each is computed.

use dappled_kernels::{DType, Program, Reg};

use super::encode::{Code, Encoder, LOAD, Operand, STORE, code};
use crate::lanes::Width;

/// Vector registers of the CPU.
const REGISTERS: u8 = 16;

/// So many inputs that are one element stay in registers.
const FIXED: usize = 5;

/// Bytes of a vector.
pub const VECTOR: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Not made yet.
    Nowhere,
    /// An input's elements, not loaded yet.
    Array,
    Register(u8),
    /// In a register all the time.
    Fixed(u8),
    Frame(i32),
}

/// The values of a program, and the code that makes them.
pub struct Values<'a> {
    pub code: Encoder,
    pub program: &'a Program,
    pub width: Width,
    /// The general register that says where each operand's elements begin.
    pub bases: Vec<u8>,
    places: Vec<Place>,
    /// Where they are at the begin of every vector, and the bytes of the frame that this takes.
    first_places: Vec<Place>,
    first_taken: usize,
    /// How often each will be read.
    left: Vec<usize>,
    free: Vec<u8>,
    /// Registers that the step at hand uses.
    pinned: Vec<u8>,
    /// Those of them that hold no value of the program.
    temporary: Vec<u8>,
    step: usize,
    /// Which vector of a block it is.
    copy: usize,
    /// Bytes of the frame: those that are taken, and the most that were.
    taken: usize,
    pub frame: usize,
}

impl<'a> Values<'a> {
    pub fn new(program: &'a Program, width: Width, bases: Vec<u8>) -> Self {
        Self {
            code: Encoder::default(),
            program,
            width,
            bases,
            places: vec![Place::Nowhere; program.len()],
            first_places: Vec::new(),
            first_taken: 0,
            left: Vec::new(),
            free: (0..REGISTERS).collect(),
            pinned: Vec::new(),
            temporary: Vec::new(),
            step: 0,
            copy: 0,
            taken: 0,
            frame: 0,
        }
    }

    /// Elements of a vector.
    pub fn lanes(&self) -> usize {
        VECTOR / self.width.0
    }

    /// An input that is one element, to which `rax` points, for the whole loop.
    pub fn repeat(&mut self, input: usize) {
        let broadcast = code(2, 1, if self.width.0 == 8 { 0x19 } else { 0x18 });
        let fixed = self.places.iter().filter(|place| matches!(place, Place::Fixed(_))).count();
        let register = self.free.pop().expect("some are left");
        self.code.vector(broadcast, register, 0, Operand::Pointed);
        self.places[input] = if fixed < FIXED {
            Place::Fixed(register)
        } else {
            self.free.push(register);
            self.keep(register)
        };
    }

    /// All inputs that are one element are ready; the others are arrays.
    pub fn prepared(&mut self) {
        for place in &mut self.places[..self.program.inputs.len()] {
            *place = if *place == Place::Nowhere { Place::Array } else { *place };
        }
        (self.first_places, self.first_taken) = (self.places.clone(), self.taken);
    }

    /// Begins a vector of the block.
    pub fn begin(&mut self, copy: usize) {
        self.copy = copy;
        self.places.clone_from(&self.first_places);
        self.taken = self.first_taken;
        let args = self.program.steps.iter().flat_map(|step| &step.args);
        self.left = vec![0; self.program.len()];
        args.for_each(|arg| self.left[usize::from(arg.0)] += 1);
    }

    /// Begins a step.
    pub fn begin_step(&mut self, step: usize) {
        self.step = step;
        self.pinned.clear();
        self.temporary.clear();
    }

    /// Where a value can be read as the last operand of an instruction.
    pub fn operand(&mut self, value: Reg) -> Operand {
        let at = usize::from(value.0);
        match self.places[at] {
            Place::Register(register) | Place::Fixed(register) => {
                self.pinned.push(register);
                Operand::Register(register)
            }
            Place::Frame(offset) => Operand::Frame(offset),
            Place::Array if self.left[at] == 1 && self.program.inputs[at] != DType::Bool => {
                self.element(at, self.program.inputs[at])
            }
            Place::Array => {
                let register = self.loaded(at);
                self.temporary.retain(|&other| other != register);
                self.places[at] = Place::Register(register);
                Operand::Register(register)
            }
            Place::Nowhere => unreachable!("made before it is read"),
        }
    }

    /// A register that holds a value.
    pub fn register(&mut self, value: Reg) -> u8 {
        let operand = self.operand(value);
        self.in_register(operand)
    }

    /// A register that holds what an operand is.
    pub fn in_register(&mut self, operand: Operand) -> u8 {
        match operand {
            Operand::Register(register) => register,
            _ => self.made(LOAD, 0, operand),
        }
    }

    /// An instruction's result in a register for the step at hand.
    pub fn made(&mut self, code: Code, first: u8, operand: Operand) -> u8 {
        let target = self.temporary();
        self.code.vector(code, target, first, operand);
        target
    }

    /// A register for the step at hand.
    pub fn temporary(&mut self) -> u8 {
        let register = self.free.pop().unwrap_or_else(|| self.evicted());
        self.pinned.push(register);
        self.temporary.push(register);
        register
    }

    /// The memory of an operand's vector.
    fn element(&self, operand: usize, dtype: DType) -> Operand {
        let size = if dtype == DType::Bool { 1 } else { self.width.0 };
        let offset = (self.copy * self.lanes() * size) as i32;
        Operand::Element { base: self.bases[operand], shift: size.trailing_zeros() as u8, offset }
    }

    /// An input's vector; bools as masks.
    fn loaded(&mut self, input: usize) -> u8 {
        let dtype = self.program.inputs[input];
        let element = self.element(input, dtype);
        if dtype != DType::Bool {
            return self.made(LOAD, 0, element);
        }
        let wide = self.width.0 == 8;
        let widened = self.made(code(2, 1, if wide { 0x22 } else { 0x21 }), 0, element);
        let equal = if wide { code(2, 1, 0x29) } else { code(1, 1, 0x76) };
        let (zero, ones) = (self.code.constant(0), self.code.constant(u64::MAX));
        self.code.vector(equal, widened, widened, zero);
        self.code.vector(code(1, 1, 0xef), widened, widened, ones);
        widened
    }

    /// The register of the value that is not read for the longest time, which is kept elsewhere.
    fn evicted(&mut self) -> u8 {
        let next = |value: usize| {
            let steps = self.program.steps[self.step..].iter();
            steps.take_while(|step| !step.args.contains(&Reg(value as u16))).count()
        };
        let holders = self.places.iter().enumerate().filter_map(|(at, &place)| match place {
            Place::Register(register) if !self.pinned.contains(&register) => Some((at, register)),
            _ => None,
        });
        let (value, register) = holders.max_by_key(|&(at, _)| next(at)).expect("few are pinned");
        self.places[value] = self.keep(register);
        register
    }

    /// Writes a register to the frame.
    fn keep(&mut self, register: u8) -> Place {
        let offset = self.taken as i32;
        self.taken += VECTOR;
        self.frame = self.frame.max(self.taken);
        self.code.vector(STORE, register, 0, Operand::Frame(offset));
        Place::Frame(offset)
    }

    /// Ends a step that made its value in a register; stores it where it is an output.
    pub fn finish(&mut self, made: u8) {
        let program = self.program;
        let (step, value) = (&program.steps[self.step], program.inputs.len() + self.step);
        for output in 0..program.outputs.len() {
            if usize::from(program.outputs[output].0) == value {
                self.store(made, output);
            }
        }
        self.places[value] = Place::Register(made);
        let temporary = std::mem::take(&mut self.temporary);
        self.free.extend(temporary.into_iter().filter(|&register| register != made));
        step.args.iter().for_each(|arg| self.left[usize::from(arg.0)] -= 1);
        for value in step.args.iter().map(|arg| usize::from(arg.0)).chain([value]) {
            if let Place::Register(register) = self.places[value]
                && self.left[value] == 0
            {
                self.places[value] = Place::Nowhere;
                self.free.push(register);
            }
        }
    }

    fn store(&mut self, made: u8, output: usize) {
        let dtype = self.program.dtype(self.program.outputs[output]).expect("checked");
        let element = self.element(self.program.inputs.len() + output, dtype);
        if dtype != DType::Bool {
            return self.code.vector(STORE, made, 0, element);
        }
        let (low, high) = (self.temporary(), self.temporary());
        self.code.vector_with(code(3, 1, 0x39), made, 0, Operand::Register(high), 1);
        if self.width.0 == 8 {
            // The lower halves of all masks.
            self.code.half(code(1, 0, 0xc6), low, made, Operand::Register(high), Some(0x88));
            self.code.half(code(1, 1, 0x6b), low, low, Operand::Register(low), None);
        } else {
            self.code.half(code(1, 1, 0x6b), low, made, Operand::Register(high), None);
        }
        self.code.half(code(1, 1, 0x63), low, low, Operand::Register(low), None);
        let one = self.code.constant(0x0101_0101_0101_0101);
        self.code.half(code(1, 1, 0xdb), low, low, one, None);
        let store = code(1, 1, if self.width.0 == 8 { 0x7e } else { 0xd6 });
        self.code.half(store, low, 0, element, None);
    }
}
