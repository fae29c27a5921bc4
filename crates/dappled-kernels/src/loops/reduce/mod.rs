//! Reduction kernels: the rule of each operation and dtype, and its compiled loops.
//!
//! `runs` and `product` have the rules, `kernels` the generic loops, `pairwise` the vectorised
//! pairwise sum along `pairwise_tree`, `argminmax` the search loops. Guarantee: results have
//! NumPy's bits for NumPy's order of values.

#[allow(unsafe_code)]
pub(crate) mod argminmax;
pub(crate) mod kernels;
#[allow(unsafe_code)]
pub(crate) mod pairwise;
pub mod pairwise_tree;
pub(crate) mod product;
pub(crate) mod runs;

use smallvec::SmallVec;

use self::kernels::{
    BeginStateLoop, FinishStateLoop, JoinStatesLoop, ReduceRowsLoop, ReduceRunsLoop, ScanLineLoop,
    ScanRowLoop, SummarizeLoop,
};
use self::pairwise::node_sum;
use self::product::SequentialProduct;
use self::runs::{ExactReduce, Float16Sum, LaneReduce, PairwiseSum};
use super::elementwise::arithmetic::Arithmetic;
use super::elementwise::ops::{self, BinaryOp};
use super::fp::status;
use super::multiversion::{LoopKernel, kernel_for};
use super::variant::CpuVariant;
use crate::config::{MIN_LONG_RUN_BYTES, ROWS_PER_PASS};
use crate::program::reduce_op::ReduceOp;
use crate::types::dtype::DType;
use crate::types::element::{Element, bytes_of, bytes_of_mut, with_element};
use crate::types::fp_flags::FpFlags;

/// The maximal size of the state of a partial reduction.
pub(crate) const MAX_STATE_BYTES: usize = 64;

/// Memory for a state, aligned for any element.
pub(crate) type ReduceState = [u64; MAX_STATE_BYTES / 8];

/// How values of one dtype are reduced.
///
/// Accumulators take one value each (`apply`), or a run of values. A run may be split: each part is
/// summarised in a state, and states are joined in order.
pub(crate) trait ReduceRule {
    type Item: Element;
    type State: Element;
    /// The number of values per state; the length of a part is a multiple of it.
    const LANES: usize = 1;
    /// The number of elements per value in NumPy's pairwise tree.
    const ELEMENTS: u64 = 1;
    /// Where reductions may be split.
    const SPLITTING: Splitting;
    /// True if NumPy reports the flags of its instructions.
    const RAISES_CPU_FLAGS: bool = false;

    fn apply(acc: Self::Item, value: Self::Item) -> Self::Item;
    /// Summarises some values; if they cannot be split, continues from the state.
    fn part(values: &[Self::Item], state: &mut [Self::State]);
    fn join(left: &mut [Self::State], right: &[Self::State]);
    fn finish(acc: Self::Item, state: &[Self::State]) -> Self::Item;
    /// Reduces a whole run into an accumulator.
    fn run(acc: Self::Item, values: &[Self::Item]) -> Self::Item;
    /// Initialises the state of a run that cannot be split.
    fn begin(_acc: Self::Item, _state: &mut [Self::State]) {}
}

/// The splits that preserve the bits of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splitting {
    /// Any split: two accumulators can be combined.
    Anywhere,
    /// Any split inside a run; accumulators can be combined where they take rows.
    Lanes,
    /// The splits of the pairwise tree inside a run; accumulators take runs and rows in sequence.
    Tree,
    /// No split: values are taken one by one.
    Nowhere,
}

/// The stride class of the values in NumPy's loop, on which some of its loops depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputSpacing {
    Contiguous,
    Forwards,
    Backwards,
}

/// The compiled loops of a reduction in a dtype.
#[derive(Clone, Copy)]
pub(crate) struct ReduceKernels {
    pub itemsize: usize,
    pub lanes: usize,
    pub elements: u64,
    pub splitting: Splitting,
    /// Which flags of the CPU belong to the reduction.
    pub cpu_flags: FpFlags,
    state: usize,
    rows: LoopKernel,
    runs: LoopKernel,
    part: LoopKernel,
    join: LoopKernel,
    finish: LoopKernel,
    begin: LoopKernel,
    line: LoopKernel,
    step: LoopKernel,
}

