//! The operands of a run: checked against the program, their memory claimed.

use std::ops::Range;
use std::slice;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use super::iteration_space::IterationSpace;
use super::strided_operand::StridedOperand;
use super::tiles::TileIter;
use crate::error::Error;
use crate::execute::Interpreter;
use crate::execute::fused_write::FusedWrite;
use crate::jit::schedule::{TileSchedule, broadcast_inputs};
use crate::mask::selection::ElementSelection;
use crate::memory::buffer::Buffer;
use crate::memory::buffer::{ReadGuard, WriteGuard};
use crate::memory::overlap::{is_injective, may_overlap};
use crate::memory::view::View;
use crate::program::Program;
use crate::types::dtype::DType;

/// An array as the kernels see it: a view that is inside its buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferView<'a> {
    buffer: &'a Buffer,
    view: &'a View,
}

impl<'a> BufferView<'a> {
    /// Pairs a view with its buffer, after checking its bounds.
    pub fn new(buffer: &'a Buffer, view: &'a View) -> Result<Self, Error> {
        view.check_bounds(buffer.len())?;
        Ok(Self { buffer, view })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// True if the view has no element.
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    pub(crate) fn buffer(&self) -> &'a Buffer {
        self.buffer
    }

    pub(crate) fn view(&self) -> &'a View {
        self.view
    }

    /// True if the elements have this dtype, are contiguous in C order, and aligned.
    pub(crate) fn is_contiguous_of(&self, dtype: DType) -> bool {
        let start = self.buffer.as_ptr().addr() + self.view.offset;
        self.view.dtype == dtype
            && self.view.is_contiguous()
            && start.is_multiple_of(dtype.itemsize())
    }

    /// The byte range of the elements, if they are contiguous.
    pub(crate) fn bytes(&self) -> Range<usize> {
        let start = self.view.offset;
        start..start + self.view.len() * self.view.dtype.itemsize()
    }

    fn is_same(&self, other: &BufferView<'_>) -> bool {
        self.buffer.is_same(other.buffer) && self.view.is_same(other.view)
    }

    fn may_overlap(&self, other: &BufferView<'_>) -> bool {
        self.buffer.is_same(other.buffer) && may_overlap(self.view, other.view)
    }
}

/// One entry per operand or constant; up to eight are stored inline.
pub(crate) type PerOperand<T> = SmallVec<[T; 8]>;

/// The order in which a run traverses the indices of its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IterationOrder<'o> {
    /// The memory order of the first output.
    Output,
    /// C order.
    C,
    /// C order after permuting the axes.
    Axes(&'o [usize]),
}

/// The operands of one run, with claims on their memory and the index space of the run.
///
/// While the value exists, no other thread writes the inputs or accesses the outputs; every layout
/// is inside its buffer; outputs share no byte with themselves or each other, and with an input
/// only if both are the same view. The `unsafe` constructors weaken these guarantees and state what
/// replaces them.
pub(crate) struct BoundOperands<'a> {
    /// The start of each operand's buffer, inputs first.
    bases: PerOperand<*mut u8>,
    inputs: usize,
    /// The indices, with one layout per operand in the order of `bases`. Never replaced.
    space: IterationSpace,
    /// Which outputs are also inputs; these are stored after the whole tile is read.
    pub aliases_input: PerOperand<bool>,
    /// The values that take part, if not all do.
    selection: Option<&'a ElementSelection>,
    /// The write that updates an input just before it is read.
    pub writer: Option<&'a FusedWrite<'a>>,
    /// True if no input is written, so that an interrupted run can be repeated.
    pub is_interruptible: bool,
    /// The schedule of the run, determined when it starts.
    schedule: OnceLock<Option<Arc<TileSchedule>>>,
    _read_guards: Vec<ReadGuard<'a>>,
    _write_guards: Vec<WriteGuard<'a>>,
}

// SAFETY: the pointers are into memory that is claimed while this value exists; tiles govern the
// threads' accesses.
unsafe impl Send for BoundOperands<'_> {}
// SAFETY: as above.
unsafe impl Sync for BoundOperands<'_> {}

