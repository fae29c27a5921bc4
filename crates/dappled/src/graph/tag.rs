//! What ranks must agree on when they do something together: a fingerprint of the operation.
//!
//! A fingerprint has one hash for each [`Aspect`] of an operation, so that a difference can be named.
//! Values that every rank has are a part of it: scalars; arrays of up to 64 bytes; of larger ones a
//! sample, or all elements with `DAPPLED_CHECK=1`. So `time.time()` as a factor is found.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use dappled_fabric::{Aspects, FabricError};
use dappled_kernels::{Buffer, DType, Program, Scalar, View};

use super::evaluate::value;
use super::layout::Layout;
use super::node::{Arg, Node, State};
use super::small::collected;
use super::{Array, GraphError, Session};
use crate::run::RunError;
use crate::view::{through, tuple};

/// Replicated operands of up to so many bytes are compared wholly.
const FEW: usize = 64;

/// Of larger ones so many elements are compared.
const SAMPLES: u64 = 32;

static CHECK_ALL: OnceLock<bool> = OnceLock::new();

/// Compares all elements of replicated operands from now on, or a sample: `DAPPLED_CHECK`. The first
/// call decides.
pub fn check_all(all: bool) {
    let _ = CHECK_ALL.set(all);
}

/// Are all elements of replicated operands compared?
pub fn checks_all() -> bool {
    CHECK_ALL.get().copied().unwrap_or(false)
}

/// A part of an operation that can differ between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aspect {
    /// What is done, along which axes.
    Operation,
    /// Numbers in it.
    Scalars,
    /// Shapes and dtypes.
    Shape,
    /// Which part of an array is read or written.
    View,
    /// Which array.
    Array,
    /// How arrays are distributed.
    Distribution,
    /// The elements of replicated operands, and the states of generators.
    Contents,
    /// The arguments of the function that the program called.
    Call,
}

/// Hashes of all aspects of an operation.
#[derive(Clone, Copy, Default)]
pub(super) struct Fingerprint([u64; 8]);

impl Fingerprint {
    /// An operation that is told by a value.
    pub fn of(operation: impl Hash) -> Self {
        Self::default().with(Aspect::Operation, operation)
    }

    /// Adds something to an aspect.
    pub fn with(mut self, aspect: Aspect, what: impl Hash) -> Self {
        let mut hasher = Words(self.0[aspect as usize].wrapping_add(SEED));
        what.hash(&mut hasher);
        self.0[aspect as usize] = hasher.finish();
        self
    }

    /// Adds a program: its steps, and the constants in it.
    pub fn with_program(self, program: &Program) -> Self {
        let Program { inputs, constants, steps, outputs } = program;
        let dtypes = constants.iter().map(Scalar::dtype);
        self.with(Aspect::Operation, (steps, outputs))
            .with(Aspect::Shape, (inputs, dtypes.collect::<Vec<DType>>()))
            .with(Aspect::Scalars, constants)
    }

    /// Adds an array as it is seen.
    pub fn with_array(self, node: &Node, view: &View) -> Self {
        let seen = self
            .with(Aspect::View, (view.offset, &view.strides))
            .with(Aspect::Shape, (view.dtype, &view.shape));
        match &node.layout {
            Layout::Whole => seen,
            Layout::Split(split) => {
                seen.with(Aspect::Array, node.id()).with(Aspect::Distribution, &split.distribution)
            }
        }
    }

    /// Adds what a program reads; gives the small arrays among it, for the description.
    pub fn with_inputs(
        mut self,
        session: &Session,
        inputs: &[(Arc<Node>, View)],
    ) -> Result<(Self, Vec<(DType, Buffer)>), GraphError> {
        let mut shown = Vec::new();
        for (node, view) in inputs {
            self = self.with_array(node, view);
            if node.layout.is_whole() {
                let memory = value(session, node)?;
                let view = distinct(view);
                match view.len() * view.dtype.itemsize() {
                    bytes if bytes <= FEW || checks_all() => {
                        let all = collected(&memory, &view)?;
                        let hash = hashed(&*all.read().map_err(RunError::from)?);
                        self = self.with(Aspect::Contents, hash);
                        shown.push((view.dtype, all));
                    }
                    _ => self = self.with(Aspect::Contents, sampled(&memory, &view)?),
                }
            }
        }
        Ok((self, shown))
    }

