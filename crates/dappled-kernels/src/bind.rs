//! A program's operands, checked and claimed: what makes it sound to touch their memory.

use std::ops::Range;
use std::slice;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::buffer::{Reading, Writing};
use crate::execute::Interpreter;
use crate::lane::Lane;
use crate::machine::Ahead;
use crate::plan::{Plan, repeated};
use crate::space::Space;
use crate::tiles::Tiles;
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

/// The order in which a run goes over the indices of its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order<'o> {
    /// The order of the first output's memory.
    Output,
    /// C order.
    C,
    /// C order with the axes in this order.
    Axes(&'o [usize]),
}

/// The operands of one run, their memory claimed, and the indices that the run goes over.
///
/// While it lives nobody else writes the inputs or touches the outputs; every track lies inside its
/// buffer; outputs share no byte with themselves or each other, and with an input only if both are
/// the same view. The `unsafe` constructors give up some of this and say what takes its place.
pub(crate) struct Bound<'a> {
    /// The memory of each operand, inputs first.
    bases: Few<*mut u8>,
    inputs: usize,
    /// The indices, with a track for each operand: in step with `bases`, and never replaced.
    space: Space,
    /// Which outputs are also inputs: they are written when a tile has been read.
    pub shared: Few<bool>,
    /// Which of the values count, where that is not all of them.
    chosen: Option<&'a Chosen>,
    /// What writes an input while it is read.
    pub ahead: Option<&'a Ahead<'a>>,
    /// Is no input written? Then a run that is interrupted can be done again.
    pub may_end: bool,
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
        order: Order<'_>,
    ) -> Result<Self, Error> {
        check_fit(program, inputs, outputs)?;
        check_overlaps(inputs, outputs)?;
        Self::unclaimed(inputs, outputs, order)?.claiming(inputs, outputs)
    }

    /// Binds one output that may share memory with inputs.
    ///
    /// # Safety
    /// No element of the output is written before every input element in the same bytes was read
    /// for the last time, nor while another thread may read it.
    pub unsafe fn over(
        program: &Program,
        inputs: &[Operand<'a>],
        output: &Operand<'a>,
    ) -> Result<Self, Error> {
        let outputs = std::slice::from_ref(output);
        check_fit(program, inputs, outputs)?;
        Self::unclaimed(inputs, outputs, Order::Output)?.claiming(inputs, outputs)
    }

    /// Binds inputs, of which those in `written` are written by `ahead` during the run.
    ///
    /// # Safety
    /// `ahead` holds the writer's claim on `written`. Each element of `written` is read only by the
    /// thread that writes it, and after it was written if it is written at all.
    pub unsafe fn after(
        program: &Program,
        inputs: &[Operand<'a>],
        written: &Buffer,
        ahead: &'a Ahead<'a>,
        order: Order<'_>,
    ) -> Result<Self, Error> {
        check_fit(program, inputs, &[])?;
        let others: Few<Operand<'a>> =
            inputs.iter().filter(|input| !input.buffer.is_same(written)).copied().collect();
        let bound =
            Self { ahead: Some(ahead), may_end: false, ..Self::unclaimed(inputs, &[], order)? };
        bound.claiming(&others, &[])
    }

    /// Binds a program that stores its first output there, and claims nothing.
    ///
    /// # Safety
    /// While this is used, others hold readers' claims on the inputs and the writer's claim on the
    /// output's buffer, which has no input in it; each element of the output is touched by one thread.
    pub unsafe fn claimed_by_others(
        program: &Program,
        inputs: &[Operand<'a>],
        output: &Operand<'a>,
    ) -> Result<Self, Error> {
        let outputs = std::slice::from_ref(output);
        check_dtypes("input", &program.inputs, inputs)?;
        let stored = program.outputs.first().and_then(|&reg| program.dtype(reg));
        check_dtypes("output", stored.as_slice(), outputs)?;
        check_shapes(inputs, outputs)?;
        Self::unclaimed(inputs, outputs, Order::Output)
    }

    /// The operands, all of one shape, before any memory is claimed.
    fn unclaimed(
        inputs: &[Operand<'a>],
        outputs: &[Operand<'a>],
        order: Order<'_>,
    ) -> Result<Self, Error> {
        if inputs.is_empty() && outputs.is_empty() {
            return Err(Error::Count { what: "input", expected: 1, found: 0 });
        }
        let views: Few<&View> = inputs.iter().chain(outputs).map(|operand| operand.view).collect();
        let space = match order {
            Order::Output if outputs.is_empty() => Space::in_c_order(&views),
            Order::Output => Space::in_order_of(&views, inputs.len()),
            Order::C => Space::in_c_order(&views),
            Order::Axes(axes) => Space::along_axes(&views, axes),
        };
        let shared = outputs.iter().map(|output| inputs.iter().any(|input| input.is_same(output)));
        let is_apart =
            |output: &Operand<'_>| inputs.iter().all(|input| !input.buffer.is_same(output.buffer));
        Ok(Self {
            bases: inputs.iter().chain(outputs).map(|operand| operand.buffer.as_ptr()).collect(),
            inputs: inputs.len(),
            space,
            shared: shared.collect(),
            chosen: None,
            ahead: None,
            may_end: outputs.iter().all(is_apart),
            plan: OnceLock::new(),
            _reading: Vec::new(),
            _writing: Vec::new(),
        })
    }

    /// Claims the memory of these operands.
    fn claiming(self, inputs: &[Operand<'a>], outputs: &[Operand<'a>]) -> Result<Self, Error> {
        let (_writing, _reading) = claim(inputs, outputs)?;
        Ok(Self { _writing, _reading, ..self })
    }

    /// Restricts the run to the values that a mask chooses; it must have one element for each value.
    pub fn choosing(self, chosen: Option<&'a Chosen>) -> Result<Self, Error> {
        let values = self.space.len();
        match chosen.map(Chosen::length) {
            Some(mask) if mask != values => Err(Error::MaskLength { mask, values }),
            _ => Ok(Self { chosen, ..self }),
        }
    }

    /// Says whether no more than a part of one row is gone over at once.
    pub fn in_rows(mut self, in_rows: bool) -> Self {
        self.space.in_rows = in_rows;
        self
    }

    /// The mask that chooses values, if there is one.
    pub fn chosen(&self) -> Option<&'a Chosen> {
        self.chosen
    }

    /// The indices of the run.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Cuts the indices into tiles of at most `most` elements. No other tiles exist meanwhile.
    pub fn tiles(&mut self, most: usize) -> (&Self, Tiles<'_>) {
        let bound = &*self;
        // SAFETY: `self` is borrowed mutably for as long as the tiles live, so that this is not
        // called again meanwhile.
        (bound, unsafe { Tiles::all(&bound.space, most) })
    }

    /// An operand by its position, the outputs counted after the inputs.
    pub fn input(&self, at: usize) -> Lane<'_> {
        Lane { base: self.bases[at], track: &self.space.tracks[at], space: &self.space }
    }

    /// An output by its position.
    pub fn output(&self, at: usize) -> Lane<'_> {
        self.input(self.inputs + at)
    }

    /// The memory of an input at these indices, where they lie one after the other and nothing is
    /// written.
    pub fn read(&self, input: usize, indices: Range<usize>) -> Option<&[u8]> {
        let (lane, extent) = (self.input(input), self.space.extent(indices));
        let start =
            lane.in_place(&extent).filter(|_| !self.has_outputs() && self.ahead.is_none())?;
        // SAFETY: found contiguous and inside the buffer, which is claimed to be read for as long
        // as this lives.
        Some(unsafe { slice::from_raw_parts(start, extent.len() * lane.track.itemsize) })
    }

    /// How these operands are run: several steps in one loop, or one operation at a time.
    pub fn plan(&self, code: &Interpreter) -> Option<&Plan> {
        let found = || {
            let in_rows = self.space.in_rows || self.has_outputs();
            code.plan(self.space.len(), || repeated(&self.space, self.inputs, in_rows))
        };
        self.plan.get_or_init(found).as_deref()
    }

    /// Is anything stored?
    pub fn has_outputs(&self) -> bool {
        self.bases.len() > self.inputs
    }
}

/// The indices of a run that stores an output, to see how operands lie; None if shapes differ.
pub(crate) fn space_of(inputs: &[Operand<'_>], output: &Operand<'_>) -> Option<Space> {
    check_shapes(inputs, std::slice::from_ref(output)).ok()?;
    let views: Few<&View> = inputs.iter().chain([output]).map(|operand| operand.view).collect();
    Some(Space::in_order_of(&views, inputs.len()))
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
