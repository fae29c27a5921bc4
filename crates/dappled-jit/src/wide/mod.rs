//! A program as a function of AVX2: vectors of 32 bytes, twice those that Cranelift has.
//!
//! ```text
//! encode   instructions as bytes
//! values   where values are: registers, the stack frame, arrays
//! emit     an operation on vectors
//! ```

mod emit;
mod encode;
mod values;

use dappled_kernels::{DType, Program};

use self::values::Values;
use crate::translate::width;

/// Elements of a block.
pub const BLOCK: usize = 16;

/// General registers for where operands begin: first those that a function may use at will; last
/// the one that points to all of them.
const BASES: [u8; 13] = [1, 2, 8, 9, 10, 11, 3, 5, 12, 13, 14, 15, 7];

/// Those that it has to leave as they were.
const SAVED: [u8; 6] = [3, 5, 12, 13, 14, 15];

/// The bytes of a function; None where it is not worth it: too many operands, a bool everywhere.
pub fn function(program: &Program, repeated: &[bool]) -> Option<Vec<u8>> {
    let inputs = program.inputs.iter().zip(repeated);
    let first = program.inputs.len();
    let strange = inputs.clone().any(|(&dtype, &repeated)| repeated && dtype == DType::Bool)
        || program.outputs.iter().any(|reg| usize::from(reg.0) < first);
    let arrays = inputs.filter(|(_, repeated)| !**repeated).count() + program.outputs.len();
    if strange || arrays > BASES.len() {
        return None;
    }
    let mut general = BASES.into_iter();
    let is_array = |at: usize| !repeated.get(at).copied().unwrap_or(false);
    let bases = (0..first + program.outputs.len())
        .map(|at| if is_array(at) { general.next().expect("counted") } else { 0 });
    let values = Values::new(program, width(program), bases.collect());
    Some(Function { values, repeated }.written())
}

struct Function<'a> {
    values: Values<'a>,
    repeated: &'a [bool],
}

/// What the frame's size is written behind.
const TAKE_FRAME: [u8; 3] = [0x48, 0x81, 0xec]; // sub rsp, n
const LEAVE_FRAME: [u8; 3] = [0x48, 0x81, 0xc4]; // add rsp, n

impl Function<'_> {
    fn written(mut self) -> Vec<u8> {
        self.values.code.push(&SAVED);
        self.add(&TAKE_FRAME);
        let frame_at = self.here();
        self.add(&[0; 4]);
        self.prepare();
        let body = self.here();
        for copy in 0..BLOCK / self.values.lanes() {
            self.values.begin(copy);
            self.copy();
        }
        self.repeat(body);
        let frame = (self.values.frame as u32).to_le_bytes();
        self.values.code.bytes[frame_at..frame_at + 4].copy_from_slice(&frame);
        self.add(&LEAVE_FRAME);
        self.add(&frame);
        self.values.code.pop(&SAVED);
        self.add(&[0xc5, 0xf8, 0x77, 0xc3]); // vzeroupper; ret
        self.values.code.finished()
    }

    fn here(&self) -> usize {
        self.values.code.bytes.len()
    }

    fn add(&mut self, bytes: &[u8]) {
        self.values.code.bytes.extend(bytes);
    }

    /// What is done once: `rax` counts elements from now on, up to the begin of the last block,
    /// which is in `rsi`.
    fn prepare(&mut self) {
        for input in (0..self.repeated.len()).filter(|&at| self.repeated[at]) {
            self.values.code.load_word(0, input);
            self.values.repeat(input);
        }
        self.values.prepared();
        let bases = self.values.bases.clone();
        let arrays = bases.iter().enumerate().filter(|&(_, &base)| base != 0);
        arrays.for_each(|(at, &base)| self.values.code.load_word(base, at));
        self.add(&[0x48, 0x83, 0xee, BLOCK as u8]); // sub rsi, BLOCK
        self.add(&[0x31, 0xc0]); // xor eax, eax
    }

    /// All steps of one vector of a block.
    fn copy(&mut self) {
        for (at, step) in self.values.program.steps.iter().enumerate() {
            self.values.begin_step(at);
            let made = self.values.step(step);
            self.values.finish(made);
        }
    }

    /// On to the next block, which may overlap this one if it is the last.
    fn repeat(&mut self, body: usize) {
        self.add(&[0x48, 0x39, 0xf0]); // cmp rax, rsi
        self.add(&[0x73, 0x10]); // jae behind the jump below
        self.add(&[0x48, 0x83, 0xc0, BLOCK as u8]); // add rax, BLOCK
        self.add(&[0x48, 0x39, 0xf0]); // cmp rax, rsi
        self.add(&[0x48, 0x0f, 0x47, 0xc6]); // cmova rax, rsi
        let distance = body as i64 - (self.here() as i64 + 5);
        self.add(&[0xe9]); // jmp
        self.add(&(distance as i32).to_le_bytes());
    }
}
