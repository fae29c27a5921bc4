//! Fourier transforms of replicated and distributed arrays.
//!
//! Input: an array, and one [`FftStep`] for each transformed axis. Output: a new array, distributed
//! so that the axes transformed last are local. Values equal NumPy's to rounding.
//!
//! ```text
//! local            transforms along a local axis of a piece
//! pencils          several axes: transforms local axes, redistributes, transforms the others
//! one_dimensional  one axis that is too long for a rank: half spectra, Bluestein's algorithm
//! four_step        Bailey's four-step algorithm for a distributed line
//! ```

mod four_step;
mod local;
mod one_dimensional;
pub(crate) mod pencils;

use std::ops::Range;
use std::sync::Arc;

use dappled_fft::{Direction, Float, NonFinite};
use dappled_kernels::element::{Element, typed};
use dappled_kernels::{DType, DTypeKind, FpFlags};
use num_complex::Complex;

use crate::array::Array;
use crate::array::node::NodeState;
use crate::error::Result;
use crate::error::RunError;
use crate::run::collective;
use crate::session::Session;
use crate::session::fp_warnings::RequestContext;
use crate::view::byte_range;
use crate::view::memory_order::{copy_order, inverse_permutation};

/// Name of the messages of a transform.
const OPERATION: &str = "a Fourier transform";

/// The input and output of a transform along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FftKind {
    /// Real or complex values to their complex spectrum.
    Complex,
    /// Real values to the first half of their spectrum.
    RealToHalf,
    /// The first half of a spectrum to real values.
    HalfToReal,
}

/// A transform along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FftStep {
    /// The axis.
    pub axis: usize,
    /// The length of the transform; the input is truncated or zero-padded to it.
    pub length: usize,
    /// The input and output.
    pub kind: FftKind,
    /// The sign of the exponent.
    pub direction: Direction,
    /// The factor of the result.
    pub scale: f64,
}

impl FftStep {
    /// The length of the axis after the transform.
    pub fn output_length(&self) -> usize {
        match self.kind {
            FftKind::RealToHalf => self.length / 2 + 1,
            FftKind::Complex | FftKind::HalfToReal => self.length,
        }
    }

    /// The dtype that input of this dtype is cast to.
    fn input_dtype(&self, dtype: DType) -> DType {
        let is_complex = match self.kind {
            FftKind::Complex => dtype.kind() == DTypeKind::Complex,
            FftKind::RealToHalf => false,
            FftKind::HalfToReal => true,
        };
        float_dtype(is_single(dtype), is_complex)
    }

    /// The dtype of the result for input of this dtype.
    fn output_dtype(&self, dtype: DType) -> DType {
        float_dtype(is_single(dtype), self.kind != FftKind::HalfToReal)
    }

    /// The shape of an array after the transform.
    fn output_shape(&self, shape: &[usize]) -> Vec<usize> {
        let mut shape = shape.to_vec();
        shape[self.axis] = self.output_length();
        shape
    }

    /// NumPy's name of the ufunc, for floating-point warnings.
    fn numpy_name(&self) -> &'static str {
        match (self.kind, self.direction) {
            (FftKind::Complex, Direction::Forward) => "fft",
            (FftKind::Complex, Direction::Inverse) => "ifft",
            (FftKind::RealToHalf, _) if self.length.is_multiple_of(2) => "rfft_n_even",
            (FftKind::RealToHalf, _) => "rfft_n_odd",
            (FftKind::HalfToReal, _) => "irfft",
        }
    }
}

/// Returns true if transforms of this dtype are computed in single precision.
fn is_single(dtype: DType) -> bool {
    matches!(dtype, DType::Float16 | DType::Float32 | DType::Complex64)
}

fn float_dtype(is_single: bool, is_complex: bool) -> DType {
    match (is_single, is_complex) {
        (true, true) => DType::Complex64,
        (true, false) => DType::Float32,
        (false, true) => DType::Complex128,
        (false, false) => DType::Float64,
    }
}

