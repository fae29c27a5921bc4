//! Fingerprints of collective operations: ranks compare them to detect divergence.
//!
//! A fingerprint has one hash for each aspect of an operation, so that the error can name the
//! difference. Values of replicated operands are part of it: scalars; arrays of up to 64 bytes; a
//! sample of larger arrays, or all elements with `DAPPLED_CHECK=1`. A factor of `time.time()` is
//! therefore detected.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use dappled_fabric::{FabricError, FieldHashes};
use dappled_kernels::{Buffer, DType, Program, Scalar, View};

use super::Session;
use crate::array::Array;
use crate::array::placement::Placement;
use crate::config::{COMPARED_SAMPLES, MAX_COMPARED_BYTES};
use crate::eager::single_op::pack_view;
use crate::error::Result;
use crate::graph::node::{Node, NodeInput, NodeState};
use crate::run::RunError;
use crate::run::evaluate::materialize;
use crate::view::{axis_mapping, format_shape};

static CHECK_ALL: OnceLock<bool> = OnceLock::new();

/// Sets whether all elements of replicated operands are compared, or a sample (`DAPPLED_CHECK`).
///
/// The first call decides.
pub fn set_check_all(all: bool) {
    let _ = CHECK_ALL.set(all);
}

/// Returns true if all elements of replicated operands are compared.
pub fn is_check_all() -> bool {
    CHECK_ALL.get().copied().unwrap_or(false)
}

/// An aspect of an operation that can differ between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FingerprintField {
    /// The operation and its axes.
    Operation,
    /// Scalar operands.
    Scalars,
    /// Shapes and dtypes.
    Shape,
    /// Slices that are read or written.
    View,
    /// Identities of distributed arrays.
    Array,
    /// Distributions.
    Distribution,
    /// Elements of replicated operands, and states of random generators.
    Contents,
    /// Arguments of the NumPy function that the program called.
    Call,
}

/// One hash for each aspect of an operation.
#[derive(Clone, Copy, Default)]
pub(crate) struct Fingerprint([u64; 8]);

impl Fingerprint {
    /// The fingerprint of an operation that a value identifies.
    pub fn of(operation: impl Hash) -> Self {
        Self::default().with(FingerprintField::Operation, operation)
    }

    /// Adds a value to the hash of an aspect.
    pub fn with(mut self, field: FingerprintField, value: impl Hash) -> Self {
        let mut hasher = FnvHasher(self.0[field as usize].wrapping_add(FNV_OFFSET_BASIS));
        value.hash(&mut hasher);
        self.0[field as usize] = hasher.finish();
        self
    }

    /// Adds the steps and constants of a program.
    pub fn with_program(self, program: &Program) -> Self {
        let Program { inputs, constants, steps, outputs } = program;
        let dtypes = constants.iter().map(Scalar::dtype);
        self.with(FingerprintField::Operation, (steps, outputs))
            .with(FingerprintField::Shape, (inputs, dtypes.collect::<Vec<DType>>()))
            .with(FingerprintField::Scalars, constants)
    }

    /// Adds a view of an array.
    pub fn with_array(self, node: &Node, view: &View) -> Self {
        let seen = self
            .with(FingerprintField::View, (view.offset, &view.strides))
            .with(FingerprintField::Shape, (view.dtype, &view.shape));
        match &node.placement {
            Placement::Replicated => seen,
            Placement::Distributed(split) => seen
                .with(FingerprintField::Array, node.id())
                .with(FingerprintField::Distribution, &split.distribution),
        }
    }

    /// Adds the inputs of a program. Returns the small replicated ones, for the description.
    pub fn with_inputs(
        mut self,
        session: &Session,
        inputs: &[(Arc<Node>, View)],
    ) -> Result<(Self, Vec<(DType, Buffer)>)> {
        let mut shown = Vec::new();
        for (node, view) in inputs {
            self = self.with_array(node, view);
            if node.placement.is_replicated() {
                let memory = materialize(session, node)?;
                let view = without_repeats(view);
                match view.len() * view.dtype.itemsize() {
                    bytes if bytes <= MAX_COMPARED_BYTES || is_check_all() => {
                        let all = pack_view(&memory, &view)?;
                        let hash = fnv_hash(&*all.read()?);
                        self = self.with(FingerprintField::Contents, hash);
                        shown.push((view.dtype, all));
                    }
                    _ => self = self.with(FingerprintField::Contents, sample_hash(&memory, &view)?),
                }
            }
        }
        Ok((self, shown))
    }

