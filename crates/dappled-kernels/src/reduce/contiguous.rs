//! Reduces contiguous values on this thread, for small arrays.

use crate::config::BOOL_CHUNK_ELEMENTS;
use crate::loops::reduce::{InputSpacing, ReduceKernels};
use crate::loops::variant::CpuVariant;
use crate::program::reduce_op::ReduceOp;
use crate::types::dtype::DType;
use crate::types::fp_flags::FpFlags;
use crate::types::scalar::Scalar;

/// The arrangement of the values of each accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceLayout {
    /// The values of an accumulator are contiguous.
    Runs,
    /// Each row has one value per accumulator.
    Rows,
}

impl ReduceLayout {
    /// The arrangement in a C-ordered array whose leading or trailing axes are reduced, else
    /// `None`.
    ///
    /// Axes of one element are ignored.
    pub fn of(shape: &[usize], axes: &[usize]) -> Option<ReduceLayout> {
        let long = shape.iter().enumerate().filter(|&(_, &length)| length != 1);
        let is_reduced = long.map(|(axis, _)| axes.contains(&axis));
        let (mut changes, mut last) = (0, None);
        for is_reduced in is_reduced {
            changes += usize::from(last.is_some_and(|last| last != is_reduced));
            last = Some(is_reduced);
        }
        match (changes, last) {
            (1, Some(false)) => Some(ReduceLayout::Rows),
            (0 | 1, _) => Some(ReduceLayout::Runs),
            _ => None,
        }
    }
}

/// Reduces all values, at least one per accumulator, and returns the flags.
///
/// Values and accumulators are bytes of aligned elements of a dtype the reduction has a loop for.
///
/// ```
/// use dappled_kernels::element::bytes_of;
/// use dappled_kernels::{Buffer, DType, ReduceLayout, ReduceOp, reduce_contiguous};
/// let (op, dtype, layout) = (ReduceOp::Add, DType::Float64, ReduceLayout::Rows);
/// let (values, sums) = (bytes_of(&[1.0, 2.0, 4.0, 8.0]), Buffer::zeroed(16));
/// reduce_contiguous(op, dtype, layout, values, &mut sums.write()?, op.identity(dtype));
/// assert_eq!(sums.to_vec::<f64>(), [5.0, 10.0]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn reduce_contiguous(
    fold: ReduceOp,
    dtype: DType,
    along: ReduceLayout,
    values: &[u8],
    accs: &mut [u8],
    initial: Option<Scalar>,
) -> FpFlags {
    initial.inspect(|initial| initial.fill(accs));
    if let (ReduceOp::All | ReduceOp::Any, [acc]) = (fold, &mut *accs) {
        let result = contains_bool(values, fold == ReduceOp::Any) == (fold == ReduceOp::Any);
        let before = initial.is_none() || (*acc != 0) == (fold == ReduceOp::All);
        *acc = u8::from(if before { result } else { fold == ReduceOp::Any });
        return FpFlags::NONE;
    }
    let kernels = ReduceKernels::new(fold, dtype, InputSpacing::Contiguous, CpuVariant::active());
    kernels.with_cpu_flags(|| match along {
        ReduceLayout::Runs => kernels.reduce_runs(accs, values, initial.is_none()),
        ReduceLayout::Rows => kernels.reduce_all_rows(accs, values, initial.is_none()),
    })
}

/// True if the bools contain the value `sought`.
fn contains_bool(values: &[u8], sought: bool) -> bool {
    let differs = |any, &value: &u8| any | ((value != 0) == sought);
    values.chunks(BOOL_CHUNK_ELEMENTS).any(|some| some.iter().fold(false, differs))
}
