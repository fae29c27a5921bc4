//! Reductions: the pending operations below them are folded in, so that memory is read once.

use dappled_fabric::Tag;
use dappled_kernels::{
    Axes, Bool, Buffer, DType, Fold, Folded, Op, Operand as Memory, Raised, Reduction, Scalar,
    View, reduce,
};

use super::evaluate::{buffers, gathered, operands};
use super::fuse::{Fused, fused};
use super::layout::Layout;
use super::node::{Arg, Node};
use super::patch::Along;
use super::tag::{Aspect, Fingerprint, said};
use super::{Array, GraphError, Session, chosen_fold, spread_fold};
use crate::run::RunError;
use crate::view::{memory_order, moved};

/// A reduction as NumPy's `ufunc.reduce` is asked for one.
#[derive(Clone, Debug)]
pub struct Folding {
    /// The operation.
    pub fold: Fold,
    /// The axes that go away.
    pub axes: Vec<usize>,
    /// In which dtype.
    pub dtype: DType,
    /// What it starts from; None: from the first value.
    pub initial: Option<Scalar>,
    /// Must every rank know what it signals on any of them, as all have to raise?
    pub reports: bool,
}

impl Folding {
    /// The same where elements are true or false: the greatest of them is whether any is true, which may
    /// be seen early.
    fn of_truths(&self, array: &Array) -> Option<Self> {
        let alike = match self.fold {
            Fold::Maximum | Fold::Fmax => Fold::Any,
            Fold::Minimum | Fold::Fmin => Fold::All,
            _ => return None,
        };
        if array.dtype() != DType::Bool || self.dtype != DType::Bool || array.view().is_empty() {
            return None;
        }
        let initial = self.initial.or(alike.identity(DType::Bool));
        Some(Self { fold: alike, initial, ..self.clone() })
    }

    /// The shape of the values with folded axes of length 1.
    pub(super) fn folded(&self, shape: &[usize]) -> Vec<usize> {
        let length = |(axis, &length): (usize, &usize)| {
            if self.axes.contains(&axis) { 1 } else { length }
        };
        shape.iter().enumerate().map(length).collect()
    }
}

/// The values that are folded: a program in the dtype of the folding, and how they lie for NumPy,
/// which decides in which order it folds them.
#[derive(Clone)]
pub(super) struct Values {
    pub fused: Fused,
    pub shape: Vec<usize>,
    /// The strides of NumPy's array.
    pub strides: Vec<isize>,
    /// Are they cast for the folding?
    pub casts: bool,
}

impl Values {
    pub fn new(array: &Array, dtype: DType) -> Result<Self, GraphError> {
        Ok(Self {
            fused: fused(array.session(), &array.arg(), dtype)?,
            shape: array.shape().to_vec(),
            strides: array.view().strides.to_vec(),
            casts: array.dtype() != dtype,
        })
    }

    /// In which dtype they are.
    pub fn dtype(&self) -> DType {
        let program = &self.fused.program;
        program.dtype(program.outputs[0]).expect("a program has an output")
    }

    /// Is some of what they are made of in pieces?
    pub fn is_spread(&self) -> bool {
        self.fused.inputs.iter().any(|(input, _)| !input.layout.is_whole())
    }

    /// Notes an operation on them; `with` adds what it is to the fingerprint. Collective.
    pub fn noted(
        &self,
        session: &Session,
        kind: &str,
        with: impl FnOnce(Fingerprint) -> Fingerprint,
    ) -> Result<Tag, GraphError> {
        let (print, shown) = self.added(session, with(Fingerprint::default()))?;
        let Fused { program, inputs, .. } = &self.fused;
        session.next(kind, print, || said(program, &self.shape, inputs, &shown))
    }

    /// Adds them to a fingerprint; gives the small arrays among what they read.
    pub fn added(
        &self,
        session: &Session,
        print: Fingerprint,
    ) -> Result<(Fingerprint, Vec<(DType, Buffer)>), GraphError> {
        let print = print.with_program(&self.fused.program).with(Aspect::Shape, &self.shape);
        print.with_inputs(session, &self.fused.inputs)
    }

