//! The cache of compiled loops, and the policy of compiling them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dappled_kernels::{Compiler, CpuVariant, DType, FusedLoop, Op, Program};

use crate::config::{MAX_CACHED_LOOPS, MIN_COMPILE_WORK, MIN_FUSED_STEPS};
use crate::cranelift::code::compile;
use crate::supported_ops;

/// When programs are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JitMode {
    /// When a program has done enough work.
    Auto,
    /// On the first run.
    Always,
    /// Never: the interpreter runs them.
    Never,
    /// On the first run, with executable memory denied; for tests.
    NoExecutableMemory,
}

/// Compiles loops and caches them.
///
/// ```
/// use dappled_jit::{JitMode, LoopCache};
/// use dappled_kernels::{Buffer, BufferView, DType, Engine, Interpreter, Op, Program, View};
/// let dtype = DType::Float64;
/// let mut program = Program::new(vec![dtype], vec![]);
/// let square = program.push(Op::Square, dtype, &[program.input(0)]);
/// let sum = program.push(Op::Add, dtype, &[square, program.input(0)]);
/// program.outputs.push(sum);
/// let cache = std::sync::Arc::new(LoopCache::new(JitMode::Always));
/// let interpreter = Interpreter::new(&program)?.with_compiler(cache.clone());
/// let (a, out) = (Buffer::from_slice(&[3.0; 100]), Buffer::zeroed(800));
/// let view = View::c_order(dtype, &[100]);
/// interpreter.run(&[BufferView::new(&a, &view)?], &[BufferView::new(&out, &view)?])?;
/// assert_eq!(out.to_vec::<f64>(), [12.0; 100]);
/// assert_eq!(cache.len(), 1);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub struct LoopCache {
    mode: JitMode,
    variant: CpuVariant,
    cache: Mutex<HashMap<Key, Option<Arc<FusedLoop>>>>,
}

/// A program without constants, and which of its inputs are broadcast.
type Key = (Program, Vec<bool>);

impl LoopCache {
    /// An empty cache for the active CPU variant.
    pub fn new(mode: JitMode) -> Self {
        Self::of_variant(mode, CpuVariant::active())
    }

    /// An empty cache for a CPU variant, or the best one that this CPU supports.
    pub fn of_variant(mode: JitMode, variant: CpuVariant) -> Self {
        Self { mode, variant: variant.min(CpuVariant::best()), cache: Mutex::default() }
    }

    /// The number of cached loops.
    pub fn len(&self) -> usize {
        self.cache().values().flatten().count()
    }

    /// True if no loop is cached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Option<Arc<FusedLoop>>>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Compiler for LoopCache {
    fn supports(&self, op: Op, dtype: DType) -> bool {
        supported_ops::is_supported(op, dtype)
    }

    fn min_work(&self) -> usize {
        if self.mode == JitMode::Auto { MIN_COMPILE_WORK } else { 0 }
    }

    /// A single step is faster in its precompiled kernel, which has wider vectors.
    fn min_steps(&self) -> usize {
        if self.mode == JitMode::Auto { MIN_FUSED_STEPS } else { 1 }
    }

    fn compile(&self, program: &Program, is_broadcast: &[bool]) -> Option<Arc<FusedLoop>> {
        let key = (program.clone(), is_broadcast.to_vec());
        let mut cache = self.cache();
        if let Some(cached) = cache.get(&key) {
            return cached.clone();
        }
        if cache.len() >= MAX_CACHED_LOOPS {
            cache.clear();
        }
        let refused = self.mode == JitMode::NoExecutableMemory;
        let compiled = compile(program, is_broadcast, self.variant, refused).map(Arc::new);
        cache.insert(key, compiled.clone());
        compiled
    }
}

static SHARED: OnceLock<Arc<LoopCache>> = OnceLock::new();

/// Sets the mode of the [`shared_cache`] cache. Has no effect after the cache was first used.
pub fn set_mode(mode: JitMode) {
    SHARED.get_or_init(|| Arc::new(LoopCache::new(mode)));
}

/// The cache of this process; `None` if its mode is `Never`.
pub fn shared_cache() -> Option<Arc<dyn Compiler>> {
    let loops = SHARED.get_or_init(|| Arc::new(LoopCache::new(JitMode::Auto)));
    (loops.mode != JitMode::Never).then(|| loops.clone() as Arc<dyn Compiler>)
}