#[allow(unsafe_code)]
impl ReduceKernels {
    /// The loops of a reduction for which [`Fold::has_loop`] is true.
    pub fn new(fold: ReduceOp, dtype: DType, spacing: InputSpacing, variant: CpuVariant) -> Self {
        use num_complex::{Complex32, Complex64};
        let contiguous = spacing == InputSpacing::Contiguous;
        let variant = variant.min(CpuVariant::best());
        match (fold, dtype) {
            (ReduceOp::Add, DType::Float16) => Self::from_rule::<Float16Sum>(variant),
            (ReduceOp::Add, DType::Float32) => {
                Self::from_rule::<PairwiseSum<f32>>(variant).pairwise(dtype, variant)
            }
            (ReduceOp::Add, DType::Float64) => {
                Self::from_rule::<PairwiseSum<f64>>(variant).pairwise(dtype, variant)
            }
            (ReduceOp::Add, DType::Complex64) => Self::from_rule::<PairwiseSum<Complex32>>(variant),
            (ReduceOp::Add, DType::Complex128) => {
                Self::from_rule::<PairwiseSum<Complex64>>(variant)
            }
            (ReduceOp::Multiply, DType::Float16) => {
                Self::from_rule::<SequentialProduct<half::f16>>(variant)
            }
            (ReduceOp::Multiply, DType::Float32) => {
                Self::from_rule::<SequentialProduct<f32>>(variant)
            }
            (ReduceOp::Multiply, DType::Float64) => {
                Self::from_rule::<SequentialProduct<f64>>(variant)
            }
            (ReduceOp::Multiply, DType::Complex64) if spacing == InputSpacing::Backwards => {
                Self::from_rule::<SequentialProduct<Complex32, false>>(variant)
            }
            (ReduceOp::Multiply, DType::Complex64) => {
                Self::from_rule::<SequentialProduct<Complex32>>(variant)
            }
            (ReduceOp::Multiply, DType::Complex128) => {
                Self::from_rule::<SequentialProduct<Complex64>>(variant)
            }
            (ReduceOp::Minimum, DType::Float32 | DType::Float64) => {
                Self::minmax::<ops::Minimum>(dtype, contiguous, variant)
            }
            (ReduceOp::Maximum, DType::Float32 | DType::Float64) => {
                Self::minmax::<ops::Maximum>(dtype, contiguous, variant)
            }
            (ReduceOp::Fmin, DType::Float32 | DType::Float64) => {
                Self::minmax::<ops::Fmin>(dtype, contiguous, variant)
            }
            (ReduceOp::Fmax, DType::Float32 | DType::Float64) => {
                Self::minmax::<ops::Fmax>(dtype, contiguous, variant)
            }
            _ => with_element!(dtype, T => Self::exact::<T>(fold, variant)),
        }
    }

    /// The loops of a scan along `len` values.
    ///
    /// NumPy's complex product reads what it has just written, so it works one by one without fused
    /// multiply-adds; for two values it does not detect this.
    pub fn for_scan(fold: ReduceOp, dtype: DType, len: usize, variant: CpuVariant) -> Self {
        use num_complex::{Complex32, Complex64};
        let variant = variant.min(CpuVariant::best());
        match (fold, dtype) {
            (ReduceOp::Multiply, DType::Complex64) if len > 2 => {
                Self::from_rule::<SequentialProduct<Complex32, false>>(variant)
            }
            (ReduceOp::Multiply, DType::Complex128) if len > 2 => {
                Self::from_rule::<SequentialProduct<Complex64, false>>(variant)
            }
            _ => Self::new(fold, dtype, InputSpacing::Contiguous, variant),
        }
    }

    /// Replaces the loop for long runs by the vectorised one, if there is one.
    fn pairwise(self, dtype: DType, variant: CpuVariant) -> Self {
        Self { part: node_sum(dtype, variant).unwrap_or(self.part), ..self }
    }

    fn minmax<O>(dtype: DType, contiguous: bool, variant: CpuVariant) -> Self
    where
        O: BinaryOp<f32, Out = f32> + BinaryOp<f64, Out = f64>,
    {
        match (dtype, contiguous) {
            (DType::Float32, true) => Self::from_rule::<LaneReduce<O, f32, 8, true>>(variant),
            (DType::Float32, false) => Self::from_rule::<LaneReduce<O, f32, 8, false>>(variant),
            (_, true) => Self::from_rule::<LaneReduce<O, f64, 4, true>>(variant),
            (_, false) => Self::from_rule::<LaneReduce<O, f64, 8, false>>(variant),
        }
    }

    fn exact<T: Arithmetic>(fold: ReduceOp, variant: CpuVariant) -> Self {
        match fold {
            ReduceOp::Add => Self::from_rule::<ExactReduce<ops::Add, T>>(variant),
            ReduceOp::Multiply => Self::from_rule::<ExactReduce<ops::Multiply, T>>(variant),
            ReduceOp::Minimum => Self::from_rule::<ExactReduce<ops::Minimum, T>>(variant),
            ReduceOp::Maximum => Self::from_rule::<ExactReduce<ops::Maximum, T>>(variant),
            ReduceOp::Fmin => Self::from_rule::<ExactReduce<ops::Fmin, T>>(variant),
            ReduceOp::Fmax => Self::from_rule::<ExactReduce<ops::Fmax, T>>(variant),
            ReduceOp::All | ReduceOp::BitAnd => {
                Self::from_rule::<ExactReduce<ops::And, T>>(variant)
            }
            ReduceOp::Any | ReduceOp::BitOr => Self::from_rule::<ExactReduce<ops::Or, T>>(variant),
            ReduceOp::BitXor => Self::from_rule::<ExactReduce<ops::Xor, T>>(variant),
        }
    }

