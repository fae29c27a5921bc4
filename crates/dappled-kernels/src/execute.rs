//! Runs a program over all its indices, tile by tile, on all threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::apply::weight;
use crate::bind::{Bound, Operand, Order};
use crate::crew::Crew;
use crate::fused::Compiler;
use crate::groups::direct_output;
use crate::kernels::{Operation, Variant, hardware, kernel};
use crate::machine::Machine;
use crate::plan::Plan;
use crate::rewrite::without_slow_divisions;
use crate::share::share;
use crate::tiles::{TILE, Tiles};
use crate::together::{Pattern, Together};
use crate::{Error, Flags, Program, Raised, Reg};

/// Elements times what their steps take from which the work is shared among threads: some 30 µs of it.
const PARALLEL: usize = 1 << 17;

/// The same where others are awake: what it takes to hand a part over is little then.
const SHARED: usize = 1 << 15;

/// Parts for each thread: more than one, so that a thread that was late does not delay all.
const PARTS: usize = 4;

/// Bytes of an operand that one operation goes over at once: nothing is to stay in the cache for the
/// next one.
const AT_ONCE: usize = 1 << 14;

/// What runs a program.
pub trait Engine: Send + Sync {
    /// Computes the outputs from the inputs. All have the same shape; an output may be the very
    /// same view as an input, and shares no byte with any other operand. What it returns is what
    /// NumPy would warn of, by step.
    fn run(&self, inputs: &[Operand<'_>], outputs: &[Operand<'_>]) -> Result<Raised, Error>;
}

/// Checks a program and runs it once. Who runs it again keeps an [`Interpreter`].
///
/// ```
/// use dappled_kernels::{Buffer, DType, Op, Operand, Program, View, execute};
/// let mut program = Program::new(vec![DType::Float64; 2], vec![]);
/// let sum = program.push(Op::Add, DType::Float64, &[program.input(0), program.input(1)]);
/// program.outputs.push(sum);
/// // u[1:] + u[:-1]
/// let (u, out) = (Buffer::from_slice(&[1.0, 2.0, 4.0]), Buffer::zeroed(16));
/// let all = View::c_order(DType::Float64, &[3]);
/// let (right, left) = (all.region(0, 1, 1, 2), all.region(0, 0, 1, 2));
/// let target = View::c_order(DType::Float64, &[2]);
/// execute(&program, &[Operand::new(&u, &right)?, Operand::new(&u, &left)?], &[Operand::new(&out, &target)?])?;
/// assert_eq!(out.to_vec::<f64>(), [3.0, 6.0]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn execute(
    program: &Program,
    inputs: &[Operand<'_>],
    outputs: &[Operand<'_>],
) -> Result<Raised, Error> {
    Interpreter::new(program)?.run(inputs, outputs)
}

/// So many plans a program has: one for each set of operands that are repeated.
const PLANS: usize = 8;

/// A legal program, ready to run one operation at a time over tiles; or several in one loop, where
/// there is a compiler and enough to do.
pub struct Interpreter {
    pub(crate) program: Program,
    pub(crate) steps: Vec<Instruction>,
    /// Where each output's register is.
    pub(crate) outputs: Vec<Source>,
    /// One for each input and constant, kept; and those that the steps share.
    pub(crate) slots: usize,
    /// What all steps take for an element, counted in additions.
    weight: usize,
    pub(crate) compiler: Option<Arc<dyn Compiler>>,
    /// Elements times steps so far: what is rare is not worth compiling.
    pub(crate) work: AtomicUsize,
    /// What is done where all operands lie in order, once it is known.
    pub(crate) in_order: OnceLock<Option<Arc<Plan>>>,
    plans: Mutex<Vec<Known>>,
    togethers: Mutex<Vec<(Pattern, Option<Arc<Together>>)>>,
}

/// Which operands are repeated, and what is done then.
type Known = (Vec<bool>, Option<Arc<Plan>>);

/// A step, with all that is looked up once.
#[derive(Clone)]
pub(crate) struct Instruction {
    pub kernel: Operation,
    /// Which of the CPU's flags are the operation's own.
    pub hardware: Flags,
    pub args: Vec<Source>,
    pub slot: usize,
    pub itemsize: usize,
    /// The output that it may write at once: its result is that output and nothing else.
    pub direct: Option<usize>,
}

/// Where a register's tile is found.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub slot: usize,
    pub itemsize: usize,
}

impl Interpreter {
    /// Prepares a program, if it is legal, for the CPU at hand.
    pub fn new(program: &Program) -> Result<Self, Error> {
        Self::for_variant(program, Variant::chosen())
    }

    /// The same with no newer instructions than this variant's.
    pub fn for_variant(program: &Program, variant: Variant) -> Result<Self, Error> {
        program.check()?;
        let program = &without_slow_divisions(program);
        let (slots, count) = assign_slots(program);
        let source =
            |reg: Reg| Source { slot: slots[usize::from(reg.0)], itemsize: itemsize(program, reg) };
        let steps = program.steps.iter().enumerate().map(|(at, step)| Instruction {
            kernel: kernel(step.op, step.dtype, variant),
            hardware: hardware(step.op, step.dtype),
            args: step.args.iter().map(|&arg| source(arg)).collect(),
            slot: source(program.result(at)).slot,
            itemsize: source(program.result(at)).itemsize,
            direct: direct_output(program, &[], program.result(at)),
        });
        Ok(Self {
            steps: steps.collect(),
            outputs: program.outputs.iter().map(|&reg| source(reg)).collect(),
            slots: count,
            weight: program.steps.iter().map(|step| weight(step.op)).sum(),
            program: program.clone(),
            compiler: None,
            work: AtomicUsize::new(0),
            in_order: OnceLock::new(),
            plans: Mutex::default(),
            togethers: Mutex::default(),
        })
    }