impl Array {
    /// Transforms the array along the axes of the steps, in their order. Collective.
    ///
    /// A step of kind [`FftKind::RealToHalf`] must be the first, one of kind
    /// [`FftKind::HalfToReal`] the last. Floating-point warnings are reported in `context`; with
    /// `share_flags` on all ranks.
    ///
    /// ```
    /// use dappled::{Array, FftKind, FftStep, Session};
    /// use dappled_fft::Direction;
    /// use num_complex::Complex64;
    ///
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let impulse = Array::from_slice(&session, &[4], &[1.0, 0.0, 0.0, 0.0]);
    /// let step = FftStep {
    ///     axis: 0,
    ///     length: 4,
    ///     kind: FftKind::Complex,
    ///     direction: Direction::Forward,
    ///     scale: 1.0,
    /// };
    /// let spectrum = impulse.fft(&[step], None, false)?;
    /// assert_eq!(spectrum.to_vec::<Complex64>()?, [Complex64::new(1.0, 0.0); 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fft(
        &self,
        steps: &[FftStep],
        context: Option<&Arc<RequestContext>>,
        share_flags: bool,
    ) -> Result<Array> {
        let Some(first) = steps.first() else { return Ok(self.clone()) };
        let order = copy_order(self.view());
        let position = inverse_permutation(&order);
        let steps: Vec<FftStep> =
            steps.iter().map(|step| FftStep { axis: position[step.axis], ..*step }).collect();
        let input = with_dtype(&self.transposed(&order), first.input_dtype(self.dtype()))?;
        let output = pencils::transform_all(&input, &steps)?;
        let session = self.session();
        session.fp_warnings().add(first.numpy_name(), transform_flags(&input, &output)?, context);
        if share_flags && !output.is_replicated() {
            session.allreduce_fp_warnings(first.numpy_name(), context)?;
        }
        Ok(output.transposed(&position))
    }
}

/// Casts an array to a dtype; a view becomes a copy in C order.
fn with_dtype(array: &Array, dtype: DType) -> Result<Array> {
    let is_whole = *array.view() == array.storage.current().base;
    if is_whole && array.dtype() == dtype { Ok(array.clone()) } else { array.cast_copy(dtype) }
}

/// Derives the floating-point flags of a transform from its input and output. Collective.
///
/// NaN in the output without NaN in the input is an invalid operation; values that are not finite
/// from finite input are an overflow. Any element of the input may affect any of the output, so
/// ranks share what their pieces contain.
fn transform_flags(input: &Array, output: &Array) -> Result<FpFlags> {
    let produced = non_finite(output)?;
    let is_shared = !output.is_replicated();
    let any_produced = if is_shared { share(output.session(), produced)? } else { produced };
    if any_produced == NonFinite::default() {
        return Ok(FpFlags::NONE);
    }
    let given = non_finite(input)?;
    let given = if is_shared { share(output.session(), given)? } else { given };
    let is_overflow = produced != NonFinite::default() && given == NonFinite::default();
    Ok(FpFlags::INVALID.when(produced.nan && !given.nan) | FpFlags::OVERFLOW.when(is_overflow))
}

/// Kinds of values that are not finite among this rank's elements. Not collective.
fn non_finite(array: &Array) -> Result<NonFinite> {
    let node = array.storage.current();
    let NodeState::Stored(buffer) = node.state() else { return Ok(NonFinite::default()) };
    let memory = buffer.read().map_err(RunError::from)?;
    let view = node.placement.local_view(&node.base);
    // Foreign memory with other strides has no gaps that are not part of the array.
    let bytes = if view.is_contiguous() { &memory[byte_range(view)] } else { &memory[..] };
    Ok(match is_single(array.dtype()) {
        true => NonFinite::find(typed::<f32>(bytes)),
        false => NonFinite::find(typed::<f64>(bytes)),
    })
}

/// Kinds of values that are not finite on any rank. Collective.
fn share(session: &Session, local: NonFinite) -> Result<NonFinite> {
    let flags = [u8::from(local.nan), u8::from(local.infinite)];
    let any = collective::allreduce(session, OPERATION, &flags, u8::max)?;
    Ok(NonFinite { nan: any[0] == 1, infinite: any[1] == 1 })
}

/// The regular blocks of an axis: the range of each rank.
pub(crate) fn block_ranges(session: &Session, length: usize) -> Vec<Range<usize>> {
    let distribution = session.block_distribution(&[length]);
    let range = |rank| {
        let owned = distribution.owned_cells(rank);
        let start = distribution.global(rank, &[owned[0].start]).map_or(0, |index| index[0]);
        let count = owned[0].end - owned[0].start;
        start as usize..start as usize + count as usize
    };
    let mut next = 0;
    (0..session.fabric().size())
        .map(|rank| {
            let range: Range<usize> = range(rank);
            let range = if range.is_empty() { next..next } else { range };
            next = range.end;
            range
        })
        .collect()
}

/// A real element type with transforms, with its complex type.
trait Precision: Float + Element {
    /// The complex number.
    type Spectrum: Element;

    /// Views complex elements as complex numbers of the transforms.
    fn complex(elements: &[Self::Spectrum]) -> &[Complex<Self>];

    /// Views complex elements as writable complex numbers of the transforms.
    fn complex_mut(elements: &mut [Self::Spectrum]) -> &mut [Complex<Self>];
}

macro_rules! precision {
    ($($real:ty),*) => {$(
        impl Precision for $real {
            type Spectrum = Complex<$real>;

            fn complex(elements: &[Complex<$real>]) -> &[Complex<$real>] {
                elements
            }

            fn complex_mut(elements: &mut [Complex<$real>]) -> &mut [Complex<$real>] {
                elements
            }
        }
    )*};
}

precision!(f32, f64);