    fn from_rule<F: ReduceRule>(variant: CpuVariant) -> Self {
        // Reductions are memory-bound, so AVX-512 brings no gain; for rows it makes the compiler
        // gather lane by lane, which takes three times as long.
        let variant = variant.min(CpuVariant::Avx2);
        Self {
            itemsize: size_of::<F::Item>(),
            lanes: F::LANES,
            elements: F::ELEMENTS,
            splitting: F::SPLITTING,
            cpu_flags: if F::RAISES_CPU_FLAGS { FpFlags::ARITHMETIC } else { FpFlags::NONE },
            state: F::LANES * size_of::<F::State>(),
            rows: kernel_for::<ReduceRowsLoop<F>>(variant),
            runs: kernel_for::<ReduceRunsLoop<F>>(variant),
            part: kernel_for::<SummarizeLoop<F>>(variant),
            // These process a single state, and gain nothing from newer instructions.
            join: kernel_for::<JoinStatesLoop<F>>(CpuVariant::Plain),
            finish: kernel_for::<FinishStateLoop<F>>(CpuVariant::Plain),
            begin: kernel_for::<BeginStateLoop<F>>(CpuVariant::Plain),
            line: kernel_for::<ScanLineLoop<F>>(variant),
            step: kernel_for::<ScanRowLoop<F>>(variant),
        }
    }

    /// Runs a closure outside of a machine and returns the flags of the reduction.
    pub fn with_cpu_flags(&self, work: impl FnOnce()) -> FpFlags {
        status::clear();
        work();
        status::take() & self.cpu_flags
    }

    /// Reduces one value into each accumulator.
    pub fn reduce_row(&self, accs: &mut [u8], values: &[u8]) {
        self.reduce_row_batch(accs, &[values]);
    }

    /// Reduces one value of each row into each accumulator, in order; fastest with [`ROWS_PER_PASS`]
    /// rows.
    pub fn reduce_row_batch(&self, accs: &mut [u8], rows: &[&[u8]]) {
        // SAFETY: compiled for a variant that this CPU supports.
        unsafe { (self.rows)(rows, accs) }
    }

    /// Reduces contiguous rows into the accumulators; with `takes_first_value`, the first row
    /// initialises them.
    pub fn reduce_all_rows(&self, accs: &mut [u8], mut values: &[u8], takes_first_value: bool) {
        if takes_first_value {
            let first;
            (first, values) = values.split_at(accs.len());
            accs.copy_from_slice(first);
        }
        for some in values.chunks(ROWS_PER_PASS * accs.len()) {
            let rows: SmallVec<[&[u8]; ROWS_PER_PASS]> = some.chunks_exact(accs.len()).collect();
            self.reduce_row_batch(accs, &rows);
        }
    }

    /// Reduces one run per accumulator, all of one length; with `takes_first_value`, its first
    /// value initialises it.
    pub fn reduce_runs(&self, accs: &mut [u8], values: &[u8], takes_first_value: bool) {
        let len = values.len() / (accs.len() / self.itemsize).max(1);
        if self.splitting == Splitting::Tree && len >= MIN_LONG_RUN_BYTES && !takes_first_value {
            let runs = values.chunks_exact(len);
            let accs = accs.chunks_exact_mut(self.itemsize);
            return accs.zip(runs).for_each(|(acc, run)| self.reduce_long_run(acc, run));
        }
        // SAFETY: as above.
        unsafe { (self.runs)(&[values, bytes_of(&[takes_first_value as u8])], accs) }
    }

    fn reduce_long_run(&self, acc: &mut [u8], run: &[u8]) {
        let mut state = ReduceState::default();
        self.summarize(run, &mut state);
        self.finish(acc, &state);
    }

    /// Summarises some values: at least one, and a multiple of `lanes`.
    pub fn summarize(&self, values: &[u8], state: &mut ReduceState) {
        // SAFETY: as above.
        unsafe { (self.part)(&[values], self.state_bytes(state)) }
    }

    /// Joins the state of the values that follow.
    pub fn join(&self, left: &mut ReduceState, right: &ReduceState) {
        // SAFETY: as above.
        unsafe { (self.join)(&[&bytes_of(right)[..self.state]], self.state_bytes(left)) }
    }

    /// Reduces a state into an accumulator.
    pub fn finish(&self, acc: &mut [u8], state: &ReduceState) {
        // SAFETY: as above.
        unsafe { (self.finish)(&[&bytes_of(state)[..self.state]], acc) }
    }

    /// Initialises the state of a run that cannot be split.
    pub fn begin(&self, acc: &[u8], state: &mut ReduceState) {
        // SAFETY: as above.
        unsafe { (self.begin)(&[acc], self.state_bytes(state)) }
    }

    /// Continues a line of results after its first one, by one result per value.
    pub fn scan_line(&self, results: &mut [u8], values: &[u8]) {
        // SAFETY: as above.
        unsafe { (self.line)(&[values], results) }
    }

    /// Computes the row of results that follows another one.
    pub fn scan_row(&self, before: &[u8], values: &[u8], results: &mut [u8]) {
        // SAFETY: as above.
        unsafe { (self.step)(&[before, values], results) }
    }

    fn state_bytes<'s>(&self, state: &'s mut ReduceState) -> &'s mut [u8] {
        &mut bytes_of_mut(state)[..self.state]
    }
}