    /// The same with somebody who compiles loops, once there is enough to do.
    pub fn with_compiler(self, compiler: Arc<dyn Compiler>) -> Self {
        Self { compiler: Some(compiler), ..self }
    }

    /// How a run over so many elements is done; None: one operation at a time.
    pub(crate) fn plan(
        &self,
        elements: usize,
        repeated: impl FnOnce() -> Vec<bool>,
    ) -> Option<Arc<Plan>> {
        let compiler = self.compiler.as_deref()?;
        let work = elements.saturating_mul(self.steps.len());
        let before = self.work.fetch_add(work, Ordering::Relaxed);
        if before.saturating_add(work) < compiler.least_work() {
            return None;
        }
        let repeated = repeated();
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, plan)) = plans.iter().find(|(known, _)| *known == repeated) {
            return plan.clone();
        }
        if plans.len() == PLANS {
            plans.clear();
        }
        let plan = Plan::new(self, compiler, &repeated).map(Arc::new);
        plans.push((repeated, plan.clone()));
        plan
    }

    /// A loop that folds several rows at a time, once there is enough to do.
    pub(crate) fn together(&self, pattern: Pattern) -> Option<Arc<Together>> {
        let compiler = self.compiler.as_deref()?;
        if self.work.load(Ordering::Relaxed) < compiler.least_work() {
            return None;
        }
        let mut known = self.togethers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known.iter().find(|(found, _)| *found == pattern) {
            return found.clone();
        }
        if known.len() == PLANS {
            known.clear();
        }
        let made = Together::new(&self.program, compiler, &pattern).map(Arc::new);
        known.push((pattern, made.clone()));
        made
    }

    /// The program that it runs, with its cheaper operations in place.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How many elements are best gone over at once, one operation at a time.
    pub(crate) fn most(&self) -> usize {
        let dtypes = self.program.inputs.iter().map(|dtype| dtype.itemsize());
        let widest = dtypes.chain(self.steps.iter().map(|step| step.itemsize)).max();
        match self.steps.len() {
            0 | 1 => (AT_ONCE / widest.unwrap_or(1)).max(TILE),
            _ => TILE,
        }
    }

    /// In how many parts large work is cut.
    pub(crate) fn parts(&self) -> usize {
        PARTS * rayon::current_num_threads()
    }

    /// In how many parts the work on so many elements is cut.
    pub(crate) fn parts_of(&self, elements: usize) -> usize {
        match elements.saturating_mul(self.weight.max(1)) {
            PARALLEL.. => self.parts(),
            SHARED.. if Crew::is_at_hand() => rayon::current_num_threads(),
            _ => 1,
        }
    }
}

impl Engine for Interpreter {
    fn run(&self, inputs: &[Operand<'_>], outputs: &[Operand<'_>]) -> Result<Raised, Error> {
        if outputs.is_empty() {
            let expected = self.program.outputs.len();
            return Err(Error::Count { what: "output", expected, found: 0 });
        }
        if let Some(raised) = self.run_one(inputs, outputs)? {
            return Ok(raised);
        }
        let mut bound = Bound::new(&self.program, inputs, outputs, Order::Output)?;
        let (elements, is_deep) = (bound.space().len(), bound.space().deep > 1);
        let parts = self.parts_of(elements);
        let in_registers = bound.shared.contains(&true) || is_deep;
        let plan = bound.plan(self).filter(|_| !in_registers);
        let len = plan.map_or_else(|| self.most(), |plan| plan.tile);
        // As many tiles as are shared evenly.
        let count = elements.div_ceil(len).next_multiple_of(parts).max(1);
        let (bound, tiles) = bound.tiles(len.min(elements.div_ceil(count).max(TILE)));
        let part = tiles.left().div_ceil(parts);
        Ok(run_tiles(self, bound, tiles, part))
    }
}

/// Runs tiles in parts of so many, on whichever thread is free.
fn run_tiles(code: &Interpreter, bound: &Bound<'_>, tiles: Tiles<'_>, part: usize) -> Raised {
    let run = |tiles: Tiles<'_>| {
        let mut machine = Machine::new(code, bound);
        machine.run_all(tiles);
        machine.take_raised()
    };
    share(tiles.in_parts(part), run).into_iter().fold(Raised::default(), Raised::join)
}

fn itemsize(program: &Program, reg: Reg) -> usize {
    program.dtype(reg).expect("checked").itemsize()
}

/// A slot for each register, and how many there are. A step's slot is free again after the last
/// step that reads it, so that a long program still fits in the cache.
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

/// The last step that reads each register; never, for outputs.
fn last_reads(program: &Program) -> Vec<usize> {
    let mut last = vec![usize::MAX; program.len()];
    for (at, step) in program.steps.iter().enumerate() {
        step.args.iter().for_each(|arg| last[usize::from(arg.0)] = at);
    }
    program.outputs.iter().for_each(|reg| last[usize::from(reg.0)] = usize::MAX);
    last
}