    /// The hash that ranks compare.
    pub fn hash(&self) -> u64 {
        fnv_hash(self.0)
    }

    /// The hash of the aspects that a description contains.
    pub fn description_hash(&self) -> u64 {
        let [operation, scalars, shape, view, _, _, contents, _] = self.0;
        fnv_hash([operation, scalars, shape, view, contents])
    }

    /// 16-bit hashes of the aspects, which are sent with messages.
    pub fn field_hashes(&self) -> FieldHashes {
        self.0.map(|hash| (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) as u16)
    }
}

/// Returns the view with broadcast axes (stride 0) shortened to one element.
fn without_repeats(view: &View) -> View {
    let mut view = view.clone();
    for (length, stride) in view.shape.iter_mut().zip(view.strides.iter()) {
        *length = if *stride == 0 { (*length).min(1) } else { *length };
    }
    view
}

/// Hashes a sample of elements, spread evenly over a view.
fn sample_hash(memory: &Buffer, view: &View) -> Result<u64, RunError> {
    let (bytes, item, len) = (memory.read()?, view.dtype.itemsize(), view.len() as u128);
    let mut hasher = FnvHasher(FNV_OFFSET_BASIS);
    for at in 0..COMPARED_SAMPLES {
        // Multiples of the golden ratio do not resonate with regular patterns.
        let fraction = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut position = ((u128::from(fraction) * len) >> 64) as usize;
        let mut offset = view.offset as isize;
        for (&length, &stride) in view.shape.iter().zip(&view.strides).rev() {
            offset += (position % length) as isize * stride;
            position /= length;
        }
        hasher.write(&bytes[offset as usize..][..item]);
    }
    Ok(hasher.finish())
}

impl Node {
    /// Hashes the operations and inputs of a pending array; equal on all ranks.
    ///
    /// `memo` caches the hashes of other nodes.
    pub fn origin_hash(&self, memo: &mut HashMap<*const Node, u64>) -> u64 {
        if let Some(&found) = memo.get(&std::ptr::from_ref(self)) {
            return found;
        }
        let mut print = Fingerprint::default().with_array(self, &self.base);
        if let NodeState::Elementwise(map) = self.state() {
            print = print.with(FingerprintField::Operation, (map.request.op, map.dtype));
            for arg in &map.inputs {
                print = match arg {
                    NodeInput::Scalar(value) => print.with(FingerprintField::Scalars, value),
                    NodeInput::Array(node, view) => print
                        .with(FingerprintField::Array, node.origin_hash(memo))
                        .with_array(node, view),
                };
            }
        }
        memo.insert(self, print.hash());
        print.hash()
    }
}

impl Array {
    /// A hash of the identity and view of a distributed array; of a replicated one, of shape and
    /// dtype.
    pub fn fingerprint(&self) -> u64 {
        self.storage
            .with_current(|node| Fingerprint::default().with_array(node, self.view()).hash())
    }
}

/// Advice for ranks that diverged: the difference, and possible causes. None if there is none.
pub fn divergence_hint(error: &FabricError) -> Option<&'static str> {
    let FabricError::OperationsDiffer { tags, .. } = error else { return None };
    let [one, other] = [tags[0].field_hashes, tags[1].field_hashes];
    let differs = |field: FingerprintField| one[field as usize] != other[field as usize];
    let drawn = tags.iter().all(|tag| tag.label.to_string().starts_with("random numbers"));
    if drawn && differs(FingerprintField::Contents) {
        return Some(
            "the states of the generators differ: is one seeded by the rank, or used more often?",
        );
    }
    let hints = [
        (FingerprintField::Call, "the arguments of the function differ"),
        (FingerprintField::Operation, ""),
        (FingerprintField::Shape, "the shapes or dtypes differ"),
        (
            FingerprintField::Scalars,
            "the scalars differ: is a generator not seeded, or a clock read?",
        ),
        (FingerprintField::View, "the indices or slices differ: do they depend on the rank?"),
        (FingerprintField::Distribution, "the distributions differ"),
        (
            FingerprintField::Array,
            "the arrays differ: are they taken from a set, or chosen by the rank?",
        ),
        (
            FingerprintField::Contents,
            "the elements of a replicated operand differ: is it drawn from a generator that is not \
             seeded alike, or read from a file that differs?",
        ),
    ];
    let hint = hints.iter().find(|(field, _)| differs(*field));
    hint.map(|(_, text)| *text).filter(|text| !text.is_empty())
}

