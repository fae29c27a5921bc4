//! The kernel and properties of each operation and dtype, looked up once.

use std::sync::OnceLock;

use super::elementwise::ElementwiseKernel;
use super::fp::exceptions::cpu_flags;
use super::kernel;
use super::variant::CpuVariant;
use crate::error::Error;
use crate::types::dtype::DType;
use crate::types::fp_flags::FpFlags;
use crate::types::op::table::Op;

/// The kernel of an operation in a dtype, for the active CPU variant.
#[derive(Clone, Copy)]
pub(crate) struct KernelInfo {
    pub kernel: ElementwiseKernel,
    /// Which flags of the CPU belong to the operation.
    pub cpu_flags: FpFlags,
    pub arity: u8,
    /// The base-2 logarithms of the itemsizes of the arguments.
    pub args: [u8; 3],
    pub result: u8,
}

type KernelsByDType = [OnceLock<KernelInfo>; DType::ALL.len()];
type KernelsByOp = [KernelsByDType; Op::ALL_BUT_CAST.len()];

static KERNELS: [KernelsByOp; CpuVariant::ALL.len()] =
    [const { [const { [const { OnceLock::new() }; DType::ALL.len()] }; Op::ALL_BUT_CAST.len()] };
        CpuVariant::ALL.len()];

impl KernelInfo {
    #[inline]
    pub fn find(op: Op, dtype: DType) -> Result<Self, Error> {
        let variant = CpuVariant::active();
        let slot = KERNELS[variant as usize].get(op.index()).map(|slot| &slot[dtype as usize]);
        match slot.and_then(OnceLock::get) {
            Some(info) => Ok(*info),
            None => Self::look_up(op, dtype, variant, slot),
        }
    }

    #[cold]
    fn look_up(
        op: Op,
        dtype: DType,
        variant: CpuVariant,
        slot: Option<&OnceLock<Self>>,
    ) -> Result<Self, Error> {
        if !op.has_loop(dtype) {
            return Err(Error::NoLoop { op, dtype });
        }
        let info = Self {
            kernel: kernel(op, dtype, variant),
            cpu_flags: cpu_flags(op, dtype),
            arity: op.arity() as u8,
            args: [0, 1, 2].map(|at| log2_itemsize(op.argument(dtype, at))),
            result: log2_itemsize(op.result(dtype)),
        };
        if let Some(slot) = slot {
            let _ = slot.set(info);
        }
        Ok(info)
    }
}

fn log2_itemsize(dtype: DType) -> u8 {
    dtype.itemsize().trailing_zeros() as u8
}
