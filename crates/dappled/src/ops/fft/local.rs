//! Transforms along one axis of contiguous memory.

use dappled_fft::{Lines, TransformInput, complex, complex_to_real, real_to_complex};
use dappled_kernels::element::{typed, typed_mut};
use dappled_kernels::{Buffer, DTypeKind, View};

use super::{FftKind, FftStep, Precision, is_single};
use crate::error::Result;
use crate::error::RunError;
use crate::session::Session;

/// Transforms C-ordered elements along an axis, into memory of their own.
pub(super) fn transform_bytes(
    session: &Session,
    bytes: &[u8],
    view: &View,
    step: &FftStep,
) -> Result<(Buffer, View)> {
    let shape = step.output_shape(&view.shape);
    let result = View::c_order(step.output_dtype(view.dtype), &shape);
    let buffer = session.buffer_pool().allocate(result.len() * result.dtype.itemsize(), &result);
    if !result.is_empty() {
        let call = LocalTransform { session, bytes, view, step };
        let mut target = buffer.write().map_err(RunError::from)?;
        let target = &mut target[..result.len() * result.dtype.itemsize()];
        match is_single(view.dtype) {
            true => call.run::<f32>(target)?,
            false => call.run::<f64>(target)?,
        }
    }
    Ok((buffer, result))
}

/// The arguments of a transform.
struct LocalTransform<'a> {
    session: &'a Session,
    bytes: &'a [u8],
    view: &'a View,
    step: &'a FftStep,
}

impl LocalTransform<'_> {
    fn run<T: Precision>(&self, target: &mut [u8]) -> Result<()> {
        let lines = self.lines();
        let workspace_len = match self.step.kind {
            FftKind::Complex => lines.workspace_len(),
            FftKind::RealToHalf | FftKind::HalfToReal => lines.real_workspace_len(),
        };
        let scratch_bytes = workspace_len * 2 * size_of::<T>();
        let scratch = self.session.buffer_pool().allocate(scratch_bytes, self.view);
        let mut workspace = scratch.write().map_err(RunError::from)?;
        let workspace = T::complex_mut(typed_mut(&mut workspace[..scratch_bytes]));
        let scale = T::nearest(self.step.scale);
        let direction = self.step.direction;
        match self.step.kind {
            FftKind::Complex => {
                let target = T::complex_mut(typed_mut(target));
                let input = match self.view.dtype.kind() {
                    DTypeKind::Complex => TransformInput::Complex(T::complex(typed(self.bytes))),
                    _ => TransformInput::Real(typed(self.bytes)),
                };
                complex(input, target, lines, direction, scale, workspace);
            }
            FftKind::RealToHalf => {
                let target = T::complex_mut(typed_mut(target));
                real_to_complex(typed(self.bytes), target, lines, scale, workspace);
            }
            FftKind::HalfToReal => {
                let spectrum = T::complex(typed(self.bytes));
                complex_to_real(spectrum, typed_mut(target), lines, scale, workspace);
            }
        }
        Ok(())
    }

    fn lines(&self) -> Lines {
        let (shape, axis) = (&self.view.shape, self.step.axis);
        Lines {
            groups: shape[..axis].iter().product(),
            input_length: shape[axis],
            length: self.step.length,
            inner: shape[axis + 1..].iter().product(),
        }
    }
}
