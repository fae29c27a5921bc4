//! Translates a program to a Cranelift function: one loop over blocks of elements.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, Function, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use dappled_kernels::{DType, Program, Reg};

use super::emit::VectorEmitter;
use super::lanes::{LaneWidth, VECTORS_PER_BLOCK, flags, load_masks, splat_element, store_masks};

/// The element width of a program, apart from bools.
pub fn element_width(program: &Program) -> LaneWidth {
    let dtypes = (0..program.len()).filter_map(|at| program.dtype(Reg(at as u16)));
    let sizes = dtypes.filter(|&dtype| dtype != DType::Bool).map(DType::itemsize);
    LaneWidth(sizes.max().unwrap_or(4))
}

/// Sets the signature: the addresses of the operands, and the number of elements.
pub fn set_signature(signature: &mut Signature) {
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
}

/// Emits the body of the function.
pub fn translate(
    program: &Program,
    is_broadcast: &[bool],
    function: &mut Function,
    context: &mut FunctionBuilderContext,
    target: TargetFrontendConfig,
) {
    let mut build = FunctionBuilder::new(function, context);
    let (entry, body, exit) = (build.create_block(), build.create_block(), build.create_block());
    build.append_block_params_for_function_params(entry);
    build.append_block_param(body, types::I64);
    build.switch_to_block(entry);
    let width = element_width(program);
    let mut code =
        Translation { program, is_broadcast, width, build, starts: vec![], broadcast: vec![] };
    let last = code.emit_preamble(entry);
    let first = code.build.ins().iconst(types::I64, 0);
    code.build.ins().jump(body, &[first.into()]);
    code.build.switch_to_block(body);
    let at = code.build.block_params(body)[0];
    code.compute_block(at);
    code.repeat_until(last, at, body, exit);
    code.build.switch_to_block(exit);
    code.build.ins().return_(&[]);
    code.build.seal_all_blocks();
    code.build.finalize(target);
}

struct Translation<'a, 'b> {
    program: &'a Program,
    is_broadcast: &'a [bool],
    width: LaneWidth,
    build: FunctionBuilder<'b>,
    /// The address of each operand.
    starts: Vec<Value>,
    /// The broadcast inputs.
    broadcast: Vec<Option<Value>>,
}

impl Translation<'_, '_> {
    /// Emits the code before the loop, and returns the offset of the last block in bytes of wide
    /// elements.
    fn emit_preamble(&mut self, entry: Block) -> Value {
        let (operands, count) =
            (self.build.block_params(entry)[0], self.build.block_params(entry)[1]);
        for at in 0..self.program.inputs.len() + self.program.outputs.len() {
            let start = self.build.ins().load(types::I64, flags(), operands, 8 * at as i32);
            self.starts.push(start);
        }
        for (at, &dtype) in self.program.inputs.iter().enumerate() {
            let start = self.starts[at];
            let value = self.is_broadcast[at]
                .then(|| splat_element(&mut self.build, self.width, dtype, start));
            self.broadcast.push(value);
        }
        let last = self.build.ins().iadd_imm_s(count, -(self.width.block() as i64));
        self.build.ins().imul_imm_s(last, self.width.0 as i64)
    }

    /// Emits the code of a block.
    fn compute_block(&mut self, at: Value) {
        let addresses = self.operand_addresses(at);
        let loaded = self.load_masks(&addresses);
        let mut output_masks: Vec<Vec<Value>> = vec![Vec::new(); self.program.outputs.len()];
        for vector_index in 0..VECTORS_PER_BLOCK {
            let values = self.compute_vector(vector_index, &addresses, &loaded);
            self.store_vector(vector_index, &values, &addresses, &mut output_masks);
        }
        let addresses = &addresses[self.program.inputs.len()..];
        for (masks, &address) in
            output_masks.iter().zip(addresses).filter(|(masks, _)| !masks.is_empty())
        {
            store_masks(&mut self.build, self.width, masks, address);
        }
    }

    /// The address of a block of each operand.
    fn operand_addresses(&mut self, at: Value) -> Vec<Value> {
        let shift = i64::from(self.width.0.trailing_zeros());
        let of_bools = self.build.ins().ushr_imm_u(at, shift);
        let outputs = self.program.outputs.iter().filter_map(|&reg| self.program.dtype(reg));
        let dtypes = self.program.inputs.iter().copied().chain(outputs);
        let address = |(&start, dtype): (&Value, DType)| {
            let offset = if dtype == DType::Bool { of_bools } else { at };
            self.build.ins().iadd(start, offset)
        };
        self.starts.iter().zip(dtypes).map(address).collect()
    }

    /// Loads the bools of a block, input by input.
    fn load_masks(&mut self, addresses: &[Value]) -> Vec<Vec<Value>> {
        let inputs = self.program.inputs.iter().zip(&self.broadcast).zip(addresses);
        let loaded = inputs.map(|((&dtype, broadcast), &address)| match dtype {
            DType::Bool if broadcast.is_none() => load_masks(&mut self.build, self.width, address),
            _ => Vec::new(),
        });
        loaded.collect()
    }

    /// Stores the outputs of one vector of a block; masks are collected.
    fn store_vector(
        &mut self,
        vector_index: usize,
        values: &[Value],
        addresses: &[Value],
        output_masks: &mut [Vec<Value>],
    ) {
        let addresses = &addresses[self.program.inputs.len()..];
        for ((&reg, &address), masks) in
            self.program.outputs.iter().zip(addresses).zip(output_masks)
        {
            let value = values[usize::from(reg.0)];
            match self.program.dtype(reg) {
                Some(DType::Bool) => masks.push(value),
                _ => {
                    self.build.ins().store(flags(), value, address, 16 * vector_index as i32);
                }
            }
        }
    }

    /// Computes all registers for one vector of a block.
    fn compute_vector(
        &mut self,
        vector_index: usize,
        addresses: &[Value],
        loaded: &[Vec<Value>],
    ) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::with_capacity(self.program.len());
        for (at, &dtype) in self.program.inputs.iter().enumerate() {
            let vector = self.width.vector(dtype);
            let value = match (self.broadcast[at], loaded[at].get(vector_index)) {
                (Some(value), _) | (None, Some(&value)) => value,
                _ => {
                    self.build.ins().load(vector, flags(), addresses[at], 16 * vector_index as i32)
                }
            };
            values.push(value);
        }
        for step in &self.program.steps {
            let args: Vec<Value> = step.args.iter().map(|arg| values[usize::from(arg.0)]).collect();
            let value =
                VectorEmitter { build: &mut self.build, width: self.width }.step(step, &args);
            values.push(value);
        }
        values
    }

    /// Emits the jump to the next block; the last block overlaps the one before.
    fn repeat_until(&mut self, last: Value, at: Value, body: Block, exit: Block) {
        let next = self.build.ins().iadd_imm_s(at, 16 * VECTORS_PER_BLOCK as i64);
        let beyond = self.build.ins().icmp(IntCC::UnsignedGreaterThan, next, last);
        let next = self.build.ins().select(beyond, last, next);
        let done = self.build.ins().icmp(IntCC::Equal, at, last);
        self.build.ins().brif(done, exit, &[], body, &[next.into()]);
    }
}
