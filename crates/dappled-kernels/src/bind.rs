//! A program's operands, checked and claimed: what makes it sound to touch their memory.

use std::ops::Range;
use std::slice;
use std::sync::{Arc, OnceLock};

use smallvec::{SmallVec, smallvec};

use crate::buffer::{Reading, Writing};
use crate::execute::Interpreter;
use crate::lane::Lane;
use crate::machine::Ahead;
use crate::plan::{Plan, repeated};
use crate::space::Space;
use crate::{Buffer, Chosen, DType, Error, Program, View, is_injective, may_overlap};

/// An array as a kernel sees it: a view of a buffer, inside which it lies.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    buffer: &'a Buffer,
    view: &'a View,
}

impl<'a> Operand<'a> {
    /// This view of this buffer.
    pub fn new(buffer: &'a Buffer, view: &'a View) -> Result<Self, Error> {
        view.check(buffer.len())?;
        Ok(Self { buffer, view })
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// Is there no element?
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    pub(crate) fn buffer(&self) -> &'a Buffer {
        self.buffer
    }

    pub(crate) fn view(&self) -> &'a View {
        self.view
    }

    /// Are they of this dtype, one element after the other and aligned?
    pub(crate) fn is_in_order(&self, dtype: DType) -> bool {
        let start = self.buffer.as_ptr().addr() + self.view.offset;
        self.view.dtype == dtype
            && self.view.is_contiguous()
            && start.is_multiple_of(dtype.itemsize())
    }

    /// Which bytes those are that lie so.
    pub(crate) fn bytes(&self) -> Range<usize> {
        let start = self.view.offset;
        start..start + self.view.len() * self.view.dtype.itemsize()
    }

    fn is_same(&self, other: &Operand<'_>) -> bool {
        self.buffer.is_same(other.buffer) && self.view.is_same(other.view)
    }

    fn may_overlap(&self, other: &Operand<'_>) -> bool {
        self.buffer.is_same(other.buffer) && may_overlap(self.view, other.view)
    }
}

/// One for each operand, or for each constant: seldom more need memory of their own.
pub(crate) type Few<T> = SmallVec<[T; 8]>;

/// The operands of one run. While it lives nobody else writes the inputs or touches the outputs;
/// every track lies inside its buffer; outputs share no byte with themselves or each other, and
/// with an input only if both are the same view.
pub(crate) struct Bound<'a> {
    /// The memory of each operand, inputs first.
    bases: Few<*mut u8>,
    inputs: usize,
    /// Which outputs are also inputs: they are written when a tile has been read.
    pub shared: Few<bool>,
    /// Which of the values count, where that is not all of them.
    pub chosen: Option<&'a Chosen>,
    /// What writes an input while it is read.
    pub ahead: Option<&'a Ahead<'a>>,
    /// How the run is done, found out when it starts.
    plan: OnceLock<Option<Arc<Plan>>>,
    _reading: Vec<Reading<'a>>,
    _writing: Vec<Writing<'a>>,
}

// SAFETY: the pointers are into memory that is claimed for as long as this lives; what threads
// do with them is guarded by the tiles that they hold.
unsafe impl Send for Bound<'_> {}
// SAFETY: as above.
unsafe impl Sync for Bound<'_> {}

