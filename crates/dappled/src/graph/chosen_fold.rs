//! Reductions of what a mask chooses, read from what it is chosen from: with the bits that a row of
//! the chosen values gives.

use dappled_kernels::element::bytes_of;
use dappled_kernels::tree::{Part, Summand, cover, join};
use dappled_kernels::{
    Buffer, DType, Element, Flags, Fold, Folded, Kind, Operand as Memory, Reduction, View,
    reduce_chosen, sum_parts_chosen, watched,
};
use num_complex::{Complex32, Complex64};

use super::chosen::Choice;
use super::evaluate::{buffers, operands};
use super::fold::{Folding, name};
use super::fuse::Fused;
use super::node::State;
use super::tag::Fingerprint;
use super::{Array, GraphError, Session};
use crate::run::RunError;

/// Folds what a mask chooses, if it is pending and is folded for the first time. Collective.
pub(super) fn folded(array: &Array, folding: &Folding) -> Result<Option<Array>, GraphError> {
    let node = array.versions.current();
    let State::Chosen(choice) = node.state() else { return Ok(None) };
    let (session, dtype) = (array.session(), folding.dtype);
    let all = *array.view() == node.base && folding.axes[..] == [0] && choice.total() > 0;
    let plain = folding.initial == folding.fold.identity(dtype);
    // Other casts signal, or show in the bits.
    let cast = array.dtype() == dtype || (array.dtype().is_integral() && dtype.is_integral());
    if !(all && plain && cast) || node.was_read() {
        return Ok(None);
    }
    let alone = session.fabric().size() == 1;
    let is_exact = dtype.is_integral() || !matches!(folding.fold, Fold::Add | Fold::Multiply);
    if !alone {
        let print = Fingerprint::of((folding.fold, dtype)).with_array(&node, array.view());
        session.next(name(folding.fold), print, || format!(" of {} chosen", choice.total()))?;
    }
    let work = Work { session, choice: &choice, values: choice.in_dtype(session, dtype)?, folding };
    let found = match dtype {
        _ if alone => work.here()?,
        _ if is_exact && dtype.kind() != Kind::Complex => work.each()?,
        _ if folding.fold != Fold::Add => return Ok(None),
        DType::Float32 => work.sum::<f32>()?,
        DType::Float64 => work.sum::<f64>()?,
        DType::Complex64 => work.sum::<Complex32>()?,
        DType::Complex128 => work.sum::<Complex64>()?,
        _ => return Ok(None),
    };
    if !alone && folding.reports {
        session.share_notices("reduce", None)?;
    }
    Ok(Some(Array::whole(session, View::c_order(dtype, &[1]), found)))
}

struct Work<'a> {
    session: &'a Session,
    choice: &'a Choice,
    /// This rank's values, in the dtype of the folding.
    values: Fused,
    folding: &'a Folding,
}

impl Work<'_> {
    /// This rank's chosen values folded.
    fn here(&self) -> Result<Buffer, GraphError> {
        let &Folding { fold, ref axes, dtype, initial, .. } = self.folding;
        let stride = [dtype.itemsize() as isize];
        let reduction = Reduction { initial, ..Reduction::new(fold, dtype, axes, &stride) };
        let (out, one) = (Buffer::zeroed(dtype.itemsize()), View::c_order(dtype, &[1]));
        let engine = self.session.engine(&self.values.program)?;
        let buffers = buffers(self.session, &self.values.inputs)?;
        let inputs = operands(&buffers, &self.values.inputs)?;
        let target = Memory::new(&out, &one).map_err(RunError::from)?;
        let folded = reduce_chosen(&engine, &inputs, &self.choice.chosen, &reduction, &target);
        self.note(&folded.map_err(RunError::from)?);
        Ok(out)
    }

    /// The order does not matter: each rank folds its own, then the results are folded.
    fn each(&self) -> Result<Buffer, GraphError> {
        let own = match self.choice.chosen.count() {
            0 => Vec::new(),
            _ => self.here()?.read().map_err(RunError::from)?.to_vec(),
        };
        let all = self.session.gather("a reduction of what is chosen", own)?.concat();
        let dtype = self.folding.dtype;
        let results = View::c_order(dtype, &[all.len() / dtype.itemsize()]);
        let results = Array::whole(self.session, results, Buffer::from_slice(&all));
        let last = Folding { reports: false, ..self.folding.clone() };
        results.fold(&last)?.memory()
    }

    /// A sum of floats along NumPy's tree, of which each rank has parts.
    fn sum<T: Summand + Element>(&self) -> Result<Buffer, GraphError> {
        let parts = |rank: usize| {
            let bounds = &self.choice.bounds;
            cover::<T>(self.choice.total() as u64, bounds[rank]..bounds[rank + 1])
        };
        let (sent, folded) = self.contribution::<T>(&parts)?;
        let sent = [&[folded.bits()], bytes_of(&sent)].concat();
        let all = self.session.gather("a sum of what is chosen", sent)?;
        let known = all.iter().fold(Flags::NONE, |flags, sent| flags | Flags::from_bits(sent[0]));
        let mut joined: Vec<(Part, Vec<T>)> = Vec::new();
        for (rank, sent) in all.iter().enumerate() {
            let mut values = Buffer::from_slice(&sent[1..]).to_vec::<T>().into_iter();
            for part in parts(rank) {
                let own = values.by_ref().take(part.count() as usize).collect();
                joined.push((part, own));
            }
        }
        let (sum, flags) = watched(|| join::<T>(self.choice.total() as u64, &joined));
        self.session.notices().add("reduce", flags.without(known), None);
        Ok(Buffer::from_slice(&[sum.expect("the parts of all ranks make up the tree")]))
    }

    /// What this rank has of the sum, and what it signalled.
    fn contribution<T: Summand>(
        &self,
        parts: &dyn Fn(usize) -> Vec<Part>,
    ) -> Result<(Vec<T>, Flags), GraphError> {
        let rank = self.session.fabric().rank() as usize;
        let start = self.choice.bounds[rank];
        let own = parts(rank);
        let own: Vec<Part> = own.iter().map(|part| part.at(part.range().start - start)).collect();
        let engine = self.session.engine(&self.values.program)?;
        let buffers = buffers(self.session, &self.values.inputs)?;
        let inputs = operands(&buffers, &self.values.inputs)?;
        let found = sum_parts_chosen::<T>(&engine, &inputs, &self.choice.chosen, &own);
        let (sent, folded) = found.map_err(RunError::from)?;
        self.note(&folded);
        Ok((sent, folded.folding))
    }

    fn note(&self, folded: &Folded) {
        self.session.notices().add_all(&self.values.steps, &folded.steps);
        self.session.notices().add("reduce", folded.folding, None);
    }
}