/// Returns true if ranks may have diverged because they iterate over a set in different orders.
pub fn may_be_set_order(error: &FabricError) -> bool {
    let FabricError::OperationsDiffer { tags, .. } = error else { return false };
    let [one, other] = [tags[0].field_hashes, tags[1].field_hashes];
    let differs = |field: FingerprintField| one[field as usize] != other[field as usize];
    // Arrays created in a call differ if its arguments do.
    !differs(FingerprintField::Call)
        && (differs(FingerprintField::Operation) || differs(FingerprintField::Array))
}

/// Describes an operation for messages: steps, shape, slices and small values.
pub(crate) fn describe_operation<T: ToString>(
    program: &Program,
    shape: &[T],
    inputs: &[(Arc<Node>, View)],
    values: &[(DType, Buffer)],
) -> String {
    let steps: Vec<String> = program.steps.iter().map(|step| step.op.to_string()).collect();
    let constants = program.constants.iter().map(ToString::to_string);
    let arrays = values.iter().map(|(dtype, buffer)| format_first_values(*dtype, buffer));
    let shown: Vec<String> = constants.chain(arrays).collect();
    let mut text = format!(" of shape {}", format_shape(shape));
    if !steps.is_empty() {
        text += &format!(": {}", steps.join(", "));
    }
    if !shown.is_empty() {
        text += &format!(" with {}", shown.join(", "));
    }
    let slices = inputs.iter().filter_map(|(node, view)| describe_slice(node, view));
    let slices: Vec<String> = slices.collect();
    if !slices.is_empty() {
        text += &format!(" of {}", slices.join(", "));
    }
    text
}

/// The slice of a distributed array that a view reads, as text; None for the full array.
fn describe_slice(node: &Node, view: &View) -> Option<String> {
    if node.placement.is_replicated() || *view == node.base {
        return None;
    }
    let mapping = axis_mapping(view, &node.base)?;
    let axis = |(axis, &start): (usize, &u64)| {
        let mapped =
            mapping.axes.iter().find(|mapped| mapped.base_axis.is_some_and(|base| base.0 == axis));
        let Some((length, step)) =
            mapped.and_then(|mapped| Some((mapped.length, mapped.base_axis?.1)))
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
    let axes: Vec<String> = mapping.starts.iter().enumerate().map(axis).collect();
    Some(format!("[{}]", axes.join(", ")))
}

/// The first values of an array, as text.
fn format_first_values(dtype: DType, buffer: &Buffer) -> String {
    let Ok(bytes) = buffer.read() else { return String::new() };
    let items = bytes.chunks_exact(dtype.itemsize()).take(4);
    let items = items.map(|item| Scalar::from_bytes(dtype, item).to_string());
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// FNV-1a hash of a value; equal in all processes.
pub(crate) fn fnv_hash(value: impl Hash) -> u64 {
    let mut hasher = FnvHasher(FNV_OFFSET_BASIS);
    value.hash(&mut hasher);
    hasher.finish()
}

/// FNV's offset basis: with a start of 0, sequences of zeros of any length would collide.
const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a hasher over 64-bit words; deterministic, so ranks can compare hashes.
#[derive(Default)]
pub(crate) struct FnvHasher(u64);

impl FnvHasher {
    /// The rotation moves the high bits down.
    fn write_word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
}

impl Hasher for FnvHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_word(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_word(byte.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.write_word(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.write_word(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.write_word(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_word(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_word(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
