//! A program as a function of Cranelift: one loop over blocks of elements.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, Function, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use dappled_kernels::{DType, Program, Reg};

use crate::emit::Emit;
use crate::lanes::{COPIES, Width, flags, load_masks, repeat, store_masks};

/// The size of a program's elements, bools apart.
pub fn width(program: &Program) -> Width {
    let dtypes = (0..program.len()).filter_map(|at| program.dtype(Reg(at as u16)));
    let sizes = dtypes.filter(|&dtype| dtype != DType::Bool).map(DType::itemsize);
    Width(sizes.max().unwrap_or(4))
}

/// The memory of the operands, and how many elements.
pub fn signature(signature: &mut Signature) {
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
}

/// Writes the function's body.
pub fn translate(
    program: &Program,
    repeated: &[bool],
    function: &mut Function,
    context: &mut FunctionBuilderContext,
    target: TargetFrontendConfig,
) {
    let mut build = FunctionBuilder::new(function, context);
    let (entry, body, exit) = (build.create_block(), build.create_block(), build.create_block());
    build.append_block_params_for_function_params(entry);
    build.append_block_param(body, types::I64);
    build.switch_to_block(entry);
    let width = width(program);
    let mut code = Translation { program, repeated, width, build, starts: vec![], ready: vec![] };
    let last = code.prepare(entry);
    let first = code.build.ins().iconst(types::I64, 0);
    code.build.ins().jump(body, &[first.into()]);
    code.build.switch_to_block(body);
    let at = code.build.block_params(body)[0];
    code.block(at);
    code.repeat_until(last, at, body, exit);
    code.build.switch_to_block(exit);
    code.build.ins().return_(&[]);
    code.build.seal_all_blocks();
    code.build.finalize(target);
}

struct Translation<'a, 'b> {
    program: &'a Program,
    repeated: &'a [bool],
    width: Width,
    build: FunctionBuilder<'b>,
    /// Where each operand begins.
    starts: Vec<Value>,
    /// The inputs that are one element.
    ready: Vec<Option<Value>>,
}

impl Translation<'_, '_> {
    /// What is done once. Gives the place of the last block, counted in bytes of wide elements.
    fn prepare(&mut self, entry: Block) -> Value {
        let (operands, count) =
            (self.build.block_params(entry)[0], self.build.block_params(entry)[1]);
        for at in 0..self.program.inputs.len() + self.program.outputs.len() {
            let start = self.build.ins().load(types::I64, flags(), operands, 8 * at as i32);
            self.starts.push(start);
        }
        for (at, &dtype) in self.program.inputs.iter().enumerate() {
            let start = self.starts[at];
            let value =
                self.repeated[at].then(|| repeat(&mut self.build, self.width, dtype, start));
            self.ready.push(value);
        }
        let last = self.build.ins().iadd_imm_s(count, -(self.width.block() as i64));
        self.build.ins().imul_imm_s(last, self.width.0 as i64)
    }

    /// Computes a block.
    fn block(&mut self, at: Value) {
        let places = self.places(at);
        let loaded = self.load_masks(&places);
        let mut made: Vec<Vec<Value>> = vec![Vec::new(); self.program.outputs.len()];
        for copy in 0..COPIES {
            let values = self.copy(copy, &places, &loaded);
            self.store(copy, &values, &places, &mut made);
        }
        let places = &places[self.program.inputs.len()..];
        for (masks, &place) in made.iter().zip(places).filter(|(masks, _)| !masks.is_empty()) {
            store_masks(&mut self.build, self.width, masks, place);
        }
    }

    /// Where a block of each operand begins.
    fn places(&mut self, at: Value) -> Vec<Value> {
        let shift = i64::from(self.width.0.trailing_zeros());
        let of_bools = self.build.ins().ushr_imm_u(at, shift);
        let outputs = self.program.outputs.iter().filter_map(|&reg| self.program.dtype(reg));
        let dtypes = self.program.inputs.iter().copied().chain(outputs);
        let place = |(&start, dtype): (&Value, DType)| {
            let offset = if dtype == DType::Bool { of_bools } else { at };
            self.build.ins().iadd(start, offset)
        };
        self.starts.iter().zip(dtypes).map(place).collect()
    }

    /// The bools of a block, input by input.
    fn load_masks(&mut self, places: &[Value]) -> Vec<Vec<Value>> {
        let inputs = self.program.inputs.iter().zip(&self.ready).zip(places);
        let loaded = inputs.map(|((&dtype, ready), &place)| match dtype {
            DType::Bool if ready.is_none() => load_masks(&mut self.build, self.width, place),
            _ => Vec::new(),
        });
        loaded.collect()
    }

    /// Stores the outputs of one vector of a block; those that are bools are kept.
    fn store(&mut self, copy: usize, values: &[Value], places: &[Value], made: &mut [Vec<Value>]) {
        let places = &places[self.program.inputs.len()..];
        for ((&reg, &place), masks) in self.program.outputs.iter().zip(places).zip(made) {
            let value = values[usize::from(reg.0)];
            match self.program.dtype(reg) {
                Some(DType::Bool) => masks.push(value),
                _ => {
                    self.build.ins().store(flags(), value, place, 16 * copy as i32);
                }
            }
        }
    }

    /// All registers of one vector of a block.
    fn copy(&mut self, copy: usize, places: &[Value], loaded: &[Vec<Value>]) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::with_capacity(self.program.len());
        for (at, &dtype) in self.program.inputs.iter().enumerate() {
            let vector = self.width.vector(dtype);
            let value = match (self.ready[at], loaded[at].get(copy)) {
                (Some(value), _) | (None, Some(&value)) => value,
                _ => self.build.ins().load(vector, flags(), places[at], 16 * copy as i32),
            };
            values.push(value);
        }
        for step in &self.program.steps {
            let args: Vec<Value> = step.args.iter().map(|arg| values[usize::from(arg.0)]).collect();
            let value = Emit { build: &mut self.build, width: self.width }.step(step, &args);
            values.push(value);
        }
        values
    }

    /// On to the next block, which may overlap this one if it is the last.
    fn repeat_until(&mut self, last: Value, at: Value, body: Block, exit: Block) {
        let next = self.build.ins().iadd_imm_s(at, 16 * COPIES as i64);
        let beyond = self.build.ins().icmp(IntCC::UnsignedGreaterThan, next, last);
        let next = self.build.ins().select(beyond, last, next);
        let done = self.build.ins().icmp(IntCC::Equal, at, last);
        self.build.ins().brif(done, exit, &[], body, &[next.into()]);
    }
}
