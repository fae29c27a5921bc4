//! Contiguous values folded at once, on this thread and without a program: what small arrays need.

use crate::kernels::{Folder, Spacing, Variant};
use crate::{DType, Flags, Fold, Scalar};

/// How the values of each accumulator lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// One after the other.
    Runs,
    /// One in each row, of which a row has one for each accumulator.
    Rows,
}

impl Along {
    /// That of an array in C order, if some of its first or of its last axes are folded. Axes of one
    /// element are nowhere.
    pub fn of(shape: &[usize], axes: &[usize]) -> Option<Along> {
        let long = shape.iter().enumerate().filter(|&(_, &length)| length != 1);
        let folded = long.map(|(axis, _)| axes.contains(&axis));
        let (mut turns, mut last) = (0, None);
        for folded in folded {
            turns += usize::from(last.is_some_and(|last| last != folded));
            last = Some(folded);
        }
        match (turns, last) {
            (1, Some(false)) => Some(Along::Rows),
            (0 | 1, _) => Some(Along::Runs),
            _ => None,
        }
    }
}

/// Folds all of these values, at least one for each accumulator; and says what NumPy would warn of.
/// Both are the bytes of elements for which the fold has a loop, aligned.
///
/// ```
/// use dappled_kernels::{Along, Buffer, DType, Fold, element::bytes_of, fold_at_once};
/// let (dtype, values, sums) = (DType::Float64, bytes_of(&[1.0, 2.0, 4.0, 8.0]), Buffer::zeroed(16));
/// let initial = Fold::Add.identity(dtype);
/// fold_at_once(Fold::Add, dtype, Along::Rows, values, &mut sums.write()?, initial);
/// assert_eq!(sums.to_vec::<f64>(), [5.0, 10.0]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn fold_at_once(
    fold: Fold,
    dtype: DType,
    along: Along,
    values: &[u8],
    accs: &mut [u8],
    initial: Option<Scalar>,
) -> Flags {
    initial.inspect(|initial| initial.fill(accs));
    if let (Fold::All | Fold::Any, [acc]) = (fold, &mut *accs) {
        let is_so = is_found(values, fold == Fold::Any) == (fold == Fold::Any);
        let before = initial.is_none() || (*acc != 0) == (fold == Fold::All);
        *acc = u8::from(if before { is_so } else { fold == Fold::Any });
        return Flags::NONE;
    }
    let folder = Folder::new(fold, dtype, Spacing::Contiguous, Variant::chosen());
    folder.watch(|| match along {
        Along::Runs => folder.runs(accs, values, initial.is_none()),
        Along::Rows => folder.all_rows(accs, values, initial.is_none()),
    })
}

/// Bools that are looked at before it is asked whether there is a need to go on.
const SOME: usize = 1024;

/// Is one of these bools true, or false if that is sought?
fn is_found(values: &[u8], sought: bool) -> bool {
    let differs = |any, &value: &u8| any | ((value != 0) == sought);
    values.chunks(SOME).any(|some| some.iter().fold(false, differs))
}