    /// The same with something to read: a value that is the same everywhere lies nowhere.
    pub fn somewhere(self, array: &Array, dtype: DType) -> Result<Self, GraphError> {
        match self.fused.inputs.is_empty() {
            true => Ok(Values { fused: repeated(array, dtype)?, ..self }),
            false => Ok(self),
        }
    }
}

/// What a reduction is, for people.
pub(super) fn name(fold: Fold) -> &'static str {
    match fold {
        Fold::Add => "a sum",
        Fold::Multiply => "a product",
        Fold::Maximum | Fold::Fmax => "a maximum",
        Fold::Minimum | Fold::Fmin => "a minimum",
        _ => "a reduction",
    }
}

/// So many elements are looked at before all others.
const FIRST: usize = 1 << 12;

impl Array {
    /// Folds some axes, at once; they stay, with length 1. Collective.
    pub fn fold(&self, folding: &Folding) -> Result<Array, GraphError> {
        let of_truths = folding.of_truths(self);
        let folding = of_truths.as_ref().unwrap_or(folding);
        if let Some(folded) = chosen_fold::folded(self, folding)? {
            return Ok(folded);
        }
        if let Some(folded) = self.folded_soon(folding)? {
            return Ok(folded);
        }
        // NumPy's result lies as its argument does.
        let Some(order) = memory_order(&[self.view()], self.shape().len()) else {
            return self.fold_in_c_order(folding);
        };
        let back = moved(&order);
        let axes = folding.axes.iter().map(|&axis| back[axis]).collect();
        let folding = Folding { axes, ..folding.clone() };
        Ok(self.transposed(&order).fold_in_c_order(&folding)?.transposed(&back))
    }

    /// Whether all or any are true, where the first few elements of an array that is here say so.
    fn folded_soon(&self, folding: &Folding) -> Result<Option<Array>, GraphError> {
        let decides = match folding.fold {
            Fold::Any => Bool(1),
            Fold::All => Bool(0),
            _ => return Ok(None),
        };
        let (len, shape) = (self.view().len(), self.shape());
        if len <= 2 * FIRST || folding.axes.len() < shape.len() || !self.is_stored() {
            return Ok(None);
        }
        let rows = FIRST / (len / shape[0]);
        if !self.is_whole() || rows == 0 {
            return Ok(None);
        }
        let first = self.with_view(self.view().region(0, 0, 1, rows)).fold_in_c_order(folding)?;
        let found = first.ready_element(first.view().offset);
        Ok(Some(first).filter(|_| found == Some(Scalar::new(decides))))
    }

    /// The same where the axes are in the order of memory.
    fn fold_in_c_order(&self, folding: &Folding) -> Result<Array, GraphError> {
        let (session, values) = (self.session(), Values::new(self, folding.dtype)?);
        if self.is_collective(&values) {
            let tag = values.noted(session, name(folding.fold), |print| {
                let Folding { fold, axes, dtype, initial, .. } = folding;
                self.with_distribution(print)
                    .with(Aspect::Operation, (fold, axes))
                    .with(Aspect::Shape, dtype)
                    .with(Aspect::Scalars, initial)
            })?;
            if !values.is_spread() {
                // One value everywhere: each rank has all that it needs.
                let values = values.somewhere(self, folding.dtype)?;
                return fold_here(session, &values, folding, self.shape());
            }
            let folded = spread_fold::folded(session, values, folding, tag)?;
            if folding.reports {
                session.share_notices("reduce", None)?;
            }
            return Ok(folded);
        }
        let values = values.somewhere(self, folding.dtype)?;
        fold_here(session, &values, folding, self.shape())
    }

