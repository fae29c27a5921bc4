//! Compiles a program to AVX2 code, with vectors twice as wide as Cranelift's.
//!
//! ```text
//! encoder     instructions as bytes
//! registers   register allocation: vector registers, the stack frame, arrays
//! emit        one operation on vectors
//! ```
//!
//! Input: a program without constants. Output: position-independent code, or `None` where Cranelift
//! must compile it.

mod emit;
mod encoder;
mod registers;

use dappled_kernels::{DType, Program};

use self::registers::RegisterAllocator;
use crate::cranelift::translate::element_width;

/// The number of elements of a block.
pub const BLOCK_ELEMENTS: usize = 16;

/// General registers for the addresses of operands: scratch registers first, `rdi` with the array
/// of addresses last.
const BASE_REGISTERS: [u8; 13] = [1, 2, 8, 9, 10, 11, 3, 5, 12, 13, 14, 15, 7];

/// Registers that a function must preserve.
const CALLEE_SAVED: [u8; 6] = [3, 5, 12, 13, 14, 15];

/// The code of a program; `None` if it has too many operands, broadcast bools, or outputs that are
/// inputs.
pub fn function(program: &Program, is_broadcast: &[bool]) -> Option<Vec<u8>> {
    let inputs = program.inputs.iter().zip(is_broadcast);
    let first = program.inputs.len();
    let is_unsupported =
        inputs.clone().any(|(&dtype, &is_broadcast)| is_broadcast && dtype == DType::Bool)
            || program.outputs.iter().any(|reg| usize::from(reg.0) < first);
    let arrays = inputs.filter(|(_, is_broadcast)| !**is_broadcast).count() + program.outputs.len();
    if is_unsupported || arrays > BASE_REGISTERS.len() {
        return None;
    }
    let mut general = BASE_REGISTERS.into_iter();
    let is_array = |at: usize| !is_broadcast.get(at).copied().unwrap_or(false);
    let bases = (0..first + program.outputs.len())
        .map(|at| if is_array(at) { general.next().expect("counted") } else { 0 });
    let allocator = RegisterAllocator::new(program, element_width(program), bases.collect());
    Some(FunctionWriter { allocator, is_broadcast }.write())
}

struct FunctionWriter<'a> {
    allocator: RegisterAllocator<'a>,
    is_broadcast: &'a [bool],
}

/// Instructions that adjust the stack pointer by the frame size that follows.
const TAKE_FRAME: [u8; 3] = [0x48, 0x81, 0xec]; // sub rsp, n
const LEAVE_FRAME: [u8; 3] = [0x48, 0x81, 0xc4]; // add rsp, n

impl FunctionWriter<'_> {
    fn write(mut self) -> Vec<u8> {
        self.allocator.code.push(&CALLEE_SAVED);
        self.emit(&TAKE_FRAME);
        let frame_at = self.position();
        self.emit(&[0; 4]);
        self.emit_preamble();
        let body = self.position();
        for vector_index in 0..BLOCK_ELEMENTS / self.allocator.lanes() {
            self.allocator.begin(vector_index);
            self.emit_steps();
        }
        self.emit_loop_end(body);
        let frame = (self.allocator.max_frame_bytes as u32).to_le_bytes();
        self.allocator.code.bytes[frame_at..frame_at + 4].copy_from_slice(&frame);
        self.emit(&LEAVE_FRAME);
        self.emit(&frame);
        self.allocator.code.pop(&CALLEE_SAVED);
        self.emit(&[0xc5, 0xf8, 0x77, 0xc3]); // vzeroupper; ret
        self.allocator.code.finish()
    }

    fn position(&self) -> usize {
        self.allocator.code.bytes.len()
    }

    fn emit(&mut self, bytes: &[u8]) {
        self.allocator.code.bytes.extend(bytes);
    }

    /// Emits the code before the loop. Then `rax` counts elements up to the start of the last
    /// block, which is in `rsi`.
    fn emit_preamble(&mut self) {
        for input in (0..self.is_broadcast.len()).filter(|&at| self.is_broadcast[at]) {
            self.allocator.code.load_word(0, input);
            self.allocator.broadcast_input(input);
        }
        self.allocator.finish_preamble();
        let bases = self.allocator.bases.clone();
        let arrays = bases.iter().enumerate().filter(|&(_, &base)| base != 0);
        arrays.for_each(|(at, &base)| self.allocator.code.load_word(base, at));
        self.emit(&[0x48, 0x83, 0xee, BLOCK_ELEMENTS as u8]); // sub rsi, BLOCK_ELEMENTS
        self.emit(&[0x31, 0xc0]); // xor eax, eax
    }

    /// Emits all steps for one vector of a block.
    fn emit_steps(&mut self) {
        for (at, step) in self.allocator.program.steps.iter().enumerate() {
            self.allocator.begin_step(at);
            let result = self.allocator.step(step);
            self.allocator.finish(result);
        }
    }

    /// Emits the jump to the next block; the last block overlaps the one before.
    fn emit_loop_end(&mut self, body: usize) {
        self.emit(&[0x48, 0x39, 0xf0]); // cmp rax, rsi
        self.emit(&[0x73, 0x10]); // jae behind the jump below
        self.emit(&[0x48, 0x83, 0xc0, BLOCK_ELEMENTS as u8]); // add rax, BLOCK_ELEMENTS
        self.emit(&[0x48, 0x39, 0xf0]); // cmp rax, rsi
        self.emit(&[0x48, 0x0f, 0x47, 0xc6]); // cmova rax, rsi
        let distance = body as i64 - (self.position() as i64 + 5);
        self.emit(&[0xe9]); // jmp
        self.emit(&(distance as i32).to_le_bytes());
    }
}
