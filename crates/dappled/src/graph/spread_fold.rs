//! Reductions of arrays in pieces, with the bits that one memory gives.
//!
//! The array is moved so that each rank has all that its results need: folded axes whole, the others
//! in blocks. Where all axes are folded, the ranks have blocks of the flat index: exact operations
//! fold the ranks' results; float sums follow NumPy's tree, of which each rank sends the sums of the
//! largest nodes that it holds and the values of leaves that are cut; what is left is gathered.

use std::ops::Range;

use dappled_kernels::element::{bytes_of, typed};
use dappled_kernels::tree::{Part, Summand, cover, join};
use dappled_kernels::{
    Buffer, DType, Fold, Interpreter, Operand as Memory, Program, View, sum_range,
};
use dappled_protocol::Distribution;

use super::fold::Folding;
use super::layout::Layout;
use super::node::{Node, State};
use super::{Array, GraphError, Session};
use crate::run::RunError;

/// Folds an array in pieces. Collective.
pub(super) fn folded(array: &Array, folding: &Folding) -> Result<Array, GraphError> {
    let kept = array.shape().len() - folding.axes.len();
    let exact = folding.dtype.is_integral() || !matches!(folding.fold, Fold::Add | Fold::Multiply);
    let casts = array.dtype() != folding.dtype;
    match (kept, folding.dtype) {
        _ if array.view().is_empty() => array.gathered()?.fold(folding),
        (1.., _) => along(array, folding),
        (0, _) if exact => each(array, folding),
        (0, DType::Float32) if folding.fold == Fold::Add && !casts => tree::<f32>(array, folding),
        (0, DType::Float64) if folding.fold == Fold::Add && !casts => tree::<f64>(array, folding),
        _ => array.gathered()?.fold(folding),
    }
}

/// The letters of a distribution in which the folded axes are whole.
fn letters(array: &Array, folding: &Folding) -> String {
    let letter = |axis| if folding.axes.contains(&axis) { 'n' } else { 'b' };
    (0..array.shape().len()).map(letter).collect()
}

fn spread(session: &Session, shape: &[usize], letters: &str) -> Distribution {
    let shape: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let spec = Distribution::spec(&shape).dist(letters).nprocs(session.fabric().size());
    spec.build().expect("blocks of any shape on any number of ranks")
}

/// This rank's part of an array as an array by itself, its axes in the order of the whole.
fn own(array: &Array, distribution: &Distribution) -> Result<Array, GraphError> {
    let moved = array.redistributed(distribution)?;
    let node = moved.versions.current();
    let memory = super::evaluate::value(array.session(), &node)?;
    Ok(Array::whole(array.session(), node.layout.local(&node.base).clone(), memory))
}

/// Some axes stay: each rank has whole results.
fn along(array: &Array, folding: &Folding) -> Result<Array, GraphError> {
    let session = array.session();
    let distribution = spread(session, array.shape(), &letters(array, folding));
    let result = own(array, &distribution)?.fold(folding)?;
    let shape = folding.folded(array.shape());
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let spec = Distribution::spec(&lengths).dist(&distribution.dist());
    let spec = spec.nprocs(session.fabric().size()).grid_shape(&distribution.grid_shape());
    let target = spec.build().expect("the same grid");
    let layout = Layout::split(target, folding.dtype, session.fabric().rank());
    let memory = super::evaluate::value(session, &result.versions.current())?;
    let base = View::c_order(folding.dtype, &shape);
    let small = session.layout(folding.dtype, &shape).is_whole();
    let pieces = Array::over(session, Node::new(session, base, layout, State::Stored(memory)));
    if small { pieces.gathered() } else { Ok(pieces) }
}

/// Blocks along the first axis: each rank has a range of the flat index.
fn flat(array: &Array) -> Distribution {
    let rest = "n".repeat(array.shape().len() - 1);
    spread(array.session(), array.shape(), &format!("b{rest}"))
}