    /// Adds how it is distributed to a fingerprint: of one value everywhere nothing is read that says so.
    pub(super) fn with_distribution(&self, print: Fingerprint) -> Fingerprint {
        self.versions.with_current(|node| match &node.layout {
            Layout::Split(split) => print.with(Aspect::Distribution, &split.distribution),
            Layout::Whole => print,
        })
    }

    /// Do all ranks take part in an operation on its values? So they do where it holds one value
    /// everywhere, though nothing is sent: a process that is by itself may do that alone.
    pub(super) fn is_collective(&self, values: &Values) -> bool {
        let session = self.session();
        let several = session.fabric().size() > 1 && !self.is_whole();
        values.is_spread() || (several && session.ways().check("", 2).is_ok())
    }

    /// Without the axes that were folded.
    pub fn without(&self, axes: &[usize]) -> Array {
        let kept: Vec<usize> =
            (0..self.shape().len()).filter(|axis| !axes.contains(axis)).collect();
        self.transposed(&kept)
    }
}

/// Folds values that are all here, or a part of them, of this shape, along axes that are kept.
pub(super) fn fold_here(
    session: &Session,
    values: &Values,
    folding: &Folding,
    shape: &[usize],
) -> Result<Array, GraphError> {
    let base = View::c_order(folding.dtype, &folding.folded(shape));
    let (node, memory) = Node::fresh(session, base, Layout::Whole);
    fold_into(session, values, folding, false, &memory, &node.base)?;
    Ok(Array::over(session, node))
}

/// The same into this memory; if it continues, from what it holds.
pub(super) fn fold_into(
    session: &Session,
    values: &Values,
    folding: &Folding,
    continues: bool,
    memory: &Buffer,
    out: &View,
) -> Result<(), GraphError> {
    let Values { fused, casts, .. } = values;
    let engine = session.engine(&fused.program)?;
    let reduction = Reduction {
        fold: folding.fold,
        axes: &folding.axes,
        order: &values.strides,
        part_of: Some(&values.shape),
        initial: folding.initial,
        continues,
        casts: *casts,
    };
    let out = Memory::new(memory, out).map_err(RunError::from)?;
    let along = Along { values, engine: &engine, reduction: &reduction, out: &out };
    let folded = match along.while_written(session)? {
        Some(folded) => folded,
        None => {
            let buffers = buffers(session, &fused.inputs)?;
            let inputs = operands(&buffers, &fused.inputs)?;
            reduce(&engine, &inputs, &reduction, &out).map_err(RunError::from)?
        }
    };
    note(session, values, &folded);
    Ok(())
}

/// Notes what a scan signalled.
pub(super) fn note_scan(session: &Session, values: &Values, folded: &Folded) {
    session.notices().add_all(&values.fused.steps, &folded.steps);
    session.notices().add("accumulate", folded.folding, None);
}

/// Notes what was signalled. To NumPy, the cast of the values is a part of their reduction.
pub(super) fn note(session: &Session, values: &Values, folded: &Folded) {
    let steps = &values.fused.steps;
    let is_cast = values.casts && steps.last().is_some_and(|last| matches!(last.op, Op::Cast(_)));
    let (mut others, mut folding) = (Raised::default(), folded.folding);
    for (step, flags) in folded.steps.iter() {
        match is_cast && step + 1 == steps.len() {
            true => folding |= flags,
            false => others.add(step, flags),
        }
    }
    session.notices().add_all(steps, &others);
    session.notices().add("reduce", folding, None);
}

/// The program that reads one element over and over.
pub(super) fn repeated(array: &Array, dtype: DType) -> Result<Fused, GraphError> {
    let (session, shape) = (array.session(), array.shape());
    let element = View { shape: Axes::new(), strides: Axes::new(), ..array.view().clone() };
    let element = Arg::Part(array.versions.current(), element);
    let one = gathered(session, &element, array.dtype(), &[])?;
    let view = one.base.broadcast(shape).expect("one element fits any shape");
    fused(session, &Arg::Part(one, view), dtype)
}
