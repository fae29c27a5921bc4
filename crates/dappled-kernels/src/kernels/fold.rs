//! How values are folded: what one dtype does in one fold, and the compiled loops of it.

use smallvec::SmallVec;

use super::Variant;
use super::arithmetic::{Arithmetic, BinaryOp, ops};
use super::fold_loops::{
    BeginLoop, FinishLoop, JoinLoop, Line, PartLoop, Rows, Runs, Step, TOGETHER,
};
use super::loops::{Kernel, choose};
use super::pairwise::node_sum;
use super::product::Chain;
use super::runs::{HalfSum, Lanes, Pairwise, Plain};
use super::status;
use crate::element::{Element, bytes_of, bytes_of_mut, with_element};
use crate::{DType, Flags, Fold};

/// The most bytes of what a part of a run amounts to.
pub(crate) const STATE: usize = 64;

/// Bytes of a run that is worth the loop of a part.
const LONG: usize = 1024;

/// Memory for a state, aligned for any element.
pub(crate) type State = [u64; STATE / 8];

/// How values of one dtype are folded.
///
/// Accumulators are folded with one value each (`apply`), or with a run of values. A run may be
/// cut: a part of it amounts to a state, and states are joined in order.
pub(crate) trait Folding {
    type Item: Element;
    type State: Element;
    /// A part holds a multiple of this many values, and amounts to this many states.
    const LANES: usize = 1;
    /// As how many elements a value counts in NumPy's tree.
    const ELEMENTS: u64 = 1;
    /// What may be done in parts.
    const CUTS: Cuts;
    /// Does NumPy tell what its instructions raise?
    const SIGNALS: bool = false;

    fn apply(acc: Self::Item, value: Self::Item) -> Self::Item;
    /// What some values amount to; if they cannot be cut, after the values of the state.
    fn part(values: &[Self::Item], state: &mut [Self::State]);
    fn join(left: &mut [Self::State], right: &[Self::State]);
    fn finish(acc: Self::Item, state: &[Self::State]) -> Self::Item;
    /// An accumulator folded with a whole run.
    fn run(acc: Self::Item, values: &[Self::Item]) -> Self::Item;
    /// The state in which a run that cannot be cut begins.
    fn begin(_acc: Self::Item, _state: &mut [Self::State]) {}
}

/// Which cuts leave the bits of a fold as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cuts {
    /// Any: an accumulator can be folded with another one.
    Anywhere,
    /// Any inside a run; an accumulator can be folded with another one where it takes rows.
    Lanes,
    /// Those of the tree inside a run; accumulators take one run or row after the other.
    Tree,
    /// None: values are taken one by one.
    Nowhere,
}

/// How far apart NumPy's loop finds the values that it folds: some of its loops differ by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    Contiguous,
    Forwards,
    Backwards,
}

/// The loops of a fold in a dtype.
#[derive(Clone, Copy)]
pub(crate) struct Folder {
    pub itemsize: usize,
    pub lanes: usize,
    pub elements: u64,
    pub cuts: Cuts,
    /// Which of the CPU's flags are its own.
    pub signals: Flags,
    state: usize,
    rows: Kernel,
    runs: Kernel,
    part: Kernel,
    join: Kernel,
    finish: Kernel,
    begin: Kernel,
    line: Kernel,
    step: Kernel,
}