impl<'a> Bound<'a> {
    /// Checks the operands against the program, and claims their memory.
    pub fn new(
        program: &Program,
        inputs: &[Operand<'a>],
        outputs: &[Operand<'a>],
    ) -> Result<Self, Error> {
        check_fit(program, inputs, outputs)?;
        check_overlaps(inputs, outputs)?;
        Self::claimed(inputs, outputs)
    }

    /// The same with one output, which may share memory with inputs: whoever runs it sees to it
    /// that nothing is written before it was read for the last time.
    pub fn over(
        program: &Program,
        inputs: &[Operand<'a>],
        output: &Operand<'a>,
    ) -> Result<Self, Error> {
        check_fit(program, inputs, std::slice::from_ref(output))?;
        Self::claimed(inputs, std::slice::from_ref(output))
    }

    /// The same without outputs, where inputs in this buffer are written, by who holds it, each
    /// element before it is read.
    pub fn after(
        program: &Program,
        inputs: &[Operand<'a>],
        written: &Buffer,
        ahead: &'a Ahead<'a>,
    ) -> Result<Self, Error> {
        check_fit(program, inputs, &[])?;
        let others: Few<Operand<'a>> =
            inputs.iter().filter(|input| !input.buffer.is_same(written)).copied().collect();
        let (_writing, _reading) = claim(&others, &[])?;
        let bases = inputs.iter().map(|operand| operand.buffer.as_ptr()).collect();
        let (inputs, shared, plan) = (inputs.len(), Few::new(), OnceLock::new());
        let (chosen, ahead) = (None, Some(ahead));
        Ok(Self { bases, inputs, shared, chosen, ahead, plan, _reading, _writing })
    }

    /// The same for a program that stores its first output there, all memory being claimed by others
    /// that live as long as this does.
    pub fn claimed_by_others(
        program: &Program,
        inputs: &[Operand<'a>],
        output: &Operand<'a>,
    ) -> Result<Self, Error> {
        check_dtypes("input", &program.inputs, inputs)?;
        let stored = program.outputs.first().and_then(|&reg| program.dtype(reg));
        check_dtypes("output", stored.as_slice(), std::slice::from_ref(output))?;
        check_shapes(inputs, std::slice::from_ref(output))?;
        let bases = inputs.iter().chain([output]).map(|operand| operand.buffer.as_ptr()).collect();
        let (inputs, shared, plan) = (inputs.len(), smallvec![false], OnceLock::new());
        let (_reading, _writing) = (Vec::new(), Vec::new());
        Ok(Self { bases, inputs, shared, chosen: None, ahead: None, plan, _reading, _writing })
    }

    fn claimed(inputs: &[Operand<'a>], outputs: &[Operand<'a>]) -> Result<Self, Error> {
        let (writing, reading) = claim(inputs, outputs)?;
        let shared = outputs.iter().map(|output| inputs.iter().any(|input| input.is_same(output)));
        Ok(Self {
            bases: inputs.iter().chain(outputs).map(|operand| operand.buffer.as_ptr()).collect(),
            inputs: inputs.len(),
            shared: shared.collect(),
            chosen: None,
            ahead: None,
            plan: OnceLock::new(),
            _reading: reading,
            _writing: writing,
        })
    }

    /// The same, where only these values count.
    pub fn choosing(self, chosen: Option<&'a Chosen>) -> Self {
        Self { chosen, ..self }
    }

    /// The indices of a run that stores outputs: in the order of the first output's memory.
    pub fn space(inputs: &[Operand<'_>], outputs: &[Operand<'_>]) -> Space {
        let views: Few<&View> = inputs.iter().chain(outputs).map(|operand| operand.view).collect();
        Space::in_order_of(&views, inputs.len())
    }

    /// The indices of a run that stores nothing: in C order of these axes.
    pub fn space_along(inputs: &[Operand<'_>], axes: &[usize]) -> Space {
        let views: Vec<&View> = inputs.iter().map(|operand| operand.view).collect();
        Space::along_axes(&views, axes)
    }

    /// The indices of a run that stores nothing: in C order.
    pub fn c_space(inputs: &[Operand<'_>]) -> Space {
        let views: Vec<&View> = inputs.iter().map(|operand| operand.view).collect();
        Space::in_c_order(&views)
    }

    /// An operand by its position, the outputs counted after the inputs.
    pub fn input<'s>(&self, space: &'s Space, at: usize) -> Lane<'s> {
        Lane { base: self.bases[at], track: &space.tracks[at], space }
    }

    /// The memory of an input at these indices, where they lie one after the other and nothing is
    /// written.
    pub fn read(&self, space: &Space, input: usize, indices: Range<usize>) -> Option<&[u8]> {
        let (lane, extent) = (self.input(space, input), space.extent(indices));
        let start =
            lane.in_place(&extent).filter(|_| !self.has_outputs() && self.ahead.is_none())?;
        // SAFETY: found contiguous and inside the buffer, which is claimed to be read for as long
        // as this lives.
        Some(unsafe { slice::from_raw_parts(start, extent.len() * lane.track.itemsize) })
    }

    /// How these operands are run: several steps in one loop, or one operation at a time.
    pub fn plan(&self, code: &Interpreter, space: &Space) -> Option<&Plan> {
        let found = || {
            let in_rows = space.in_rows || self.has_outputs();
            code.plan(space.len(), || repeated(space, self.inputs, in_rows))
        };
        self.plan.get_or_init(found).as_deref()
    }

    /// Is anything stored?
    pub fn has_outputs(&self) -> bool {
        self.bases.len() > self.inputs
    }

    pub fn output<'s>(&self, space: &'s Space, at: usize) -> Lane<'s> {
        self.input(space, self.inputs + at)
    }
}

/// Do operands have the dtypes and the shape of a program?
fn check_fit(
    program: &Program,
    inputs: &[Operand<'_>],
    outputs: &[Operand<'_>],
) -> Result<(), Error> {
    check_dtypes("input", &program.inputs, inputs)?;
    let stored: Few<DType> = program.outputs.iter().filter_map(|&reg| program.dtype(reg)).collect();
    if !outputs.is_empty() {
        check_dtypes("output", &stored, outputs)?;
    }
    check_shapes(inputs, outputs)
}

fn check_dtypes(
    what: &'static str,
    dtypes: &[DType],
    operands: &[Operand<'_>],
) -> Result<(), Error> {
    if dtypes.len() != operands.len() {
        return Err(Error::Count { what, expected: dtypes.len(), found: operands.len() });
    }
    for (at, (&expected, operand)) in dtypes.iter().zip(operands).enumerate() {
        let found = operand.view.dtype;
        if found != expected {
            return Err(Error::DTypeMismatch { place: format!("{what} {at}"), expected, found });
        }
    }
    Ok(())
}

fn check_shapes(inputs: &[Operand<'_>], outputs: &[Operand<'_>]) -> Result<(), Error> {
    let mut shapes = outputs.iter().chain(inputs).map(|operand| &operand.view.shape);
    let Some(expected) = shapes.next() else { return Ok(()) };
    match shapes.find(|&shape| shape != expected) {
        Some(found) => Err(Error::Shape { expected: expected.to_vec(), found: found.to_vec() }),
        None => Ok(()),
    }
}

fn check_overlaps(inputs: &[Operand<'_>], outputs: &[Operand<'_>]) -> Result<(), Error> {
    for (output, target) in outputs.iter().enumerate() {
        let later = outputs[output + 1..].iter().position(|other| target.may_overlap(other));
        let read = |input: &Operand<'_>| !target.is_same(input) && target.may_overlap(input);
        let with = match (later, inputs.iter().position(read)) {
            _ if !is_injective(target.view) => "itself".to_string(),
            (Some(after), _) => format!("output {}", output + 1 + after),
            (None, Some(input)) => format!("input {input}"),
            (None, None) => continue,
        };
        return Err(Error::Overlap { output, with });
    }
    Ok(())
}

type Claims<'a> = (Vec<Writing<'a>>, Vec<Reading<'a>>);

/// Claims each buffer once: to write if any operand writes it.
fn claim<'a>(inputs: &[Operand<'a>], outputs: &[Operand<'a>]) -> Result<Claims<'a>, Error> {
    let mut written: Few<&'a Buffer> = Few::new();
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
