//! The truths of a mask as bits: a comparison with one value at once, other programs tile by tile.

use crate::bind::Bound;
use crate::kernels::{Bits, Variant, comparison, pack};
use crate::machine::Machine;
use crate::{Flags, Interpreter, Raised};

/// A program whose first output is true or false.
pub(crate) struct Mask<'a> {
    pub code: &'a Interpreter,
    pub bound: &'a Bound<'a>,
    comparison: Option<Comparison<'a>>,
}

/// An input that is compared with one value.
struct Comparison<'a> {
    bits: Bits,
    input: usize,
    other: &'a [u8],
}

impl<'a> Mask<'a> {
    pub fn new(code: &'a Interpreter, bound: &'a Bound<'a>) -> Self {
        Self { code, bound, comparison: Comparison::new(code) }
    }

    /// Writes the bits of the elements from one on, of `length` in all.
    pub fn write(&self, start: usize, length: usize, words: &mut [u64]) -> Raised {
        if self.compare(start, length, words).is_some() {
            return Raised::default();
        }
        let work = |machine: &mut Machine<'_>| {
            let most = machine.most_values();
            for (at, words) in words.chunks_mut(most / 64).enumerate() {
                let start = start + at * most;
                let truths = machine.value(start..length.min(start + most));
                pack(truths, words, Variant::chosen());
            }
        };
        Machine::with(self.code, self.bound, Flags::NONE, work).1.steps
    }

    /// The same by one loop; None, with nothing done, where there is none.
    fn compare(&self, start: usize, length: usize, words: &mut [u64]) -> Option<()> {
        let Comparison { bits, input, other } = self.comparison.as_ref()?;
        let end = Some(start + 64 * words.len()).filter(|&end| end <= length)?;
        let values = self.bound.read(*input, start..end)?;
        // SAFETY: of the chosen variant, which is one that the CPU has.
        unsafe { bits(values, other, words) };
        Some(())
    }
}

impl<'a> Comparison<'a> {
    fn new(code: &'a Interpreter) -> Option<Self> {
        let program = &code.program;
        let [step] = &program.steps[..] else { return None };
        let [input, other] = step.args[..] else { return None };
        let bits = comparison(step.op, step.dtype, Variant::chosen())?;
        let input = usize::from(input.0);
        let constant = usize::from(other.0).checked_sub(program.inputs.len())?;
        let other = program.constants.get(constant)?.bytes();
        (input < program.inputs.len()).then_some(Self { bits, input, other })
    }
}
