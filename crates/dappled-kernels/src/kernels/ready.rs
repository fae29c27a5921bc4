//! What there is to know of an operation in a dtype, looked up once for all.

use std::sync::OnceLock;

use super::{Operation, Variant, hardware, kernel};
use crate::{DType, Error, Flags, Op};

/// An operation in a dtype, for the chosen variant.
#[derive(Clone, Copy)]
pub(crate) struct Ready {
    pub kernel: Operation,
    /// Which of the CPU's flags are its own.
    pub hardware: Flags,
    pub arity: u8,
    /// Bytes of an element of each argument and of the result, as powers of two.
    pub args: [u8; 3],
    pub result: u8,
}

type OfDTypes = [OnceLock<Ready>; DType::ALL.len()];
type OfOps = [OfDTypes; Op::PLAIN.len()];

static KNOWN: [OfOps; Variant::ALL.len()] =
    [const { [const { [const { OnceLock::new() }; DType::ALL.len()] }; Op::PLAIN.len()] };
        Variant::ALL.len()];

impl Ready {
    #[inline]
    pub fn find(op: Op, dtype: DType) -> Result<Self, Error> {
        let variant = Variant::chosen();
        let known = KNOWN[variant as usize].get(op.number()).map(|known| &known[dtype as usize]);
        match known.and_then(OnceLock::get) {
            Some(ready) => Ok(*ready),
            None => Self::look_up(op, dtype, variant, known),
        }
    }

    #[cold]
    fn look_up(
        op: Op,
        dtype: DType,
        variant: Variant,
        known: Option<&OnceLock<Self>>,
    ) -> Result<Self, Error> {
        if !op.has_loop(dtype) {
            return Err(Error::NoLoop { op, dtype });
        }
        let ready = Self {
            kernel: kernel(op, dtype, variant),
            hardware: hardware(op, dtype),
            arity: op.arity() as u8,
            args: [0, 1, 2].map(|at| power(op.argument(dtype, at))),
            result: power(op.result(dtype)),
        };
        if let Some(known) = known {
            let _ = known.set(ready);
        }
        Ok(ready)
    }
}

fn power(dtype: DType) -> u8 {
    dtype.itemsize().trailing_zeros() as u8
}