impl Folder {
    /// The loops for which [`Fold::has_loop`] is true.
    pub fn new(fold: Fold, dtype: DType, spacing: Spacing, variant: Variant) -> Self {
        use num_complex::{Complex32, Complex64};
        let contiguous = spacing == Spacing::Contiguous;
        let variant = variant.min(Variant::best());
        match (fold, dtype) {
            (Fold::Add, DType::Float16) => Self::of::<HalfSum>(variant),
            (Fold::Add, DType::Float32) => {
                Self::of::<Pairwise<f32>>(variant).pairwise(dtype, variant)
            }
            (Fold::Add, DType::Float64) => {
                Self::of::<Pairwise<f64>>(variant).pairwise(dtype, variant)
            }
            (Fold::Add, DType::Complex64) => Self::of::<Pairwise<Complex32>>(variant),
            (Fold::Add, DType::Complex128) => Self::of::<Pairwise<Complex64>>(variant),
            (Fold::Multiply, DType::Float16) => Self::of::<Chain<half::f16>>(variant),
            (Fold::Multiply, DType::Float32) => Self::of::<Chain<f32>>(variant),
            (Fold::Multiply, DType::Float64) => Self::of::<Chain<f64>>(variant),
            (Fold::Multiply, DType::Complex64) if spacing == Spacing::Backwards => {
                Self::of::<Chain<Complex32, false>>(variant)
            }
            (Fold::Multiply, DType::Complex64) => Self::of::<Chain<Complex32>>(variant),
            (Fold::Multiply, DType::Complex128) => Self::of::<Chain<Complex64>>(variant),
            (Fold::Minimum, DType::Float32 | DType::Float64) => {
                Self::extreme::<ops::Minimum>(dtype, contiguous, variant)
            }
            (Fold::Maximum, DType::Float32 | DType::Float64) => {
                Self::extreme::<ops::Maximum>(dtype, contiguous, variant)
            }
            (Fold::Fmin, DType::Float32 | DType::Float64) => {
                Self::extreme::<ops::Fmin>(dtype, contiguous, variant)
            }
            (Fold::Fmax, DType::Float32 | DType::Float64) => {
                Self::extreme::<ops::Fmax>(dtype, contiguous, variant)
            }
            _ => with_element!(dtype, T => Self::plain::<T>(fold, variant)),
        }
    }

    /// The loops of a scan along so many values. NumPy's complex product reads what it has just
    /// written, so it takes one by one and does not fuse; a single one it does not notice.
    pub fn for_scan(fold: Fold, dtype: DType, len: usize, variant: Variant) -> Self {
        use num_complex::{Complex32, Complex64};
        let variant = variant.min(Variant::best());
        match (fold, dtype) {
            (Fold::Multiply, DType::Complex64) if len > 2 => {
                Self::of::<Chain<Complex32, false>>(variant)
            }
            (Fold::Multiply, DType::Complex128) if len > 2 => {
                Self::of::<Chain<Complex64, false>>(variant)
            }
            _ => Self::new(fold, dtype, Spacing::Contiguous, variant),
        }
    }

    /// With the loop for long runs, where there is one.
    fn pairwise(self, dtype: DType, variant: Variant) -> Self {
        Self { part: node_sum(dtype, variant).unwrap_or(self.part), ..self }
    }

    fn extreme<O>(dtype: DType, contiguous: bool, variant: Variant) -> Self
    where
        O: BinaryOp<f32, Out = f32> + BinaryOp<f64, Out = f64>,
    {
        match (dtype, contiguous) {
            (DType::Float32, true) => Self::of::<Lanes<O, f32, 8, true>>(variant),
            (DType::Float32, false) => Self::of::<Lanes<O, f32, 8, false>>(variant),
            (_, true) => Self::of::<Lanes<O, f64, 4, true>>(variant),
            (_, false) => Self::of::<Lanes<O, f64, 8, false>>(variant),
        }
    }

    fn plain<T: Arithmetic>(fold: Fold, variant: Variant) -> Self {
        match fold {
            Fold::Add => Self::of::<Plain<ops::Add, T>>(variant),
            Fold::Multiply => Self::of::<Plain<ops::Multiply, T>>(variant),
            Fold::Minimum => Self::of::<Plain<ops::Minimum, T>>(variant),
            Fold::Maximum => Self::of::<Plain<ops::Maximum, T>>(variant),
            Fold::Fmin => Self::of::<Plain<ops::Fmin, T>>(variant),
            Fold::Fmax => Self::of::<Plain<ops::Fmax, T>>(variant),
            Fold::All | Fold::BitAnd => Self::of::<Plain<ops::And, T>>(variant),
            Fold::Any | Fold::BitOr => Self::of::<Plain<ops::Or, T>>(variant),
            Fold::BitXor => Self::of::<Plain<ops::Xor, T>>(variant),
        }
    }