    /// The hash that ranks compare.
    pub fn hash(&self) -> u64 {
        hashed(self.0)
    }

    /// A hash of what a description says.
    pub fn described(&self) -> u64 {
        let [operation, scalars, shape, view, _, _, contents, _] = self.0;
        hashed([operation, scalars, shape, view, contents])
    }

    /// Short hashes of the aspects, which travel with messages.
    pub fn aspects(&self) -> Aspects {
        self.0.map(|hash| (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) as u16)
    }
}

/// A view that shows each element once that is repeated by a stride of 0.
fn distinct(view: &View) -> View {
    let mut view = view.clone();
    for (length, stride) in view.shape.iter_mut().zip(view.strides.iter()) {
        *length = if *stride == 0 { (*length).min(1) } else { *length };
    }
    view
}

/// A hash of some elements, spread evenly over a view.
fn sampled(memory: &Buffer, view: &View) -> Result<u64, RunError> {
    let (bytes, item, len) = (memory.read()?, view.dtype.itemsize(), view.len() as u128);
    let mut hasher = Words(SEED);
    for at in 0..SAMPLES {
        // The golden ratio: no step of a regular pattern is met.
        let fraction = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut place = ((u128::from(fraction) * len) >> 64) as usize;
        let mut offset = view.offset as isize;
        for (&length, &stride) in view.shape.iter().zip(&view.strides).rev() {
            offset += (place % length) as isize * stride;
            place /= length;
        }
        hasher.write(&bytes[offset as usize..][..item]);
    }
    Ok(hasher.finish())
}

impl Node {
    /// A hash of what a pending array is computed from, the same on every rank. What was found for
    /// other nodes is kept in `known`.
    pub fn origin(&self, known: &mut HashMap<*const Node, u64>) -> u64 {
        if let Some(&found) = known.get(&std::ptr::from_ref(self)) {
            return found;
        }
        let mut print = Fingerprint::default().with_array(self, &self.base);
        if let State::Map(map) = self.state() {
            print = print.with(Aspect::Operation, (map.request.op, map.dtype));
            for arg in &map.args {
                print = match arg {
                    Arg::Scalar(value) => print.with(Aspect::Scalars, value),
                    Arg::Part(node, view) => {
                        print.with(Aspect::Array, node.origin(known)).with_array(node, view)
                    }
                };
            }
        }
        known.insert(self, print.hash());
        print.hash()
    }
}

impl Array {
    /// A hash of which distributed array this is, and of the part that it shows; of a replicated
    /// array, of its shape and dtype.
    pub fn fingerprint(&self) -> u64 {
        self.versions
            .with_current(|node| Fingerprint::default().with_array(node, self.view()).hash())
    }
}

/// What differs between ranks that diverged, and what to look for; None where nothing more is known.
pub fn hint(error: &FabricError) -> Option<&'static str> {
    let FabricError::Parted { tags, .. } = error else { return None };
    let [one, other] = [tags[0].aspects, tags[1].aspects];
    let differs = |aspect: Aspect| one[aspect as usize] != other[aspect as usize];
    let drawn = tags.iter().all(|tag| tag.place.to_string().starts_with("random numbers"));
    if drawn && differs(Aspect::Contents) {
        return Some(
            "the states of the generators differ: is one seeded by the rank, or used more often?",
        );
    }
    let hints = [
        (Aspect::Call, "the arguments of the function differ"),
        (Aspect::Operation, ""),
        (Aspect::Shape, "the shapes or dtypes differ"),
        (Aspect::Scalars, "the scalars differ: is a generator not seeded, or a clock read?"),
        (Aspect::View, "the indices or slices differ: do they depend on the rank?"),
        (Aspect::Distribution, "the distributions differ"),
        (Aspect::Array, "the arrays differ: are they taken from a set, or chosen by the rank?"),
        (
            Aspect::Contents,
            "the elements of a replicated operand differ: is it drawn from a generator that is not \
             seeded alike, or read from a file that differs?",
        ),
    ];
    let found = hints.iter().find(|(aspect, _)| differs(*aspect));
    found.map(|(_, text)| *text).filter(|text| !text.is_empty())
}