impl<'a> BoundOperands<'a> {
    /// Checks the operands against the program and claims their memory.
    pub fn new(
        program: &Program,
        inputs: &[BufferView<'a>],
        outputs: &[BufferView<'a>],
        order: IterationOrder<'_>,
    ) -> Result<Self, Error> {
        check_operands(program, inputs, outputs)?;
        check_overlaps(inputs, outputs)?;
        Self::without_claims(inputs, outputs, order)?.with_claims(inputs, outputs)
    }

    /// Binds one output that may share memory with inputs.
    ///
    /// # Safety
    /// No element of the output may be written before every input element in the same bytes was
    /// read for the last time, nor while another thread may read it.
    pub unsafe fn overlapping(
        program: &Program,
        inputs: &[BufferView<'a>],
        output: &BufferView<'a>,
    ) -> Result<Self, Error> {
        let outputs = std::slice::from_ref(output);
        check_operands(program, inputs, outputs)?;
        Self::without_claims(inputs, outputs, IterationOrder::Output)?.with_claims(inputs, outputs)
    }

    /// Binds inputs, of which those in the buffer `written` are updated by `writer` during the run.
    ///
    /// # Safety
    /// `writer` must hold the write claim on `written`. Each element of `written` must be read only
    /// by the thread that writes it, and after the write if there is one.
    pub unsafe fn with_writer(
        program: &Program,
        inputs: &[BufferView<'a>],
        written: &Buffer,
        writer: &'a FusedWrite<'a>,
        order: IterationOrder<'_>,
    ) -> Result<Self, Error> {
        check_operands(program, inputs, &[])?;
        let others: PerOperand<BufferView<'a>> =
            inputs.iter().filter(|input| !input.buffer.is_same(written)).copied().collect();
        let bound = Self {
            writer: Some(writer),
            is_interruptible: false,
            ..Self::without_claims(inputs, &[], order)?
        };
        bound.with_claims(&others, &[])
    }

    /// Binds a program that stores its first output, without claiming any memory.
    ///
    /// # Safety
    /// While the value is used, other guards must hold read claims on the inputs and the write
    /// claim on the output's buffer, which must contain no input; each element of the output may be
    /// accessed by one thread only.
    pub unsafe fn claimed_elsewhere(
        program: &Program,
        inputs: &[BufferView<'a>],
        output: &BufferView<'a>,
    ) -> Result<Self, Error> {
        let outputs = std::slice::from_ref(output);
        check_dtypes("input", &program.inputs, inputs)?;
        let stored = program.outputs.first().and_then(|&reg| program.dtype(reg));
        check_dtypes("output", stored.as_slice(), outputs)?;
        check_shapes(inputs, outputs)?;
        Self::without_claims(inputs, outputs, IterationOrder::Output)
    }

    /// The operands, checked to have one shape, without claims.
    fn without_claims(
        inputs: &[BufferView<'a>],
        outputs: &[BufferView<'a>],
        order: IterationOrder<'_>,
    ) -> Result<Self, Error> {
        if inputs.is_empty() && outputs.is_empty() {
            return Err(Error::OperandCount { what: "input", expected: 1, found: 0 });
        }
        let views: PerOperand<&View> =
            inputs.iter().chain(outputs).map(|operand| operand.view).collect();
        let space = match order {
            IterationOrder::Output if outputs.is_empty() => IterationSpace::in_c_order(&views),
            IterationOrder::Output => IterationSpace::in_memory_order_of(&views, inputs.len()),
            IterationOrder::C => IterationSpace::in_c_order(&views),
            IterationOrder::Axes(axes) => IterationSpace::with_axis_order(&views, axes),
        };
        let aliases_input =
            outputs.iter().map(|output| inputs.iter().any(|input| input.is_same(output)));
        let is_disjoint = |output: &BufferView<'_>| {
            inputs.iter().all(|input| !input.buffer.is_same(output.buffer))
        };
        Ok(Self {
            bases: inputs.iter().chain(outputs).map(|operand| operand.buffer.as_ptr()).collect(),
            inputs: inputs.len(),
            space,
            aliases_input: aliases_input.collect(),
            selection: None,
            writer: None,
            is_interruptible: outputs.iter().all(is_disjoint),
            schedule: OnceLock::new(),
            _read_guards: Vec::new(),
            _write_guards: Vec::new(),
        })
    }

    /// Adds claims on the memory of these operands.
    fn with_claims(
        self,
        inputs: &[BufferView<'a>],
        outputs: &[BufferView<'a>],
    ) -> Result<Self, Error> {
        let (_write_guards, _read_guards) = claim(inputs, outputs)?;
        Ok(Self { _write_guards, _read_guards, ..self })
    }

    /// Restricts the run to selected values; the mask must have one element per value.
    pub fn with_selection(self, selection: Option<&'a ElementSelection>) -> Result<Self, Error> {
        let values = self.space.len();
        match selection.map(ElementSelection::length) {
            Some(mask) if mask != values => Err(Error::MaskLength { mask, values }),
            _ => Ok(Self { selection, ..self }),
        }
    }

    /// Sets whether tiles stay within one row.
    pub fn within_rows(mut self, within_rows: bool) -> Self {
        self.space.within_rows = within_rows;
        self
    }

    /// The selection of values, if there is one.
    pub fn selection(&self) -> Option<&'a ElementSelection> {
        self.selection
    }

    /// The index space of the run.
    pub fn space(&self) -> &IterationSpace {
        &self.space
    }

    /// Splits the indices into tiles of at most `most` elements. No other tiles exist meanwhile.
    pub fn tiles(&mut self, most: usize) -> (&Self, TileIter<'_>) {
        let bound = &*self;
        // SAFETY: `self` is borrowed mutably while the tiles exist, so this method cannot be called
        // again.
        (bound, unsafe { TileIter::new(&bound.space, most) })
    }

    /// The operand at a position; outputs count after the inputs.
    pub fn input(&self, at: usize) -> StridedOperand<'_> {
        StridedOperand { base: self.bases[at], layout: &self.space.layouts[at], space: &self.space }
    }

    /// The output at a position.
    pub fn output(&self, at: usize) -> StridedOperand<'_> {
        self.input(self.inputs + at)
    }

    /// The memory of an input at these indices, if it is contiguous and the run writes nothing.
    pub fn contiguous_bytes(&self, input: usize, indices: Range<usize>) -> Option<&[u8]> {
        let (operand, extent) = (self.input(input), self.space.extent(indices));
        let start = operand
            .contiguous_start(&extent)
            .filter(|_| !self.has_outputs() && self.writer.is_none())?;
        // SAFETY: contiguous and inside the buffer, which stays claimed for reading while this
        // value exists.
        Some(unsafe { slice::from_raw_parts(start, extent.len() * operand.layout.itemsize) })
    }

    /// The schedule for these operands; `None` to run one operation at a time.
    pub fn schedule(&self, code: &Interpreter) -> Option<&TileSchedule> {
        let compute = || {
            let within_rows = self.space.within_rows || self.has_outputs();
            code.schedule(self.space.len(), || {
                broadcast_inputs(&self.space, self.inputs, within_rows)
            })
        };
        self.schedule.get_or_init(compute).as_deref()
    }

    /// True if the run stores an output.
    pub fn has_outputs(&self) -> bool {
        self.bases.len() > self.inputs
    }
}

/// The index space of a run with one output; `None` if shapes differ.
pub(crate) fn iteration_space(
    inputs: &[BufferView<'_>],
    output: &BufferView<'_>,
) -> Option<IterationSpace> {
    check_shapes(inputs, std::slice::from_ref(output)).ok()?;
    let views: PerOperand<&View> =
        inputs.iter().chain([output]).map(|operand| operand.view).collect();
    Some(IterationSpace::in_memory_order_of(&views, inputs.len()))
}

/// Checks the number, dtypes and shapes of operands against a program.
fn check_operands(
    program: &Program,
    inputs: &[BufferView<'_>],
    outputs: &[BufferView<'_>],
) -> Result<(), Error> {
    check_dtypes("input", &program.inputs, inputs)?;
    let stored: PerOperand<DType> =
        program.outputs.iter().filter_map(|&reg| program.dtype(reg)).collect();
    if !outputs.is_empty() {
        check_dtypes("output", &stored, outputs)?;
    }
    check_shapes(inputs, outputs)
}

fn check_dtypes(
    what: &'static str,
    dtypes: &[DType],
    operands: &[BufferView<'_>],
) -> Result<(), Error> {
    if dtypes.len() != operands.len() {
        return Err(Error::OperandCount { what, expected: dtypes.len(), found: operands.len() });
    }
    for (at, (&expected, operand)) in dtypes.iter().zip(operands).enumerate() {
        let found = operand.view.dtype;
        if found != expected {
            return Err(Error::DTypeMismatch { place: format!("{what} {at}"), expected, found });
        }
    }
    Ok(())
}

fn check_shapes(inputs: &[BufferView<'_>], outputs: &[BufferView<'_>]) -> Result<(), Error> {
    let mut shapes = outputs.iter().chain(inputs).map(|operand| &operand.view.shape);
    let Some(expected) = shapes.next() else { return Ok(()) };
    match shapes.find(|&shape| shape != expected) {
        Some(found) => {
            Err(Error::ShapeMismatch { expected: expected.to_vec(), found: found.to_vec() })
        }
        None => Ok(()),
    }
}

fn check_overlaps(inputs: &[BufferView<'_>], outputs: &[BufferView<'_>]) -> Result<(), Error> {
    for (output, target) in outputs.iter().enumerate() {
        let next = outputs[output + 1..].iter().position(|other| target.may_overlap(other));
        let read = |input: &BufferView<'_>| !target.is_same(input) && target.may_overlap(input);
        let with = match (next, inputs.iter().position(read)) {
            _ if !is_injective(target.view) => "itself".to_string(),
            (Some(after), _) => format!("output {}", output + 1 + after),
            (None, Some(input)) => format!("input {input}"),
            (None, None) => continue,
        };
        return Err(Error::Overlap { output, with });
    }
    Ok(())
}

type Claims<'a> = (Vec<WriteGuard<'a>>, Vec<ReadGuard<'a>>);

/// Claims each buffer once: for writing if any operand writes it, else for reading.
fn claim<'a>(inputs: &[BufferView<'a>], outputs: &[BufferView<'a>]) -> Result<Claims<'a>, Error> {
    let mut written: PerOperand<&'a Buffer> = PerOperand::new();
    for output in outputs {
        if !written.iter().any(|buffer| buffer.is_same(output.buffer)) {
            written.push(output.buffer);
        }
    }
    let only_read =
        inputs.iter().filter(|input| !written.iter().any(|buffer| buffer.is_same(input.buffer)));
    let writing = written.iter().map(|buffer| buffer.write()).collect::<Result<_, _>>()?;
    let reading = only_read.map(|input| input.buffer.read()).collect::<Result<_, _>>()?;
    Ok((writing, reading))
}
