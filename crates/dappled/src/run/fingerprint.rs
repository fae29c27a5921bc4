//! Fingerprints and descriptions of the programs that all ranks run.

use std::hash::Hasher;
use std::sync::Arc;

use dappled_kernels::{Buffer, DType, Program, Scalar, View};

use super::evaluate::materialize;
use crate::array::node::Node;
use crate::config::{COMPARED_SAMPLES, MAX_COMPARED_BYTES};
use crate::eager::single_op::pack_view;
use crate::error::{Result, RunError};
use crate::session::Session;
use crate::session::fingerprint::{
    Fingerprint, FingerprintField, FnvHasher, fnv_hash, is_check_all,
};
use crate::view::{axis_mapping, format_shape};

impl Fingerprint {
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
    let mut hasher = FnvHasher::new();
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