    fn of<F: Folding>(variant: Variant) -> Self {
        // With AVX-512 rows are gathered lane by lane, which takes three times as long; and nothing
        // here is sooner in wider registers, as memory is not.
        let variant = variant.min(Variant::Avx2);
        Self {
            itemsize: size_of::<F::Item>(),
            lanes: F::LANES,
            elements: F::ELEMENTS,
            cuts: F::CUTS,
            signals: if F::SIGNALS { Flags::ARITHMETIC } else { Flags::NONE },
            state: F::LANES * size_of::<F::State>(),
            rows: choose::<Rows<F>>(variant),
            runs: choose::<Runs<F>>(variant),
            part: choose::<PartLoop<F>>(variant),
            // Of one state: nothing to gain from newer instructions.
            join: choose::<JoinLoop<F>>(Variant::Plain),
            finish: choose::<FinishLoop<F>>(Variant::Plain),
            begin: choose::<BeginLoop<F>>(Variant::Plain),
            line: choose::<Line<F>>(variant),
            step: choose::<Step<F>>(variant),
        }
    }

    /// What it signals when it is used outside of a machine's work.
    pub fn watch(&self, work: impl FnOnce()) -> Flags {
        status::clear();
        work();
        status::take() & self.signals
    }

    /// Folds each accumulator with one value.
    pub fn rows(&self, accs: &mut [u8], values: &[u8]) {
        self.several_rows(accs, &[values]);
    }

    /// Folds each accumulator with one value of each row, in order; quickest with [`TOGETHER`].
    pub fn several_rows(&self, accs: &mut [u8], rows: &[&[u8]]) {
        // SAFETY: compiled for no newer CPU than the one at hand.
        unsafe { (self.rows)(rows, accs) }
    }

    /// Folds each accumulator with one value of each of many rows, one after the other in memory; if
    /// `fresh`, each begins with that of the first.
    pub fn all_rows(&self, accs: &mut [u8], mut values: &[u8], fresh: bool) {
        if fresh {
            let first;
            (first, values) = values.split_at(accs.len());
            accs.copy_from_slice(first);
        }
        for some in values.chunks(TOGETHER * accs.len()) {
            let rows: SmallVec<[&[u8]; TOGETHER]> = some.chunks_exact(accs.len()).collect();
            self.several_rows(accs, &rows);
        }
    }

    /// Folds each accumulator with its run, all of one length; if `fresh`, each begins with the
    /// first value of its run.
    pub fn runs(&self, accs: &mut [u8], values: &[u8], fresh: bool) {
        let len = values.len() / (accs.len() / self.itemsize).max(1);
        if self.cuts == Cuts::Tree && len >= LONG && !fresh {
            let runs = values.chunks_exact(len);
            let accs = accs.chunks_exact_mut(self.itemsize);
            return accs.zip(runs).for_each(|(acc, run)| self.long_run(acc, run));
        }
        // SAFETY: as above.
        unsafe { (self.runs)(&[values, bytes_of(&[fresh as u8])], accs) }
    }

    fn long_run(&self, acc: &mut [u8], run: &[u8]) {
        let mut state = State::default();
        self.part(run, &mut state);
        self.finish(acc, &state);
    }

    /// What some values amount to: a multiple of `lanes`, at least one.
    pub fn part(&self, values: &[u8], state: &mut State) {
        // SAFETY: as above.
        unsafe { (self.part)(&[values], self.cropped(state)) }
    }

    /// Adds what comes after.
    pub fn join(&self, left: &mut State, right: &State) {
        // SAFETY: as above.
        unsafe { (self.join)(&[&bytes_of(right)[..self.state]], self.cropped(left)) }
    }

    /// Folds an accumulator with what a run amounts to.
    pub fn finish(&self, acc: &mut [u8], state: &State) {
        // SAFETY: as above.
        unsafe { (self.finish)(&[&bytes_of(state)[..self.state]], acc) }
    }

    /// The state in which a run that cannot be cut begins.
    pub fn begin(&self, acc: &[u8], state: &mut State) {
        // SAFETY: as above.
        unsafe { (self.begin)(&[acc], self.cropped(state)) }
    }

    /// Continues a line of results after its first, which is there, by one for each value.
    pub fn line(&self, results: &mut [u8], values: &[u8]) {
        // SAFETY: as above.
        unsafe { (self.line)(&[values], results) }
    }

    /// The row of results that comes after another one.
    pub fn step(&self, before: &[u8], values: &[u8], results: &mut [u8]) {
        // SAFETY: as above.
        unsafe { (self.step)(&[before, values], results) }
    }

    fn cropped<'s>(&self, state: &'s mut State) -> &'s mut [u8] {
        &mut bytes_of_mut(state)[..self.state]
    }
}