/// All axes go, and the order does not matter: the ranks' results are folded.
fn each(array: &Array, folding: &Folding) -> Result<Array, GraphError> {
    let session = array.session();
    let part = own(array, &flat(array))?;
    let inner = Folding { initial: folding.fold.identity(folding.dtype), ..folding.clone() };
    let bytes = match part.view().is_empty() {
        true => Vec::new(),
        false => {
            let result = part.fold(&inner)?;
            let memory = super::evaluate::value(session, &result.versions.current())?;
            memory.read().map_err(RunError::from)?.to_vec()
        }
    };
    let tag = session.next("a reduction");
    let all = session.fabric().gather_all(tag, bytes).map_err(RunError::from)?.concat();
    let count = all.len() / folding.dtype.itemsize();
    let results = Buffer::from_slice(&all);
    let results = Array::whole(session, View::c_order(folding.dtype, &[count]), results);
    let last = Folding { axes: vec![0], ..folding.clone() };
    let result = results.fold(&last)?;
    let ones = vec![1; array.shape().len()];
    Ok(result.with_view(View::c_order(folding.dtype, &ones)))
}

/// All axes go, along NumPy's tree.
fn tree<T: Summand>(array: &Array, folding: &Folding) -> Result<Array, GraphError> {
    let session = array.session();
    let distribution = flat(array);
    let part = own(array, &distribution)?;
    let memory = super::evaluate::value(session, &part.versions.current())?;
    let range = flat_range(array, &distribution);
    let total = array.view().len() as u64;
    let sent = contribution::<T>(total, &range, &memory)?;
    let tag = session.next("a sum");
    let all = session.fabric().gather_all(tag, bytes_of(&sent).to_vec()).map_err(RunError::from)?;
    let ranges = ranges(array, &distribution);
    let parts: Vec<(Part, Vec<T>)> =
        ranges.iter().zip(&all).flat_map(|(range, bytes)| parts(total, range, bytes)).collect();
    let start = folding.initial.and_then(|initial| initial.get::<T>()).unwrap_or_default();
    let sum = start + join::<T>(total, &parts).expect("the ranks have all of the tree");
    let ones = vec![1; array.shape().len()];
    Ok(Array::from_slice(session, &ones, &[sum]))
}

/// What a rank sent, each part with its sum or its values.
fn parts<T: Summand>(total: u64, range: &Range<u64>, bytes: &[u8]) -> Vec<(Part, Vec<T>)> {
    let mut values = Buffer::from_slice(bytes).to_vec::<T>().into_iter();
    let part = |part: Part| {
        let count = match &part {
            Part::Node(_) => 1,
            Part::Values(cells) => (cells.end - cells.start) as usize,
        };
        (part, values.by_ref().take(count).collect())
    };
    cover::<T>(total, range.clone()).into_iter().map(part).collect()
}

fn flat_range(array: &Array, distribution: &Distribution) -> Range<u64> {
    let rank = array.session().fabric().rank();
    ranges(array, distribution)[rank as usize].clone()
}

/// The flat indices of each rank.
fn ranges(array: &Array, distribution: &Distribution) -> Vec<Range<u64>> {
    let row: u64 = array.shape()[1..].iter().map(|&length| length as u64).product();
    let mut start = 0;
    let owned = (0..distribution.nprocs()).map(|rank| {
        let rows = distribution.local_shape(rank)[0];
        let range = start..start + rows * row;
        start = range.end;
        range
    });
    owned.collect()
}

/// What a rank sends: sums of nodes, values of cut leaves, in order.
fn contribution<T: Summand>(
    total: u64,
    range: &Range<u64>,
    memory: &Buffer,
) -> Result<Vec<T>, RunError> {
    let mut program = Program::new(vec![T::DTYPE], Vec::new());
    program.outputs.push(program.input(0));
    let engine = Interpreter::new(&program)?;
    let view = View::c_order(T::DTYPE, &[(range.end - range.start) as usize]);
    let mut sent = Vec::new();
    for part in cover::<T>(total, range.clone()) {
        let local = |global: &Range<u64>| {
            (global.start - range.start) as usize..(global.end - range.start) as usize
        };
        match part {
            Part::Node(node) => {
                let operand = Memory::new(memory, &view)?;
                sent.push(sum_range::<T>(&engine, &[operand], local(&node))?);
            }
            Part::Values(cells) => {
                sent.extend_from_slice(&typed::<T>(&memory.read()?)[local(&cells)]);
            }
        }
    }
    Ok(sent)
}
