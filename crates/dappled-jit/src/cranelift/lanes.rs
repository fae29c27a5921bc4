//! Vectors of 16 bytes, four of which form a block.
//!
//! Bools are masks as wide as the other elements of the loop, with all bits set or none.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData as MemFlags, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use dappled_kernels::DType;

/// The number of vectors of a block.
pub const VECTORS_PER_BLOCK: usize = 4;

/// The number of bytes of a loop's elements other than bools: 4 or 8.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LaneWidth(pub usize);

impl LaneWidth {
    /// The number of elements of a vector.
    pub fn lanes(self) -> usize {
        16 / self.0
    }

    /// The number of elements of a block.
    pub fn block(self) -> usize {
        VECTORS_PER_BLOCK * self.lanes()
    }

    /// The vector type of masks.
    pub fn mask(self) -> Type {
        if self.0 == 4 { types::I32X4 } else { types::I64X2 }
    }

    /// The vector type of a dtype's elements in a loop.
    pub fn vector(self, dtype: DType) -> Type {
        match dtype {
            DType::Float32 => types::F32X4,
            DType::Float64 => types::F64X2,
            _ => self.mask(),
        }
    }
}

/// Memory access that does not trap and needs no alignment.
pub fn flags() -> MemFlags {
    MemFlags::new().with_notrap()
}

/// Reinterprets a vector as another vector type.
pub fn cast_bits(build: &mut FunctionBuilder<'_>, value: Value, to: Type) -> Value {
    if build.func.dfg.value_type(value) == to {
        return value;
    }
    let flags = MemFlags::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
    build.ins().bitcast(to, flags, value)
}

/// Broadcasts one element.
pub fn splat_element(
    build: &mut FunctionBuilder<'_>,
    width: LaneWidth,
    dtype: DType,
    start: Value,
) -> Value {
    let vector = width.vector(dtype);
    if dtype != DType::Bool {
        let element = build.ins().load(vector.lane_type(), flags(), start, 0);
        return build.ins().splat(vector, element);
    }
    let byte = build.ins().load(types::I8, flags(), start, 0);
    let truth = build.ins().icmp_imm_u(IntCC::NotEqual, byte, 0);
    let wide = build.ins().uextend(vector.lane_type(), truth);
    let mask = build.ins().ineg(wide);
    build.ins().splat(vector, mask)
}

/// Loads a block of bools as masks.
pub fn load_masks(build: &mut FunctionBuilder<'_>, width: LaneWidth, start: Value) -> Vec<Value> {
    let bytes = match width.0 {
        4 => build.ins().load(types::I8X16, flags(), start, 0),
        _ => {
            let word = build.ins().load(types::I64, flags(), start, 0);
            let word = build.ins().scalar_to_vector(types::I64X2, word);
            cast_bits(build, word, types::I8X16)
        }
    };
    let zero = build.ins().iconst(types::I8, 0);
    let zero = build.ins().splat(types::I8X16, zero);
    let mask = build.ins().icmp(IntCC::NotEqual, bytes, zero);
    let mut masks = if width.0 == 4 { vec![mask] } else { vec![build.ins().swiden_low(mask)] };
    while masks.len() < VECTORS_PER_BLOCK {
        masks = widen_masks(build, &masks);
    }
    masks
}

/// Widens each vector of masks to two of twice the width.
fn widen_masks(build: &mut FunctionBuilder<'_>, masks: &[Value]) -> Vec<Value> {
    let halves = masks
        .iter()
        .flat_map(|&mask| [build.ins().swiden_low(mask), build.ins().swiden_high(mask)]);
    halves.collect()
}

/// Stores a block of masks as bools.
pub fn store_masks(
    build: &mut FunctionBuilder<'_>,
    width: LaneWidth,
    masks: &[Value],
    start: Value,
) {
    let masks: Vec<Value> = match width.0 {
        4 => masks.to_vec(),
        _ => masks.chunks(2).map(|pair| narrow_pair(build, pair)).collect(),
    };
    let mut words = masks.chunks(2).map(|pair| build.ins().snarrow(pair[0], pair[1]));
    let first = words.next().expect("a block");
    let second = words.next().unwrap_or(first);
    drop(words);
    let bytes = build.ins().snarrow(first, second);
    let one = build.ins().iconst(types::I8, 1);
    let one = build.ins().splat(types::I8X16, one);
    let bools = build.ins().band(bytes, one);
    if width.0 == 4 {
        build.ins().store(flags(), bools, start, 0);
    } else {
        let words = cast_bits(build, bools, types::I64X2);
        let word = build.ins().extractlane(words, 0);
        build.ins().store(flags(), word, start, 0);
    }
}

/// The lower half of each lane of two vectors of two lanes.
fn narrow_pair(build: &mut FunctionBuilder<'_>, pair: &[Value]) -> Value {
    let order = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
    let order = build.func.dfg.immediates.push(order.as_slice().into());
    let (low, high) =
        (cast_bits(build, pair[0], types::I8X16), cast_bits(build, pair[1], types::I8X16));
    let bytes = build.ins().shuffle(low, high, order);
    cast_bits(build, bytes, types::I32X4)
}
