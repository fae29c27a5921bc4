//! Evaluates a mask to bits: comparisons with a constant by one kernel, other programs tile by
//! tile.

use crate::execute::Interpreter;
use crate::execute::machine::Machine;
use crate::iter::bound_operands::BoundOperands;
use crate::loops::mask::compare::{CompareKernel, compare_kernel};
use crate::loops::mask::compress::pack_bits;
use crate::loops::variant::CpuVariant;
use crate::types::fp_flags::{FpFlags, StepFlags};

/// A program whose first output is a bool.
pub(crate) struct MaskProgram<'a> {
    pub code: &'a Interpreter,
    pub bound: &'a BoundOperands<'a>,
    comparison: Option<MaskComparison<'a>>,
}

/// A comparison of an input with a constant.
struct MaskComparison<'a> {
    kernel: CompareKernel,
    input: usize,
    other: &'a [u8],
}

impl<'a> MaskProgram<'a> {
    pub fn new(code: &'a Interpreter, bound: &'a BoundOperands<'a>) -> Self {
        Self { code, bound, comparison: MaskComparison::new(code) }
    }

    /// Writes the bits of the elements from `start` on, of `length` in all.
    pub fn write(&self, start: usize, length: usize, words: &mut [u64]) -> StepFlags {
        if self.compare(start, length, words).is_some() {
            return StepFlags::default();
        }
        let work = |machine: &mut Machine<'_>| {
            let most = machine.value_tile_elements();
            for (at, words) in words.chunks_mut(most / 64).enumerate() {
                let start = start + at * most;
                let bools = machine.compute(start..length.min(start + most));
                pack_bits(bools, words, CpuVariant::active());
            }
        };
        Machine::run_with(self.code, self.bound, FpFlags::NONE, work).1.steps
    }

    /// Writes the bits with the comparison kernel. Returns `None`, with nothing done, if there is
    /// none.
    fn compare(&self, start: usize, length: usize, words: &mut [u64]) -> Option<()> {
        let MaskComparison { kernel, input, other } = self.comparison.as_ref()?;
        let end = Some(start + 64 * words.len()).filter(|&end| end <= length)?;
        let values = self.bound.contiguous_bytes(*input, start..end)?;
        // SAFETY: a kernel of the active variant, which this CPU supports.
        unsafe { kernel(values, other, words) };
        Some(())
    }
}

impl<'a> MaskComparison<'a> {
    fn new(code: &'a Interpreter) -> Option<Self> {
        let program = &code.program;
        let [step] = &program.steps[..] else { return None };
        let [input, other] = step.args[..] else { return None };
        let kernel = compare_kernel(step.op, step.dtype, CpuVariant::active())?;
        let input = usize::from(input.0);
        let constant = usize::from(other.0).checked_sub(program.inputs.len())?;
        let other = program.constants.get(constant)?.bytes();
        (input < program.inputs.len()).then_some(Self { kernel, input, other })
    }
}