/// May two ranks have diverged because sets have another order on each?
pub fn may_be_order(error: &FabricError) -> bool {
    let FabricError::Parted { tags, .. } = error else { return false };
    let [one, other] = [tags[0].aspects, tags[1].aspects];
    let differs = |aspect: Aspect| one[aspect as usize] != other[aspect as usize];
    // Arrays that are made in a call are others if its arguments are.
    !differs(Aspect::Call) && (differs(Aspect::Operation) || differs(Aspect::Array))
}

/// An operation for people: what is done, to how much, the part that is read, and small values in it.
pub(super) fn said<T: ToString>(
    program: &Program,
    shape: &[T],
    inputs: &[(Arc<Node>, View)],
    values: &[(DType, Buffer)],
) -> String {
    let steps: Vec<String> = program.steps.iter().map(|step| step.op.to_string()).collect();
    let numbers = program.constants.iter().map(ToString::to_string);
    let arrays = values.iter().map(|(dtype, buffer)| shown(*dtype, buffer));
    let with: Vec<String> = numbers.chain(arrays).collect();
    let mut text = format!(" of shape {}", tuple(shape));
    if !steps.is_empty() {
        text += &format!(": {}", steps.join(", "));
    }
    if !with.is_empty() {
        text += &format!(" with {}", with.join(", "));
    }
    let parts = inputs.iter().filter_map(|(node, view)| part(node, view));
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        text += &format!(" of {}", parts.join(", "));
    }
    text
}

/// The part of a distributed array that a view shows, as a slice; None for all of it.
fn part(node: &Node, view: &View) -> Option<String> {
    if node.layout.is_whole() || *view == node.base {
        return None;
    }
    let through = through(view, &node.base)?;
    let axis = |(axis, &start): (usize, &u64)| {
        let along = through.axes.iter().find(|along| along.base.is_some_and(|base| base.0 == axis));
        let Some((length, step)) = along.and_then(|along| Some((along.length, along.base?.1)))
        else {
            return start.to_string();
        };
        let stop = start as i64 + step * length as i64;
        match step {
            1 if start == 0 && length == node.base.shape[axis] as u64 => ":".to_string(),
            1 => format!("{start}:{stop}"),
            _ if stop < 0 => format!("{start}::{step}"),
            _ => format!("{start}:{stop}:{step}"),
        }
    };
    let axes: Vec<String> = through.starts.iter().enumerate().map(axis).collect();
    Some(format!("[{}]", axes.join(", ")))
}

/// The first values of an array.
fn shown(dtype: DType, buffer: &Buffer) -> String {
    let Ok(bytes) = buffer.read() else { return String::new() };
    let items = bytes.chunks_exact(dtype.itemsize()).take(4);
    let items = items.map(|item| Scalar::from_bytes(dtype, item).to_string());
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A hash that is the same in every process, and costs little.
pub(super) fn hashed(what: impl Hash) -> u64 {
    let mut hasher = Words(SEED);
    what.hash(&mut hasher);
    hasher.finish()
}

/// FNV's start: with 0 any number of zeros would have the same hash.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a hasher over 64-bit words; deterministic, so ranks can compare hashes.
#[derive(Default)]
pub(super) struct Words(u64);

impl Words {
    /// The rotation brings the high bits down.
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.word(byte.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.word(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.word(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.word(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.word(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.word(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
