//! Runs a program over all its indices, tile by tile, on all threads.
//!
//! ```text
//! machine            the registers of one thread; runs one operation at a time over a tile
//! staged_tile        a tile in which compiled loops run some of the steps
//! direct_rows        one compiled loop over whole rows
//! contiguous         contiguous operands, with minimal overhead; single_op: one operation
//! in_place_shifted   output and inputs share memory; fused_write: a write just before its reduction
//! masked_tile, multi_row   selected values; several rows per reduction loop; registers: their memory
//! ```
//!
//! Input: an `Interpreter` and bound operands. Guarantee: an element's value does not depend on
//! tiles or threads.

#[allow(unsafe_code)]
pub(crate) mod contiguous;
#[allow(unsafe_code)]
pub(crate) mod direct_rows;
pub(crate) mod fused_write;
#[allow(unsafe_code)]
pub(crate) mod in_place_shifted;
pub(crate) mod machine;
pub(crate) mod masked_tile;
#[allow(unsafe_code)]
pub(crate) mod multi_row;
#[allow(unsafe_code)]
pub(crate) mod registers;
#[allow(unsafe_code)]
pub(crate) mod single_op;
#[allow(unsafe_code)]
pub(crate) mod staged_tile;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use self::machine::Machine;
use self::single_op::cost;
use crate::config::{
    CHUNKS_PER_THREAD, MAX_CACHED_SCHEDULES, MIN_PARALLEL_WORK, MIN_PARALLEL_WORK_AWAKE,
    SINGLE_OP_TILE_BYTES, TILE_ELEMENTS,
};
use crate::error::Error;
use crate::iter::bound_operands::{BoundOperands, BufferView, IterationOrder};
use crate::iter::tiles::TileIter;
use crate::jit::fused_loop::Compiler;
use crate::jit::multi_row::{MultiRowLoop, MultiRowPattern};
use crate::jit::partition::direct_output;
use crate::jit::schedule::TileSchedule;
use crate::loops::elementwise::ElementwiseKernel;
use crate::loops::fp::exceptions::cpu_flags;
use crate::loops::kernel;
use crate::loops::variant::CpuVariant;
use crate::program::strength_reduction::reduce_strength;
use crate::program::{Program, Reg};
use crate::threads::parallel_map::parallel_map;
use crate::threads::spin_pool::SpinPool;
use crate::types::fp_flags::{FpFlags, StepFlags};

