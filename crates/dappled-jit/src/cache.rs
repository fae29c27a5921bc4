//! Loops made before, and when to make one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dappled_kernels::{Compiler, DType, FusedLoop, Op, Program, Variant};

use crate::code::compile;
use crate::table;

/// So many loops are kept; then all are let go, and freed with their last users.
const MOST: usize = 256;

/// Elements times steps that the interpreter does in about the time that compiling takes.
const WORTH: usize = 1 << 21;

/// When programs are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When there is enough to do.
    Worth,
    /// At once, whatever their size.
    Always,
    /// Not at all: the interpreter runs them.
    Never,
    /// At once, but the system gives no executable memory: for tests.
    Refused,
}

/// Compiles loops, and keeps them.
///
/// ```
/// use dappled_jit::{Loops, Mode};
/// use dappled_kernels::{Buffer, DType, Engine, Interpreter, Op, Operand, Program, View};
/// let f = DType::Float64;
/// let mut program = Program::new(vec![f], vec![]);
/// let square = program.push(Op::Square, f, &[program.input(0)]);
/// let sum = program.push(Op::Add, f, &[square, program.input(0)]);
/// program.outputs.push(sum);
/// let loops = std::sync::Arc::new(Loops::new(Mode::Always));
/// let code = Interpreter::new(&program)?.with_compiler(loops.clone());
/// let (a, out) = (Buffer::from_slice(&[3.0; 100]), Buffer::zeroed(800));
/// let view = View::c_order(f, &[100]);
/// code.run(&[Operand::new(&a, &view)?], &[Operand::new(&out, &view)?])?;
/// assert_eq!(out.to_vec::<f64>(), [12.0; 100]);
/// assert_eq!(loops.len(), 1);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub struct Loops {
    mode: Mode,
    variant: Variant,
    known: Mutex<HashMap<Key, Option<Arc<FusedLoop>>>>,
}

/// A program without constants, and which of its inputs are one element.
type Key = (Program, Vec<bool>);

impl Loops {
    /// None so far.
    pub fn new(mode: Mode) -> Self {
        Self::of_variant(mode, Variant::chosen())
    }

    /// The same with the instructions of this variant, which the CPU must have.
    pub fn of_variant(mode: Mode, variant: Variant) -> Self {
        Self { mode, variant: variant.min(Variant::best()), known: Mutex::default() }
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.known().values().flatten().count()
    }

    /// Is none kept?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Option<Arc<FusedLoop>>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Compiler for Loops {
    fn has(&self, op: Op, dtype: DType) -> bool {
        table::has(op, dtype)
    }

    fn least_work(&self) -> usize {
        if self.mode == Mode::Worth { WORTH } else { 0 }
    }

    /// One alone is best done by its own kernel, which has wider vectors.
    fn least_steps(&self) -> usize {
        if self.mode == Mode::Worth { 2 } else { 1 }
    }

    fn compile(&self, program: &Program, repeated: &[bool]) -> Option<Arc<FusedLoop>> {
        let key = (program.clone(), repeated.to_vec());
        let mut known = self.known();
        if let Some(found) = known.get(&key) {
            return found.clone();
        }
        if known.len() >= MOST {
            known.clear();
        }
        let refused = self.mode == Mode::Refused;
        let made = compile(program, repeated, self.variant, refused).map(Arc::new);
        known.insert(key, made.clone());
        made
    }
}

static SHARED: OnceLock<Arc<Loops>> = OnceLock::new();

/// Sets when [`shared`] loops are compiled. It must be called before the first of them is.
pub fn set_mode(mode: Mode) {
    SHARED.get_or_init(|| Arc::new(Loops::new(mode)));
}

/// The loops of this process; None if they are never compiled.
pub fn shared() -> Option<Arc<dyn Compiler>> {
    let loops = SHARED.get_or_init(|| Arc::new(Loops::new(Mode::Worth)));
    (loops.mode != Mode::Never).then(|| loops.clone() as Arc<dyn Compiler>)
}
