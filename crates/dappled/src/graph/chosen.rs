//! What a mask chooses, pending: how much it is must be known, the values need not be. The mask is
//! computed at once, in one pass over what it is made of, into a bit for each element; a reduction
//! then reads the values themselves, and what was chosen never gets memory.

use std::sync::Arc;

use dappled_kernels::element::bytes_of;
use dappled_kernels::{Buffer, Chosen, DType, View};
use dappled_protocol::Distribution;

use super::evaluate::{buffers, local_bytes, operands, value, write};
use super::fold::Values;
use super::fuse::{Fused, fused};
use super::layout::Layout;
use super::lies::{here, is_in_order};
use super::node::{Arg, MUCH_LARGER, Node, State};
use super::tag::{Fingerprint, said};
use super::{Array, GraphError, Session};
use crate::run::RunError;

/// Some elements of an array, and which.
pub(crate) struct Choice {
    /// This rank's elements, of which some are chosen: a program that reads them.
    pub(super) values: Fused,
    pub(super) chosen: Chosen,
    /// Where the chosen ones of each rank begin among those of all, and at last how many there are.
    pub(super) bounds: Vec<u64>,
    /// What they are chosen from: held, so that it is not written in place. (On ranks the program
    /// reads its memory under another name.)
    _from: Arc<Node>,
}

impl Array {
    /// The elements for which a mask of the same shape is true, in C order: one row. Collective. On
    /// several ranks the array is one row in blocks, one behind the other; None where it is not.
    pub fn chosen_by(&self, mask: &Array) -> Result<Option<Array>, GraphError> {
        let session = self.session();
        let several = session.fabric().size() > 1;
        let place = match session.fabric().size() {
            1 => None,
            _ => match self.row_in_blocks() {
                None => return Ok(None),
                place => place,
            },
        };
        let read = |array: &Array| -> Result<Fused, GraphError> {
            let values = Values::new(array, array.dtype())?.somewhere(array, array.dtype())?;
            Ok(match &place {
                Some(place) => here(session, values, place)?.fused,
                None => values.fused,
            })
        };
        if several {
            let values = Values::new(self, self.dtype())?;
            let print = values.added(session, Fingerprint::default())?.0;
            let (print, shown) = Values::new(mask, mask.dtype())?.added(session, print)?;
            let said = || said(&values.fused.program, self.shape(), &values.fused.inputs, &shown);
            session.next("a choice by a mask", print, said)?;
        }
        let chosen = chosen(session, &read(mask)?)?;
        // Who holds it later holds no more than what is stored.
        let _from = self.versions.current();
        value(session, &_from)?;
        let values = read(self)?;
        let bounds = bounds(session, chosen.count())?;
        let choice = Choice { values, chosen, bounds, _from };
        self.pending_choice(choice).map(Some)
    }

    /// Where a row lies in blocks in the order of the ranks, all of it seen.
    fn row_in_blocks(&self) -> Option<Distribution> {
        let node = self.versions.current();
        match &node.layout {
            Layout::Split(split) if *self.view() == node.base => {
                let place = &split.distribution;
                let row = matches!(place.axes(), [map] if is_in_order(map));
                row.then(|| place.clone())
            }
            _ => None,
        }
    }

    fn pending_choice(&self, choice: Choice) -> Result<Array, GraphError> {
        let session = self.session();
        let total = choice.total();
        let base = View::c_order(self.dtype(), &[total]);
        let layout = session.layout(self.dtype(), &[total]);
        let alone = session.fabric().size() == 1;
        let from = self.versions.with_current(|node| node.base.len());
        let is_small = MUCH_LARGER * total < from || (!alone && layout.is_whole());
        let at_once = self.is_lent() || is_small;
        let node = Node::new(session, base, layout, State::Chosen(choice.into()));
        if at_once {
            value(session, &node)?;
        }
        let array = Array::over(session, node);
        if !at_once {
            session.pending().add(&array.versions, !alone, 0);
        }
        Ok(array)
    }
}

/// What the program of a mask chooses, all that it reads being here.
fn chosen(session: &Session, mask: &Fused) -> Result<Chosen, GraphError> {
    let engine = session.engine(&mask.program)?;
    let buffers = buffers(session, &mask.inputs)?;
    let inputs = operands(&buffers, &mask.inputs)?;
    let (chosen, raised) = Chosen::new(&engine, &inputs).map_err(RunError::from)?;
    session.notices().add_all(&mask.steps, &raised);
    Ok(chosen)
}

fn bounds(session: &Session, count: usize) -> Result<Vec<u64>, GraphError> {
    let counts = match session.fabric().size() {
        1 => vec![count as u64],
        _ => {
            let sent = session.gather("how many are chosen", bytes_of(&[count as u64]).to_vec())?;
            sent.iter().flat_map(|bytes| Buffer::from_slice(bytes).to_vec::<u64>()).collect()
        }
    };
    let sums = counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    Ok(std::iter::once(0).chain(sums).collect())
}

impl Choice {
    /// How many are chosen on all ranks.
    pub fn total(&self) -> usize {
        self.bounds[self.bounds.len() - 1] as usize
    }

    /// This rank's memory of a node with these values. Collective, unless there is one rank.
    pub fn memory(&self, session: &Session, node: &Arc<Node>) -> Result<Buffer, GraphError> {
        let dtype = node.base.dtype;
        let memory = session.freed().array(self.chosen.count() * dtype.itemsize(), &node.base);
        let engine = session.engine(&self.values.program)?;
        let buffers = buffers(session, &self.values.inputs)?;
        let inputs = operands(&buffers, &self.values.inputs)?;
        self.chosen.write(&engine, &inputs, &memory).map_err(RunError::from)?;
        if session.fabric().size() == 1 {
            return Ok(memory);
        }
        let own = self.in_place(session, dtype, memory).as_version_of(node);
        let target = session.freed().array(local_bytes(node), &node.base);
        let base = own.base.clone();
        write(session, node, &node.base, &target, &Arg::Part(own, base))?;
        Ok(target)
    }

    /// The chosen elements, on the ranks that they were chosen on.
    fn in_place(&self, session: &Session, dtype: DType, memory: Buffer) -> Arc<Node> {
        let total = self.total();
        let mut spec =
            Distribution::spec(&[total as u64]).dist("b").nprocs(session.fabric().size());
        spec.axes[0].bounds = Some(self.bounds.clone());
        let place = spec.build().expect("bounds that rise, one for each rank");
        let layout = Layout::split(place, dtype, session.fabric().rank());
        Node::new(session, View::c_order(dtype, &[total]), layout, State::Stored(memory))
    }

    /// The same elements in another dtype, before they are chosen.
    pub fn in_dtype(&self, session: &Session, dtype: DType) -> Result<Fused, GraphError> {
        match &self.values.inputs[..] {
            [(node, view)] => fused(session, &Arg::Part(node.clone(), view.clone()), dtype),
            _ => Ok(self.values.clone()),
        }
    }
}