/// Runs a program.
pub trait Engine: Send + Sync {
    /// Computes the outputs from the inputs and returns the flags of each step.
    ///
    /// All operands have one shape. An output may be the same view as an input, and must share no
    /// byte with any other operand.
    fn run(
        &self,
        inputs: &[BufferView<'_>],
        outputs: &[BufferView<'_>],
    ) -> Result<StepFlags, Error>;
}

/// Checks a program and runs it once.
///
/// Keep an [`Interpreter`] to run it repeatedly.
///
/// ```
/// use dappled_kernels::{Buffer, BufferView, DType, Op, Program, View, execute};
/// let mut program = Program::new(vec![DType::Float64; 2], vec![]);
/// let sum = program.push(Op::Add, DType::Float64, &[program.input(0), program.input(1)]);
/// program.outputs.push(sum);
/// // u[1:] + u[:-1]
/// let (u, out) = (Buffer::from_slice(&[1.0, 2.0, 4.0]), Buffer::zeroed(16));
/// let whole = View::c_order(DType::Float64, &[3]);
/// let (right, left) = (whole.slice_axis(0, 1, 1, 2), whole.slice_axis(0, 0, 1, 2));
/// let target = View::c_order(DType::Float64, &[2]);
/// let inputs = [BufferView::new(&u, &right)?, BufferView::new(&u, &left)?];
/// execute(&program, &inputs, &[BufferView::new(&out, &target)?])?;
/// assert_eq!(out.to_vec::<f64>(), [3.0, 6.0]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn execute(
    program: &Program,
    inputs: &[BufferView<'_>],
    outputs: &[BufferView<'_>],
) -> Result<StepFlags, Error> {
    Interpreter::new(program)?.run(inputs, outputs)
}

/// A checked program, prepared to run over tiles.
///
/// Steps run one at a time, or fused in compiled loops if there is a compiler and enough work.
pub struct Interpreter {
    pub(crate) program: Program,
    pub(crate) steps: Vec<Instruction>,
    /// The register of each output.
    pub(crate) outputs: Vec<RegisterRef>,
    /// The number of registers: one per input and constant, and those that steps share.
    pub(crate) slots: usize,
    /// The cost of all steps per element, in additions.
    cost: usize,
    pub(crate) compiler: Option<Arc<dyn Compiler>>,
    /// Elements times steps so far, which decides whether compiling pays.
    pub(crate) work: AtomicUsize,
    /// The schedule for contiguous operands, once it is known.
    pub(crate) contiguous_schedule: OnceLock<Option<Arc<TileSchedule>>>,
    schedules: Mutex<Vec<CachedSchedule>>,
    multi_row_loops: Mutex<Vec<(MultiRowPattern, Option<Arc<MultiRowLoop>>)>>,
}

/// Which operands are broadcast, and the schedule for that case.
type CachedSchedule = (Vec<bool>, Option<Arc<TileSchedule>>);

/// A step with everything that is looked up once.
#[derive(Clone)]
pub(crate) struct Instruction {
    pub kernel: ElementwiseKernel,
    /// Which flags of the CPU belong to the operation.
    pub cpu_flags: FpFlags,
    pub args: Vec<RegisterRef>,
    pub slot: usize,
    pub itemsize: usize,
    /// The output that the step may store directly: its result is this output and nothing else.
    pub direct: Option<usize>,
}

/// A register and the size of its elements.
#[derive(Clone, Copy)]
pub(crate) struct RegisterRef {
    pub slot: usize,
    pub itemsize: usize,
}

impl Interpreter {
    /// Checks a program and prepares it for this CPU.
    pub fn new(program: &Program) -> Result<Self, Error> {
        Self::for_variant(program, CpuVariant::active())
    }

    /// Checks a program and prepares it for a CPU variant, or for the best one if this CPU lacks
    /// it.
    pub fn for_variant(program: &Program, variant: CpuVariant) -> Result<Self, Error> {
        program.check()?;
        let program = &reduce_strength(program);
        let (slots, count) = assign_slots(program);
        let source = |reg: Reg| RegisterRef {
            slot: slots[usize::from(reg.0)],
            itemsize: itemsize(program, reg),
        };
        let steps = program.steps.iter().enumerate().map(|(at, step)| Instruction {
            kernel: kernel(step.op, step.dtype, variant),
            cpu_flags: cpu_flags(step.op, step.dtype),
            args: step.args.iter().map(|&arg| source(arg)).collect(),
            slot: source(program.result(at)).slot,
            itemsize: source(program.result(at)).itemsize,
            direct: direct_output(program, &[], program.result(at)),
        });
        Ok(Self {
            steps: steps.collect(),
            outputs: program.outputs.iter().map(|&reg| source(reg)).collect(),
            slots: count,
            cost: program.steps.iter().map(|step| cost(step.op)).sum(),
            program: program.clone(),
            compiler: None,
            work: AtomicUsize::new(0),
            contiguous_schedule: OnceLock::new(),
            schedules: Mutex::default(),
            multi_row_loops: Mutex::default(),
        })
    }

    /// Adds a compiler for fused loops.
    pub fn with_compiler(self, compiler: Arc<dyn Compiler>) -> Self {
        Self { compiler: Some(compiler), ..self }
    }

    /// The schedule of a run over `elements` elements; `None` to run one operation at a time.
    pub(crate) fn schedule(
        &self,
        elements: usize,
        repeated: impl FnOnce() -> Vec<bool>,
    ) -> Option<Arc<TileSchedule>> {
        let compiler = self.compiler.as_deref()?;
        let work = elements.saturating_mul(self.steps.len());
        let before = self.work.fetch_add(work, Ordering::Relaxed);
        if before.saturating_add(work) < compiler.min_work() {
            return None;
        }
        let repeated = repeated();
        let mut schedules = self.schedules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, schedule)) = schedules.iter().find(|(key, _)| *key == repeated) {
            return schedule.clone();
        }
        if schedules.len() == MAX_CACHED_SCHEDULES {
            schedules.clear();
        }
        let schedule = TileSchedule::new(self, compiler, &repeated).map(Arc::new);
        schedules.push((repeated, schedule.clone()));
        schedule
    }

    /// A loop that reduces several rows at a time, if there is enough work to compile it.
    pub(crate) fn multi_row_loop(&self, pattern: MultiRowPattern) -> Option<Arc<MultiRowLoop>> {
        let compiler = self.compiler.as_deref()?;
        if self.work.load(Ordering::Relaxed) < compiler.min_work() {
            return None;
        }
        let mut loops = self.multi_row_loops.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, cached)) = loops.iter().find(|(key, _)| *key == pattern) {
            return cached.clone();
        }
        if loops.len() == MAX_CACHED_SCHEDULES {
            loops.clear();
        }
        let compiled = MultiRowLoop::new(&self.program, compiler, &pattern).map(Arc::new);
        loops.push((pattern, compiled.clone()));
        compiled
    }

    /// The program that runs, after strength reduction.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The number of elements of a tile when one operation runs at a time.
    pub(crate) fn tile_elements(&self) -> usize {
        let dtypes = self.program.inputs.iter().map(|dtype| dtype.itemsize());
        let widest = dtypes.chain(self.steps.iter().map(|step| step.itemsize)).max();
        match self.steps.len() {
            0 | 1 => (SINGLE_OP_TILE_BYTES / widest.unwrap_or(1)).max(TILE_ELEMENTS),
            _ => TILE_ELEMENTS,
        }
    }

    /// The number of chunks of large work.
    pub(crate) fn max_chunks(&self) -> usize {
        CHUNKS_PER_THREAD * rayon::current_num_threads()
    }

    /// The number of chunks for work on `elements` elements.
    pub(crate) fn chunks_for(&self, elements: usize) -> usize {
        match elements.saturating_mul(self.cost.max(1)) {
            MIN_PARALLEL_WORK.. => self.max_chunks(),
            MIN_PARALLEL_WORK_AWAKE.. if SpinPool::is_awake() => rayon::current_num_threads(),
            _ => 1,
        }
    }
}

impl Engine for Interpreter {
    fn run(
        &self,
        inputs: &[BufferView<'_>],
        outputs: &[BufferView<'_>],
    ) -> Result<StepFlags, Error> {
        if outputs.is_empty() {
            let expected = self.program.outputs.len();
            return Err(Error::OperandCount { what: "output", expected, found: 0 });
        }
        if let Some(raised) = self.run_single_op(inputs, outputs)? {
            return Ok(raised);
        }
        let mut bound = BoundOperands::new(&self.program, inputs, outputs, IterationOrder::Output)?;
        let (elements, is_deep) = (bound.space().len(), bound.space().rows_per_block > 1);
        let parts = self.chunks_for(elements);
        let in_registers = bound.aliases_input.contains(&true) || is_deep;
        let schedule = bound.schedule(self).filter(|_| !in_registers);
        let len = schedule.map_or_else(|| self.tile_elements(), |schedule| schedule.tile_elements);
        // Tiles are shortened so that chunks have equally many.
        let count = elements.div_ceil(len).next_multiple_of(parts).max(1);
        let (bound, tiles) = bound.tiles(len.min(elements.div_ceil(count).max(TILE_ELEMENTS)));
        let part = tiles.remaining().div_ceil(parts);
        Ok(run_tiles_parallel(self, bound, tiles, part))
    }
}

/// Runs chunks of tiles in parallel.
fn run_tiles_parallel(
    code: &Interpreter,
    bound: &BoundOperands<'_>,
    tiles: TileIter<'_>,
    part: usize,
) -> StepFlags {
    let run = |tiles: TileIter<'_>| {
        let mut machine = Machine::new(code, bound);
        machine.run_tiles(tiles);
        machine.take_step_flags()
    };
    parallel_map(tiles.chunks(part), run).into_iter().fold(StepFlags::default(), StepFlags::join)
}

fn itemsize(program: &Program, reg: Reg) -> usize {
    program.dtype(reg).expect("checked").itemsize()
}

/// Assigns a slot to each register, and returns the number of slots.
///
/// A slot is reused after the last step that reads it, so that long programs fit in the cache.
fn assign_slots(program: &Program) -> (Vec<usize>, usize) {
    let first = program.first_result();
    let mut slots: Vec<usize> = (0..first).collect();
    let (mut free, mut count): (Vec<usize>, usize) = (Vec::new(), first);
    let last_read = last_reads(program);
    for (at, step) in program.steps.iter().enumerate() {
        slots.push(free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        }));
        let mut args = step.args.clone();
        args.retain(|arg| usize::from(arg.0) >= first && last_read[usize::from(arg.0)] == at);
        args.sort();
        args.dedup();
        free.extend(args.iter().map(|arg| slots[usize::from(arg.0)]));
    }
    (slots, count)
}

/// The last step that reads each register; `usize::MAX` for outputs.
fn last_reads(program: &Program) -> Vec<usize> {
    let mut last = vec![usize::MAX; program.len()];
    for (at, step) in program.steps.iter().enumerate() {
        step.args.iter().for_each(|arg| last[usize::from(arg.0)] = at);
    }
    program.outputs.iter().for_each(|reg| last[usize::from(reg.0)] = usize::MAX);
    last
}
